"""How a line is run."""

from __future__ import annotations

from dataclasses import dataclass

from voiceharness.errors import OptionError
from voiceharness.impairment.path import CLEAN, LineImpairments

__all__ = ["LineSettings"]


@dataclass(frozen=True, slots=True)
class LineSettings:
    """What a line needs to know before a call.

    ``rate``: the line rate in hertz, 8000, 16000 or 48000. ``frame_ms``: length of a user frame. ``delay``: one-way
    delay in seconds, added in both directions. ``prebuffer``: seconds that playout waits when its queue had run empty.
    ``pause``: silence in seconds after which the agent no longer counts as speaking. ``impairments``: what a bad line
    does; its own delay adds to ``delay``. ``seed`` decides what is left to chance there. ``phase``: the part of
    a frame, from 0 to 1, by which this line's frames are due after the loop clock's multiples of a frame, so that those
    of many lines in one process are not due together; the answer is that much later. None: as it comes.
    """

    rate: int = 8000
    frame_ms: int = 20
    delay: float = 0.0
    prebuffer: float = 0.0
    pause: float = 0.3
    impairments: LineImpairments = CLEAN
    seed: int = 0
    phase: float | None = None

    def __post_init__(self) -> None:
        if self.rate not in (8000, 16000, 48000):
            raise OptionError(f"the line rate must be 8000, 16000 or 48000 Hz, not {self.rate}")
        if self.frame_ms not in (10, 20, 30):
            raise OptionError(f"a frame must be 10, 20 or 30 ms, not {self.frame_ms}")
        for name in ("delay", "prebuffer", "pause"):
            if not 0 <= getattr(self, name) <= 10:
                raise OptionError(f"{name} must be from 0 to 10 s, not {getattr(self, name)}")
        if self.phase is not None and not 0 <= self.phase < 1:
            raise OptionError(f"phase is a part of a frame, from 0 to 1, not {self.phase}")

    @property
    def one_way_delay(self) -> float:
        """Seconds that sound takes from one party to the other."""
        return self.delay + self.impairments.delay

    @property
    def frame(self) -> int:
        """Samples in a frame."""
        return self.rate * self.frame_ms // 1000

    def samples(self, seconds: float) -> int:
        """Convert a duration to samples at the line rate."""
        return round(seconds * self.rate)
