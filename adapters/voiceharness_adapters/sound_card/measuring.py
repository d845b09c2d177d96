"""Measure the path of a pair of devices with a chirp; only ever while no agent listens."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy import signal

from voiceharness.audio.resample import Resampler, resample
from voiceharness.errors import DeviceError, LocalProtocolError
from voiceharness_adapters.sound_card.path import locate

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from voiceharness_adapters.sound_card.session import Session
    from voiceharness_adapters.sound_card.stream import Block, SoundStream

__all__ = ["MeasuredPath", "chirp", "measure_path"]

RATE: Final = 8000
CHIRP: Final = 0.2
BAND_HZ: Final = (400.0, 3200.0)
LEVEL: Final = 8000.0
LISTEN: Final = 0.8
LEAD: Final = 5
LOBE: Final = 0.002
PATIENCE: Final = 10.0
ATTEMPTS: Final = 3
"""A driver that slips while it starts tears a chirp."""


@dataclass(frozen=True, slots=True)
class MeasuredPath:
    """``delay``: seconds from a sample's turn to be played to its capture. ``level_db``: as captured, re full scale."""

    delay: float
    likeness: float
    level_db: float


def chirp() -> NDArray[np.int16]:
    """Make a sweep through the telephone band with soft edges, at 8000 Hz."""
    times = np.arange(round(CHIRP * RATE)) / RATE
    low, high = BAND_HZ
    sweep = signal.chirp(times, low, CHIRP, high)
    swept: NDArray[np.int16] = np.rint(LEVEL * np.hanning(len(times)) * sweep).astype(np.int16)
    return swept


async def measure_path(
    session: Session, channel: int, *, on_level: Callable[[float], None] = lambda _db: None
) -> MeasuredPath:
    """Play a chirp on an open session, and find it on a channel of its input.

    ``on_level`` is told the level of every block, in dB re full scale.

    Raises:
        DeviceError: if it is not heard.
    """
    stream, before = session.stream, session.on_block
    if stream is None:
        raise LocalProtocolError("the sound card's devices are not open; open the session first")
    try:
        for _ in range(ATTEMPTS):
            probe = _Probe(stream, channel, on_level)
            session.on_block = probe.take
            if (found := await _probed(probe, session.opening.pair)) is not None:
                return found
    finally:
        session.on_block = before
    raise DeviceError(
        f"sound card: the chirp played on {session.opening.pair} was not heard there; see that one hears the other, "
        "that neither is muted, and (on macOS) that this program may use the microphone"
    )


async def _probed(probe: _Probe, pair: str) -> MeasuredPath | None:
    try:
        async with asyncio.timeout(PATIENCE):
            await probe.done.wait()
    except TimeoutError as error:
        raise DeviceError(f"sound card: {pair} stopped while it was measured") from error
    return probe.result()


class _Probe:
    """Puts the chirp block by block, and keeps what is captured from its first block's tick on."""

    def __init__(self, stream: SoundStream, channel: int, on_level: Callable[[float], None]) -> None:
        self.done = asyncio.Event()
        self._stream = stream
        self._channel = channel
        self._on_level = on_level
        played = resample(chirp(), RATE, stream.rate)
        self._blocks = np.split(np.pad(played, (0, -len(played) % stream.block)), -(-len(played) // stream.block))
        self._first_tick: int | None = None
        self._down = Resampler(stream.rate, RATE)
        self._captured: list[NDArray[np.int16]] = []

    def take(self, block: Block) -> None:
        """Take one block."""
        if self._first_tick is None:
            self._first_tick = block.tick + LEAD
        index = block.tick + LEAD - self._first_tick
        if index < len(self._blocks):
            self._stream.put(block.tick + LEAD, self._blocks[index].tobytes())
        samples = np.frombuffer(block.pcm, np.int16).reshape(-1, self._stream.input_channels)[:, self._channel]
        self._on_level(_level_db(samples))
        if block.tick >= self._first_tick:
            self._captured.append(self._down.push(np.ascontiguousarray(samples)))
        if (block.tick - self._first_tick) * self._stream.block > LISTEN * self._stream.rate:
            self.done.set()

    def result(self) -> MeasuredPath | None:
        """Find the chirp in what was captured."""
        captured = np.concatenate(self._captured).astype(np.float64)
        place = locate(chirp().astype(np.float64), captured, round(LOBE * RATE))
        if place is None:
            return None
        at = round(place[0])
        heard = captured[at : at + len(chirp())]
        return MeasuredPath(place[0] / RATE, place[1], _level_db(heard))


def _level_db(samples: NDArray[np.int16] | NDArray[np.float64]) -> float:
    power = float(np.mean(np.square(samples.astype(np.float64)))) / 32768**2
    return max(-96.0, 10 * float(np.log10(power))) if power > 0 else -96.0
