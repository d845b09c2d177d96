"""Faults of ending a call: too early, too late, or without noticing that it has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from voiceharness.audio.edges import Span
from voiceharness.measure.finding import Finding, finding, moment
from voiceharness.measure.utterances import integer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from voiceharness.line.record import CallRecord
    from voiceharness.measure.metrics import Metrics

__all__ = ["DETECTORS", "farewell_cut", "hangup_too_early", "hangup_too_late", "hangup_undetected"]

TOO_LATE: Final = 10.0
"""Seconds of silence after its own last words within which an agent that ends a call has ended it."""

WENT_ON: Final = 10
"""Messages that an agent may still have sent when it learns that the call has ended; frames of 20 ms: 0.2 s."""

_CUT: Final = 0.3


def farewell_cut(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """The agent hung up before what it had sent was heard."""
    flushed = max((event.at for event in record.of_kind("flush")), default=-1)
    for event in record.of_kind("hangup"):
        if event.data.get("by") != "agent":
            continue
        lost = [
            a for a in record.arrivals if a.heard < a.samples and a.at >= flushed and a.start + a.samples > event.at
        ]
        unheard = sum(a.samples - a.heard for a in lost) / record.rate
        if unheard >= _CUT:
            sent = sum(a.samples for a in lost) / record.rate
            yield finding(
                "farewell_cut",
                Span(min(a.start for a in lost), event.at),
                unheard,
                "s",
                f"the agent hung up at {moment(record, event.at)} with {unheard:.2f} s still to be heard of the "
                f"{sent:.2f} s it had just sent",
            )


def hangup_too_early(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """The agent hung up while the user was speaking."""
    said = list(record.of_kind("user_utterance"))
    for event in record.of_kind("hangup"):
        for utterance in said if event.data.get("by") == "agent" else ():
            onset, offset = (integer(utterance.data, name, utterance.at) for name in ("onset", "offset"))
            if onset < event.at < offset:
                unsaid = (offset - event.at) / record.rate
                yield finding(
                    "hangup_too_early",
                    Span(onset, event.at),
                    unsaid,
                    "s",
                    f"the agent hung up at {moment(record, event.at)}, in the middle of what the user had begun to say "
                    f"at {moment(record, onset)}; {unsaid:.2f} s were not said",
                )


def hangup_too_late(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """The agent had the last word, and the line stayed open in silence until it, or only the limit, ended the call."""
    spoken = max((turn.offset for turn in metrics.agent_turns), default=None)
    if spoken is None or any(said.offset > spoken for said in metrics.utterances):
        return
    for event in record.of_kind("hangup"):
        silent = (event.at - spoken) / record.rate
        if event.data.get("by") not in ("agent", "limit") or silent < TOO_LATE:
            continue
        how = "hung up" if event.data.get("by") == "agent" else "had not hung up when the call reached its limit"
        yield finding(
            "hangup_too_late",
            Span(spoken, event.at),
            silent,
            "s",
            f"the agent had said its last words by {moment(record, spoken)} and {how} at {moment(record, event.at)}, "
            f"after {silent:.2f} s of silence",
            severity="warning",
        )


def hangup_undetected(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """The agent went on sending after the call had ended."""
    for event in record.of_kind("sent_after_end"):
        count = integer(event.data, "messages", 0)
        if count >= WENT_ON:
            yield finding(
                "hangup_undetected",
                Span(event.at, event.at),
                count,
                "messages",
                f"the call ended at {moment(record, event.at)}, and the agent sent {count} messages after that",
            )


DETECTORS: Final = (farewell_cut, hangup_too_early, hangup_too_late, hangup_undetected)
