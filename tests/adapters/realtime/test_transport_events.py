"""Events of a transport in, events of a line out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from voiceharness.agent import AgentCall
from voiceharness.clock import LoopClock, run_virtual
from voiceharness.errors import CallDroppedError, LocalProtocolError
from voiceharness.events import (
    AgentEvent,
    EndOfStream,
    Flush,
    HistoryClaimed,
    ProtocolFault,
    RemoteHangup,
    TruncationClaimed,
    TurnDone,
)
from voiceharness.scripted.inbound import (
    AudioDoneEvent,
    AudioInterruptedEvent,
    ErrorEvent,
    ItemUpdateEvent,
    RawEvent,
    RealtimeEvent,
    TurnDoneEvent,
)
from voiceharness.scripted.sounds import PCM_24K
from voiceharness.scripted.transport import ScriptedRealtimeTransport
from voiceharness_adapters.realtime.agent_voice import AgentVoice
from voiceharness_adapters.realtime.transport_events import TransportEvents

__all__: list[str] = []


def told(*emitted: RealtimeEvent | BaseException | None, ours: tuple[str, ...] = ()) -> list[object]:
    """What a call is told when these are emitted; None and exceptions disconnect. A failure comes last."""

    async def main() -> list[object]:
        transport = ScriptedRealtimeTransport()
        transport.when("connect").run(lambda _call: None)
        await transport.connect()
        call = AgentCall(LoopClock())
        voice = AgentVoice(call, PCM_24K)
        events = TransportEvents(voice, ours=ours)
        events.attach(transport)
        for event in emitted:
            if event is None or isinstance(event, BaseException):
                transport.disconnect(event)
            else:
                transport.emit(event)
        events.detach(transport)
        assert not transport.emit(AudioInterruptedEvent())
        items: list[object] = []
        while (item := call.take_sent()) is not None:
            items.append(item)
        return [*items, voice.failure] if voice.failure else items

    return run_virtual(main())


@dataclass
class Part:
    """A part of a message, as an object."""

    transcript: str | None


@dataclass
class Message:
    """A message of the history, as an object."""

    item_id: str
    role: str
    status: str | None
    content: list[Part]


TRUNCATED = {"type": "conversation.item.truncated", "item_id": "a", "content_index": 0, "audio_end_ms": 1250}


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (AudioInterruptedEvent(item_id="a"), Flush()),
        (TurnDoneEvent(response_id="r"), TurnDone(None)),
        (RawEvent(data=TRUNCATED), TruncationClaimed("a", 1.25)),
        (RawEvent(data={"type": "session.updated"}), None),
        (RawEvent(data="{no json"), None),
        (AudioDoneEvent(), None),
        (ItemUpdateEvent(item=Message("a", "assistant", None, [Part("1"), Part("2")])), HistoryClaimed("a", "1 2")),
        (ItemUpdateEvent(item={"id": "a", "role": "assistant", "content": [{"text": "1"}]}), HistoryClaimed("a", "1")),
        (ItemUpdateEvent(item=Message("a", "assistant", "in_progress", [Part("one")])), None),
        (ItemUpdateEvent(item=Message("a", "assistant", "completed", [Part(None)])), None),
        (ItemUpdateEvent(item=Message("a", "user", "completed", [Part("hello")])), None),
        (ItemUpdateEvent(item={"type": "function_call", "id": "a"}), None),
    ],
)
def test_each_event_has_its_meaning_on_the_line(event: RealtimeEvent, expected: AgentEvent | None) -> None:
    assert told(event) == ([] if expected is None else [expected])


@dataclass
class ErrorObject:
    """A provider's error, as an object."""

    code: str | None
    type: str
    message: str


@pytest.mark.parametrize(
    ("error", "kind", "detail"),
    [
        ({"code": "invalid_value", "message": "no", "event_id": "e-1"}, "invalid_value", "no (in answer to e-1)"),
        ({"type": "error", "error": {"type": "server_error", "message": "oops"}}, "server_error", "oops"),
        (ErrorObject(None, "server_error", "oops"), "server_error", "oops"),
        ("something", "error", "something"),
        ({}, "error", "no message"),
    ],
)
def test_what_the_provider_says_is_a_fault_of_the_protocol(error: Any, kind: str, detail: str) -> None:
    assert told(ErrorEvent(error=error)) == [ProtocolFault(kind, detail)]


def test_a_refusal_of_what_the_adapter_sent_is_the_harnesss_own_fault() -> None:
    *_, failure = told(ErrorEvent(error={"code": "too_short", "message": "40 ms"}), ours=("too_short",))
    assert isinstance(failure, LocalProtocolError)
    assert "(too_short): 40 ms" in str(failure)


def test_an_exception_drops_the_call() -> None:
    *_, failure = told(ErrorEvent(error=OSError("reset")))
    assert isinstance(failure, CallDroppedError)


def test_a_disconnection_ends_the_call_and_one_with_an_error_drops_it() -> None:
    assert told(None) == [RemoteHangup("the transport was disconnected"), EndOfStream()]
    *_, failure = told(OSError("reset"))
    assert isinstance(failure, CallDroppedError)
