"""What an adapter can do, declared as data: asked before a call is dialled, shown by a probe afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from voiceharness.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "AdapterCapabilities",
    "CallAction",
    "Direction",
    "DtmfMethod",
    "Pacing",
    "Playout",
    "Requirement",
    "Timing",
]

DtmfMethod = Literal["event", "rfc4733", "info", "inband"]
"""``event``: the transport's own keypad message; ``rfc4733``: RTP events; ``info``: SIP INFO; ``inband``: tones."""

CallAction = Literal["hold", "resume", "transfer", "reject", "cancel"]
Direction = Literal["dial", "be_dialled"]
Pacing = Literal["line", "transport"]
Playout = Literal["queued", "live"]


@dataclass(frozen=True, slots=True, order=True)
class Requirement:
    """One thing that a scenario needs of its adapter: a capability and, where it has several, which value.

    Written ``interruption``, ``streaming_transcripts``, ``tells_the_end``, ``virtual_time``, ``dtmf:rfc4733``,
    ``call_control:hold`` or ``direction:be_dialled``.
    """

    capability: str
    value: str = ""

    def __str__(self) -> str:
        return f"{self.capability}:{self.value}" if self.value else self.capability


@dataclass(frozen=True, slots=True)
class AdapterCapabilities:
    """The upper bound of what an adapter class can do. The default supports nothing, so forgetting is safe.

    ``streaming_transcripts`` means that the *transport* delivers the agent's words, never the harness's transcriber.
    ``rates`` are the line rates in hertz that the transport carries. ``tells_the_end``: the transport says that the
    agent has hung up, or failed. That one is taken for granted, and every adapter is held to it that does not deny it,
    as a sound card does.
    """

    interruption: bool = False
    dtmf: frozenset[DtmfMethod] = frozenset()
    streaming_transcripts: bool = False
    call_control: frozenset[CallAction] = frozenset()
    directions: frozenset[Direction] = frozenset()
    rates: frozenset[int] = frozenset()
    virtual_time: bool = False
    tells_the_end: bool = True

    def __post_init__(self) -> None:
        _refuse_unknown("DTMF method", self.dtmf, get_args(DtmfMethod))
        _refuse_unknown("call action", self.call_control, get_args(CallAction))
        _refuse_unknown("direction", self.directions, get_args(Direction))

    def supports(self, requirement: Requirement) -> bool:
        """Say whether this value meets one requirement.

        Raises:
            OptionError: if there is no such capability.
        """
        match requirement.capability:
            case "interruption":
                return self.interruption
            case "streaming_transcripts":
                return self.streaming_transcripts
            case "virtual_time":
                return self.virtual_time
            case "tells_the_end":
                return self.tells_the_end
            case "dtmf":
                return requirement.value in self.dtmf if requirement.value else bool(self.dtmf)
            case "call_control":
                return requirement.value in self.call_control
            case "direction":
                return requirement.value in self.directions
        raise OptionError(f"there is no capability {requirement.capability!r}")

    def missing(self, requirements: Iterable[Requirement]) -> tuple[Requirement, ...]:
        """Return the requirements that this value does not meet, in their order."""
        return tuple(requirement for requirement in requirements if not self.supports(requirement))


@dataclass(frozen=True, slots=True)
class Timing:
    """Who keeps time on a transport, and whether arriving audio waits in a queue.

    ``line``: the harness sends each user frame at its deadline. ``transport``: the adapter's own tick asks for frames.
    ``queued``: audio may arrive in bursts and is heard at 1x. ``live``: audio is heard at its own position.
    """

    paced_by: Pacing = "line"
    playout: Playout = "queued"


def _refuse_unknown(what: str, given: Iterable[str], known: tuple[str, ...]) -> None:
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise OptionError(f"no {what} {unknown[0]!r}; there are {', '.join(known)}")
