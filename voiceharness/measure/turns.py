"""Who spoke when: segments of heard sound, joined into turns, and each user turn with its answer.

Theory of operation
-------------------
The agent's turns come from heard sound. Its segments are cut where the queue was flushed (and, while the user speaks,
where it had run dry), then joined over pauses shorter than ``tail_silence``, except over a pause in which

* the user gave up the floor (an utterance ended that asks for an answer), or
* a flush took place and the user was not speaking any more.

Neither splits a turn if both sides are known to be one item, or if what comes after had arrived before the user was
done: neither can be an answer. Sound of the old item that is heard after a flush thus remains part of the old turn.

The user's turns come from the timeline: utterances that ask for an answer, joined over pauses shorter than
``tail_silence`` in which no agent turn began. The answer to one is the first agent turn that begins at or after its
offset and before the user's next turn. An agent turn that began earlier is overlap, never a negative latency.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from voiceharness.audio.edges import Span, speech_edges
from voiceharness.audio.vad import find_segments
from voiceharness.measure.utterances import Utterance, integer, only_fillers, user_utterances

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from voiceharness.events import Party
    from voiceharness.line.record import CallRecord
    from voiceharness.measure.playout import Playout

__all__ = ["Conversation", "Turn", "find_turns"]

_DRY = 0.04
"""Seconds without audio in the queue that count as the agent having stopped; jitter is shorter."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a party, in samples; ``parts`` are its pieces of sound, or the user's utterances, in order."""

    party: Party
    onset: int
    offset: int
    parts: tuple[Span, ...]
    text: str = ""
    item: str | None = None
    steps: tuple[int | str, ...] = ()

    @property
    def span(self) -> Span:
        """From the turn's first sound to its last."""
        return Span(self.onset, self.offset)


@dataclass(frozen=True, slots=True)
class Conversation:
    """Both parties of a call: the agent's segments, what the user said, and the turns these make."""

    segments: tuple[Span, ...]
    utterances: tuple[Utterance, ...]
    agent: tuple[Turn, ...]
    user: tuple[Turn, ...]
    stops: tuple[int, ...] = field(default=())
    """Positions at which the agent's sound was cut, or dried up while the user spoke."""


def find_turns(record: CallRecord, playout: Playout, tail_silence: float) -> Conversation:
    """Find the turns of both parties; ``tail_silence`` is in seconds."""
    tail = round(tail_silence * record.rate)
    segments = find_segments(record.agent, record.rate)
    listening = _Listening(tuple(segments), playout, tail)
    utterances = [_with_intent(utterance, listening) for utterance in user_utterances(record)]
    stops = _stops(record, playout, utterances)
    pieces = _cut(record, segments, stops)
    agent = _agent_turns(pieces, _Floor.of(record, playout, utterances), tail)
    user = _user_turns(utterances, [turn.onset for turn in agent], tail)
    return Conversation(tuple(segments), tuple(utterances), tuple(agent), tuple(user), tuple(stops))


def _with_intent(utterance: Utterance, listening: _Listening) -> Utterance:
    """Fillers said while it is the agent's turn leave it the floor; said when it has ended they are an answer."""
    if utterance.intent is not None:
        return utterance
    yields = not (only_fillers(utterance.text) and listening.at(utterance.onset))
    return replace(utterance, intent="turn" if yields else "backchannel")


@dataclass(frozen=True, slots=True)
class _Listening:
    """When it is the agent's turn: while it is heard, and in pauses after which it goes on without waiting."""

    segments: tuple[Span, ...]
    playout: Playout
    tail: int

    def at(self, position: int) -> bool:
        before = max((segment.offset for segment in self.segments if segment.onset <= position), default=None)
        after = min((segment.onset for segment in self.segments if segment.offset > position), default=None)
        if before is None or after is None:
            return False
        return after - before < self.tail or self._goes_on(before, after, position)

    def _goes_on(self, before: int, after: int, position: int) -> bool:
        arrival = self.playout.at(after)
        if arrival is None:
            return False
        return arrival.at <= position or (arrival.item is not None and arrival.item == self.playout.item(before - 1))


