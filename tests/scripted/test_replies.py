"""Reply rules: what a scripted transport answers by itself, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from voiceharness.scripted.calls import SendMessageCall
from voiceharness.scripted.inbound import OutputTextDeltaEvent

if TYPE_CHECKING:
    from voiceharness.scripted.transport import ScriptedRealtimeTransport

__all__: list[str] = []


def test_a_rule_emits_events_for_each_call_that_fits(transport: ScriptedRealtimeTransport) -> None:
    heard = list[str]()
    transport.on("output_text_delta", lambda event: heard.append(event.delta))
    transport.when(SendMessageCall, lambda call: call.message != "quiet").emit(OutputTextDeltaEvent(delta="yes"))
    for message in ("a", "quiet", "b"):
        transport.send_message(message)
    assert heard == ["yes", "yes"]
    assert [call.index for call in transport.leftovers.unconsumed_calls] == [1]


def test_a_rule_may_make_its_events_of_the_call(transport: ScriptedRealtimeTransport) -> None:
    heard = list[str]()
    transport.on("output_text_delta", lambda event: heard.append(event.delta))
    transport.when(SendMessageCall).respond(lambda call: [OutputTextDeltaEvent(delta=call.message.upper())])
    transport.send_message("hello")
    assert heard == ["HELLO"]


def test_a_rule_answers_once_the_method_has_had_its_effect(transport: ScriptedRealtimeTransport) -> None:
    seen = list[object]()
    transport.when("connect").run(lambda _: seen.append(transport.status))
    transport.when("mute").run(lambda _: seen.append(transport.muted))
    transport.when("close").run(lambda _: seen.append(transport.status))
    transport.connect_nowait()
    transport.mute(True)
    transport.close()
    assert seen == ["connected", True, "disconnected"]


def test_a_rule_may_fail_every_second_call(transport: ScriptedRealtimeTransport) -> None:
    transport.when("send_audio").every(2).fail(OSError("lost"))
    outcomes = list[str]()
    for _ in range(4):
        try:
            transport.send_audio(b"")
            outcomes.append("sent")
        except OSError:
            outcomes.append("lost")
    assert outcomes == ["sent", "lost", "sent", "lost"]


def test_a_failing_connect_rule_fails_the_connect(transport: ScriptedRealtimeTransport) -> None:
    transport.when("connect").times(1).fail(OSError("refused"))
    with pytest.raises(OSError, match="refused"):
        transport.connect_nowait()
    transport.assert_closed()
    transport.connect_nowait()
    assert transport.status == "connected"
