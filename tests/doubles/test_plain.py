"""Doubles do what they are told and remember what reached them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from voiceharness.agent import AgentCall, serve
from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import LoopClock, run_virtual
from voiceharness.doubles import CrashingAgent, DoubleAgent, EchoAgent, SilentAgent
from voiceharness.errors import AgentCrashedError
from voiceharness.events import CallEnded, Digit, EndOfStream, Interrupted, MarkPlayed, RemoteHangup

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from voiceharness.agent import AgentItem

__all__: list[str] = []

FRAME = AudioChunk(b"\1\0" * 160, position=320)


def in_call(agent: DoubleAgent, body: Callable[[AgentCall], Awaitable[object]]) -> list[AgentItem]:
    """Serve an agent while something happens, then hang up; returns what it sent."""

    async def main() -> list[AgentItem]:
        call = AgentCall(LoopClock())
        serving = asyncio.create_task(serve(agent, call))
        await call.clock.sleep(0)
        await body(call)
        call.deliver(CallEnded("done"))
        await serving
        sent: list[AgentItem] = []
        while (item := call.take_sent()) is not None:
            sent.append(item)
        return sent

    return run_virtual(main())


def test_the_log_of_a_call_holds_what_came_and_when() -> None:
    agent = SilentAgent()

    async def body(call: AgentCall) -> None:
        call.deliver(FRAME)
        await call.clock.sleep(0.5)
        for item in (Digit("1"), Interrupted(), MarkPlayed("m"), FRAME, Digit("2")):
            call.deliver(item)

    assert in_call(agent, body) == [EndOfStream()]
    assert agent.log.audio == AudioChunk(FRAME.pcm * 2, position=0)
    assert agent.log.digits == "12"
    assert agent.log.marks == [MarkPlayed("m")]
    assert agent.log.interruptions == [0.5]
    assert agent.log.ended_at == 0.5
    assert [logged.at for logged in agent.log.items] == [0.0, *[0.5] * 6]


def test_every_call_has_a_log_of_its_own() -> None:
    agent = SilentAgent()
    for digit in "12":
        in_call(agent, lambda call, digit=digit: sent_digit(call, digit))  # type: ignore[misc]  # a default binds
    assert [log.digits for log in agent.logs] == ["1", "2"]


async def sent_digit(call: AgentCall, digit: str) -> None:
    call.deliver(Digit(digit))


def test_a_call_that_goes_on_has_not_ended() -> None:
    agent = SilentAgent()

    async def body(_call: AgentCall) -> None:
        assert agent.log.ended_at is None

    in_call(agent, body)


def test_a_silent_agent_may_hang_up_by_itself() -> None:
    sent = in_call(SilentAgent(hang_up_after=3.0), lambda call: call.clock.sleep(5.0))
    assert sent == [RemoteHangup("said nothing"), EndOfStream()]
    assert [item.at_ns for item in sent] == [3_000_000_000] * 2


@pytest.mark.parametrize("delay", [0.0, 0.25])
def test_an_echo_comes_back_after_its_delay(delay: float) -> None:
    async def body(call: AgentCall) -> None:
        call.deliver(Digit("1"))
        call.deliver(FRAME)
        await call.clock.sleep(1.0)

    sent = in_call(EchoAgent(delay=delay), body)
    assert sent == [AudioChunk(FRAME.pcm), EndOfStream()]
    assert sent[0].at_ns == round(delay * 1e9)


def test_a_crashing_agent_crashes_at_its_time() -> None:
    error = ValueError("boom")

    async def main() -> float:
        call = AgentCall(LoopClock())
        await serve(CrashingAgent(error, after=1.5), call)
        with pytest.raises(AgentCrashedError) as caught:
            call.take_sent()
        assert caught.value.__cause__ is error
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == 1.5


def test_what_an_agent_does_by_itself_ends_with_the_call() -> None:
    cancelled = []

    class Busy(DoubleAgent):
        async def act(self, call: AgentCall) -> None:
            try:
                await call.clock.sleep(3600)
            finally:
                cancelled.append(call.clock.now_ns())

    in_call(Busy(), lambda call: call.clock.sleep(1.0))
    assert cancelled == [1_000_000_000]


def test_a_cancelled_agent_leaves_no_task() -> None:
    async def main() -> Any:
        call = AgentCall(LoopClock())
        serving = asyncio.create_task(serve(SilentAgent(hang_up_after=100), call))
        await call.clock.sleep(1.0)
        serving.cancel()
        await asyncio.wait([serving])
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert run_virtual(main()) == set()
