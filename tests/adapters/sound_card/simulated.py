"""A sound device that exists only on the loop's clock, with every fault that a real one may have."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from voiceharness.clock import NS, LoopClock
from voiceharness_adapters.sound_card.stream import Block

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from numpy.typing import NDArray

    from voiceharness_adapters.sound_card.stream import Opening

__all__ = ["Faults", "Simulation"]

RATE: Final = 48000
BLOCK: Final = 480


@dataclass(frozen=True, slots=True)
class Faults:
    """What is wrong with a device. Times are seconds into the stream, sizes are samples.

    ``input_ppm``: how much faster it captures than it plays. ``overflow``: samples that it drops and tells of;
    ``dropped``: samples that it drops silently. ``share``: how much of what it should capture it brings.
    ``stillborn``: how many of the first openings end before they bring anything.
    """

    input_ppm: float = 0.0
    overflow: tuple[float, int] | None = None
    dropped: tuple[float, int] | None = None
    share: float = 1.0
    unplugged_at: float | None = None
    frozen_at: float | None = None
    stillborn: int = 0


@dataclass
class Simulation:
    """A sound system whose every stream loops back: the user on the first channel, the agent on the second.

    ``delays``: the path of the first opening, the second, and so on, in seconds; the last one stays. The agent repeats
    what the user plays, ``answers_after`` seconds later. With one channel it is a microphone: agent and the user's
    ``room`` response (taps at the device's rate) together.
    """

    delays: tuple[float, ...] = (0.037,)
    faults: Faults = field(default_factory=Faults)
    answers_after: float = 0.5
    room: NDArray[np.float64] | None = None
    streams: list[SimulatedStream] = field(default_factory=list)

    def open(self, opening: Opening) -> SimulatedStream:
        """Open another stream."""
        delay = self.delays[min(len(self.streams), len(self.delays) - 1)]
        self.streams.append(SimulatedStream(self, delay, opening.input_channels))
        return self.streams[-1]


class SimulatedStream:
    """One open stream."""

    rate = RATE
    block = BLOCK

    def __init__(self, world: Simulation, delay: float, input_channels: int) -> None:
        self.input_channels = input_channels
        self.closed = False
        self._world = world
        self._delay = delay
        self.played = np.zeros(120 * RATE, np.int16)
        self._to_play: deque[tuple[int, bytes]] = deque()
        self._captured: deque[Block] = deque()
        self._tick = self._skipped = 0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def next_tick(self) -> int:
        """The tick that comes next."""
        return self._tick

    def start(self, on_block: Callable[[], None], on_end: Callable[[], None]) -> None:
        """Begin to tick."""
        self._clock = LoopClock()
        self._start_ns = self._clock.now_ns()
        self._on_block, self._on_end = on_block, on_end
        self._set_timer()

    def take(self) -> Block | None:
        """Return the oldest block."""
        return self._captured.popleft() if self._captured else None

    def put(self, tick: int, pcm: bytes) -> None:
        """Play a block at a tick."""
        self._to_play.append((tick, pcm))

    def take_back(self) -> None:
        """Drop every block whose tick has not come yet."""
        self._to_play.clear()

    def close(self) -> None:
        """Stop."""
        self.closed = True
        if self._timer is not None:
            self._timer.cancel()

    def _set_timer(self) -> None:
        period = BLOCK / RATE / self._world.faults.share / (1 + self._world.faults.input_ppm * 1e-6)
        self._timer = self._clock.call_at_ns(self._start_ns + round((self._tick + 1) * period * NS), self._run)

    def _run(self) -> None:
        now, faults = self._tick * BLOCK / RATE, self._world.faults
        stillborn = self in self._world.streams[: faults.stillborn]
        if stillborn or (faults.unplugged_at is not None and now >= faults.unplugged_at):
            self._on_end()
            return
        if faults.frozen_at is not None and now >= faults.frozen_at:
            return
        starved = not self._play()
        overflow = self._skip(faults.overflow, now)
        self._skip(faults.dropped, now)
        first = self._tick * BLOCK + self._skipped
        self._captured.append(
            Block(self._tick, self._capture(first), first / RATE, overflow, starved=starved, at_ns=self._clock.now_ns())
        )
        self._tick += 1
        self._set_timer()
        self._on_block()

    def _play(self) -> bool:
        while self._to_play and self._to_play[0][0] <= self._tick:
            tick, pcm = self._to_play.popleft()
            if tick == self._tick:
                self.played[tick * BLOCK : (tick + 1) * BLOCK] = np.frombuffer(pcm, np.int16)
                return True
        return False

    def _skip(self, loss: tuple[float, int] | None, now: float) -> bool:
        due = loss is not None and now <= loss[0] < now + BLOCK / RATE
        self._skipped += loss[1] if due and loss is not None else 0
        return due

    def _capture(self, first: int) -> bytes:
        world = self._world
        if self.input_channels == 1:
            heard = self._heard(first, self._delay + world.answers_after)
            if world.room is not None:
                wet = [tap * self._heard(first - index, self._delay) for index, tap in enumerate(world.room) if tap]
                heard = heard + np.sum(wet, axis=0)
            return np.clip(np.rint(heard), -32768, 32767).astype(np.int16).tobytes()
        both = [self._heard(first, self._delay), self._heard(first, self._delay + world.answers_after)]
        return np.rint(np.stack(both, axis=1)).astype(np.int16).tobytes()

    def _heard(self, first: int, delay: float) -> NDArray[np.float64]:
        """Return what is played ``delay`` seconds before, on the clock of the input."""
        places = (first + np.arange(BLOCK)) / (1 + self._world.faults.input_ppm * 1e-6) - delay * RATE
        known = np.clip(np.floor(places).astype(int), 0, len(self.played) - 2)
        part = places - np.floor(places)
        heard: NDArray[np.float64] = self.played[known] * (1 - part) + self.played[known + 1] * part
        heard[places < 0] = 0
        return heard
