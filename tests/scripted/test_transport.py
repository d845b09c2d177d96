"""The scripted transport: what it records, how its far side is scripted, what never leaves it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.scripted.running import virtually
from voiceharness.clock import LoopClock
from voiceharness.scripted.calls import CALL_TYPES, InterruptCall, MuteCall, SendAudioCall, SendMessageCall
from voiceharness.scripted.errors import (
    ForbiddenCallError,
    IncompleteRealtimeScenarioError,
    ScriptTypeError,
    UnconsumedCall,
    UnexpectedRealtimeCallError,
)
from voiceharness.scripted.protocol import RealtimeTransport
from voiceharness.scripted.transport import ScriptedRealtimeTransport

if TYPE_CHECKING:
    from voiceharness.scripted.run import ScenarioContext

__all__: list[str] = []

SECRET = "sk-very-secret"


# What is recorded


def test_every_outbound_method_of_the_protocol_has_a_call_class() -> None:
    """Item 95."""
    listening = {"on", "once", "off", "emit"}
    outbound = {name for name, member in vars(RealtimeTransport).items() if callable(member) and name[0] != "_"}
    assert outbound - listening == {kind.method for kind in CALL_TYPES}
    assert len(CALL_TYPES) == 13


def test_the_scripted_transport_is_a_realtime_transport(transport: ScriptedRealtimeTransport) -> None:
    assert isinstance(transport, RealtimeTransport)


def test_every_method_is_recorded_with_its_payload(transport: ScriptedRealtimeTransport) -> None:
    transport.connect_nowait(model="m", initial_session_config={"voice": "v"})
    transport.send_event({"type": "x"})
    transport.request_response()
    transport.send_message("hi", {"id": 1}, trigger_response=False)
    transport.add_image("data:image", trigger_response=True)
    transport.send_audio(b"\x01\x02", commit=True)
    transport.update_session_config({"voice": "w"})
    transport.mute(True)
    transport.send_function_call_output({"call_id": "1"}, "42", True)
    transport.interrupt(response_id="r1")
    transport.reset_history([1], [2])
    transport.send_mcp_response({"id": 1}, True, "fine")
    transport.close()
    assert [call.method for call in transport.calls] == [
        "connect", "send_event", "request_response", "send_message", "add_image", "send_audio",
        "update_session_config", "mute", "send_function_call_output", "interrupt", "reset_history",
        "send_mcp_response", "close",
    ]  # fmt: skip
    assert [call.index for call in transport.calls] == list(range(13))
    assert transport.calls_of(SendMessageCall) == (
        SendMessageCall(index=3, message="hi", other_event_data={"id": 1}, trigger_response=False),
    )
    assert transport.calls_of(InterruptCall) == (InterruptCall(index=9, response_id="r1"),)


def test_audio_is_recorded_as_bytes_whatever_holds_it(transport: ScriptedRealtimeTransport) -> None:
    samples = np.array([1, 2], dtype=np.int16)
    for audio in (b"ab", bytearray(b"cd"), memoryview(b"xefx")[1:3], samples):
        transport.send_audio(audio)
    assert transport.audio_sent() == b"abcdef" + samples.tobytes()
    assert all(type(call.audio) is bytes for call in transport.calls_of(SendAudioCall))


def test_a_call_made_before_its_expectation_is_kept_for_it(transport: ScriptedRealtimeTransport) -> None:
    """Item 2."""
    transport.send_message("early")
    expectation = transport.expect_call("send_message")
    assert (expectation.result().index, expectation.result().message) == (0, "early")
    transport.assert_complete()


def test_an_expectation_registers_without_being_awaited(transport: ScriptedRealtimeTransport) -> None:
    """Item 96."""
    expectation = transport.expect_call("interrupt")
    assert not expectation.done()
    transport.interrupt()
    assert expectation.done()


def test_an_injected_failure_is_spent_even_when_the_matcher_raises(transport: ScriptedRealtimeTransport) -> None:
    """Item 16."""
    error = AssertionError("matcher")

    def refuse(_: object) -> None:
        raise error

    transport.fail_next_call("interrupt", OSError("injected"))
    expectation = transport.expect_call("interrupt", refuse)
    with pytest.raises(AssertionError, match="matcher") as caught:
        transport.interrupt()
    assert caught.value is error
    assert expectation.exception() is error
    transport.expect_call("interrupt")
    transport.interrupt()
    transport.assert_complete()


@pytest.mark.parametrize("recorded_before", [False, True])
def test_changing_a_snapshot_reaches_nobody_else(transport: ScriptedRealtimeTransport, recorded_before: bool) -> None:
    """Item 17."""

    def spoil(call: SendMessageCall) -> None:
        call.message["parts"].append("matcher")

    if recorded_before:
        transport.send_message({"parts": []})
    expectation = transport.expect_call("send_message", spoil)
    if not recorded_before:
        transport.send_message({"parts": []})
    expectation.result().message["parts"].append("consumer")
    assert transport.calls_of(SendMessageCall)[0].message == {"parts": []}
    assert expectation.result().message == {"parts": ["consumer"]}


def test_a_call_is_copied_when_it_is_made(transport: ScriptedRealtimeTransport) -> None:
    """Item 18."""

    class Tool:
        pass

    tool, shared, buffer = Tool(), [1], bytearray(b"ab")
    config: dict[str, Any] = {"tool": tool, "a": shared, "b": shared, "buffer": buffer}
    config["self"] = config
    transport.update_session_config(config)
    shared.append(2)
    buffer[0] = 0
    recorded: Any = transport.calls[0]
    assert recorded.config["tool"] is tool
    assert recorded.config["a"] is recorded.config["b"]
    assert recorded.config["a"] == [1]
    assert recorded.config["self"] is recorded.config
    assert recorded.config["buffer"] == bytearray(b"ab")
    assert isinstance(transport.calls, tuple)
    transport.interrupt()
    assert transport.calls[1].index == 1


def test_a_mute_failure_is_reserved_for_the_outer_call(transport: ScriptedRealtimeTransport) -> None:
    """Item 27."""
    error = OSError("mute")
    transport.fail_next_call("mute", error)
    transport.expect_call("mute", lambda _: transport.mute(True))
    inner = transport.expect_call(MuteCall)
    with pytest.raises(OSError, match="mute") as caught:
        transport.mute(False)
    assert caught.value is error
    assert inner.result() == MuteCall(index=1, muted=True)
    assert transport.muted is True


def test_a_refused_mute_changes_nothing(transport: ScriptedRealtimeTransport) -> None:
    transport.expect_call("mute", lambda _: False).exception()
    with pytest.raises(IncompleteRealtimeScenarioError):
        transport.assert_complete()
    with pytest.raises(Exception, match="rejected by its matcher"):
        transport.mute(True)
    assert transport.muted is False


def test_a_stray_call_is_incomplete(transport: ScriptedRealtimeTransport) -> None:
    """Item 42."""
    transport.interrupt()
    for _ in range(2):
        with pytest.raises(IncompleteRealtimeScenarioError) as caught:
            transport.assert_complete()
        assert caught.value.unconsumed_calls == (UnconsumedCall(0, "interrupt"),)


def test_a_matcher_that_only_asserts_accepts_and_runs_once(transport: ScriptedRealtimeTransport) -> None:
    """Item 43."""
    seen = list[str]()

    def matcher(call: SendMessageCall) -> None:
        assert call.message == "hi"
        seen.append(call.message)

    transport.expect_call("send_message", matcher)
    transport.send_message("hi")
    assert seen == ["hi"]
    transport.assert_complete()


@virtually
async def test_calls_carry_the_time_of_the_loop() -> None:
    transport = ScriptedRealtimeTransport()
    await LoopClock().sleep(1.25)
    transport.interrupt()
    assert transport.calls[0].at == 1.25


def test_without_a_loop_calls_carry_no_time(transport: ScriptedRealtimeTransport) -> None:
    transport.interrupt()
    assert transport.calls[0].at is None


# Secrets


def test_no_secret_is_recorded_shown_or_told(transport: ScriptedRealtimeTransport) -> None:
    """Item 107."""
    transport.connect_nowait(
        api_key=SECRET,
        headers={"authorization": SECRET},
        url=f"wss://user:{SECRET}@example.test:8443/v1/realtime?key={SECRET}#{SECRET}",
    )
    transport.send_message(SECRET)
    transport.send_function_call_output({"key": SECRET}, SECRET, True)
    connected: Any = transport.calls[0]
    assert connected.url == "wss://example.test:8443/v1/realtime"
    assert (connected.api_key_provided, connected.headers_provided) == (True, True)
    expectation = transport.expect_call("interrupt")
    errors = [expectation.exception()]
    with pytest.raises(IncompleteRealtimeScenarioError) as caught:
        transport.assert_complete()
    shown = [*map(repr, transport.calls), *map(repr, errors), repr(caught.value), str(transport.timeline)]
    assert [text for text in shown if SECRET in text] == []
    assert "api_key" not in connected.__slots__


def test_connecting_without_a_key_says_so(transport: ScriptedRealtimeTransport) -> None:
    transport.connect_nowait()
    connected: Any = transport.calls[0]
    assert (connected.url, connected.api_key_provided, connected.headers_provided) == (None, False, False)


# Looser order


@virtually
async def test_ambient_audio_flows_beside_the_script() -> None:
    transport = ScriptedRealtimeTransport(ambient={"send_audio"})

    async def scenario(script: ScenarioContext) -> None:
        second = await script.expect_calls(SendAudioCall, count=50)
        assert len(second) == 50
        await script.expect_call("interrupt")

    async def exercise() -> None:
        clock = LoopClock()
        for _ in range(75):
            transport.send_audio(b"\x00" * 320)
            await clock.sleep(0.02)
        transport.interrupt()

    await transport.run_scenario(scenario=scenario, exercise=exercise)
    assert len(transport.audio_sent()) == 75 * 320
    transport.assert_complete()


def test_calls_may_come_in_any_order_if_the_script_says_so(transport: ScriptedRealtimeTransport) -> None:
    muted, said = transport.expect_unordered(["mute", (SendMessageCall, lambda call: call.message == "hi")])
    last = transport.expect_call("close")
    transport.send_message("hi")
    transport.mute(True)
    assert (muted.result().index, said.result().index, last.done()) == (1, 0, False)


def test_any_of_several_calls_may_come(transport: ScriptedRealtimeTransport) -> None:
    either = transport.expect_any_of("interrupt", ("mute", lambda call: call.muted))
    transport.mute(True)
    assert either.result().method == "mute"
    neither = transport.expect_any_of("interrupt", "mute")
    with pytest.raises(UnexpectedRealtimeCallError, match="interrupt or mute"):
        transport.request_response()
    assert isinstance(neither.exception(), UnexpectedRealtimeCallError)


def test_a_call_may_be_forbidden_for_a_while(transport: ScriptedRealtimeTransport) -> None:
    with transport.expect_no_call(SendAudioCall, lambda call: call.commit) as ban:
        transport.send_audio(b"")
        with pytest.raises(ForbiddenCallError, match="call 2"):
            transport.send_audio(b"", commit=True)
    assert isinstance(ban.exception(), ForbiddenCallError)
    transport.send_audio(b"", commit=True)


def test_something_that_names_no_method_is_refused(transport: ScriptedRealtimeTransport) -> None:
    with pytest.raises(ScriptTypeError, match="neither the name of a method"):
        transport.expect_call(int)  # type: ignore[type-var] # the point of the test
    with pytest.raises(ValueError, match="did you mean 'send_audio'"):
        transport.expect_call("send_audo")  # type: ignore[call-overload] # the point of the test
