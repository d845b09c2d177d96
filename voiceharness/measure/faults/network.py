"""Disorder in the agent's packets, as its transport saw it: the recording alone may not show it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from voiceharness.audio.edges import Span
from voiceharness.measure.finding import MEDIA_KINDS, Finding, finding
from voiceharness.measure.utterances import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from voiceharness.line.record import CallRecord, TimelineEvent
    from voiceharness.measure.finding import FindingKind, Unit
    from voiceharness.measure.metrics import Metrics

__all__ = ["DETECTORS", "media_trouble"]


def media_trouble(record: CallRecord, _metrics: Metrics) -> Iterator[Finding]:
    """The transport told of disorder; what it tells again of the same stretch is the news of that."""
    latest: dict[str, Finding] = {}
    for event in record.of_kind("media_trouble"):
        kind = text_of(event.data, "kind")
        if kind not in MEDIA_KINDS:
            continue
        told = _told(record, event, kind)
        before = latest.get(kind)
        if before is not None and told.start <= before.end:
            told = replace(told, start=before.start)
        elif before is not None:
            yield before
        latest[kind] = told
    yield from latest.values()


def _told(record: CallRecord, event: TimelineEvent, kind: FindingKind) -> Finding:
    begin = max(0, event.at - round(_number(event, "duration") * record.rate))
    unit = cast("Unit", text_of(event.data, "unit"))  # the event knows these alone
    explanation = text_of(event.data, "detail")
    return finding(kind, Span(begin, event.at), _number(event, "figure"), unit, explanation, severity="warning")


def _number(event: TimelineEvent, name: str) -> float:
    value = event.data.get(name)
    return float(value) if isinstance(value, int | float) else 0.0


DETECTORS: Final = (media_trouble,)
