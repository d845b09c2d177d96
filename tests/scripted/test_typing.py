"""What a type checker knows of calls and events; a wrong ``type: ignore`` here is an error of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_type

import pytest

from voiceharness.scripted.calls import ConnectCall, InterruptCall, MuteCall, SendAudioCall, SendMessageCall
from voiceharness.scripted.expectation import Expectation, NoCall
from voiceharness.scripted.inbound import AudioEvent, ConnectionChangeEvent
from voiceharness.scripted.transport import ScriptedRealtimeTransport

if TYPE_CHECKING:
    from voiceharness.scripted.protocol import RealtimeTransport

__all__: list[str] = []


def test_each_method_gives_its_own_call() -> None:
    transport = ScriptedRealtimeTransport(ambient={"send_audio"})
    assert_type(transport.expect_call("connect"), Expectation[ConnectCall])
    assert_type(transport.expect_call(MuteCall, lambda call: call.muted), Expectation[MuteCall])
    assert_type(transport.expect_optional(InterruptCall), Expectation[InterruptCall | None])
    assert_type(transport.expect_calls(SendAudioCall, count=1), Expectation[tuple[SendAudioCall, ...]])
    assert_type(transport.expect_no_call("interrupt"), NoCall)
    assert_type(transport.calls_of(SendMessageCall), tuple[SendMessageCall, ...])
    assert len(transport.leftovers.pending_expectations) == 3


def test_a_wrong_field_of_a_call_is_a_type_error() -> None:
    transport = ScriptedRealtimeTransport()
    transport.expect_call("mute", lambda call: call.audio)  # type: ignore[call-overload] # there is none
    with pytest.raises(AttributeError):
        transport.mute(True)
    call = transport.calls[0]
    assert call.method == "mute"
    assert_type(call, MuteCall)
    with pytest.raises(AttributeError):
        call.audio  # type: ignore[attr-defined] # noqa: B018 - there is none


def test_a_wrong_method_or_field_to_build_is_a_type_error() -> None:
    transport = ScriptedRealtimeTransport()
    with pytest.raises(TypeError):
        AudioEvent(audio=b"")  # type: ignore[call-arg] # it is called data
    with pytest.raises(ValueError, match="no method 'speak'"):
        transport.fail_next_call("speak", OSError())  # type: ignore[arg-type] # there is none
    with pytest.raises(TypeError):
        transport.mute("yes", 1)  # type: ignore[call-arg, arg-type] # one flag


def test_each_event_gives_its_own_type_to_its_listener() -> None:
    transport = ScriptedRealtimeTransport()
    heard = list[Any]()

    def listen(event: ConnectionChangeEvent) -> None:
        heard.append(event.status)

    transport.on("connection_change", listen).on(AudioEvent, lambda event: heard.append(event.data))
    transport.once("audio", listen)  # type: ignore[arg-type] # another event's listener
    transport.off("audio", listen)  # type: ignore[arg-type] # another event's listener
    transport.connect_nowait()
    transport.emit(AudioEvent(data=b"a"))
    assert heard == ["connecting", "connected", b"a"]


def test_the_scripted_transport_stands_for_a_real_one() -> None:
    def live(transport: RealtimeTransport) -> str:
        return transport.status

    assert live(ScriptedRealtimeTransport()) == "disconnected"


async def results() -> None:
    """Only to be type-checked: what a run returns."""
    transport = ScriptedRealtimeTransport()

    async def answer() -> int:
        return 1

    assert_type(await transport.run_scenario(scenario=lambda _: None, exercise=answer), int)
    assert_type(await transport.run_scenario(scenario=lambda _: None, exercise=lambda: "x"), str)
