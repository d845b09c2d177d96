"""What a sound device is to the adapter: a full-duplex stream of fixed blocks, and what may go wrong with it.

One callback of the device is a *tick*. It brings a block of what was captured, and takes the block that was put for
that tick; if none was put it plays silence. So an output that came too late costs its own block and moves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Block", "Opening", "SoundStream", "SoundSystem"]


@dataclass(frozen=True, slots=True)
class Block:
    """One tick: interleaved 16-bit samples as captured, and what the device told of them.

    ``captured_at`` is when its first sample was captured, in seconds on the device's own clock; ``at_ns`` when it was
    handed over, on the loop's. ``overflow``: the driver dropped samples before it; ``underflow``: the driver ran out of
    samples to play; ``starved``: nothing had been put for this tick.
    """

    tick: int
    pcm: bytes
    captured_at: float
    overflow: bool = False
    underflow: bool = False
    starved: bool = False
    at_ns: int = 0


@dataclass(frozen=True, slots=True)
class Opening:
    """Which devices to open, and how.

    A device is a name, an index as text, ``pulse:NAME`` for a sink or source of a PulseAudio server, or empty for the
    default. ``rate`` is in hertz, 0 for the device's own. ``server`` is the PulseAudio server's address, empty for the
    session's.
    """

    input: str = ""
    output: str = ""
    input_channels: int = 1
    rate: int = 0
    latency_ms: int = 150
    server: str = ""

    @property
    def pair(self) -> str:
        """How the pair of devices is called in messages and in what is stored of it."""
        return f"{self.output or 'default output'} -> {self.input or 'default input'}"


class SoundStream(Protocol):
    """An open full-duplex stream; it captures ``input_channels`` and plays one."""

    rate: int
    block: int
    input_channels: int

    @property
    def next_tick(self) -> int:
        """The tick that the device will ask for next."""

    def start(self, on_block: Callable[[], None], on_end: Callable[[], None]) -> None:
        """Start; both are called on the event loop's thread: ``on_end`` when the device stops by itself."""

    def take(self) -> Block | None:
        """Return the oldest block that was not taken yet."""

    def put(self, tick: int, pcm: bytes) -> None:
        """Play a block at a tick to come."""

    def take_back(self) -> None:
        """Drop every block whose tick has not come yet."""

    def close(self) -> None:
        """Stop at once and release the devices. Idempotent; may be called on any thread."""


class SoundSystem(Protocol):
    """What opens streams: PortAudio, or a simulation."""

    def open(self, opening: Opening) -> SoundStream:
        """Open the devices. May block; may be called on any thread.

        Raises:
            DeviceError: if they cannot be opened; says what there is, and what to try.
            MissingExtraError: if the package for it is not installed.
        """
