"""Adapters that break one rule of the contract each, and what is said of them."""

from __future__ import annotations

import asyncio
import socket
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import NS, LoopClock
from voiceharness.errors import CallDroppedError, UnsupportedCapabilityError
from voiceharness.events import EndOfStream, RemoteHangup, Words
from voiceharness_adapters.in_process import InProcess

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voiceharness.adapter import Received
    from voiceharness.capabilities import AdapterCapabilities, CallAction, DtmfMethod

__all__ = ["BROKEN", "Deaf", "Dialled", "Leaking", "Ticking"]


class Nameless(InProcess):
    """Has no name."""

    name = ""


class OffRate(InProcess):
    """Runs at a rate it does not list."""

    rate = 11025

    def __init__(self, agent: Any) -> None:
        super().__init__(agent)
        self.rate = 11025


class Placeless(InProcess):
    """Cannot be called nor call."""

    capabilities = replace(InProcess.capabilities, directions=frozenset())


class Timeless(InProcess):
    """Does not say that it can run in virtual time."""

    capabilities = replace(InProcess.capabilities, virtual_time=False)


class Widening(InProcess):
    """Declares more for its options than for itself."""

    @classmethod
    def capabilities_for(cls, options: Mapping[str, object]) -> AdapterCapabilities:
        return replace(cls.capabilities, dtmf=frozenset({"info"}))


class Eager(InProcess):
    """Takes audio that goes nowhere."""

    async def send_audio(self, chunk: AudioChunk) -> None:
        if self.is_connected:
            await super().send_audio(chunk)


class Shy(InProcess):
    """Never says that it is connected."""

    is_connected = False


class Touchy(InProcess):
    """Cannot be disconnected twice."""

    gone = False

    async def disconnect(self) -> None:
        await super().disconnect()
        if self.gone:
            raise CallDroppedError("twice")
        self.gone = True


class Halfhearted(InProcess):
    """Cannot be disconnected before it was connected."""

    async def disconnect(self) -> None:
        await super().disconnect()
        if self._task is None:
            raise ValueError("no call")


class Deaf(InProcess):
    """Drops what the user says."""

    async def send_audio(self, chunk: AudioChunk) -> None:
        self._connected("send audio")


