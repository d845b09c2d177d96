"""The duplex in-process adapter: both doors, who is blamed for what, and what is left when the call is over."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from voiceharness.agent import AgentCall, PhoneAgent
from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.signals import tone
from voiceharness.capabilities import Requirement
from voiceharness.clock import LoopClock, run_real, run_virtual
from voiceharness.doubles import CrashingAgent, EchoAgent, ScriptedPhoneAgent, SilentAgent
from voiceharness.errors import (
    AgentCrashedError,
    LocalProtocolError,
    OptionError,
    PendingTransportError,
    UnsupportedCapabilityError,
    VirtualTimeError,
)
from voiceharness.events import (
    CallEnded,
    Digit,
    EndOfStream,
    Flush,
    Mark,
    MarkPlayed,
    RemoteHangup,
    TurnDone,
    Word,
    Words,
)
from voiceharness_adapters.in_process import InProcess, host

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from voiceharness.adapter import Received
    from voiceharness.doubles import Cue

__all__: list[str] = []

FRAME = AudioChunk(b"\1\0" * 160, position=0)
TONE = AudioChunk.from_samples(tone(440, 0.5))


def in_call(adapter: InProcess, body: Callable[[InProcess], Awaitable[None]]) -> float:
    """Run something on a connected adapter in virtual time; returns how long it all took on the loop's clock."""

    async def main() -> float:
        await adapter.connect()
        try:
            await body(adapter)
        finally:
            await adapter.disconnect()
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return asyncio.get_running_loop().time()

    return run_virtual(main())


async def received(adapter: InProcess) -> list[Received]:
    """Everything up to the end of the stream, which is left out."""
    items: list[Received] = []
    while not isinstance(item := await adapter.receive_audio(), EndOfStream):
        assert item is not None
        items.append(item)
    return items


class Agent(PhoneAgent):
    """An agent whose answer is a function of the test."""

    def __init__(self, body: Callable[[AgentCall], Awaitable[object]]) -> None:
        self.body = body

    async def answer(self, call: AgentCall) -> None:
        await self.body(call)


# Both doors


def test_the_agent_hears_what_is_sent_and_its_answer_comes_back() -> None:
    async def body(adapter: InProcess) -> None:
        await adapter.send_audio(FRAME)
        echo = await adapter.receive_audio()
        assert isinstance(echo, AudioChunk)
        assert echo.pcm == FRAME.pcm
        assert echo.at_ns == 0

    assert in_call(InProcess(EchoAgent()), body) == 0.0


def test_everything_the_agent_can_send_arrives_in_order_at_its_time() -> None:
    words = Words("hello", (Word("hi", 0.0, 0.2),))
    cues: list[Cue] = [(0.0, TONE), (0.0, Mark("m")), (0.2, words), (0.3, Flush()), (0.3, TurnDone("hello"))]
    agent = ScriptedPhoneAgent([*cues, (1.0, RemoteHangup("bye", 16))])

    async def body(adapter: InProcess) -> None:
        items = await received(adapter)
        assert items == [TONE, Mark("m"), words, Flush(), TurnDone("hello"), RemoteHangup("bye", 16)]
        assert [item.at_ns for item in items] == [0, 0, 200_000_000, 300_000_000, 300_000_000, 1_000_000_000]

    assert in_call(InProcess(agent), body) == 1.0


def test_agent_audio_of_any_rate_leaves_at_the_line_rate() -> None:
    wide = AudioChunk.from_samples(tone(440, 1.0, 24000), 24000)
    agent = ScriptedPhoneAgent([(0.0, wide), (2.0, RemoteHangup())])

    async def body(adapter: InProcess) -> None:
        chunks = [item for item in await received(adapter) if isinstance(item, AudioChunk)]
        assert {chunk.rate for chunk in chunks} == {16000}
        assert sum(map(len, chunks)) == 16000

    in_call(InProcess(agent, rate=16000), body)


def test_signals_reach_the_agents_door() -> None:
    agent = SilentAgent()

    async def body(adapter: InProcess) -> None:
        await adapter.send_dtmf("1#", method="event", tone_ms=80, gap_ms=60)
        await adapter.interrupt()
        adapter.played("m", flushed=True)
        adapter.played(160, flushed=False)

    in_call(InProcess(agent), body)
    assert [(logged.at, logged.item) for logged in agent.log.items if isinstance(logged.item, Digit)] == [
        (0.0, Digit("1", 0.08)),
        (0.14, Digit("#", 0.08)),
    ]
    assert agent.log.interruptions == [0.14]
    assert agent.log.marks == [MarkPlayed("m", flushed=True)]


