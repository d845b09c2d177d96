"""What lies between user and agent, as a scenario says it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Final, Literal, TypeAlias

from voiceharness.errors import ScenarioError
from voiceharness.impairment.packets import Jitter, Loss, PacketImpairment
from voiceharness.impairment.path import CLEAN, PROFILES, LineImpairments, OneWay
from voiceharness.impairment.sound import Echo, Noise, NoiseKind
from voiceharness.scenario.fields import Decibels, PositiveNumber, Probability, Seconds, check_fields

__all__ = ["CLEAN_LINE", "LineProfile", "ProfileName"]

ProfileName: TypeAlias = Literal["good", "mobile", "bad_wifi", "speakerphone"]


@dataclass(frozen=True, slots=True)
class LineProfile:
    """A named line, or its own faults, or both: the faults come on top of the name's.

    ``delay``: one-way delay in seconds, the same in both directions, on top of the profile's. ``noise``: the
    signal-to-noise ratio, in dB, of ``noise_kind`` around the user. ``echo``: the level, in dB, at which the agent's
    own sound comes back to it after ``echo_delay``. ``loss``: the share of frames lost, each way, in bursts of
    ``burst`` frames on average. ``jitter``: frames come up to this many seconds late, each way.
    """

    delay: Seconds = 0.0
    profile: ProfileName | None = None
    noise: Decibels | None = None
    noise_kind: NoiseKind = "white"
    echo: Decibels | None = None
    echo_delay: Seconds = 0.15
    loss: Probability | None = None
    burst: PositiveNumber = 1.0
    jitter: Seconds | None = None

    kind: ClassVar[str] = "line"

    def __post_init__(self) -> None:
        check_fields(self, self.kind)
        for fault, detail, default in (
            ("noise", "noise_kind", "white"),
            ("echo", "echo_delay", 0.15),
            ("loss", "burst", 1.0),
        ):
            if getattr(self, fault) is None and getattr(self, detail) != default:
                raise ScenarioError(f"line: {detail} goes with {fault}, which is not given")

    def impairments(self) -> LineImpairments:
        """Return what the line does, without ``delay``.

        Raises:
            OptionError: if an amount is beyond what can be done.
        """
        named = CLEAN if self.profile is None else PROFILES[self.profile]
        around_user = list(named.to_agent.sound)
        if self.noise is not None:
            around_user.insert(0, Noise(self.noise, self.noise_kind))
        if self.echo is not None:
            around_user.insert(0, Echo(self.echo_delay, self.echo))
        packets = self._packets()
        return replace(
            named,
            to_agent=OneWay(tuple(around_user), named.to_agent.packets + packets),
            to_user=OneWay(named.to_user.sound, named.to_user.packets + packets),
        )

    def _packets(self) -> tuple[PacketImpairment, ...]:
        faults: list[PacketImpairment] = []
        if self.loss is not None:
            faults.append(Loss(self.loss, self.burst))
        if self.jitter is not None:
            faults.append(Jitter(self.jitter))
        return tuple(faults)


CLEAN_LINE: Final = LineProfile()
"""A line that does nothing."""
