"""What the device tells, or fails to tell, of samples that were lost; and whether the call can be trusted after it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from voiceharness.clock import NS
from voiceharness.errors import DeviceError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from voiceharness_adapters.sound_card.path import PathFollower
    from voiceharness_adapters.sound_card.stream import Block

__all__ = ["DeviceFault", "DeviceHealth", "SoundingTicks", "path_doubts"]

COUNTED_AFTER: Final = 2.0
LEAST_COUNT: Final = 0.75
"""Share of the samples; one that loses less goes on, and its clock tells."""

MOST_LOST: Final = 0.02
MOST_BROKEN_BLOCKS: Final = 2
MOST_TOLD: Final = 3
MOST_LATE: Final = 0.06
MOST_DRIFT_PPM: Final = 500.0


@dataclass(frozen=True, slots=True)
class DeviceFault:
    """Something the driver told: ``kind`` is overflow, underflow or starved; ``at`` is seconds into the stream.

    ``samples`` is how many were lost, at the device's rate, as far as the device's clock tells.
    """

    kind: str
    at: float
    samples: int

    def __str__(self) -> str:
        return f"{self.kind} at {self.at:.3f} s: {self.samples} samples"


class SoundingTicks:
    """Which ticks had sound to play, be it put in time or not: silence that comes too late is no loss."""

    def __init__(self) -> None:
        self._ticks: deque[int] = deque()

    def note(self, tick: int, samples: NDArray[np.int16]) -> None:
        """Take note of what is put for a tick; ticks never go back."""
        if samples.any():
            self._ticks.append(tick)

    def at(self, tick: int) -> bool:
        """Say whether a tick had sound; forgets those before it."""
        while self._ticks and self._ticks[0] < tick:
            self._ticks.popleft()
        return bool(self._ticks) and self._ticks[0] == tick


class DeviceHealth:
    """Counts what a stream loses of somebody's sound. Begins with the first block it is given."""

    def __init__(self, rate: int, block: int, whose: str = "the user's") -> None:
        self.faults: list[DeviceFault] = []
        self._rate = rate
        self._block = block
        self._whose = whose
        self._late = 0
        self._latest_ns = 0
        self._blocks = 0
        self._first: Block | None = None
        self._expected_at = self._elapsed = 0.0

    def take(self, block: Block, *, sounding: bool) -> None:
        """Take note of one block; ``sounding``: there was sound to play, so one that came too late is a loss."""
        if self._first is None:
            self._first = block
        elif block.overflow:
            lost = round((block.captured_at - self._expected_at) * self._rate)
            self._note("overflow", max(0, lost))
        if block.underflow:
            self._note("underflow", self._block)
        if block.starved and sounding:
            self._note("starved", self._block)
        self._expected_at = block.captured_at + self._block / self._rate
        self._blocks += 1
        self._elapsed = (block.at_ns - self._first.at_ns) / NS

    def note_lateness(self, late_ns: int) -> None:
        """Take note of how long a block waited for the event loop."""
        self._late += late_ns > MOST_LATE * NS
        self._latest_ns = max(self._latest_ns, late_ns)

    def _note(self, kind: str, samples: int) -> None:
        self.faults.append(DeviceFault(kind, self._blocks * self._block / self._rate, samples))

    def check_count(self) -> None:
        """See that the samples come.

        Raises:
            DeviceError: if the device brings far fewer of them than its rate says.
        """
        elapsed = self._elapsed
        if elapsed < COUNTED_AFTER:
            return
        share = (self._blocks - 1) * self._block / (elapsed * self._rate)
        if share < LEAST_COUNT:
            raise DeviceError(
                f"sound card: the device brought too few samples in {elapsed:.1f} s: sample count {share:.2f} of "
                "expected; give it another rate, close what else uses it, or choose another device"
            )

    def summary(self) -> str:
        """Say what was lost: each fault while there are few, else how often each kind came, and when first."""
        if len(self.faults) <= MOST_TOLD:
            return "; ".join(map(str, self.faults))
        kinds = sorted({fault.kind for fault in self.faults})
        return "; ".join(self._summed(kind) for kind in kinds)

    def _summed(self, kind: str) -> str:
        faults = [fault for fault in self.faults if fault.kind == kind]
        return f"{kind} {len(faults)} times from {faults[0].at:.3f} s on: {self.lost(kind)} samples"

    def lost(self, kind: str) -> int:
        """Return how many samples were lost in one way, at the device's rate."""
        return sum(fault.samples for fault in self.faults if fault.kind == kind)

    def doubts(self) -> tuple[str, ...]:
        """Return why the sound of this call cannot be believed."""
        reasons = []
        dropped = self.lost("overflow")
        if dropped > MOST_LOST * self._rate:
            reasons.append(f"the driver lost {dropped / self._rate * 1000:.1f} ms of what was captured")
        broken = sum(fault.kind != "overflow" for fault in self.faults)
        if broken > MOST_BROKEN_BLOCKS:
            reasons.append(
                f"{broken} blocks of {self._whose} sound were not played in time: the machine is too busy; do less "
                "beside the call, or give it a larger latency_ms and lead_ms"
            )
        if self._late:
            reasons.append(
                f"the event loop was up to {self._latest_ns / NS:.3f} s late: {self._whose} end heard and answered "
                "that much later; do less beside the call"
            )
        return tuple(reasons)


def path_doubts(path: PathFollower) -> tuple[str, ...]:
    """Return why the times of this call cannot be believed, by how its path moved."""
    reasons = []
    slipped = sum(abs(slip.seconds) for slip in path.slips)
    if slipped > MOST_LOST:
        places = ", ".join(f"{slip.seconds * 1000:+.1f} ms at {slip.position / path.rate:.2f} s" for slip in path.slips)
        reasons.append(f"the sound path slipped without the driver telling: {places}")
    drift = path.drift_ppm
    if drift is not None and abs(drift) > MOST_DRIFT_PPM:
        reasons.append(f"the input runs {drift:+.0f} ppm against the output: they need one clock, or better ones")
    return tuple(reasons)