@pytest.mark.parametrize("method", ["info", "rfc4733", "inband"])
def test_digits_are_never_sent_by_another_method_than_asked(method: Any) -> None:
    async def body(adapter: InProcess) -> None:
        with pytest.raises(UnsupportedCapabilityError, match=f"dtmf:{method}"):
            await adapter.send_dtmf("1", method=method)

    in_call(InProcess(SilentAgent()), body)


def test_what_it_declares() -> None:
    needs = ["interruption", "streaming_transcripts", "virtual_time"]
    assert InProcess.capabilities.missing(map(Requirement, needs)) == ()
    assert InProcess.capabilities.dtmf == {"event", "inband"}
    assert InProcess.capabilities.directions == {"dial"}
    assert (InProcess.timing.paced_by, InProcess.timing.playout) == ("line", "queued")


# Waiting


def test_nothing_in_time_is_none_at_that_time() -> None:
    async def body(adapter: InProcess) -> None:
        assert await adapter.receive_audio(timeout=0.25) is None
        assert await adapter.receive_audio(timeout=0) is None

    assert in_call(InProcess(SilentAgent()), body) == 0.25


def test_a_wait_that_is_given_up_loses_nothing() -> None:
    agent = ScriptedPhoneAgent([(number / 10, Mark(str(number))) for number in range(20)])

    async def body(adapter: InProcess) -> None:
        marks: list[Received] = []
        while len(marks) < 20:
            item = await adapter.receive_audio(timeout=0.1)
            if item is not None:
                marks.append(item)
        assert marks == [Mark(str(number)) for number in range(20)]

    in_call(InProcess(agent), body)


# The end of a call


def test_a_waiting_reader_is_woken_when_the_user_hangs_up() -> None:
    """Case B37."""

    async def body(adapter: InProcess) -> None:
        reader = asyncio.create_task(adapter.receive_audio())
        await LoopClock().sleep(1.0)
        await adapter.disconnect()
        assert await reader == EndOfStream()
        assert await adapter.receive_audio() == EndOfStream()

    assert in_call(InProcess(SilentAgent()), body) == 1.0


def test_after_the_agent_hung_up_its_farewell_is_still_received_and_nothing_can_be_sent() -> None:
    """Case B05."""
    agent = ScriptedPhoneAgent([(0.0, TONE), (0.0, RemoteHangup("bye"))])

    async def body(adapter: InProcess) -> None:
        await LoopClock().sleep(1.0)
        await adapter.send_audio(FRAME)
        connected = [adapter.is_connected]
        assert await received(adapter) == [TONE, RemoteHangup("bye")]
        assert [*connected, adapter.is_connected] == [True, False]
        with pytest.raises(PendingTransportError, match="cannot send audio"):
            await adapter.send_audio(FRAME)
        assert await adapter.receive_audio() == EndOfStream()

    in_call(InProcess(agent), body)


def test_the_agent_is_told_of_the_end_and_may_finish() -> None:
    finished = []

    async def remember(call: AgentCall) -> None:
        while not isinstance(await call.receive(), CallEnded):
            pass
        await call.clock.sleep(0.4)
        finished.append(call.clock.now_ns())

    async def body(_adapter: InProcess) -> None:
        await LoopClock().sleep(1.0)

    assert in_call(InProcess(Agent(remember)), body) == 1.4
    assert finished == [1_400_000_000]


def test_an_agent_that_does_not_finish_is_cancelled_after_its_time() -> None:
    cleaned = []

    async def stay(call: AgentCall) -> None:
        try:
            await call.clock.sleep(3600)
        finally:
            cleaned.append(call.clock.now_ns())

    async def body(_adapter: InProcess) -> None:
        await LoopClock().sleep(1.0)

    assert in_call(InProcess(Agent(stay), goodbye=2.0), body) == 3.0
    assert cleaned == [3_000_000_000]


def test_an_agent_that_ignores_its_cancellation_does_not_hold_the_call_up(caplog: pytest.LogCaptureFixture) -> None:
    async def refuse(call: AgentCall) -> None:
        for _ in range(3):
            try:
                await call.clock.sleep(10)
            except asyncio.CancelledError:
                continue

    async def main() -> float:
        adapter = InProcess(Agent(refuse))
        await adapter.connect()
        await LoopClock().sleep(0)
        await adapter.disconnect()
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == 2.0
    assert "the agent ignores its cancellation" in caplog.text


