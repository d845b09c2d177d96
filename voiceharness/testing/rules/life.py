"""Rules about the life of a call: before it, its end from either side, and the agent's failure."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import LoopClock
from voiceharness.doubles.probe_agent import ProbeAgent
from voiceharness.errors import CallError, ConformanceError, PendingTransportError, VoiceHarnessError
from voiceharness.events import EndOfStream, RemoteHangup
from voiceharness.testing.rules.media import carries_the_agent, carries_the_user
from voiceharness.testing.rules.sound import judge_rising, rising, sound_of

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from voiceharness.adapter import Received
    from voiceharness.agent import AgentCall
    from voiceharness.testing.bench import Bench, GuardedAdapter

__all__ = [
    "disconnects_at_any_time",
    "has_one_call",
    "refuses_unless_connected",
    "survives_a_crash_of_the_agent",
    "takes_a_call_of_the_agent",
    "tells_the_end",
    "wakes_who_waits",
]

MOMENT: Final = 0.1
CANNOT_TELL: Final = "its transport does not tell that the agent has ended"


async def refuses_unless_connected(bench: Bench) -> str | None:
    """Sending and receiving raise ``PendingTransportError``, unless there is no state of not being connected."""
    async with bench.adapter(ProbeAgent()) as guarded:
        if _is_connected(guarded):
            return "it has no state of not being connected"
        await _expect_pending(guarded, "send_audio()", guarded.send_audio(AudioChunk(bytes(320), position=0)))
        await _expect_pending(guarded, "receive_audio()", guarded.receive_audio(MOMENT))
        await guarded.connect()
        if not _is_connected(guarded):
            raise guarded.broken("is_connected is false after connect() has returned")
        await guarded.disconnect()
        if _is_connected(guarded):
            raise guarded.broken("is_connected is true after disconnect() has returned")
        if not guarded.keeps_time:
            await _expect_pending(guarded, "send_audio()", guarded.send_audio(AudioChunk(bytes(320), position=0)))
    return None


async def has_one_call(bench: Bench) -> None:
    """A second ``connect``, during the call or after it, is refused, and does the call no harm."""
    async with bench.call() as call:
        await _expect_refusal(call.adapter, "connect() during the call")
        if not call.adapter.adapter.is_connected:
            raise call.adapter.broken("a second connect() ended the call")
        await call.adapter.disconnect()
        await _expect_refusal(call.adapter, "connect() after the call")


async def takes_a_call_of_the_agent(bench: Bench) -> str | None:
    """A call that the agent places is answered, and both sides hear each other as on any other call."""
    async with bench.adapter(ProbeAgent()) as guarded:
        if "be_dialled" not in guarded.adapter.capabilities.directions:
            return "it cannot be dialled"
    if bench.dialler is None:
        return "no dialler is given, whose agent would call it"
    dialled = replace(bench, host=bench.dialler, dialler=None)
    await carries_the_user(dialled)
    await carries_the_agent(dialled)
    await tells_the_end(dialled)
    return None


async def disconnects_at_any_time(bench: Bench) -> None:
    """Before the call, twice, twice at once, and while it is being set up."""
    async with bench.adapter(ProbeAgent()) as never_connected:
        await never_connected.disconnect()
        await never_connected.disconnect()
    async with bench.call() as call:
        await asyncio.gather(call.adapter.disconnect(), call.adapter.disconnect())
        await call.adapter.disconnect()
    async with bench.adapter(ProbeAgent()) as connecting:
        task = asyncio.create_task(connecting.adapter.connect())
        await LoopClock().sleep(0)
        await connecting.disconnect()
        await asyncio.wait([task], timeout=bench.patience)
        _judge_ended(connecting, "connect(), when disconnect() came while it ran,", task)


async def tells_the_end(bench: Bench) -> str | None:
    """A farewell is received in full, then ``EndOfStream``; after that nothing waits for ever."""
    agent = ProbeAgent()
    async with bench.adapter(agent) as guarded:
        if not guarded.adapter.tells_the_end:
            return CANNOT_TELL
        farewell = AudioChunk.from_samples(rising(guarded.adapter.rate), guarded.adapter.rate)
        agent.cues = ((MOMENT, farewell), (2 * MOMENT + farewell.duration, RemoteHangup("bye")))
        await guarded.connect()
        judge_rising(guarded, "receive_audio()", sound_of(await _received_to_the_end(guarded, bench.patience)))
        for _ in range(2):
            await _tolerate(guarded.receive_audio(MOMENT))
    return None


async def survives_a_crash_of_the_agent(bench: Bench) -> str | None:
    """The stream ends, or an error of ours is raised; nobody waits for ever."""
    async with bench.adapter(_CrashingProbe()) as guarded:
        if not guarded.adapter.tells_the_end:
            return CANNOT_TELL
        await guarded.connect()
        await _tolerate(_received_to_the_end(guarded, bench.patience))
    return None


async def wakes_who_waits(bench: Bench) -> None:
    """A ``receive_audio`` that waits without a limit ends when the call is ended from this side."""
    async with bench.call() as call:
        waiting = asyncio.create_task(call.adapter.adapter.receive_audio(None))
        await LoopClock().sleep(MOMENT)
        await call.adapter.disconnect()
        await asyncio.wait([waiting], timeout=bench.patience)
        _judge_ended(call.adapter, "a waiting receive_audio(), after disconnect(),", waiting)


def _is_connected(guarded: GuardedAdapter) -> bool:
    return guarded.adapter.is_connected


async def _expect_refusal(guarded: GuardedAdapter, what: str) -> None:
    try:
        await guarded.bounded("connect()", guarded.adapter.connect())
    except VoiceHarnessError as error:
        if isinstance(error, ConformanceError):
            raise
        return
    raise guarded.broken(f"{what} was not refused; one adapter object is one call")


class _CrashingProbe(ProbeAgent):
    async def act(self, call: AgentCall) -> None:
        await call.clock.sleep(MOMENT)
        raise ValueError("crashed on purpose")


async def _received_to_the_end(guarded: GuardedAdapter, patience: float) -> list[Received]:
    received = await guarded.received_until(lambda items: bool(items) and isinstance(items[-1], EndOfStream))
    if not received or not isinstance(received[-1], EndOfStream):
        raise guarded.broken(f"nothing was said of the agent's end within {patience:g} s")
    return received


async def _expect_pending(guarded: GuardedAdapter, what: str, work: Awaitable[object]) -> None:
    try:
        await work
    except PendingTransportError:
        return
    raise guarded.broken(f"{what} when not connected raised no PendingTransportError")


async def _tolerate(work: Awaitable[object]) -> None:
    """Let something answer as it likes, as long as it answers, or raises one of our errors."""
    try:
        await work
    except CallError:
        return


def _judge_ended(guarded: GuardedAdapter, what: str, task: asyncio.Task[Any]) -> None:
    if not task.done():
        task.cancel()
        raise guarded.broken(f"{what} did not end")
    error = None if task.cancelled() else task.exception()
    if error is not None and not isinstance(error, VoiceHarnessError):
        raise guarded.broken(f"{what} raised {type(error).__name__}: {error}") from error
