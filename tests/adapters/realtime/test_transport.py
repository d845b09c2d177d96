"""The adapter over a realtime transport: the contract, its options, and who is blamed for what."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tests.adapters.realtime.far_sides import at, paced, timetable
from voiceharness.audio.chunk import AudioChunk
from voiceharness.capabilities import Requirement
from voiceharness.clock import LoopClock, run_real, run_virtual
from voiceharness.errors import (
    CallDroppedError,
    ConnectError,
    LocalProtocolError,
    OptionError,
    PendingTransportError,
    UnsupportedCapabilityError,
)
from voiceharness.events import EndOfStream, RemoteHangup
from voiceharness.registry import create
from voiceharness.scripted.calls import ConnectCall, InterruptCall, RequestResponseCall, SendAudioCall
from voiceharness.scripted.errors import ScriptedRealtimeConnectionSupersededError, UnexpectedRealtimeCallError
from voiceharness.scripted.inbound import ErrorEvent, TurnDoneEvent
from voiceharness.scripted.run import ScenarioContext  # noqa: TC001  pytest shows it
from voiceharness.scripted.sounds import PCM_24K
from voiceharness.scripted.transport import ScriptedRealtimeTransport
from voiceharness.testing import RULES, check_adapter
from voiceharness_adapters.realtime import TransportVoiceAdapter, host

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

__all__: list[str] = []

SILENCE = AudioChunk(bytes(320), position=0)


def in_call(
    body: Callable[[TransportVoiceAdapter, ScriptedRealtimeTransport], Awaitable[None]],
    transport: ScriptedRealtimeTransport | None = None,
    **options: Any,
) -> ScriptedRealtimeTransport:
    """Run something on a connected adapter in virtual time."""
    transport = transport or timetable([])

    async def main() -> None:
        adapter = TransportVoiceAdapter(transport, **options)
        await adapter.connect()
        try:
            await body(adapter, transport)
        finally:
            await adapter.disconnect()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    run_virtual(main())
    assert transport.status == "disconnected"
    return transport


# The contract


@pytest.mark.parametrize("rate", sorted(TransportVoiceAdapter.capabilities.rates))
def test_it_keeps_the_contract_at_every_rate(rate: int) -> None:
    run_virtual(check_adapter(lambda **target: TransportVoiceAdapter(rate=rate, **target), partial(host, rate=rate)))


def test_it_keeps_the_rules_of_sound_when_the_far_side_has_another_rate() -> None:
    rules = [rule for rule in RULES if "the user's audio reaches" not in rule]  # the bench counts at the line's rate
    run_virtual(check_adapter(TransportVoiceAdapter, partial(host, rate=24000), rules=rules))


@pytest.mark.realtime
def test_it_keeps_the_contract_in_real_time() -> None:
    run_real(check_adapter(TransportVoiceAdapter, host))


def test_what_it_declares() -> None:
    declared = TransportVoiceAdapter.capabilities
    assert declared.missing(map(Requirement, ["interruption", "streaming_transcripts", "virtual_time"])) == ()
    assert declared.dtmf == {"inband"}
    over_the_network = TransportVoiceAdapter.capabilities_for({"live": True, "transcripts": False})
    assert not over_the_network.virtual_time
    assert not over_the_network.streaming_transcripts


def test_it_is_made_by_its_name_of_plain_options() -> None:
    path = f"{ScriptedRealtimeTransport.__module__}:ScriptedRealtimeTransport"
    adapter = create("realtime", {"transport": path, "turn_detection": "harness", "audio_rate": 16000})
    assert isinstance(adapter, TransportVoiceAdapter)
    assert adapter.harness_detects_turns
    assert isinstance(adapter.transport, ScriptedRealtimeTransport)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rate": 24000}, "no line rate 24000 Hz; it has 8000, 16000, 48000"),
        ({"audio_rate": 24}, "audio_rate is a rate in hertz from 8000 on, not 24"),
        ({"request_response": True}, "set turn_detection to harness"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        TransportVoiceAdapter(ScriptedRealtimeTransport(), **options)


def test_digits_have_no_way() -> None:
    async def body(adapter: TransportVoiceAdapter, _transport: object) -> None:
        with pytest.raises(UnsupportedCapabilityError):
            await adapter.send_dtmf("1", method="event")

    in_call(body)


# Connecting


def test_the_transport_is_told_how_to_connect() -> None:
    async def body(_adapter: object, transport: ScriptedRealtimeTransport) -> None:
        (call,) = transport.calls_of(ConnectCall)
        assert (call.model, call.api_key_provided) == ("voice-1", True)

    in_call(body, connect_options={"model": "voice-1", "api_key": "secret"})


@pytest.mark.parametrize("error", [OSError("refused"), RuntimeError("broken")])
def test_a_far_side_that_cannot_be_reached_is_an_error_of_ours(error: Exception) -> None:
    async def main() -> None:
        transport = timetable([])
        transport.fail_next_call("connect", error)
        adapter = TransportVoiceAdapter(transport)
        with pytest.raises(ConnectError, match=str(error)) as caught:
            await adapter.connect()
        assert caught.value.__cause__ is error
        assert not adapter.is_connected
        await adapter.disconnect()

    run_virtual(main())


def test_a_transport_that_returns_without_a_connection_is_not_connected() -> None:
    async def main() -> None:
        transport = timetable([])
        transport.on("connection_change", lambda event: event.status == "connected" and transport.emit(TurnDoneEvent()))
        transport.when("connect").run(lambda _call: transport.disconnect())
        with pytest.raises(ConnectError, match="disconnected while the call was being set up"):
            await TransportVoiceAdapter(transport).connect()

    run_virtual(main())


def test_hanging_up_ends_a_connect_that_never_comes_back() -> None:
    async def main() -> None:
        transport = timetable([])
        transport.hang_next_connect()
        adapter = TransportVoiceAdapter(transport)
        connecting = asyncio.create_task(adapter.connect())
        await LoopClock().sleep(1.0)
        await adapter.disconnect()
        with pytest.raises(ScriptedRealtimeConnectionSupersededError):
            await connecting

    run_virtual(main())


@pytest.mark.parametrize("before", [["connect"], ["connect", "disconnect"], ["disconnect"]])
def test_an_adapter_that_had_its_call_takes_no_other(before: list[str]) -> None:
    async def main() -> None:
        adapter = TransportVoiceAdapter(timetable([]))
        for step in before:
            await getattr(adapter, step)()
        with pytest.raises(LocalProtocolError, match="make another adapter"):
            await adapter.connect()
        await adapter.disconnect()

    run_virtual(main())


def test_nothing_can_be_done_before_the_call() -> None:
    async def main() -> None:
        adapter = TransportVoiceAdapter(timetable([]), turn_detection="harness")
        for attempt in (adapter.send_audio(SILENCE), adapter.receive_audio(), adapter.interrupt()):
            with pytest.raises(PendingTransportError, match="'realtime' is not connected"):
                await attempt
        with pytest.raises(PendingTransportError, match="commit"):
            adapter.user_turn_ended()

    run_virtual(main())


# Sending


@pytest.mark.parametrize("asks", [True, False])
def test_the_harness_commits_at_the_end_of_the_users_turn_and_asks_if_told_to(asks: bool) -> None:
    async def body(adapter: TransportVoiceAdapter, _transport: object) -> None:
        adapter.user_turn_started()
        for _ in range(10):
            await adapter.send_audio(SILENCE)
        adapter.user_turn_ended()

    transport = in_call(body, turn_detection="harness", request_response=asks)
    assert [call.commit for call in transport.calls_of(SendAudioCall)] == [False] * 9 + [True]
    assert PCM_24K.duration(transport.audio_sent()) == 0.2
    assert len(transport.calls_of(RequestResponseCall)) == asks


def test_a_server_that_detects_turns_is_left_to_it() -> None:
    async def body(adapter: TransportVoiceAdapter, _transport: object) -> None:
        await adapter.send_audio(SILENCE)
        adapter.user_turn_ended()

    assert [call.commit for call in in_call(body).calls_of(SendAudioCall)] == [False]


@pytest.mark.parametrize("method", ["send_audio", "interrupt"])
def test_a_transport_that_fails_to_send_drops_the_call(method: Any) -> None:
    error = OSError("broken pipe")

    async def body(adapter: TransportVoiceAdapter, transport: ScriptedRealtimeTransport) -> None:
        transport.fail_next_call(method, error)
        with pytest.raises(CallDroppedError, match="broken pipe") as caught:
            await (adapter.send_audio(SILENCE) if method == "send_audio" else adapter.interrupt())
        assert caught.value.__cause__ is error

    in_call(body)


def test_a_call_that_the_script_does_not_expect_is_the_scripts_own_error() -> None:
    async def body(adapter: TransportVoiceAdapter, transport: ScriptedRealtimeTransport) -> None:
        def scenario(script: ScenarioContext) -> None:
            script.expect_call("interrupt")

        with pytest.raises(UnexpectedRealtimeCallError):
            await transport.run_scenario(scenario=scenario, exercise=lambda: adapter.send_audio(SILENCE))

    transport = ScriptedRealtimeTransport()
    transport.when("connect").run(lambda _call: None)
    transport.when("close").run(lambda _call: None)
    in_call(body, transport)


# The end


def test_what_came_before_the_end_is_received_before_it_and_nothing_is_sent_after() -> None:
    cues = [*paced(0.1, "a", PCM_24K.tone(440, 0.1), speed=float("inf"))]
    transport = timetable(cues)

    async def body(adapter: TransportVoiceAdapter, transport: ScriptedRealtimeTransport) -> None:
        at(0.2, transport.disconnect)
        await LoopClock().sleep(0.3)
        assert adapter.is_connected  # the end has not been received yet
        await adapter.send_audio(SILENCE)
        await adapter.interrupt()
        received = []
        while not isinstance(item := await adapter.receive_audio(), EndOfStream):
            received.append(item)
        assert isinstance(received[-1], RemoteHangup)
        assert sum(len(chunk) for chunk in received if isinstance(chunk, AudioChunk)) == 800
        assert await adapter.receive_audio() == EndOfStream()
        with pytest.raises(PendingTransportError):
            await adapter.send_audio(SILENCE)

    calls = in_call(body, transport)
    assert not calls.calls_of(SendAudioCall)
    assert not calls.calls_of(InterruptCall)


def test_an_error_of_the_transport_is_raised_at_the_end() -> None:
    async def body(adapter: TransportVoiceAdapter, transport: ScriptedRealtimeTransport) -> None:
        transport.emit(TurnDoneEvent())
        transport.emit(ErrorEvent(error=OSError("reset")))
        assert await adapter.receive_audio() is not None
        with pytest.raises(CallDroppedError, match="reset"):
            await adapter.receive_audio()
        assert not adapter.is_connected

    in_call(body)


def test_a_close_that_fails_hides_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        transport = timetable([])
        adapter = TransportVoiceAdapter(transport)
        await adapter.connect()
        transport.fail_next_call("close", OSError("late"))
        await adapter.disconnect()

    run_virtual(main())
    assert "did not close" in caplog.text


def test_it_listens_no_more_once_the_call_is_over() -> None:
    async def body(_adapter: object, _transport: object) -> None:
        """Nothing."""

    transport = in_call(body)
    assert not transport.emit(TurnDoneEvent())


def test_the_report_says_what_the_far_side_took() -> None:
    async def body(adapter: TransportVoiceAdapter, _transport: object) -> None:
        facts = {"audio_rate": 24000, "audio_encoding": "pcm16", "turn_detection": "server"}
        assert adapter.call_facts() == facts

    in_call(body)