def test_a_disconnect_that_is_cancelled_still_ends_the_agent() -> None:
    async def body(adapter: InProcess) -> None:
        leaving = asyncio.create_task(adapter.disconnect())
        await LoopClock().sleep(0.1)
        leaving.cancel()
        await asyncio.wait([leaving])
        assert leaving.cancelled()

    assert in_call(InProcess(Agent(lambda call: call.clock.sleep(3600))), body) == 0.1


# Who is to blame


@pytest.mark.parametrize("run", [run_virtual, pytest.param(run_real, marks=pytest.mark.realtime)])
def test_an_agent_that_raises_is_reported_with_its_error_after_what_it_had_sent(run: Any) -> None:
    """Case B03."""
    error = ValueError("boom")

    async def speak_and_raise(call: AgentCall) -> None:
        call.send(TONE)
        await call.clock.sleep(0.01)
        raise error

    async def main() -> None:
        adapter = InProcess(Agent(speak_and_raise))
        await adapter.connect()
        assert await adapter.receive_audio() == TONE
        with pytest.raises(AgentCrashedError, match="ValueError: boom") as caught:
            await adapter.receive_audio(timeout=30)
        assert caught.value.__cause__ is error
        await adapter.disconnect()
        with pytest.raises(AgentCrashedError):
            await adapter.receive_audio()

    run(main())


def test_the_crash_of_an_agent_comes_when_it_happens() -> None:
    async def body(adapter: InProcess) -> None:
        with pytest.raises(AgentCrashedError):
            await adapter.receive_audio(timeout=30)

    assert in_call(InProcess(CrashingAgent(ValueError("boom"), after=1.5)), body) == 1.5


def test_work_that_virtual_time_cannot_follow_is_told_as_such() -> None:
    async def body(adapter: InProcess) -> None:
        with pytest.raises(VirtualTimeError, match="a socket"):
            await adapter.receive_audio()

    in_call(InProcess(Agent(lambda _call: asyncio.open_connection("127.0.0.1", 9))), body)


# One adapter is one call


def test_nothing_can_be_sent_or_received_before_the_call() -> None:
    async def main() -> None:
        adapter = InProcess(SilentAgent())
        assert not adapter.is_connected
        for attempt in (
            adapter.send_audio(FRAME),
            adapter.receive_audio(),
            adapter.interrupt(),
            adapter.send_dtmf("1", method="event"),
        ):
            with pytest.raises(PendingTransportError, match="'in_process' is not connected"):
                await attempt

    run_virtual(main())


@pytest.mark.parametrize("before", [["connect"], ["connect", "disconnect"], ["disconnect"]])
def test_an_adapter_that_had_its_call_takes_no_other(before: list[str]) -> None:
    async def main() -> None:
        adapter = InProcess(SilentAgent())
        for step in before:
            await getattr(adapter, step)()
        with pytest.raises(LocalProtocolError, match="make another adapter"):
            await adapter.connect()
        await adapter.disconnect()
        await adapter.disconnect()

    run_virtual(main())


@pytest.mark.parametrize(
    ("options", "message"),
    [({"rate": 11025}, "no line rate 11025 Hz; it has 8000, 16000, 48000"), ({"goodbye": -1.0}, "not -1.0")],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        InProcess(SilentAgent(), **options)


def test_the_host_tells_how_its_agent_is_reached() -> None:
    agent = SilentAgent()

    async def main() -> None:
        async with host(agent) as target:
            assert dict(target) == {"agent": agent}

    run_virtual(main())


def test_what_an_agent_raises_once_the_call_is_over_is_not_lost() -> None:
    class RaisesLate(PhoneAgent):
        async def answer(self, call: AgentCall) -> None:
            while not isinstance(await call.receive(), CallEnded):
                pass
            raise ValueError("boom")

    async def nothing(_adapter: InProcess) -> None:
        """Hang up at once."""

    adapter = InProcess(RaisesLate())
    in_call(adapter, nothing)
    assert adapter.call_facts() == {"raised_after_end": "ValueError: boom"}
    fine = InProcess(SilentAgent())
    in_call(fine, nothing)
    assert fine.call_facts() == {}
