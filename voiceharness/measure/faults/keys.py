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

_READ_BACK: Final = 0.6


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


def inband_tones(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """The tones on the user's track are not the digits that were pressed in band."""
    sent = [key for key in metrics.keys if key.direction == "sent" and key.method == "inband"]
    if not sent:
        return
    heard = [(digit.key, digit.onset) for digit in detect(record.user, record.rate)]
    found = [KeyPress(onset, "received", key, "inband", 0.0) for key, onset in heard]
    matcher = SequenceMatcher(None, _digits(sent), _digits(found), autojunk=False)
    yield from _differences(record, sent, found, matcher, "on the line one hears")


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
