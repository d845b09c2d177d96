"""What each SIP backend can do, and how long it holds sound back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from voiceharness.capabilities import AdapterCapabilities, Timing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voiceharness_adapters.sip.settings import Backend

__all__ = [
    "CAPABILITIES",
    "CONCEALMENT",
    "LOSS_BLURS_TIME",
    "OFFERS_AGAIN",
    "REFUSALS",
    "TIMING",
    "UPPER_BOUND",
    "USUAL_WAIT",
]

UPPER_BOUND: Final = AdapterCapabilities(
    dtmf=frozenset({"rfc4733", "info", "inband"}),
    call_control=frozenset({"hold", "resume", "transfer", "reject", "cancel"}),
    directions=frozenset({"dial", "be_dialled"}),
    rates=frozenset({8000, 16000, 48000}),
)
"""What the adapter class declares: what at least one backend can do."""

TIMING: Final = Timing(paced_by="transport", playout="live")
"""The worker's media clock keeps time, and RTP has its own place in it."""

CAPABILITIES: Final[Mapping[Backend, AdapterCapabilities]] = {
    "pjsua2": replace(UPPER_BOUND, rates=frozenset({8000, 16000})),
    "baresip": replace(UPPER_BOUND, dtmf=frozenset({"rfc4733", "inband"})),
}

REFUSALS: Final[Mapping[Backend, frozenset[int] | None]] = {"pjsua2": None, "baresip": frozenset({486})}
"""The statuses with which a backend can refuse a call; None: any."""

CONCEALMENT: Final[Mapping[Backend, float]] = {"pjsua2": 0.005, "baresip": 0.0}
"""Seconds by which a backend's loss concealment delays all sound."""

USUAL_WAIT: Final[Mapping[Backend, float]] = {"pjsua2": 0.030, "baresip": 0.095}
"""Seconds that a packet usually waits in the worker's buffers; to half a frame, whatever the clocks' phase."""

OFFERS_AGAIN: Final[Mapping[Backend, bool]] = {"pjsua2": False, "baresip": True}
"""Whether a backend by itself makes an offer again that crossed one of the peer's (491; RFC 3261, 14.1)."""

LOSS_BLURS_TIME: Final[Mapping[Backend, bool]] = {"pjsua2": False, "baresip": True}
"""Whether a backend says nothing of a packet that was lost, so that one has to tell by the time when others come."""
