"""The agent's door: what each side sees, how the call ends, and what becomes of audio at other rates."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from voiceharness.agent import AgentCall, PhoneAgent, serve
from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.signals import tone
from voiceharness.clock import NS, LoopClock, run_virtual
from voiceharness.errors import AgentCrashedError, LocalProtocolError, StallError, VirtualTimeError
from voiceharness.events import (
    CallEnded,
    Digit,
    EndOfStream,
    Flush,
    Interrupted,
    Mark,
    RemoteHangup,
    StateClaimed,
    TurnDone,
    Word,
    Words,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from voiceharness.agent import AgentItem
    from voiceharness.events import UserItem

__all__: list[str] = []

FRAME = AudioChunk(b"\1\0" * 160)


def in_call(body: Callable[[AgentCall], Awaitable[None]], *, rate: int = 8000) -> list[AgentItem]:
    """Run something on a call in virtual time; returns what the agent sent."""

    async def main() -> list[AgentItem]:
        call = AgentCall(LoopClock(), rate=rate)
        await body(call)
        return taken(call)

    return run_virtual(main())


def taken(call: AgentCall) -> list[AgentItem]:
    """Everything the agent has sent so far."""
    items = []
    while (item := call.take_sent()) is not None:
        items.append(item)
    return items


class Agent(PhoneAgent):
    """An agent whose answer is a function of the test."""

    def __init__(self, body: Callable[[AgentCall], Awaitable[object]]) -> None:
        self.body = body

    async def answer(self, call: AgentCall) -> None:
        await self.body(call)


# The agent's face


def test_what_comes_from_the_user_is_received_in_order() -> None:
    async def body(call: AgentCall) -> None:
        items: list[UserItem] = [FRAME, Digit("5"), Interrupted(), FRAME]
        for item in items:
            call.deliver(item)
        assert [await call.receive() for _ in items] == items

    in_call(body)


def test_receive_waits_for_what_comes_next() -> None:
    async def body(call: AgentCall) -> None:
        call.clock.call_at_ns(NS, lambda: call.deliver(FRAME))
        assert await call.receive() is FRAME
        assert call.clock.now_ns() == NS

    in_call(body)


def test_after_the_end_receive_always_says_so() -> None:
    async def body(call: AgentCall) -> None:
        ended = CallEnded("the user hung up")
        call.deliver(FRAME)
        call.deliver(ended)
        call.deliver(FRAME)
        assert [await call.receive() for _ in range(3)] == [FRAME, ended, ended]
        assert call.ended

    in_call(body)


def test_a_loop_that_never_looks_for_the_end_is_stopped() -> None:
    """It waits for nothing, so nobody else would ever run again: neither time-out nor cancellation reach it."""

    async def body(call: AgentCall) -> None:
        call.deliver(CallEnded("the user hung up"))
        while True:
            await call.receive()

    with pytest.raises(LocalProtocolError, match="1000 times that the call has ended; leave the loop at a CallEnded"):
        in_call(body)


def test_a_listening_function_gets_what_had_come_before_and_each_item_at_once() -> None:
    async def body(call: AgentCall) -> None:
        heard: list[UserItem] = []
        call.deliver(FRAME)
        call.listen(heard.append)
        assert heard == [FRAME]
        call.deliver(Digit("1"))
        assert heard == [FRAME, Digit("1")]
        with pytest.raises(LocalProtocolError, match="listened to by a function"):
            await call.receive()

    in_call(body)


def test_two_tasks_cannot_receive_from_one_call() -> None:
    async def body(call: AgentCall) -> None:
        first = asyncio.create_task(call.receive())
        await call.clock.sleep(0)
        with pytest.raises(LocalProtocolError, match="two tasks receive"):
            await call.receive()
        call.deliver(FRAME)
        assert await first is FRAME

    in_call(body)


def test_a_receive_that_is_cancelled_loses_nothing() -> None:
    async def body(call: AgentCall) -> None:
        waiting = asyncio.create_task(call.receive())
        await call.clock.sleep(0)
        call.deliver(FRAME)
        waiting.cancel()
        await asyncio.wait([waiting])
        assert waiting.cancelled()
        assert await call.receive() is FRAME

    in_call(body)


def test_what_the_agent_sends_is_stamped_with_the_time_of_sending() -> None:
    async def body(call: AgentCall) -> None:
        call.send(FRAME)
        await call.clock.sleep(1.5)
        call.mark("middle")
        call.send_words([Word("hello", 0.0, 0.4)], item="greeting")
        call.flush()

    sent = in_call(body)
    assert sent == [FRAME, Mark("middle"), Words("greeting", (Word("hello", 0.0, 0.4),)), Flush()]
    assert [item.at_ns for item in sent] == [0, 3 * NS // 2, 3 * NS // 2, 3 * NS // 2]


def test_a_stamp_of_the_far_side_is_kept() -> None:
    async def body(call: AgentCall) -> None:
        await call.clock.sleep(1.0)
        call.send(Mark("early", at_ns=7))

    assert [item.at_ns for item in in_call(body)] == [7]


def test_hanging_up_is_the_last_thing_that_is_sent() -> None:
    async def body(call: AgentCall) -> None:
        call.hang_up("done", code=200)
        call.hang_up("again")
        call.send(FRAME)
        assert call.ended
        assert call.late_items == 1

    assert in_call(body) == [RemoteHangup("done", 200), EndOfStream()]


def test_what_is_sent_after_the_user_hung_up_is_dropped_and_counted() -> None:
    async def body(call: AgentCall) -> None:
        call.deliver(CallEnded())
        call.send(FRAME)
        call.mark("late")
        assert call.late_items == 2

    assert in_call(body) == [EndOfStream()]


def test_the_end_of_the_stream_is_said_once_whoever_ends_the_call() -> None:
    async def body(call: AgentCall) -> None:
        call.hang_up()
        call.deliver(CallEnded())
        call.deliver(CallEnded())

    assert in_call(body) == [RemoteHangup(), EndOfStream()]


# The host's face


def test_the_host_waits_for_what_the_agent_sends() -> None:
    async def body(call: AgentCall) -> None:
        call.clock.call_at_ns(NS, lambda: call.send(FRAME))
        assert await call.sent() == FRAME
        assert call.clock.now_ns() == NS

    assert in_call(body) == []


def test_a_wait_of_the_host_that_is_cancelled_loses_nothing() -> None:
    async def body(call: AgentCall) -> None:
        waiting = asyncio.create_task(call.sent())
        await call.clock.sleep(0)
        call.send(FRAME)
        waiting.cancel()
        await asyncio.wait([waiting])

    assert in_call(body) == [FRAME]


def test_an_agent_that_returns_has_hung_up() -> None:
    async def body(call: AgentCall) -> None:
        await serve(Agent(lambda call: call.clock.sleep(1.0)), call)

    assert in_call(body) == [RemoteHangup("the agent returned"), EndOfStream()]


@pytest.mark.parametrize("error", [ValueError("boom"), SystemExit(3), asyncio.CancelledError("its own")])
def test_an_agent_that_raises_has_crashed_and_its_error_is_the_cause(error: BaseException) -> None:
    """Case B03."""

    async def body(call: AgentCall) -> None:
        async def speak_and_raise(call: AgentCall) -> None:
            call.send(FRAME)
            raise error

        await asyncio.wait([asyncio.create_task(serve(Agent(speak_and_raise), call))])
        assert call.take_sent() == FRAME
        for _ in range(2):
            with pytest.raises(AgentCrashedError, match=type(error).__name__) as caught:
                await call.sent()
            assert caught.value.__cause__ is error

    with pytest.raises(AgentCrashedError):
        in_call(body)


def test_work_that_leaves_virtual_time_is_not_blamed_on_the_agent() -> None:
    async def body(call: AgentCall) -> None:
        await serve(Agent(lambda _call: asyncio.open_connection("127.0.0.1", 9)), call)

    with pytest.raises(VirtualTimeError, match="a socket cannot be followed") as caught:
        in_call(body)
    assert isinstance(caught.value.__cause__, VirtualTimeError)


def test_a_listening_function_that_raises_is_a_crash_of_the_agent_not_of_who_delivers() -> None:
    error = ValueError("boom")

    async def body(call: AgentCall) -> None:
        def listener(_item: UserItem) -> None:
            raise error

        call.listen(listener)
        call.deliver(FRAME)
        call.deliver(FRAME)
        with pytest.raises(AgentCrashedError) as caught:
            call.take_sent()
        assert caught.value.__cause__ is error
        assert call.ended

    with pytest.raises(AgentCrashedError):
        in_call(body)


def test_the_host_that_waits_is_woken_by_a_crash() -> None:
    async def body(call: AgentCall) -> None:
        call.clock.call_at_ns(NS, lambda: call.crash(ValueError("boom")))
        with pytest.raises(AgentCrashedError):
            await call.sent()
        assert call.clock.now_ns() == NS

    with pytest.raises(AgentCrashedError):
        in_call(body)


def test_a_crash_outlives_the_end_of_the_call() -> None:
    async def body(call: AgentCall) -> None:
        call.crash(ValueError("boom"))
        call.deliver(CallEnded())

    with pytest.raises(AgentCrashedError, match="boom"):
        in_call(body)


# Audio at other rates


def heard(items: list[AgentItem], rate: int = 8000) -> Any:
    """The track that a line makes of chunks: each at the end of the queue, or where it came if the queue was empty."""
    track = np.zeros(0, np.int16)
    for item in items:
        if isinstance(item, AudioChunk):
            assert item.rate == rate
            assert item.at_ns is not None
            hole = max(0, round(item.at_ns * rate / NS) - len(track))
            track = np.concatenate((track, np.zeros(hole, np.int16), item.samples))
    return track


def chunk(hz: float, seconds: float, rate: int, item: str | None = None) -> AudioChunk:
    return AudioChunk.from_samples(tone(hz, seconds, rate), rate, item=item)


def off_by(track: Any, hz: float, start: float = 0.0) -> float:
    """How far a track differs from a tone at most, re full scale, apart from 3 ms at its ends."""
    wanted = tone(hz, len(track) / 8000 - start)
    got = track[round(start * 8000) :].astype(float)
    return float(np.max(np.abs(got - wanted)[24:-24]) / 32768)


@pytest.mark.parametrize("rate", [16000, 24000, 44100, 48000])
def test_audio_in_a_burst_is_heard_whole_and_in_its_place(rate: int) -> None:
    async def body(call: AgentCall) -> None:
        await call.clock.sleep(0.5)
        for piece in np.array_split(tone(440, 1.0, rate), 7):
            call.send(AudioChunk.from_samples(piece, rate))
        await call.clock.sleep(2.0)

    track = heard(in_call(body))
    assert len(track) == 12000
    assert off_by(track, 440, 0.5) < 0.001


def test_audio_in_frames_sent_just_in_time_is_heard_without_a_hole() -> None:
    async def body(call: AgentCall) -> None:
        for piece in np.array_split(tone(440, 1.0, 24000), 50):
            call.send(AudioChunk.from_samples(piece, 24000))
            await call.clock.sleep(0.02)
        await call.clock.sleep(1.0)

    track = heard(in_call(body))
    assert len(track) == 8000
    assert off_by(track, 440) < 0.001


def test_frames_that_come_a_little_late_keep_their_own_time() -> None:
    async def body(call: AgentCall) -> None:
        for piece in np.array_split(tone(440, 0.2, 24000), 10):
            call.send(AudioChunk.from_samples(piece, 24000))
            await call.clock.sleep(0.021)
        await call.clock.sleep(1.0)

    assert len(heard(in_call(body))) == 1600 + 9 * 8


def test_a_pause_between_two_items_is_kept() -> None:
    async def body(call: AgentCall) -> None:
        call.send(chunk(440, 0.5, 24000, "first"))
        await call.clock.sleep(1.0)
        call.send(chunk(880, 0.5, 24000, "second"))
        await call.clock.sleep(1.0)

    items = in_call(body)
    track = heard(items)
    assert len(track) == 12000
    assert off_by(track[:4000], 440) < 0.001
    assert not np.any(track[4000:8000])
    assert off_by(track[8000:], 880) < 0.001
    assert [item.item for item in items if isinstance(item, AudioChunk)] == ["first"] * 2 + ["second"] * 2


def test_what_was_sent_ahead_is_complete_before_its_time_has_run_out() -> None:
    async def body(call: AgentCall) -> None:
        call.send(chunk(440, 1.0, 24000))
        await call.clock.sleep(0.995)
        assert len(heard(taken(call))) == 8000

    assert in_call(body) == []


@pytest.mark.parametrize(
    "end",
    [
        lambda call: call.send(TurnDone()),
        lambda call: call.send(chunk(880, 0.1, 24000, "next")),
        lambda call: call.send(chunk(440, 0.1, 16000)),
        lambda call: call.send(FRAME),
        lambda call: call.hang_up(),
        lambda call: call.deliver(CallEnded()),
    ],
)
def test_whatever_ends_an_item_brings_the_rest_of_its_sound_first(end: Callable[[AgentCall], None]) -> None:
    async def body(call: AgentCall) -> None:
        call.send(chunk(440, 1.0, 24000))
        assert len(heard(taken(call))) < 8000
        end(call)

    items = in_call(body)
    assert isinstance(items[0], AudioChunk)
    assert len(items[0]) == 20


def test_a_crash_brings_the_rest_of_the_sound_before_it() -> None:
    async def body(call: AgentCall) -> None:
        call.send(chunk(440, 1.0, 24000))
        call.crash(ValueError("boom"))
        assert len(heard([item for item in (call.take_sent(), call.take_sent()) if item is not None])) == 8000

    with pytest.raises(AgentCrashedError):
        in_call(body)


def test_words_marks_and_states_between_frames_do_not_cut_the_sound() -> None:
    async def body(call: AgentCall) -> None:
        for piece in np.array_split(tone(440, 1.0, 24000), 50):
            call.send(AudioChunk.from_samples(piece, 24000))
            call.send_words([Word("la", 0.0, 0.1)])
            call.send(StateClaimed("speaking"))
            call.mark("frame")
        await call.clock.sleep(1.0)

    track = heard(in_call(body))
    assert len(track) == 8000
    assert off_by(track, 440) < 0.001


def test_after_a_flush_the_next_audio_starts_anew() -> None:
    async def body(call: AgentCall) -> None:
        call.send(chunk(440, 10.0, 24000))
        taken(call)
        await call.clock.sleep(1.0)
        call.flush()
        taken(call)
        call.send(chunk(880, 0.05, 24000))
        await call.clock.sleep(0.5)

    items = in_call(body)
    assert [item.at_ns for item in items] == [NS, NS + 50_000_000 - 2_500_000]
    assert len(heard(items)) == 8400


def test_a_call_that_ended_leaves_no_timer_behind() -> None:
    async def body(call: AgentCall) -> None:
        call.send(chunk(440, 1.0, 24000))
        call.hang_up()
        await asyncio.get_running_loop().create_future()

    with pytest.raises(StallError, match=r"at 0\.000 s"):
        in_call(body)


def test_empty_audio_passes_as_it_is() -> None:
    empty = AudioChunk(b"", 24000)

    async def body(call: AgentCall) -> None:
        call.send(empty)

    assert in_call(body) == [empty]
