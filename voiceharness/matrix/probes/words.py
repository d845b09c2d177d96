"""Probe of streaming transcripts: the transport tells the agent's words while the agent is heard."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from voiceharness.clock import NS, LoopClock
from voiceharness.doubles.probe_agent import ProbeAgent
from voiceharness.errors import PendingTransportError
from voiceharness.events import Word, Words
from voiceharness.matrix.cell import Proof
from voiceharness.matrix.sound import sounding, spoken
from voiceharness.scenario.steps import Wait

if TYPE_CHECKING:
    from collections.abc import Iterable

    from voiceharness.adapter import VoiceAgentAdapter
    from voiceharness.doubles.scripted_agent import Cue
    from voiceharness.line.record import CallRecord
    from voiceharness.matrix.stand import ProbeCall, Stand

__all__ = ["streaming_transcripts"]

START: Final = 0.2
EACH: Final = 0.4
SAID: Final = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel")
LENGTH: Final = EACH * len(SAID)
TIMES_WITHIN: Final = 0.04
ESTIMATES_WITHIN: Final = EACH
"""A transport that tells words without their times lets them only be spread over their sound: to within a word."""

LOOKS: Final = 150
LOOK_EVERY: Final = 0.1


def streaming_transcripts(stand: Stand) -> Proof:
    """The agent sends each word when it is due: words come during the turn, at their times, and are never taken back.

    The user's own agent is only asked to say something.
    """
    looks = _Looks()
    cues = _at_once() if stand.subject.answers_only else _cues()
    call = stand.call(*stand.opening, Wait(START + LENGTH + 1.0), agent=ProbeAgent(cues), watch=looks.begin)
    heard = [str(event.data["text"]) for event in call.record.of_kind("word_heard")]
    if not heard:
        return Proof.nothing("no word came from the transport")
    early, kept = looks.words_during_the_turn(), looks.only_grew()
    error = _time_error(call) if stand.subject.is_ours else 0.0
    estimated = all(event.data["estimated"] for event in call.record.of_kind("word_heard"))
    complete = not stand.subject.is_ours or tuple(heard) == SAID
    return Proof(
        complete and kept and early > 0 and error <= (ESTIMATES_WITHIN if estimated else TIMES_WITHIN),
        f"{len(heard)} words came, {early} of them before the last; "
        f"{'no times, so they are estimated,' if estimated else 'times'} within {error * 1000:.0f} ms; "
        f"{'none was' if kept else 'some were'} taken back",
        {"words": len(heard), "early words": early, "time error, ms": round(error * 1000, 1)},
        START,
        START + LENGTH,
    )


class _Looks:
    """Looks at an adapter's transcript again and again, as a user of it would."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def begin(self, adapter: VoiceAgentAdapter) -> None:
        """Look every tenth of a second from now on."""
        clock = LoopClock()
        start_ns = clock.now_ns()

        def look() -> None:
            self.seen.append(_transcript(adapter))
            if len(self.seen) < LOOKS:
                clock.call_at_ns(start_ns + round((len(self.seen) + 1) * LOOK_EVERY * NS), look)

        clock.call_at_ns(start_ns + round(LOOK_EVERY * NS), look)

    def words_during_the_turn(self) -> int:
        """Count the words of the longest transcript that was not the last one yet."""
        last = self.seen[-1] if self.seen else ""
        return max((len(text.split()) for text in self.seen if text != last), default=0)

    def only_grew(self) -> bool:
        """Whether no word that was told was ever changed."""
        return all(later.startswith(earlier) for earlier, later in pairwise(self.seen))


def _transcript(adapter: VoiceAgentAdapter) -> str:
    try:
        return adapter.streaming_transcript
    except PendingTransportError:
        return ""


def _words() -> tuple[Word, ...]:
    return tuple(Word(text, EACH * index, EACH * (index + 1)) for index, text in enumerate(SAID))


def _cues() -> Iterable[Cue]:
    yield START, spoken(LENGTH, item="letters")
    for word in _words():
        yield START + word.start, Words("letters", (word,))


def _at_once() -> Iterable[Cue]:
    """An answering function gives an answer's text as a whole."""
    yield START, Words("letters", _words())
    yield START, spoken(LENGTH, item="letters")


def _time_error(call: ProbeCall) -> float:
    onset = _onset(call.record)
    ends = [(int(str(event.data["end"])) - onset) / call.rate for event in call.record.of_kind("word_heard")]
    wanted = [word.end for word in _words()]
    return max((abs(end - word_end) for end, word_end in zip(ends, wanted, strict=False)), default=0.0)


def _onset(record: CallRecord) -> int:
    heard = sounding(record.agent, record.rate)
    return heard[0].onset if heard else 0
