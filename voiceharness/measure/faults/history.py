"""What the agent believes was heard, against what was."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

from voiceharness.audio.edges import Span
from voiceharness.measure.finding import Finding, finding, moment
from voiceharness.measure.utterances import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from voiceharness.line.record import CallRecord, TimelineEvent
    from voiceharness.measure.metrics import Metrics

__all__ = ["DETECTORS", "history", "wrong_truncation"]

TRUNCATION: Final = 0.1
"""Seconds by which a claim of how much was heard may be off."""

_FLUSH_NEAR: Final = 0.5


def history(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """The agent's history of an item lacks heard words, or holds words that were never heard.

    The last claim for an item counts, whenever its words came. One word more than was heard is allowed: the one that
    was cut; so is one missing word where the words' times are estimates.
    """
    claims = {text_of(event.data, "item"): event for event in record.of_kind("history_claimed")}
    for item, claim in claims.items():
        heard = [event for event in record.of_kind("word_heard") if event.data.get("item") == item]
        if heard or not _was_heard(record, item):
            yield from _compared(record, item, claim, heard)


def _compared(record: CallRecord, item: str, claim: TimelineEvent, heard: list[TimelineEvent]) -> Iterator[Finding]:
    spoken = [word for event in heard for word in _words(text_of(event.data, "text"))]
    kept = _words(text_of(claim.data, "text"))
    missing, extra = _difference(spoken, kept)
    span = Span(min((event.at for event in heard), default=claim.at), max([claim.at, *(event.at for event in heard)]))
    if len(missing) > any(event.data.get("estimated") for event in heard):
        yield finding(
            "history_missing_words",
            span,
            len(missing),
            "words",
            f"the agent's history of {item!r} lacks {len(missing)} of {len(spoken)} words that were heard: "
            f"{_quoted(missing)}",
        )
    if len(extra) > bool(spoken) and not _ended_in(record, item):
        yield finding(
            "history_unheard_words",
            span,
            len(extra),
            "words",
            f"the agent's history of {item!r} holds {len(extra)} words that were not heard: {_quoted(extra)}",
        )


def _difference(spoken: list[str], kept: list[str]) -> tuple[list[str], list[str]]:
    """Words of the first that the second lacks, and the reverse, in order."""
    missing, extra = [], []
    for kind, a, b, c, d in SequenceMatcher(None, spoken, kept, autojunk=False).get_opcodes():
        if kind != "equal":
            missing += spoken[a:b]
            extra += kept[c:d]
    return missing, extra


def _words(text: str) -> list[str]:
    return re.findall(r"\w+(?:['’]\w+)*", text.lower())  # noqa: RUF001  # the apostrophe of typeset text


def _quoted(words: list[str], most: int = 5) -> str:
    return " ".join(words[:most]) + " …" * (len(words) > most)


def _was_heard(record: CallRecord, item: str) -> bool:
    return any(arrival.heard > 0 for arrival in record.arrivals if arrival.item == item)


def _ended_in(record: CallRecord, item: str) -> bool:
    """Whether the call ended while an item was heard: then there was no time left to correct its history."""
    ends = [event.at for event in record.of_kind("hangup")]
    last = max((a.start + a.samples for a in record.arrivals if a.item == item), default=0)
    return any(end < last for end in ends) and not any(
        event.at < end for end in ends for event in record.of_kind("flush")
    )


def wrong_truncation(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """The agent cut an item in its history at another place than where the user stopped hearing it."""
    flushes = [event.at for event in record.of_kind("flush")]
    for event in record.of_kind("truncation_claimed"):
        item, claimed = event.data.get("item"), event.data.get("heard")
        if not isinstance(claimed, int | float):
            continue
        near = [flush for flush in flushes if abs(flush - event.at) <= _FLUSH_NEAR * record.rate]
        until = max([event.at, *near])
        pieces = [arrival for arrival in record.arrivals if arrival.item == item]
        heard = sum(min(a.heard, max(0, until - a.start)) for a in pieces) / record.rate
        if abs(claimed - heard) > TRUNCATION:
            yield finding(
                "wrong_truncation",
                Span(min((a.start for a in pieces), default=event.at), until),
                claimed - heard,
                "s",
                f"at {moment(record, event.at)} the agent claimed that {claimed:.2f} s of {item!r} had been heard; "
                f"it was {heard:.2f} s",
            )


DETECTORS: Final = (history, wrong_truncation)
