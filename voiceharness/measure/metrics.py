"""All figures of one call, computed from its record alone."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from voiceharness.measure.answers import Exchange, pair
from voiceharness.measure.barge_ins import BargeIn, find_barge_ins
from voiceharness.measure.percentiles import Distribution, Percentile, describe
from voiceharness.measure.playout import Playout
from voiceharness.measure.spans import gaps, intersections, joined, total
from voiceharness.measure.turns import find_turns
from voiceharness.measure.utterances import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voiceharness.audio.edges import Span
    from voiceharness.events import Party
    from voiceharness.line.record import CallRecord
    from voiceharness.measure.turns import Conversation, Turn
    from voiceharness.measure.utterances import Utterance

__all__ = ["TAIL_SILENCE", "Json", "KeyPress", "Metrics", "Silence", "measure"]

TAIL_SILENCE = 0.7
"""Seconds of silence that end a turn."""

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"


@dataclass(frozen=True, slots=True)
class Silence:
    """A stretch, in samples, in which nobody was heard. ``after`` spoke last (None: nobody yet)."""

    onset: int
    offset: int
    duration: float
    after: Party | None


@dataclass(frozen=True, slots=True)
class KeyPress:
    """A digit the user sent or the agent's side sent, at a sample; ``duration`` in seconds."""

    at: int
    direction: Literal["sent", "received"]
    digit: str
    method: str
    duration: float


@dataclass(frozen=True, slots=True)
class Metrics:
    """What was measured in a call. Positions are samples at ``rate``, durations and latencies are seconds.

    ``segments`` are the stretches of the agent's sound, ``utterances`` what the user said. ``agent_turns`` and
    ``user_turns`` are joined from them; ``exchanges`` has one entry per user turn, in the same order. ``silences``
    lists those of at least the tail silence. ``response_latency`` counts unanswered turns as missing;
    ``stop_latency`` is over the barge-ins that asked for the floor while the agent was heard.
    """

    rate: int
    duration: float
    tail_silence: float
    segments: tuple[Span, ...]
    utterances: tuple[Utterance, ...]
    agent_turns: tuple[Turn, ...]
    user_turns: tuple[Turn, ...]
    exchanges: tuple[Exchange, ...]
    barge_ins: tuple[BargeIn, ...]
    silences: tuple[Silence, ...]
    keys: tuple[KeyPress, ...]
    user_talk: float
    agent_talk: float
    double_talk: float
    response_latency: Distribution
    stop_latency: Distribution

    @property
    def latencies(self) -> tuple[float | None, ...]:
        """Response latency of each user turn; None where it was never answered."""
        return tuple(exchange.latency for exchange in self.exchanges)

    def answer_to(self, turn: int) -> Turn | None:
        """Return the agent turn that answers a user turn."""
        answer = self.exchanges[turn].answer
        return None if answer is None else self.agent_turns[answer]

    def to_json(self) -> dict[str, Json]:
        """Return everything as plain values under the same names; percentiles as ``p50``, ``p90``, ``p95``."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}


def measure(record: CallRecord, *, tail_silence: float = TAIL_SILENCE) -> Metrics:
    """Measure a call, or one that is still going on up to the end of its record.

    ``tail_silence`` is in seconds.

    Raises:
        AudioError: if the record's rate is none that can be listened at.
    """
    playout = Playout(record.arrivals)
    conversation = find_turns(record, playout, tail_silence)
    exchanges = pair(record, conversation)
    barge_ins = find_barge_ins(record, conversation, playout)
    spoken = joined(utterance.span for utterance in conversation.utterances)
    return Metrics(
        rate=record.rate,
        duration=record.duration,
        tail_silence=tail_silence,
        segments=conversation.segments,
        utterances=conversation.utterances,
        agent_turns=conversation.agent,
        user_turns=conversation.user,
        exchanges=exchanges,
        barge_ins=barge_ins,
        silences=_silences(record, conversation, spoken, round(tail_silence * record.rate)),
        keys=_keys(record),
        user_talk=total(spoken) / record.rate,
        agent_talk=total(conversation.segments) / record.rate,
        double_talk=total(intersections(spoken, conversation.segments)) / record.rate,
        response_latency=describe(exchange.latency for exchange in exchanges),
        stop_latency=describe(
            barge_in.stop_latency
            for barge_in in barge_ins
            if barge_in.phase == "speaking" and barge_in.intent == "turn" and barge_in.source != "press"
        ),
    )


def _silences(
    record: CallRecord, conversation: Conversation, spoken: Sequence[Span], shortest: int
) -> tuple[Silence, ...]:
    sound = joined([*conversation.segments, *spoken])
    quiet = (span for span in gaps(sound, 0, len(record.user)) if len(span) >= shortest)
    agent_offsets = {segment.offset for segment in conversation.segments}
    return tuple(
        Silence(
            span.onset,
            span.offset,
            len(span) / record.rate,
            None if span.onset == 0 else "agent" if span.onset in agent_offsets else "user",
        )
        for span in quiet
    )


def _keys(record: CallRecord) -> tuple[KeyPress, ...]:
    presses = []
    for event in record.of_kind("digit_sent", "digit_received"):
        duration = event.data.get("duration")
        seconds = float(duration) if isinstance(duration, int | float) else 0.0
        direction: Literal["sent", "received"] = "sent" if event.kind == "digit_sent" else "received"
        presses.append(
            KeyPress(event.at, direction, text_of(event.data, "digit"), text_of(event.data, "method"), seconds)
        )
    return tuple(presses)


def _plain(value: object) -> Json:
    match value:
        case None | str() | int() | float():
            return value
        case Distribution():
            return _plain_distribution(value)
        case tuple():
            return [_plain(each) for each in value]
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    raise TypeError(f"no JSON form for {value!r}")


def _plain_distribution(value: Distribution) -> dict[str, Json]:
    percentiles: dict[str, Json] = {f"p{each.p:g}": _plain_percentile(each) for each in value.percentiles}
    names = ("n", "missing", "minimum", "mean", "maximum")
    return {**{name: getattr(value, name) for name in names}, **percentiles}


def _plain_percentile(value: Percentile) -> dict[str, Json]:
    return {"value": value.value, "n": value.n, "needed": value.needed, "estimator": value.estimator}
