"""Faults of keypad digits: lost, doubled, or heard where none was pressed."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

from voiceharness.audio.dtmf import detect
from voiceharness.audio.edges import Span
from voiceharness.measure.finding import Finding, finding, moment
from voiceharness.measure.metrics import KeyPress

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from voiceharness.line.record import CallRecord
    from voiceharness.measure.finding import FindingKind
    from voiceharness.measure.metrics import Metrics

__all__ = ["DETECTORS", "double_method", "inband_tones", "read_back"]

PAUSE: Final = 0.04
"""Seconds between two presses of one key, at the least (ITU-T Q.24)."""

LATE: Final = 2.0
"""Seconds after the last key of a number within which an agent that reads its digits back has begun to."""

_READ_BACK: Final = 0.6
_TOGETHER: Final = 1.0


def double_method(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """One press of the agent came twice, as a tone and as a signal for example."""
    received = [key for key in metrics.keys if key.direction == "received"]
    for index, key in enumerate(received):
        for other in received[index + 1 :]:
            apart = (other.at - key.at) / record.rate
            if other.digit == key.digit and other.method != key.method and apart < max(key.duration, PAUSE) + PAUSE:
                yield finding(
                    "dtmf_doubled",
                    Span(key.at, other.at),
                    1,
                    "digits",
                    f"the agent's {key.digit!r} at {moment(record, key.at)} came twice within {1000 * apart:.0f} ms, "
                    f"by {key.method} and by {other.method}",
                )


def read_back(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """The agent sends back the digits it got, and they are not those that were sent."""
    sent = [key for key in metrics.keys if key.direction == "sent"]
    received = [key for key in metrics.keys if key.direction == "received"]
    matcher = SequenceMatcher(None, _digits(sent), _digits(received), autojunk=False)
    if sent and received and matcher.ratio() >= _READ_BACK:
        yield from _differences(record, sent, received, matcher, "the agent read back")
        yield from _late(record, sent, received, matcher)


def inband_tones(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """The tones on the user's track are not the digits that were pressed in band."""
    sent = [key for key in metrics.keys if key.direction == "sent" and key.method == "inband"]
    if not sent:
        return
    heard = [(digit.key, digit.onset) for digit in detect(record.user, record.rate)]
    found = [KeyPress(onset, "received", key, "inband", 0.0) for key, onset in heard]
    matcher = SequenceMatcher(None, _digits(sent), _digits(found), autojunk=False)
    yield from _differences(record, sent, found, matcher, "on the line one hears")


def _late(
    record: CallRecord, sent: Sequence[KeyPress], received: Sequence[KeyPress], matcher: SequenceMatcher[str]
) -> Iterator[Finding]:
    """A digit that was read back long after its number was complete, and after the digit before it."""
    complete = _completions(record, sent)
    for a, b, size in matcher.get_matching_blocks():
        for index, place in zip(range(a, a + size), range(b, b + size), strict=True):
            key, before = received[place], received[place - 1].at if place else 0
            delay = (key.at - max(complete[index], before)) / record.rate
            if delay > LATE:
                yield finding(
                    "dtmf_late",
                    Span(sent[index].at, key.at),
                    delay,
                    "s",
                    f"{key.digit!r}, pressed at {moment(record, sent[index].at)}, reached the agent late: it was read "
                    f"back at {moment(record, key.at)}, {delay:.2f} s after it could have been",
                )


def _completions(record: CallRecord, sent: Sequence[KeyPress]) -> list[int]:
    """Where the number that each key belongs to was complete: keys at most a second apart are one number."""
    ends = [key.at + round(key.duration * record.rate) for key in sent]
    for index in range(len(sent) - 2, -1, -1):
        if sent[index + 1].at - ends[index] <= _TOGETHER * record.rate:
            ends[index] = ends[index + 1]
    return ends


def _digits(keys: Sequence[KeyPress]) -> str:
    return "".join(key.digit for key in keys)


def _differences(
    record: CallRecord, sent: Sequence[KeyPress], got: Sequence[KeyPress], matcher: SequenceMatcher[str], how: str
) -> Iterator[Finding]:
    told = f"{_digits(sent)!r} was pressed, {how} {_digits(got)!r}"
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind in ("delete", "replace"):
            yield _digit_finding(record, "dtmf_lost", sent[a:b], f"lost: {_digits(sent[a:b])!r}; {told}")
        if kind in ("insert", "replace"):
            extra, neighbours = got[c:d], _digits(got[max(0, c - 1) : c]) + _digits(got[d : d + 1])
            doubled = kind == "insert" and all(key.digit in neighbours for key in extra)
            name: FindingKind = "dtmf_doubled" if doubled else "dtmf_false"
            what = "doubled" if doubled else "never pressed"
            yield _digit_finding(record, name, extra, f"{what}: {_digits(extra)!r}; {told}")


def _digit_finding(record: CallRecord, kind: FindingKind, keys: Sequence[KeyPress], explanation: str) -> Finding:
    last = keys[-1]
    span = Span(keys[0].at, last.at + round(last.duration * record.rate))
    return finding(kind, span, len(keys), "digits", f"{explanation} (at {moment(record, span.onset)})")


DETECTORS: Final = (double_method, read_back, inband_tones)
