"""What a SIP call tells of itself."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from voiceharness_adapters.sip.evidence import call_facts, trust_reasons
from voiceharness_adapters.sip.quality import RtpQuality

__all__: list[str] = []

GOOD = RtpQuality.of({"received": 500, "buffer_empty": 1}, codec="PCMU")


@dataclass(frozen=True)
class Placed:
    holdback: float = 0.0402
    measured: bool = True
    lost_time: float = 0.0
    unsent: int = 0


@pytest.mark.parametrize(
    ("quality", "placed", "blurred", "timing"),
    [
        (GOOD, Placed(), True, "exact"),
        (replace(GOOD, lost=3), Placed(), False, "exact"),
        (replace(GOOD, lost=3), Placed(), True, "approximate"),
        (replace(GOOD, discarded=1), Placed(), True, "approximate"),
        (replace(GOOD, ran_dry=1), Placed(), False, "to half a frame"),
        (replace(GOOD, ran_dry=1), Placed(measured=False), False, "approximate"),
        (GOOD, Placed(measured=False), False, "to half a frame"),
    ],
)
def test_timing_says_what_the_places_of_sound_are_worth(
    quality: RtpQuality, placed: Placed, blurred: bool, timing: str
) -> None:
    facts = call_facts("a backend", None, quality, placed, blurred=blurred)
    assert (facts["timing"], facts["holdback_ms"]) == (timing, 40.2)


def test_a_call_without_media_has_no_timing() -> None:
    facts = call_facts("a backend", None, GOOD, None, blurred=True)
    assert "timing" not in facts
    assert (facts["backend"], facts["codec"], facts["rtp_received"]) == ("a backend", "", 500)


@pytest.mark.parametrize(
    ("placed", "reasons"),
    [
        (Placed(unsent=2, lost_time=0.1), ()),
        (Placed(unsent=3), ("3 frames of the user came too late to be sent: the machine is too busy",)),
        (Placed(lost_time=-0.25), ("the media clock lost -0.25 s: the machine is too busy",)),
    ],
)
def test_a_busy_machine_is_a_reason_to_doubt(placed: Placed, reasons: tuple[str, ...]) -> None:
    assert trust_reasons(placed) == reasons
