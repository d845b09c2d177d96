"""A realtime transport that passes everything on to a live one, and records it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Self, Unpack

from voiceharness.clock import NS, LoopClock
from voiceharness.scripted.calls import CloseCall, ConnectCall
from voiceharness.scripted.inbound import EVENT_TYPES
from voiceharness.scripted.listeners import Listener, Listening, event_name
from voiceharness.scripted.outbound import OutboundMethods, connect_payload
from voiceharness.scripted.recording import Entry, Recording, encode_value, fields_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from voiceharness.scripted.calls import RealtimeCall
    from voiceharness.scripted.inbound import EventLike
    from voiceharness.scripted.protocol import ConnectOptions, RealtimeTransport, TransportStatus
    from voiceharness.scripted.recording import Direction

__all__ = ["RecordingTransport"]


class RecordingTransport(OutboundMethods, Listening):
    """Stands before a live transport: the code under test uses this one, the provider sees the other.

    ``recording`` is what has gone over it so far. Events of the known names are recorded, and of those in ``events``.
    ``keep_audio`` keeps the bytes of audio, both ways. Made on the running loop, whose time it records.
    """

    def __init__(self, transport: RealtimeTransport, *, keep_audio: bool = False, events: Iterable[str] = ()) -> None:
        self._transport = transport
        self._keep_audio = keep_audio
        self._clock = LoopClock()
        self._start_ns = self._clock.now_ns()
        self._entries: list[Entry] = []
        for name in (*(kind.type for kind in EVENT_TYPES), *events):
            transport.on(name, self._hear)

    @property
    def recording(self) -> Recording:
        """Everything so far."""
        return Recording(tuple(self._entries))

    @property
    def status(self) -> TransportStatus:
        """The state of the live connection."""
        return self._transport.status

    @property
    def muted(self) -> bool | None:
        """Whether the user is muted on the live transport."""
        return self._transport.muted

    def _on(self, event: object, listener: Listener, /) -> Self:
        self._transport.on(event_name(event), listener)
        return self

    def _once(self, event: object, listener: Listener, /) -> Self:
        self._transport.once(event_name(event), listener)
        return self

    def _off(self, event: object, listener: Listener, /) -> Self:
        self._transport.off(event_name(event), listener)
        return self

    def emit(self, event: EventLike) -> object:
        """Deliver an event through the live transport."""
        return self._transport.emit(event)

    async def connect(self, **options: Unpack[ConnectOptions]) -> None:
        """Connect the live transport; keys and headers are not recorded."""
        self._write("out", ConnectCall.method, connect_payload(options))
        await self._transport.connect(**options)

    def close(self) -> None:
        """Close the live transport; recorded only if it was open."""
        if self.status != "disconnected":
            self._write("out", CloseCall.method, {})
        self._transport.close()

    def _send(self, kind: type[RealtimeCall], **payload: Any) -> None:
        self._write("out", kind.method, payload)
        getattr(self._transport, kind.method)(**payload)

    def _hear(self, event: EventLike) -> None:
        payload = fields_of(event) if dataclasses.is_dataclass(event) else {"data": event}
        payload.pop("type", None)
        self._write("in", event.type, payload)

    def _write(self, direction: Direction, name: str, payload: dict[str, Any]) -> None:
        at = (self._clock.now_ns() - self._start_ns) / NS
        self._entries.append(Entry(at, direction, name, encode_value(payload, keep_audio=self._keep_audio)))
