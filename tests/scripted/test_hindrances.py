"""Trouble on the way of a call: dropped, late, hanging, or the connection lost."""

from __future__ import annotations

import asyncio

import pytest

from tests.scripted.running import seconds, virtually
from voiceharness.clock import LoopClock
from voiceharness.scripted.errors import (
    IncompleteRealtimeScenarioError,
    ScriptedRealtimeConnectionSupersededError,
    ScriptValueError,
    UnexpectedRealtimeCallError,
)
from voiceharness.scripted.inbound import AudioInterruptedEvent
from voiceharness.scripted.transport import ScriptedRealtimeTransport

__all__: list[str] = []


@virtually
async def test_a_dropped_call_is_recorded_and_the_far_side_never_sees_it() -> None:
    transport = ScriptedRealtimeTransport()
    transport.drop_next_call("send_message")
    expectation = transport.expect_call("send_message")
    transport.send_message("lost")
    transport.send_message("found")
    assert (await expectation).message == "found"
    assert len(transport.calls) == 2
    assert "-- call 0 (send_message): dropped" in str(transport.timeline)


@virtually
async def test_a_delayed_call_meets_the_script_later() -> None:
    transport = ScriptedRealtimeTransport()
    transport.delay_next_call("interrupt", 1.5)
    expectation = transport.expect_call("interrupt")
    transport.interrupt()
    assert not expectation.done()
    await expectation
    assert seconds() == 1.5
    assert transport.calls[0].at == 0


@virtually
async def test_what_is_wrong_with_a_delayed_call_fails_the_expectation_only() -> None:
    transport = ScriptedRealtimeTransport()
    transport.delay_next_call("mute", 0.5)
    transport.when("interrupt").emit(AudioInterruptedEvent())
    expectation = transport.expect_call("interrupt")
    transport.mute(True)
    assert transport.muted is True
    with pytest.raises(UnexpectedRealtimeCallError):
        await expectation
    assert "did not fit: UnexpectedRealtimeCallError" in str(transport.timeline)


@virtually
async def test_the_answer_to_a_delayed_call_comes_late_as_well() -> None:
    transport, heard = ScriptedRealtimeTransport(), asyncio.Event()
    transport.on("audio_interrupted", lambda _: heard.set())
    transport.when("interrupt").emit(AudioInterruptedEvent())
    transport.delay_next_call("interrupt", 0.5)
    transport.interrupt()
    await heard.wait()
    assert transport.timeline.latency("interrupt", "audio_interrupted") == 0.5


@virtually
async def test_a_delayed_connect_waits() -> None:
    transport, statuses = ScriptedRealtimeTransport(), list[tuple[str, float]]()
    transport.on("connection_change", lambda event: statuses.append((event.status, seconds())))
    transport.delay_next_call("connect", 2)
    await transport.connect()
    assert statuses == [("connecting", 0), ("connected", 2)]


@virtually
async def test_a_hanging_connect_waits_until_it_is_cancelled() -> None:
    transport = ScriptedRealtimeTransport()
    transport.hang_next_connect()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(transport.connect(), 10)
    transport.assert_closed()
    await transport.connect()


@virtually
async def test_a_hanging_connect_is_overtaken_by_a_disconnect() -> None:
    transport = ScriptedRealtimeTransport()
    transport.hang_next_connect()
    connecting = asyncio.ensure_future(transport.connect())
    await LoopClock().sleep(1)
    transport.disconnect()
    with pytest.raises(ScriptedRealtimeConnectionSupersededError):
        await connecting


def test_trouble_that_cannot_happen_is_refused(transport: ScriptedRealtimeTransport) -> None:
    with pytest.raises(ScriptValueError, match="cannot be dropped"):
        transport.drop_next_call("connect")
    with pytest.raises(ScriptValueError, match="not below 0"):
        transport.delay_next_call("mute", -1)


def test_trouble_no_call_ran_into_is_left_over(transport: ScriptedRealtimeTransport) -> None:
    transport.drop_next_call("mute")
    with pytest.raises(IncompleteRealtimeScenarioError, match="never used: 1 of mute"):
        transport.assert_complete()
    transport.mute(True)
    transport.assert_complete()


def test_the_connection_is_lost_after_some_audio(transport: ScriptedRealtimeTransport) -> None:
    errors = list[object]()
    transport.on("error", lambda event: errors.append(event.error))
    transport.connect_nowait()
    error = OSError("gone")
    transport.disconnect_after_audio(3, error)
    statuses = list[str]()
    for _ in range(5):
        transport.send_audio(b"\x00\x00")
        statuses.append(transport.status)
    assert statuses == ["connected"] * 2 + ["disconnected"] * 3
    assert errors == [error]
