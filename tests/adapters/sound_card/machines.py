"""Real sound without hardware: a private server with cables, and what is on them, seen by another program."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import asynccontextmanager
from ctypes.util import find_library
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.adapters.sound_card.agents import clip
from voiceharness.clock import run_real
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Hear, Say
from voiceharness_adapters.sound_card.cables import CABLE_RATE, Cables, temporary_cables
from voiceharness_adapters.sound_card.pulse import private_server
from voiceharness_adapters.sound_card.stream import Opening

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

    from numpy.typing import NDArray

    from voiceharness.scenario.result import CallResult
    from voiceharness_adapters.sound_card.stream import Block, SoundStream

__all__ = ["ATTEMPTS", "SHORT", "Recorder", "listening", "missing", "needs_sound", "on_cables", "opening", "trusted"]

ATTEMPTS = 3
"""A run that the machine disturbed may be repeated twice."""

SHORT = Scenario("short", steps=(Hear(), Say(audio=clip(1.0, 7)), Hear()))
"""The agent greets, the user says something, the agent answers."""


def missing() -> list[str]:
    """Name what is not there for these tests."""
    parts = {
        "pulseaudio": shutil.which("pulseaudio"),
        "pactl": shutil.which("pactl"),
        "sounddevice": find_spec("sounddevice"),
        "PortAudio": find_library("portaudio"),
    }
    return [name for name, found in parts.items() if not found]


def needs_sound(test: Any) -> Any:  # Any: pytest's decorators
    """Mark a test that plays and captures in real time."""
    reason = f"not installed: {', '.join(missing())}"
    return pytest.mark.realtime(pytest.mark.skipif(bool(missing()), reason=reason)(test))


@asynccontextmanager
async def on_cables(*names: str) -> AsyncIterator[tuple[Cables, ...]]:
    """Start a server with pairs of cables."""
    async with private_server() as server:
        pairs = [Cables(name, server) for name in names]
        async with _all_of(pairs):
            yield tuple(pairs)


@asynccontextmanager
async def _all_of(pairs: list[Cables]) -> AsyncIterator[None]:
    if not pairs:
        yield
        return
    async with temporary_cables(pairs[0]), _all_of(pairs[1:]):
        yield


def opening(cables: Cables) -> Opening:
    """Name the harness's end of cables, at their own rate."""
    rate = CABLE_RATE
    return Opening(f"pulse:{cables.monitor}", f"pulse:{cables.to_agent}", 2, rate=rate, server=cables.server.address)


def trusted(call: Callable[[], Coroutine[Any, Any, CallResult]]) -> CallResult:
    """Run a call, again if the machine disturbed it."""
    for _ in range(ATTEMPTS):
        result = run_real(call())
        if result.trust.trustworthy and result.outcome != "not_called":
            break
    assert result.trust.trustworthy, result.explain()
    return result


@asynccontextmanager
async def listening(cables: Cables) -> AsyncIterator[Coroutine[Any, Any, NDArray[np.int16]]]:
    """Record both directions with PulseAudio's own recorder; await what is yielded for (samples, 2) at 48 kHz."""
    recorder = await asyncio.create_subprocess_exec(
        *("parec", "-s", cables.server.address, "-d", cables.monitor, "--raw", "--format=s16le", "--rate=48000"),
        "--channels=2",
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert recorder.stdout is not None
    reading = asyncio.create_task(recorder.stdout.read())

    async def recorded() -> NDArray[np.int16]:
        recorder.terminate()
        await recorder.wait()
        return np.frombuffer(await reading, np.int16).reshape(-1, 2)

    result = recorded()
    try:
        yield result
    finally:
        result.close()
        if recorder.returncode is None:
            recorder.kill()
            await recorder.wait()
        await reading


class Recorder:
    """Plays a clip from a tick on, and keeps what is captured, as a session's ``on_block``."""

    def __init__(self, stream: SoundStream, clip: NDArray[np.int16], seconds: float, lead: int = 10) -> None:
        self.done = asyncio.Event()
        self.first_tick = -1
        self._stream = stream
        self._blocks = clip.reshape(-1, stream.block)
        self._captured: list[NDArray[np.int16]] = []
        self._lead = lead
        self._enough = round(seconds * stream.rate / stream.block)

    def take(self, block: Block) -> None:
        """Take one block."""
        if self.first_tick < 0:
            self.first_tick = block.tick
        index = block.tick - self.first_tick
        if not index:  # everything at once: the test is of the device, not of this loop
            for number, samples in enumerate(self._blocks):
                self._stream.put(block.tick + self._lead + number, samples.tobytes())
        self._captured.append(np.frombuffer(block.pcm, np.int16).reshape(-1, self._stream.input_channels))
        if index >= self._enough:
            self.done.set()

    @property
    def captured(self) -> NDArray[np.int16]:
        """What was captured, from the tick on at which the clip's first sample had its turn."""
        return np.concatenate(self._captured)[self._lead * self._stream.block :]
