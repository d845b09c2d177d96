"""How a line comes to be: an adapter is connected, its line's tasks run, and all of it is gone afterwards."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from voiceharness.clock import NS, LoopClock
from voiceharness.errors import ConnectError
from voiceharness.line.line import Line
from voiceharness.line.speaking import watch_speech

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from voiceharness.adapter import VoiceAgentAdapter
    from voiceharness.line.settings import LineSettings

__all__ = ["open_line"]

_log = logging.getLogger(__name__)


@asynccontextmanager
async def open_line(
    adapter: VoiceAgentAdapter, settings: LineSettings, *, connect_timeout: float = 30.0
) -> AsyncIterator[Line]:
    """Connect an adapter and run its line; whatever happens inside, the call is ended and its tasks are gone after.

    Raises:
        CallError: if the call cannot be set up in time.
    """
    clock = LoopClock()
    try:
        await _connect(adapter, connect_timeout)
        if settings.phase is not None:
            await clock.sleep_until_ns(
                _next_in_phase_ns(clock.now_ns(), settings.frame_ms * NS // 1000, settings.phase)
            )
        line = Line(adapter, settings, clock)
        adapter.attach(line)
        line.timeline.note(0, "answered")
        async with _tasks_of(line):
            yield line
    except BaseException:
        await _disconnect_anyway(adapter)
        raise
    await adapter.disconnect()
    if line.ended is not None and adapter.sent_after_end:
        line.timeline.note(line.ended.at, "sent_after_end", messages=adapter.sent_after_end)


def _next_in_phase_ns(now_ns: int, frame_ns: int, phase: float) -> int:
    offset_ns = round(phase * frame_ns)
    return offset_ns - (offset_ns - now_ns) // frame_ns * frame_ns


async def _connect(adapter: VoiceAgentAdapter, timeout: float) -> None:
    try:
        async with asyncio.timeout(timeout):
            await adapter.connect()
    except TimeoutError as error:
        raise ConnectError(f"{adapter.name}: the call was not answered within {timeout:g} s") from error


async def _disconnect_anyway(adapter: VoiceAgentAdapter) -> None:
    """Disconnect without hiding what is being raised."""
    try:
        await adapter.disconnect()
    except Exception as error:  # supervision point: the call has failed already, for another reason
        _log.warning("%s: disconnecting failed, too: %s", adapter.name, error)


@asynccontextmanager
async def _tasks_of(line: Line) -> AsyncIterator[None]:
    works: dict[str, Callable[[], Awaitable[None]]] = {
        "downlink": line.run_downlink,
        "watch": partial(watch_speech, line),
    }
    if line.adapter.timing.paced_by == "line":
        works["uplink"] = line.run_uplink
    if line.sender is not None:
        works["late frames"] = line.sender.send_late
    tasks = [asyncio.create_task(_supervised(line, work), name=f"line {name}") for name, work in works.items()]
    try:
        yield
    finally:
        line.hang_up()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _supervised(line: Line, work: Callable[[], Awaitable[None]]) -> None:
    try:
        await work()
    except Exception as error:  # supervision point: whatever a transport raises ends the call, with its evidence
        line.fail(error)
