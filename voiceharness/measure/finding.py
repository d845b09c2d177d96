"""A fault of the agent that was found in a call, as a value."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final, Literal, get_args

if TYPE_CHECKING:
    from voiceharness.audio.edges import Span
    from voiceharness.line.record import CallRecord

__all__ = ["FINDING_KINDS", "MEDIA_KINDS", "Finding", "FindingKind", "Severity", "Unit", "finding", "moment"]

FindingKind = Literal[
    "aliasing",
    "audio_after_flush",
    "backlog",
    "barge_in_ignored",
    "claimed_speaking_but_silent",
    "clicks_at_seams",
    "dead_air",
    "double_answer",
    "dtmf_doubled",
    "dtmf_false",
    "dtmf_late",
    "dtmf_lost",
    "false_yield",
    "farewell_cut",
    "growing_latency",
    "hangup_too_early",
    "hangup_too_late",
    "hangup_undetected",
    "history_missing_words",
    "history_unheard_words",
    "late_flush",
    "lost_first_words",
    "media_gap",
    "no_flush_on_barge_in",
    "noise_instead_of_speech",
    "pacing_drift",
    "repeated_prompt",
    "residual_burst",
    "rtp_address_changed",
    "rtp_clock_skew",
    "rtp_doubled",
    "rtp_late",
    "rtp_lost",
    "rtp_reordered",
    "rtp_sequence_jump",
    "rtp_source_changed",
    "rtp_timestamp_jump",
    "self_interruption",
    "silence_as_noise",
    "stale_answer",
    "stopped_not_resumed",
    "swapped_bytes",
    "talking_over_user",
    "wrong_encoding",
    "wrong_law",
    "wrong_rate",
    "wrong_truncation",
]

FINDING_KINDS: Final[tuple[FindingKind, ...]] = get_args(FindingKind)
"""The stable names of all faults that are looked for."""

MEDIA_KINDS: Final = frozenset(kind for kind in FINDING_KINDS if kind.startswith("rtp_"))
"""Those that a transport sees in the agent's packets, and tells of."""

Severity = Literal["fault", "warning"]
Unit = Literal["s", "x", "dB", "words", "digits", "turns", "clicks", "messages", "packets", "times"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault: samples ``start`` to ``end``, its size as ``figure`` in ``unit``, and a sentence on it.

    A *fault* is wrong whatever was wanted; a *warning* may have been meant so.
    """

    kind: FindingKind
    severity: Severity
    start: int
    end: int
    figure: float
    unit: Unit
    explanation: str

    def to_json(self) -> dict[str, str | int | float]:
        """Return the finding as plain values under the same names."""
        return asdict(self)


def finding(
    kind: FindingKind, where: Span, figure: float, unit: Unit, explanation: str, *, severity: Severity = "fault"
) -> Finding:
    """Make a finding of a stretch of a track."""
    return Finding(kind, severity, where.onset, where.offset, round(figure, 4), unit, explanation)


def moment(record: CallRecord, position: int) -> str:
    """Write a position as people read it: ``3.52 s``."""
    return f"{position / record.rate:.2f} s"