def _stops(record: CallRecord, playout: Playout, utterances: Iterable[Utterance]) -> list[int]:
    flushes = {event.at for event in record.of_kind("flush") if integer(event.data, "cut", 1) > 0}
    dry = round(_DRY * record.rate)
    holes = (hole for said in utterances for hole in playout.holes(said.onset, said.offset))
    return sorted(flushes | {hole.onset for hole in holes if len(hole) >= dry})


def _cut(record: CallRecord, segments: Iterable[Span], stops: Sequence[int]) -> list[Span]:
    """Cut segments at stops that lie within them, and trim the pieces to their sound."""
    pieces: list[Span] = []
    for segment in segments:
        inside = [stop for stop in stops if segment.onset < stop < segment.offset]
        if not inside:
            pieces.append(segment)
            continue
        for start, end in zip([segment.onset, *inside], [*inside, segment.offset], strict=True):
            edges = speech_edges(record.agent[start:end], record.rate)
            if edges is not None:
                pieces.append(Span(start + edges.onset, start + edges.offset))
    return pieces


@dataclass(frozen=True, slots=True)
class _Floor:
    """What decides whether a pause of the agent ends its turn."""

    playout: Playout
    flushes: tuple[int, ...]
    spoken: tuple[Span, ...]  # everything the user said
    yielded: tuple[int, ...]  # where the user was done and waits for an answer

    @classmethod
    def of(cls, record: CallRecord, playout: Playout, utterances: Sequence[Utterance]) -> _Floor:
        flushes = tuple(event.at for event in record.of_kind("flush"))
        yielded = tuple(said.offset for said in utterances if said.intent == "turn")
        return cls(playout, flushes, tuple(said.span for said in utterances), yielded)

    def changes(self, before: int, after: int) -> bool:
        """Whether sound that starts at ``after`` is another turn than sound that ended at ``before``."""
        item = self.playout.item(after)
        if item is not None and item == self.playout.item(before - 1):
            return False
        if any(before <= offset <= after for offset in self.yielded):
            return not self._was_queued(before, after)
        flushed = any(before <= flush <= after for flush in self.flushes)
        return flushed and not any(said.onset <= after < said.offset for said in self.spoken)

    def _was_queued(self, before: int, after: int) -> bool:
        arrival = self.playout.at(after)
        yielded = max(offset for offset in self.yielded if before <= offset <= after)
        return arrival is not None and arrival.at < yielded


def _agent_turns(pieces: Sequence[Span], floor: _Floor, tail: int) -> list[Turn]:
    groups: list[list[Span]] = []
    for piece in pieces:
        last = groups[-1][-1].offset if groups else None
        if last is None or piece.onset - last >= tail or floor.changes(last, piece.onset):
            groups.append([])
        groups[-1].append(piece)
    return [
        Turn("agent", parts[0].onset, parts[-1].offset, tuple(parts), item=floor.playout.item(parts[0].onset))
        for parts in groups
    ]


def _user_turns(utterances: Iterable[Utterance], agent_onsets: Sequence[int], tail: int) -> list[Turn]:
    groups: list[list[Utterance]] = []
    for utterance in utterances:
        if utterance.intent != "turn":
            continue
        last = groups[-1][-1].offset if groups else None
        if (
            last is None
            or utterance.onset - last >= tail
            or any(last <= onset <= utterance.onset for onset in agent_onsets)
        ):
            groups.append([])
        groups[-1].append(utterance)
    return [_user_turn(group) for group in groups]


def _user_turn(said: Sequence[Utterance]) -> Turn:
    return Turn(
        "user",
        said[0].onset,
        max(utterance.offset for utterance in said),
        tuple(utterance.span for utterance in said),
        text=" ".join(utterance.text for utterance in said if utterance.text),
        steps=tuple(utterance.step for utterance in said if utterance.step is not None),
    )
