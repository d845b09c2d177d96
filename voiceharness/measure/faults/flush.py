"""Faults after a barge-in: what the user goes on hearing, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from voiceharness.audio.edges import Span
from voiceharness.measure.barge_ins import YIELD_WITHIN
from voiceharness.measure.finding import Finding, finding, moment
from voiceharness.measure.playout import Playout
from voiceharness.measure.spans import intersections, joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from voiceharness.line.record import CallRecord
    from voiceharness.measure.barge_ins import BargeIn
    from voiceharness.measure.metrics import Metrics

__all__ = [
    "DETECTORS",
    "barge_in_ignored",
    "late_flush",
    "lost_first_words",
    "no_flush_on_barge_in",
    "sound_after_stop",
]

STOP_WITHIN: Final = 0.5
"""Seconds of queued audio that may be heard out after a barge-in without a flush."""

FLUSH_WITHIN: Final = 1.0
"""Seconds after the onset of a barge-in by which a flush is in time."""

BURST: Final = 0.15
"""Seconds below which stray sound is a burst, a fraction of a syllable; from there on it is speech."""

HARDLY: Final = 0.1
"""Seconds of an item that nobody notices to have heard."""

RINGING: Final = 0.015
"""Seconds for which a filter on the line may sound on; a frame that was sent is longer."""

_REACTION: Final = 0.3
_OLD_FOR: Final = 0.7
_GOES_ON: Final = 0.5


def no_flush_on_barge_in(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """Queued audio was heard out because nothing emptied the queue."""
    playout = Playout(record.arrivals)
    for barge_in in _interruptions(metrics):
        end = _end_of_turn(metrics, barge_in)
        queued = (min(_queued_until(playout, record, barge_in), end) - barge_in.onset) / record.rate
        if barge_in.flush is None and queued > STOP_WITHIN:
            yield finding(
                "no_flush_on_barge_in",
                Span(barge_in.onset, end),
                barge_in.stop_latency or 0.0,
                "s",
                f"the user interrupted at {moment(record, barge_in.onset)} and no flush was sent: {queued:.2f} s of "
                f"audio that was queued already were heard out, until {moment(record, end)}",
            )


def late_flush(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """A flush was sent, but long after the barge-in."""
    for barge_in in _interruptions(metrics):
        if barge_in.flush is None:
            continue
        delay = (barge_in.flush - barge_in.onset) / record.rate
        if delay > FLUSH_WITHIN:
            yield finding(
                "late_flush",
                Span(barge_in.onset, barge_in.flush),
                delay,
                "s",
                f"the user interrupted at {moment(record, barge_in.onset)} and the flush came {delay:.2f} s later; "
                f"within {FLUSH_WITHIN:g} s it would have been in time",
            )


def barge_in_ignored(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """The agent took no notice of an interruption; told apart by phase in the explanation."""
    for barge_in in metrics.barge_ins:
        if not _speech_for_the_floor(barge_in) or barge_in.heeded is not False:
            continue
        if barge_in.phase == "thinking":
            yield _ignored_while_thinking(record, metrics, barge_in)
        elif not _reacted(record, metrics, barge_in) and not _only_heard_out(record, metrics, barge_in):
            end = _end_of_turn(metrics, barge_in)
            yield finding(
                "barge_in_ignored",
                Span(barge_in.onset, end),
                barge_in.stop_latency or 0.0,
                "s",
                f"phase speaking: the user interrupted at {moment(record, barge_in.onset)} and the agent spoke on "
                f"for {barge_in.stop_latency:.2f} s without any sign of having noticed",
            )


def sound_after_stop(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """Sound of the old turn came back after the flush, or after the agent had fallen silent."""
    playout = Playout(record.arrivals)
    flushes = [event.at for event in record.of_kind("flush") if not _cut_for_a_listener(record, metrics, event.at)]
    leaks = [leak for flush in flushes for leak in _leaks(record, metrics, playout, flush)]
    for barge_in in _interruptions(metrics):
        leaks += [part for part in barge_in.residual if barge_in.flush is not None or _is_burst(record, part)]
    for leak in _sent(playout, joined(leaks)):
        if len(leak) >= RINGING * record.rate:
            yield _stray(record, leak)


def lost_first_words(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """A flush took the beginning of an answer that was then sent on, though the user had left the agent the floor."""
    for event in record.of_kind("flush"):
        for item in _begun(record, metrics, event.at):
            pieces = [arrival for arrival in record.arrivals if arrival.item == item]
            before = [arrival for arrival in pieces if arrival.at <= event.at]
            after = next((arrival for arrival in pieces if arrival.at > event.at and arrival.heard), None)
            lost = sum(arrival.samples - arrival.heard for arrival in before) / record.rate
            if after is not None and after.at - event.at <= _GOES_ON * record.rate and lost >= BURST:
                yield finding(
                    "lost_first_words",
                    Span(before[0].start, after.start),
                    lost,
                    "s",
                    f"a flush at {moment(record, event.at)} took the first {lost:.2f} s of {item!r}, of which the user "
                    f"heard the rest from {moment(record, after.start)} on",
                )


def _begun(record: CallRecord, metrics: Metrics, flush: int) -> set[str]:
    """Items that a flush removed before anything of them was heard, to speak of, and not because the user spoke."""
    begun = set()
    for item in {arrival.item for arrival in record.arrivals if arrival.at <= flush < arrival.start + arrival.samples}:
        pieces = [arrival for arrival in record.arrivals if arrival.item == item and arrival.at <= flush]
        heard, since = sum(arrival.heard for arrival in pieces), pieces[0].at
        said = any(utterance.onset <= flush and utterance.offset > since for utterance in metrics.utterances)
        if item is not None and heard <= HARDLY * record.rate and not said:
            begun.add(item)
    return begun


def _ignored_while_thinking(record: CallRecord, metrics: Metrics, barge_in: BargeIn) -> Finding:
    answer = next(turn.onset for turn in metrics.agent_turns if turn.onset >= barge_in.onset)
    return finding(
        "barge_in_ignored",
        Span(barge_in.onset, max(answer, barge_in.offset)),
        (answer - barge_in.onset) / record.rate,
        "s",
        f"phase thinking: the user added something at {moment(record, barge_in.onset)}, before the agent had begun, "
        f"and the answer that was on its way came at {moment(record, answer)} regardless",
    )


def _interruptions(metrics: Metrics) -> list[BargeIn]:
    return [each for each in metrics.barge_ins if each.phase == "speaking" and _speech_for_the_floor(each)]


def _speech_for_the_floor(barge_in: BargeIn) -> bool:
    return barge_in.intent == "turn" and barge_in.source != "press" and barge_in.via != "signal"


def _end_of_turn(metrics: Metrics, barge_in: BargeIn) -> int:
    return barge_in.onset if barge_in.turn is None else metrics.agent_turns[barge_in.turn].offset


def _queued_until(playout: Playout, record: CallRecord, barge_in: BargeIn) -> int:
    """Where the audio ends that was in the queue when the agent could have reacted."""
    known = barge_in.onset + round(_REACTION * record.rate)
    waiting = (a for a in playout.heard if a.at <= known and a.start + a.heard > barge_in.onset)
    return max((a.start + a.heard for a in waiting), default=barge_in.onset)


def _reacted(record: CallRecord, metrics: Metrics, barge_in: BargeIn) -> bool:
    """Whether anything the agent did in time, while it was heard on, shows that it had noticed."""
    end = min(_end_of_turn(metrics, barge_in), barge_in.onset + round(YIELD_WITHIN * record.rate))
    item = None if barge_in.turn is None else metrics.agent_turns[barge_in.turn].item
    claims = record.of_kind("state_claimed", "truncation_claimed", "flush")
    if any(barge_in.onset < claim.at <= end and claim.data.get("state") != "speaking" for claim in claims):
        return True
    fresh = (arrival for arrival in record.arrivals if barge_in.onset < arrival.at <= end)
    return any(arrival.item not in (item, None) for arrival in fresh)


def _only_heard_out(record: CallRecord, metrics: Metrics, barge_in: BargeIn) -> bool:
    """Whether nothing was sent while the user spoke: what was queued before shows a missing flush, not deafness."""
    known = barge_in.onset + round(_REACTION * record.rate)
    spoken = min(max(barge_in.offset, 2 * known - barge_in.onset), _end_of_turn(metrics, barge_in))
    return bool(record.arrivals) and not any(known < arrival.at <= spoken for arrival in record.arrivals)


def _cut_for_a_listener(record: CallRecord, metrics: Metrics, flush: int) -> bool:
    """Whether the last thing the user said before a flush left the agent the floor: then it may well go on."""
    said = [utterance for utterance in metrics.utterances if utterance.onset <= flush]
    return bool(said) and said[-1].intent != "turn"


def _leaks(record: CallRecord, metrics: Metrics, playout: Playout, flush: int) -> Iterable[Span]:
    """Heard sound that arrived after a flush although it belongs to an item the flush removed."""
    since = flush - round(_OLD_FOR * record.rate)
    old = {a.item for a in record.arrivals if a.at <= flush and a.start < flush and a.start + a.samples > since}
    old -= {None, *_begun(record, metrics, flush)}
    if not old:
        return []
    late = [a for a in playout.heard if a.start >= flush and a.at >= flush and a.item in old]
    return intersections(joined(Span(a.start, a.start + a.heard) for a in late), metrics.segments)


def _sent(playout: Playout, leaks: Sequence[Span]) -> Sequence[Span]:
    """What the agent really sent of some sound; the rest is noise, echo or ringing of the line."""
    if not leaks or not playout.heard:
        return leaks
    first, last = leaks[0].onset, leaks[-1].offset
    near = (a for a in playout.heard if a.start < last and a.start + a.heard > first)
    return intersections(leaks, joined(Span(a.start, a.start + a.heard) for a in near))


def _is_burst(record: CallRecord, part: Span) -> bool:
    return len(part) < BURST * record.rate


def _stray(record: CallRecord, leak: Span) -> Finding:
    length = len(leak) / record.rate
    between = f"from {moment(record, leak.onset)} to {moment(record, leak.offset)}"
    if _is_burst(record, leak):
        text = f"after the agent had stopped for the user, a stray burst of {1000 * length:.0f} ms was heard {between}"
        return finding("residual_burst", leak, length, "s", text)
    text = f"{length:.2f} s of the answer that the flush had removed were still sent, and heard {between}"
    return finding("audio_after_flush", leak, length, "s", text)


DETECTORS: Final = (no_flush_on_barge_in, late_flush, barge_in_ignored, sound_after_stop, lost_first_words)
