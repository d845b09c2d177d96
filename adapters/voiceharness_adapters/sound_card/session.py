"""An open, running stream on locked devices; whoever uses it gets each block, and is told when the device dies."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Final, TypeVar

from voiceharness.clock import NS, LoopClock
from voiceharness.errors import CallDroppedError, CallError, DeviceError, VoiceHarnessError
from voiceharness_adapters.sound_card.lock import locked_devices

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from voiceharness_adapters.sound_card.stream import Block, Opening, SoundStream, SoundSystem

__all__ = ["Session"]

T = TypeVar("T")
START_TIMEOUT: Final = 5.0
START_ATTEMPTS: Final = 3
"""The bridge from ALSA to PulseAudio ends a stream that is asked for its delay before its first timing has come."""

SILENT_DEVICE: Final = 2.0
SETTLED: Final = 5
"""Blocks after which the device runs steadily: PulseAudio brings the first ones in a burst."""


class Session:
    """One use of a pair of devices: open it, take its blocks, close it."""

    def __init__(self, system: SoundSystem, opening: Opening, *, locks: Path | None = None) -> None:
        self.opening = opening
        self.stream: SoundStream | None = None
        self.on_block: Callable[[Block], None] | None = None
        self.on_failure: Callable[[CallError], None] = lambda _error: None
        self._system = system
        self._locks = locks
        self._held = ExitStack()
        self._running = asyncio.Event()
        self._opening: asyncio.Future[SoundStream] | None = None
        self._thread = ThreadPoolExecutor(1, "sound card")
        self._closing: asyncio.Task[None] | None = None
        self._blocks = self._ran_dry = 0
        self._last_ns = 0
        self._watchdog: asyncio.TimerHandle | None = None
        self._died = False
        self._over = False

    async def open(self) -> SoundStream:
        """Lock and open the devices, start them, and wait until blocks come.

        Raises:
            DeviceError: if they are in use, cannot be opened, or bring nothing.
            CallDroppedError: if the session was closed meanwhile.
        """
        self._refuse_if_over()
        opening = self.opening
        names = (f"output {opening.output} {opening.server}", f"input {opening.input} {opening.server}")
        self._held.enter_context(locked_devices((name.strip() for name in names), folder=self._locks))
        for _ in range(START_ATTEMPTS):
            stream = await self._started()
            if not self._died:
                self._watch()
                return stream
            await self._in_thread(stream.close)
        raise DeviceError(
            f"sound card: {opening.pair} was opened {START_ATTEMPTS} times and stopped each time before it ran: this "
            "machine is too busy for it, or its sound server ends; do less beside the call, or give it a larger "
            "latency_ms"
        )

    async def _started(self) -> SoundStream:
        """Open and start the devices; returns when they run, or have ended by themselves."""
        opening = self.opening
        self._died = False
        self._running.clear()
        self._opening = self._in_thread(lambda: self._system.open(opening))
        stream = await asyncio.shield(self._opening)  # cancelled or not, close() takes care of what is opened
        self._refuse_if_over()
        self.stream = stream
        stream.start(self._drain, self._ended)
        try:
            async with asyncio.timeout(START_TIMEOUT):
                await self._running.wait()
        except TimeoutError as error:
            raise DeviceError(
                f"sound card: {opening.pair} was opened, but brought nothing for {START_TIMEOUT:g} s; "
                "see that its sound server runs and that the device is not suspended"
            ) from error
        self._refuse_if_over()
        return stream

    def _refuse_if_over(self) -> None:
        if self._over:
            raise CallDroppedError("sound card: the call was ended while its devices were being opened")

    async def close(self) -> None:
        """Close whatever is open. Idempotent; a cancelled wait does not stop the closing."""
        self._over = True
        self._running.set()
        if self._watchdog is not None:
            self._watchdog.cancel()
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._release())
        await asyncio.shield(self._closing)

    async def _release(self) -> None:
        try:
            if self._opening is not None:
                with suppress(VoiceHarnessError):  # told to who opened
                    stream = await self._opening
                    await self._in_thread(stream.close)
        finally:
            self._held.close()
            self._thread.shutdown()  # its work is done: it ends at once

    def _in_thread(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """Do in this session's own thread what may block."""
        return asyncio.get_running_loop().run_in_executor(self._thread, work)

    # From the device

    def _drain(self) -> None:
        """Hand on every block that waits."""
        stream = self.stream
        if stream is None or self._over:
            return
        self._last_ns = LoopClock().now_ns()
        while (block := stream.take()) is not None:
            self._blocks += 1
            self._ran_dry += block.underflow or block.overflow
            if self._blocks >= SETTLED:
                self._running.set()
            if self.on_block is not None:
                self._hand_on(block)

    def _hand_on(self, block: Block) -> None:
        assert self.on_block is not None  # the caller looked
        try:
            self.on_block(block)
        except CallError as error:
            self._fail(error)

    def _ended(self) -> None:
        if not self._running.is_set():
            self._died = True
            self._running.set()
        elif not self._over:
            self._fail(CallDroppedError(f"sound card: {self.opening.pair} stopped by itself: {self._suspect()}"))

    def _suspect(self) -> str:
        """Say what may have stopped the device, and what to do."""
        if not self._ran_dry:
            return "was it unplugged, or did its server end?"
        times = "once" if self._ran_dry == 1 else f"{self._ran_dry} times"
        return (
            f"before, its buffer of {self.opening.latency_ms} ms had run dry {times}, so this machine is too busy for "
            "it: do less beside the call, or give it a larger latency_ms"
        )

    def _watch(self) -> None:
        """Look again when the device would have been silent for too long."""
        if self._over:
            return
        clock = LoopClock()
        due_ns = self._last_ns + round(SILENT_DEVICE * NS)
        if clock.now_ns() >= due_ns:
            self._fail(
                CallDroppedError(
                    f"sound card: {self.opening.pair} has brought nothing for {SILENT_DEVICE:g} s: {self._suspect()}"
                )
            )
            return
        self._watchdog = clock.call_at_ns(due_ns, self._watch)

    def _fail(self, error: CallError) -> None:
        if not self._over:
            self._over = True
            self.on_failure(error)
