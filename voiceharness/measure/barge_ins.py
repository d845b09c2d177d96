"""What happened when the user spoke while it was the agent's turn.

A barge-in is an utterance that starts while the agent is heard (phase *speaking*), or one that the scenario meant as an
interruption: its phase may also be *thinking* (the user had asked, the agent is not heard yet) or *silent*. The phase
is read from the recording, whatever was believed during the call. An utterance that leaves the agent the floor (a
listener's "mm-hmm", a cough) is none; it is kept with its ``intent`` so that a false yield can be told.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from voiceharness.measure.spans import intersections, total
from voiceharness.measure.utterances import Utterance, integer, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from voiceharness.audio.edges import Span
    from voiceharness.line.record import CallRecord, TimelineEvent
    from voiceharness.measure.playout import Playout
    from voiceharness.measure.turns import Conversation, Turn
    from voiceharness.measure.utterances import Intent

__all__ = ["YIELD_WITHIN", "BargeIn", "Phase", "find_barge_ins"]

Phase = Literal["speaking", "thinking", "silent"]

YIELD_WITHIN = 2.0
"""Seconds after the onset of a barge-in within which an agent that heeds it has stopped."""

_SAME_ONSET = 0.5


@dataclass(frozen=True, slots=True)
class BargeIn:
    """The user spoke during the agent's turn; positions in samples, times in seconds from ``onset``.

    ``turn``: index of the agent turn that was spoken over. ``stop_latency``: until the last heard audio of that turn,
    stray bursts included; ``first_silence``: until it first fell silent. Both None unless the phase is *speaking*.
    ``flush``: position of the flush that cut the turn. ``residual``: sound of the turn after its first silence.
    ``heeded``: whether the agent took notice, None where the evidence does not tell. ``asked``: planned onset.
    """

    onset: int
    offset: int
    phase: Phase
    intent: Intent
    source: str
    via: str = "speech"
    step: int | str | None = None
    text: str = ""
    asked: int | None = None
    turn: int | None = None
    stop_latency: float | None = None
    first_silence: float | None = None
    flush: int | None = None
    residual: tuple[Span, ...] = ()
    double_talk: float = 0.0
    heeded: bool | None = None


def find_barge_ins(record: CallRecord, conversation: Conversation, playout: Playout) -> tuple[BargeIn, ...]:
    """Find the barge-ins of a call, in order of onset."""
    scene = _Scene(record, conversation, playout)
    return tuple(
        scene.barge_in(utterance, event)
        for utterance, event in _candidates(record, conversation.utterances)
        if event is not None or utterance.source == "interrupt" or scene.turn_at(utterance.onset) is not None
    )


def _candidates(
    record: CallRecord, utterances: Iterable[Utterance]
) -> Iterator[tuple[Utterance, TimelineEvent | None]]:
    """Each utterance with the ``barge_in`` event that announced it; then the barge-ins without speech of their own."""
    events = list(record.of_kind("barge_in"))
    pairs: list[tuple[Utterance, TimelineEvent | None]] = []
    for utterance in utterances:
        event = min(
            (event for event in events if _announces(event, utterance, record.rate)),
            key=lambda event: abs(_onset(event) - utterance.onset),
            default=None,
        )
        if event is not None:
            events.remove(event)
        pairs.append((utterance, event))
    silent = (Utterance(_onset(event), _onset(event), "interrupt", intent="turn") for event in events)
    pairs.extend(zip(silent, events, strict=True))
    return iter(sorted(pairs, key=lambda pair: pair[0].onset))


def _announces(event: TimelineEvent, utterance: Utterance, rate: int) -> bool:
    step = event.data.get("step")
    if step is not None and utterance.step is not None:
        return step == utterance.step
    return abs(_onset(event) - utterance.onset) <= _SAME_ONSET * rate


def _onset(event: TimelineEvent) -> int:
    return integer(event.data, "onset", event.at)


@dataclass(frozen=True, slots=True)
class _Scene:
    record: CallRecord
    conversation: Conversation
    playout: Playout

    def turn_at(self, position: int) -> int | None:
        """Find the agent turn that is being heard, short pauses included."""
        for index, turn in enumerate(self.conversation.agent):
            if turn.onset <= position < turn.offset:
                return index
        return None

    def barge_in(self, said: Utterance, event: TimelineEvent | None) -> BargeIn:
        data = {} if event is None else event.data
        turn = self.turn_at(said.onset)
        barge_in = BargeIn(
            onset=said.onset,
            offset=said.offset,
            phase=self._phase_between(said.onset) if turn is None else "speaking",
            intent=said.intent or "turn",
            source=said.source,
            via=text_of(data, "via") or "speech",
            step=said.step,
            text=said.text,
            asked=integer(data, "asked", said.onset) if "asked" in data else None,
            turn=turn,
            double_talk=total(intersections([said.span], self.conversation.segments)) / self.record.rate,
        )
        if turn is not None:
            return self._with_stop(barge_in, self.conversation.agent[turn])
        return replace(barge_in, heeded=self._heeded_while_thinking(barge_in))

    def _phase_between(self, position: int) -> Phase:
        """Outside the agent's speech: is it thinking about something the user said?"""
        asked = max((s.offset for s in self.conversation.utterances if s.offset <= position), default=None)
        spoken = max((turn.onset for turn in self.conversation.agent if turn.onset <= position), default=-1)
        return "thinking" if asked is not None and spoken < asked else "silent"

    def _with_stop(self, barge_in: BargeIn, turn: Turn) -> BargeIn:
        onset, rate = barge_in.onset, self.record.rate
        stop = next((stop for stop in self.conversation.stops if onset <= stop < turn.offset), turn.offset)
        silent = max((min(part.offset, stop) for part in turn.parts if part.onset < stop), default=stop)
        latency = (turn.offset - onset) / rate
        flush = self._flush_of(onset, turn.offset)
        return replace(
            barge_in,
            stop_latency=latency,
            first_silence=max(0, silent - onset) / rate,
            flush=flush,
            residual=tuple(part for part in turn.parts if part.onset >= stop),
            heeded=flush is not None or latency <= YIELD_WITHIN,
        )

    def _flush_of(self, onset: int, end: int) -> int | None:
        """Find the first flush that cut the turn: before its end, or in the pause in which it ended."""
        for event in self.record.of_kind("flush"):
            if onset <= event.at <= end or (event.at > end and integer(event.data, "cut", 0) > 0):
                return event.at if event.at <= end + self.record.rate else None
        return None

    def _heeded_while_thinking(self, barge_in: BargeIn) -> bool | None:
        """An answer that begins, or was sent, before the user was done ignores what the user added."""
        turn = next((turn for turn in self.conversation.agent if turn.onset >= barge_in.onset), None)
        if turn is None or barge_in.phase == "silent":
            return None
        arrival = self.playout.at(turn.onset)
        if turn.onset < barge_in.offset or (arrival is not None and arrival.at < barge_in.offset):
            return False
        claims = list(self.record.of_kind("state_claimed", "flush"))
        if not claims:
            return None
        return any(barge_in.onset <= each.at <= turn.onset and each.data.get("state") != "speaking" for each in claims)
