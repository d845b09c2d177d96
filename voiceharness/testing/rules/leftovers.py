"""Rules about what remains: after a cancellation at any await, and after many calls."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import LoopClock
from voiceharness.doubles.probe_agent import ProbeAgent
from voiceharness.errors import VoiceHarnessError
from voiceharness.testing.cancelling import cancelled_at
from voiceharness.testing.residue import Residue

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from voiceharness.testing.bench import Bench, GuardedAdapter

__all__ = ["can_be_cancelled", "leaves_nothing_behind"]

MOMENT: Final = 0.1


async def can_be_cancelled(bench: Bench) -> None:
    """Each of the four methods, cancelled at each of its awaits, lets itself be cancelled and leaves no task."""
    await _cancel_everywhere(bench, "connect()", lambda adapter: adapter.adapter.connect(), connected=False)
    await _cancel_everywhere(bench, "send_audio()", _send_audio)
    await _cancel_everywhere(bench, "receive_audio()", lambda adapter: adapter.adapter.receive_audio(MOMENT))
    await _cancel_everywhere(bench, "disconnect()", lambda adapter: adapter.adapter.disconnect())


async def _send_audio(adapter: GuardedAdapter) -> None:
    if adapter.adapter.timing.paced_by == "line":  # another transport asks its line for audio
        await adapter.adapter.send_audio(_silence(adapter))


async def leaves_nothing_behind(bench: Bench) -> None:
    """After many calls there are as many tasks, threads and open files as after the first."""
    await _short_call(bench)  # what is loaded once, at the first call, is no residue
    before = Residue.now()
    for _ in range(bench.calls):
        await _short_call(bench)
    left = await before.since(LoopClock(), patience=bench.patience)
    if left:
        async with bench.adapter(ProbeAgent()) as guarded:
            raise guarded.broken(f"after {bench.calls} calls there were left: {left}")


async def _cancel_everywhere(
    bench: Bench,
    what: str,
    start: Callable[[GuardedAdapter], Coroutine[Any, Any, object]],
    *,
    connected: bool = True,
) -> None:
    for suspension in count():
        place = f"{what}, cancelled at await {suspension + 1},"
        async with bench.adapter(ProbeAgent()) as guarded:
            before = Residue.now()
            if connected:
                await guarded.connect()
            try:
                reached = await cancelled_at(suspension, start(guarded), patience=bench.patience)
            except (VoiceHarnessError, TimeoutError, RuntimeError) as error:
                raise guarded.broken(f"{place} ended with {type(error).__name__}: {error}") from error
            await guarded.disconnect()
            if left := await before.since(LoopClock(), patience=bench.patience):
                raise guarded.broken(f"{place} and then disconnected, left {left}")
        if not reached:
            return


async def _short_call(bench: Bench) -> None:
    async with bench.call([(0.0, AudioChunk(bytes(3200)))]) as call:
        await call.say(np.zeros(round(MOMENT * call.adapter.adapter.rate), np.int16))
        await call.adapter.receive_audio(MOMENT)


def _silence(guarded: GuardedAdapter) -> AudioChunk:
    return AudioChunk(bytes(320), guarded.adapter.rate, 0)