class Backwards(InProcess):
    """Delivers the blocks of the user from loud to quiet."""

    async def send_audio(self, chunk: AudioChunk) -> None:
        turned = chunk.samples * 4.0 * 10 ** (-0.6 * ((chunk.position or 0) // 800))
        await super().send_audio(AudioChunk.from_samples(turned.astype("int16"), chunk.rate))


class Lossy(InProcess):
    """Loses the first piece of what the agent says."""

    dropped = False

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        item = await super().receive_audio(timeout)
        if isinstance(item, AudioChunk) and not self.dropped:
            self.dropped = True
            return replace(item, pcm=b"")
        return item


class Unstamped(InProcess):
    """Does not say when things came."""

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        item = await super().receive_audio(timeout)
        return None if item is None else replace(item, at_ns=None)


class Misrated(InProcess):
    """Passes audio on at another rate."""

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        item = await super().receive_audio(timeout)
        return replace(item, rate=16000) if isinstance(item, AudioChunk) else item


class Endless(InProcess):
    """Ignores the timeout."""

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        return await super().receive_audio(None)


class Dawdling(InProcess):
    """Waits longer than it should."""

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        return await super().receive_audio(0.5)


class Ending(InProcess):
    """Takes silence for the end."""

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        return await super().receive_audio(timeout) or EndOfStream(at_ns=0)


class Unending(InProcess):
    """Keeps the end to itself."""

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        clock = LoopClock()
        end_ns = clock.now_ns() + round((timeout or 0) * NS)
        item = await super().receive_audio(timeout)
        if not isinstance(item, EndOfStream | RemoteHangup):
            return item
        await clock.sleep_until_ns(end_ns)
        return None


class Foreign(InProcess):
    """Lets the agent's own errors through."""

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        try:
            return await super().receive_audio(timeout)
        except CallDroppedError:
            raise
        except Exception as error:
            raise error.__cause__ or error from None


class Sleepy(InProcess):
    """Leaves a reader waiting for ever."""

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        item = await super().receive_audio(timeout)
        if timeout is None and isinstance(item, EndOfStream):
            await asyncio.get_running_loop().create_future()
        return item


class Stubborn(InProcess):
    """Swallows a cancellation."""

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        try:
            return await super().receive_audio(timeout)
        except asyncio.CancelledError:
            return None


class Entangled(InProcess):
    """Waits in disconnect() for a future that a cancelled disconnect() has cancelled."""

    async def connect(self) -> None:
        await super().connect()
        self.closed = asyncio.get_running_loop().create_future()
        clock = LoopClock()
        clock.call_at_ns(clock.now_ns() + NS // 2, self.release)

    def release(self) -> None:
        if not self.closed.done():
            self.closed.set_result(None)

    async def disconnect(self) -> None:
        if self.is_connected or self._call is not None:
            await self.closed
        await super().disconnect()


class Littering(InProcess):
    """Leaves a task behind when it is cancelled half-way."""

    async def connect(self) -> None:
        self.helper = asyncio.create_task(LoopClock().sleep(3600), name="helper")
        await LoopClock().sleep(0)
        await super().connect()

    async def disconnect(self) -> None:
        if self.is_connected:
            self.helper.cancel()
        await super().disconnect()


class Forgetful(InProcess):
    """Drops what it has in hand when it is cancelled."""

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        item = await super().receive_audio(timeout)
        await LoopClock().sleep(0.001)
        return item


class Boastful(InProcess):
    """Declares an interrupt signal that does nothing."""

    async def interrupt(self) -> None:
        self._connected("interrupt")


class Mumbling(InProcess):
    """Sends other digits than it is given."""

    async def send_dtmf(self, digits: str, *, method: DtmfMethod, tone_ms: int = 100, gap_ms: int = 100) -> None:
        await super().send_dtmf(digits.replace("1", "#"), method=method)


class Substituting(InProcess):
    """Sends digits by another method than asked."""

    async def send_dtmf(self, digits: str, *, method: DtmfMethod, tone_ms: int = 100, gap_ms: int = 100) -> None:
        await super().send_dtmf(digits, method="event")


class Speechless(InProcess):
    """Loses the words."""

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        item = await super().receive_audio(timeout)
        return replace(item, words=()) if isinstance(item, Words) else item


class Leaking(InProcess):
    """Leaves a thread and two sockets behind with every call."""

    gate = threading.Event()
    kept: list[socket.socket] = []  # noqa: RUF012  shared on purpose: it is what leaks

    async def connect(self) -> None:
        await super().connect()
        self.kept.extend(socket.socketpair())
        threading.Thread(target=self.gate.wait, daemon=True).start()


class Reusable(InProcess):
    """Lets itself be connected again."""

    async def connect(self) -> None:
        self._call, self._over = None, False
        await super().connect()


class Lingering(InProcess):
    """Seems connected when its call is over."""

    @property
    def is_connected(self) -> bool:
        return self._call is not None


class Waiting(InProcess):
    """Takes as long as the audio lasts."""

    async def send_audio(self, chunk: AudioChunk) -> None:
        await LoopClock().sleep(chunk.duration)
        await super().send_audio(chunk)


class Startled(InProcess):
    """Drops what comes just after a jump."""

    expected = 0

    async def send_audio(self, chunk: AudioChunk) -> None:
        jumped, self.expected = chunk.position != self.expected, (chunk.position or 0) + len(chunk)
        await super().send_audio(replace(chunk, pcm=bytes(len(chunk.pcm))) if jumped else chunk)
        self.expected += 160 if jumped and self.expected < 3200 else 0


class Muffled(InProcess):
    """Lets no high tone through."""

    async def send_audio(self, chunk: AudioChunk) -> None:
        dull = np.convolve(chunk.samples, np.full(8, 1 / 8), mode="same")
        await super().send_audio(AudioChunk.from_samples(dull.astype("int16"), chunk.rate))


class Controlling(InProcess):
    """Does whatever it is told to do to the call."""

    capabilities = replace(InProcess.capabilities, call_control=frozenset({"hold", "resume"}))

    async def control(self, action: CallAction, *, target: str | None = None) -> None:
        self._connected(action)


class Reluctant(Controlling):
    """Cannot be held, as it should."""

    async def control(self, action: CallAction, *, target: str | None = None) -> None:
        raise UnsupportedCapabilityError(adapter=self.name, capability=action)


class Dialled(InProcess):
    """Can be called by the agent, too."""

    capabilities = replace(InProcess.capabilities, directions=frozenset({"dial", "be_dialled"}))


class Ticking(InProcess):
    """Keeps its own time; ``overlap`` samples of each frame are asked for twice, ``period`` is its tick in seconds."""

    timing = replace(InProcess.timing, paced_by="transport")
    overlap = 0
    period = 0.02

    async def connect(self) -> None:
        await super().connect()
        self.ticking = asyncio.create_task(self._tick(), name="tick")

    async def _tick(self) -> None:
        position = 0
        while True:
            await LoopClock().sleep(self.period)
            if self._line is not None:
                self._connected("send audio").deliver(self._line.user_frame(position, 160))
                position += 160 - self.overlap

    async def disconnect(self) -> None:
        if self.is_connected:
            self.ticking.cancel()
        await super().disconnect()


class Stammering(Ticking):
    """Asks for some of the user's audio twice."""

    overlap = 40


class Hasty(Ticking):
    """Asks for frames twice as fast as they are heard."""

    period = 0.01


BROKEN = [
    (Nameless, "declares a name", "it has no name"),
    (OffRate, "declares a name", "its rate is 11025 Hz, which its capabilities do not list"),
    (Placeless, "declares a name", "its capabilities list no direction"),
    (Timeless, "declares a name", "it runs in virtual time here, but does not declare virtual_time"),
    (Widening, "declares a name", "capabilities_for({}) has more than the class declares"),
    (Eager, "nothing can be sent", "send_audio() when not connected raised no PendingTransportError"),
    (Reusable, "has one call", "connect() during the call was not refused"),
    (Lingering, "nothing can be sent", "is_connected is true after disconnect() has returned"),
    (Waiting, "never paces", "it took 1.00 s to take 1 s of audio; send_audio() never waits"),
    (Startled, "lost on purpose", "around a jump the agent got"),
    (Stammering, "asks for each frame once", "it asked for user audio more than once, or backwards: 0+160, 120+160"),
    (Hasty, "asks for each frame once", "in 1 s it asked for 1.98 s of the user's audio"),
    (Muffled, "what is declared", "the agent did not get the tones of 1#4 within 5 s"),
    (Controlling, "what is declared", "control('transfer') is not declared, but raised no UnsupportedCapabilityError"),
    (Reluctant, "what is declared", "it raised UnsupportedCapabilityError: adapter 'in_process' does not support hold"),
    (Shy, "nothing can be sent", "is_connected is false after connect() has returned"),
    (Touchy, "disconnect() may come", "disconnect() raised CallDroppedError: twice; it never raises"),
    (Halfhearted, "disconnect() may come", "disconnect() raised ValueError: no call; an adapter translates foreign"),
    (Deaf, "the user's audio", "the agent did not get the user's audio in full within 5 s"),
    (Backwards, "the user's audio", "the agent got blocks of sound at -21, -27, -33, -39 dB"),
    (Lossy, "what the agent sends", "receive_audio() got 0.300 s of sound where 0.4 s were sent"),
    (Unstamped, "what the agent sends", "receive_audio() returned <AudioChunk 800 samples at 8000 Hz> without"),
    (Misrated, "what the agent sends", "agent audio came at [16000] Hz on a line of 8000 Hz"),
    (Endless, "returns None", "receive_audio(timeout=0) did not return within 5 s"),
    (Dawdling, "returns None", "receive_audio(timeout=0) waited 0.500 s"),
    (Ending, "returns None", "the stream ended while the agent was on the line"),
    (Unending, "the end of the call", "nothing was said of the agent's end within 5 s"),
    (Foreign, "a failure of the agent", "receive_audio(timeout=5) raised ValueError: crashed on purpose"),
    (Sleepy, "wakes whoever waits", "a waiting receive_audio(), after disconnect(), did not end"),
    (Stubborn, "can be cancelled", "receive_audio(), cancelled at await 1, ended with RuntimeError: the cancellation"),
    (Littering, "can be cancelled", "connect(), cancelled at await 1, and then disconnected, left task 'helper'"),
    (Entangled, "can be cancelled", "disconnect() was cancelled by nobody"),
    (Forgetful, "loses nothing", "receive_audio(), cancelled again and again, got"),
    (Boastful, "what is declared", "the agent did not get the interrupt signal within 5 s"),
    (Mumbling, "what is declared", "the agent got ##4 where 1#4 were sent by event"),
    (Substituting, "what is declared", "send_dtmf(method='rfc4733') is not declared, but raised no Unsupported"),
    (Speechless, "what is declared", "streaming_transcripts is declared, but of the words came ''"),
]
