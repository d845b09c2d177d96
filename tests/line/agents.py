"""Agents and sounds that the tests of the line share."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from voiceharness.audio import signals
from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import run_virtual
from voiceharness.line.opening import open_line
from voiceharness.line.settings import LineSettings
from voiceharness_adapters.in_process import InProcess

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from voiceharness.agent import PhoneAgent
    from voiceharness.line.line import Line

__all__ = ["on_line", "tone"]

T = TypeVar("T")


def tone(hz: float, seconds: float, *, item: str | None = None) -> AudioChunk:
    """A tone that is loud from its first sample to its last."""
    samples = signals.tone(hz, seconds)
    return AudioChunk.from_samples(samples, item=item)


def on_line(agent: PhoneAgent, body: Callable[[Line], Awaitable[T]], settings: LineSettings | None = None) -> T:
    """Run a call in virtual time, on a line of the given settings."""

    async def main() -> T:
        async with open_line(InProcess(agent), settings or LineSettings()) as line:
            return await body(line)

    return run_virtual(main())
