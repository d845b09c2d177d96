"""What a SIP call tells of itself beside its sound: facts of the session and the network, and what to doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

if TYPE_CHECKING:
    from voiceharness_adapters.sip.quality import RtpQuality
    from voiceharness_adapters.sip.session import AudioSession

__all__ = ["Facts", "Placing", "call_facts", "trust_reasons"]

Facts: TypeAlias = dict[str, str | int | float | bool | None]

MAX_LOST_TIME: Final = 0.1
MAX_UNSENT: Final = 2


class Placing(Protocol):
    """How the sound of a call was placed: ``holdback`` and ``lost_time`` in seconds, ``unsent`` in frames."""

    @property
    def holdback(self) -> float:
        """How long received sound was held back."""
        ...

    @property
    def measured(self) -> bool:
        """Whether that was measured for all that came."""
        ...

    @property
    def lost_time(self) -> float:
        """How much the media clock lost."""
        ...

    @property
    def unsent(self) -> int:
        """The user's frames that came too late for their ticks."""
        ...


def call_facts(
    backend: str, session: AudioSession | None, quality: RtpQuality, media: Placing | None, *, blurred: bool
) -> Facts:
    """Return the facts of a call; its sound is ``blurred`` in time where packets are missing, or it is not."""
    facts: Facts = {
        "backend": backend,
        "codec": session.codec if session else "",
        "srtp": bool(session and session.suite),
        **({} if session is None else session.facts()),
        **{f"rtp_{name}": getattr(quality, name) for name in quality.__slots__},
    }
    if media is None:
        return facts
    return {
        **facts,
        "holdback_ms": round(media.holdback * 1000, 1),
        "holdback_measured": media.measured,
        "timing": _timing(quality, media, blurred=blurred),
    }


def trust_reasons(media: Placing) -> tuple[str, ...]:
    """Return why the timing of a call cannot be believed: ticks or frames that the machine was too busy for."""
    reasons = []
    if abs(media.lost_time) > MAX_LOST_TIME:
        reasons.append(f"the media clock lost {media.lost_time:.2f} s: the machine is too busy")
    if media.unsent > MAX_UNSENT:
        reasons.append(f"{media.unsent} frames of the user came too late to be sent: the machine is too busy")
    return tuple(reasons)


def _timing(quality: RtpQuality, media: Placing, *, blurred: bool) -> str:
    """Say what the places of sound are worth."""
    missing = blurred and quality.lost + quality.discarded > 0
    if missing or (quality.ran_dry and not media.measured):
        return "approximate"
    return "exact" if media.measured and not quality.ran_dry else "to half a frame"
