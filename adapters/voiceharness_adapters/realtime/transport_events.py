"""The events of a realtime transport, as what its agent says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from voiceharness.errors import LocalProtocolError
from voiceharness.scripted.inbound import (
    AudioEvent,
    AudioInterruptedEvent,
    AudioTranscriptDeltaEvent,
    ConnectionChangeEvent,
    ErrorEvent,
    ItemUpdateEvent,
    RawEvent,
    TurnDoneEvent,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from voiceharness.scripted.protocol import RealtimeTransport
    from voiceharness_adapters.realtime.agent_voice import AgentVoice

__all__ = ["TransportEvents", "hear_server_event", "read", "report_error"]

ADVICE: Final = "see that turn_detection is what the far side was configured for"


class TransportEvents:
    """Listens to a transport, from ``attach`` to ``detach``, and tells an :class:`AgentVoice`.

    ``ours`` are the codes of errors that answer what the adapter itself sent.
    """

    def __init__(self, voice: AgentVoice, *, ours: Collection[str] = ()) -> None:
        self._voice = voice
        self._listeners: Mapping[str, Callable[[Any], None]] = {
            AudioEvent.type: self._audio,
            AudioTranscriptDeltaEvent.type: self._words,
            AudioInterruptedEvent.type: lambda _event: voice.interrupted(),
            TurnDoneEvent.type: lambda _event: voice.turn_done(),
            ItemUpdateEvent.type: self._item,
            ErrorEvent.type: lambda event: report_error(voice, event.error, ours=ours),
            ConnectionChangeEvent.type: self._connection,
            RawEvent.type: lambda event: hear_server_event(voice, event.data),
        }

    def attach(self, transport: RealtimeTransport) -> None:
        """Begin to listen."""
        for name, listener in self._listeners.items():
            transport.on(name, listener)

    def detach(self, transport: RealtimeTransport) -> None:
        """Listen no more."""
        for name, listener in self._listeners.items():
            transport.off(name, listener)

    def _audio(self, event: AudioEvent) -> None:
        self._voice.audio(event.data, item=event.item_id, response=event.response_id)

    def _words(self, event: AudioTranscriptDeltaEvent) -> None:
        self._voice.words(event.delta, item=event.item_id, response=event.response_id, start=event.start, end=event.end)

    def _item(self, event: ItemUpdateEvent) -> None:
        item = event.item
        name, text = read(item, "item_id") or read(item, "id"), _spoken(item)
        complete = read(item, "role") == "assistant" and read(item, "status") != "in_progress"
        if complete and isinstance(name, str) and text is not None:
            self._voice.history(name, text)

    def _connection(self, event: ConnectionChangeEvent) -> None:
        if event.status == "disconnected":
            self._voice.hang_up("the transport was disconnected")


def report_error(voice: AgentVoice, error: object, *, ours: Collection[str] = ()) -> None:
    """Tell an error event: what a transport raises drops the call, what a provider says is a fault of the protocol.

    An error whose code is one of ``ours`` is the harness's own fault, and ends the call as such.
    """
    if isinstance(error, BaseException):
        voice.drop(error)
        return
    error = read(error, "error") or error
    kind = read(error, "code") or read(error, "type") or "error"
    detail = read(error, "message") or (error if isinstance(error, str) else "no message")
    event_id = read(error, "event_id")
    if kind in ours:
        voice.drop(LocalProtocolError(f"the far side refused what this adapter sent ({kind}): {detail}; {ADVICE}"))
        return
    voice.fault(str(kind), f"{detail} (in answer to {event_id})" if event_id else str(detail))


def hear_server_event(voice: AgentVoice, event: object) -> None:
    """Tell what only a provider's own event says: where it truncated an item, what it understood of the user."""
    if not isinstance(event, Mapping):
        return
    voice.understood.take(event)
    item, end_ms = event.get("item_id"), event.get("audio_end_ms")
    if event.get("type") == "conversation.item.truncated" and isinstance(item, str) and end_ms is not None:
        voice.truncated(item, float(end_ms) / 1000)


def read(value: object, name: str) -> Any:  # Any: payloads are the provider's
    """Return a field of a mapping or an attribute of an object; None if there is none."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _spoken(item: object) -> str | None:
    """Return the text of a message, None if no part of it has a text."""
    parts = read(item, "content")
    texts = [_text(part) for part in parts] if isinstance(parts, list | tuple) else []
    known = [text for text in texts if text is not None]
    return " ".join(known) if known else None


def _text(part: object) -> str | None:
    text = read(part, "transcript")
    if text is None:
        text = read(part, "text")
    return text if isinstance(text, str) else None
