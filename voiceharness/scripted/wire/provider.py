"""The provider's side of a realtime conversation: what it accepts, what it refuses, what it acknowledges. No sockets.

Theory of operation
-------------------
The state is what the provider's rules need: the items there are and how much audio each has, the response under way,
the user audio that waits for a commit, and the audio formats. ``receive`` takes a client's event and returns either a
``Refusal`` or the acknowledgements; ``note`` takes each event that the provider sends, whoever made it up.

Rules that clients trip over:

- one response at a time: a request is refused while one is under way, whether the client asked for that one or the
  provider began it by itself;
- a cancellation needs a response under way;
- a truncation needs an item with audio, and a position above zero that is not beyond the audio sent so far;
- a commit needs 100 ms of user audio;
- an item must exist to be truncated, deleted or retrieved.
"""

from __future__ import annotations

import base64
import binascii
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["SHORTEST_COMMIT_MS", "Event", "ProviderSession", "Refusal"]

Event: TypeAlias = dict[str, Any]
"""An event as JSON has it."""

SHORTEST_COMMIT_MS: Final = 100
"""The least user audio that can be committed."""

BYTES_PER_MS: Final[Mapping[str, int]] = {"audio/pcm": 48, "audio/pcmu": 8, "audio/pcma": 8}


@dataclass(frozen=True, slots=True)
class Refusal:
    """A client's event that broke a rule; ``event_id`` is the one the client gave it.

    ``sent_ms`` and ``maximum_ms`` are the position of a truncation and the item's audio, or the audio of a commit and
    the least it needs.
    """

    code: str
    message: str
    event_type: str
    event_id: str | None = None
    item_id: str | None = None
    sent_ms: float | None = None
    maximum_ms: float | None = None

    def as_event(self) -> Event:
        """Return the error event that the provider answers with."""
        error = {"type": "invalid_request_error", "code": self.code, "message": self.message}
        return {"type": "error", "error": {**error, "param": None, "event_id": self.event_id}}


@dataclass(slots=True)
class _Item:
    role: str
    audio_bytes: int = 0
    rate: int = BYTES_PER_MS["audio/pcm"]

    @property
    def audio_ms(self) -> float:
        return self.audio_bytes / self.rate


class ProviderSession:
    """One session with the provider; see the module."""

    def __init__(self) -> None:
        self.config: Event = {}
        self.active_response: str | None = None
        self.cancelled = False
        self._requested = False  # asked for, and not begun
        self._items: dict[str, _Item] = {}
        self._uncommitted_bytes = 0
        self._committed = 0
        self._rules: Mapping[str, Callable[[Event], Refusal | list[Event]]] = {
            "session.update": self._update,
            "input_audio_buffer.append": self._append,
            "input_audio_buffer.commit": self._commit,
            "input_audio_buffer.clear": self._clear,
            "conversation.item.create": self._create_item,
            "conversation.item.truncate": self._truncate,
            "conversation.item.delete": self._delete,
            "conversation.item.retrieve": self._retrieve,
            "response.create": self._request,
            "response.cancel": self._cancel,
        }

    @property
    def user_audio_ms(self) -> float:
        """The user audio that waits for a commit."""
        return self._uncommitted_bytes / self._rate("input")

    def audio_ms(self, item_id: str) -> float:
        """Return how much audio of an item was sent."""
        item = self._items.get(item_id)
        return 0.0 if item is None else item.audio_ms

    def receive(self, event: Event) -> Refusal | list[Event]:
        """Take a client's event; return its refusal, or the events that acknowledge it."""
        rule = self._rules.get(str(event.get("type")))
        return [] if rule is None else rule(event)

    def note(self, event: Event) -> None:
        """Take note of an event that the provider sends; a malformed one, sent on purpose, changes nothing."""
        kind = event.get("type")
        item = event.get("item") or {}
        if kind == "response.created":
            self.active_response = (event.get("response") or {}).get("id")
            self._requested = self.cancelled = False
        elif kind == "response.done":
            self.active_response = None
        elif kind == "response.output_audio.delta" and "item_id" in event:
            self._item(event["item_id"]).audio_bytes += len(base64.b64decode(event.get("delta", "")))
        elif kind in ("response.output_item.added", "response.output_item.done", "conversation.item.added"):
            self._item(item.get("id", ""), item.get("role", "assistant"))
        elif kind == "conversation.item.deleted":
            self._items.pop(event.get("item_id", ""), None)

    def _item(self, item_id: str, role: str = "assistant") -> _Item:
        return self._items.setdefault(item_id, _Item(role, rate=self._rate("output")))

    # The rules, one for each kind of client event

    def _update(self, event: Event) -> list[Event]:
        self.config = {**self.config, **event.get("session", {})}
        return [{"type": "session.updated", "session": self.config}]

    def _append(self, event: Event) -> Refusal | list[Event]:
        try:
            audio = base64.b64decode(event.get("audio", ""), validate=True)
        except (binascii.Error, TypeError, ValueError):
            return _refuse(event, "invalid_value", "the audio is not valid base64")
        self._uncommitted_bytes += len(audio)
        return []

    def _commit(self, event: Event) -> Refusal | list[Event]:
        waiting = self.user_audio_ms
        if waiting < SHORTEST_COMMIT_MS:
            message = f"a commit needs {SHORTEST_COMMIT_MS} ms of audio, and the buffer holds {waiting:.2f} ms"
            code = "input_audio_buffer_commit_empty"
            return _refuse(event, code, message, sent_ms=waiting, maximum_ms=SHORTEST_COMMIT_MS)
        self._uncommitted_bytes = 0
        self._committed += 1
        item_id = f"user-item-{self._committed}"
        self._items[item_id] = _Item("user")
        return [{"type": "input_audio_buffer.committed", "previous_item_id": None, "item_id": item_id}]

    def _clear(self, _event: Event) -> list[Event]:
        self._uncommitted_bytes = 0
        return [{"type": "input_audio_buffer.cleared"}]

    def _create_item(self, event: Event) -> Refusal | list[Event]:
        item = event.get("item")
        if not isinstance(item, dict):
            return _refuse(event, "invalid_value", "the event has no item")
        item = {"id": f"client-item-{len(self._items) + 1}", "object": "realtime.item", "status": "completed", **item}
        return [{"type": "conversation.item.added", "previous_item_id": None, "item": item}]

    def _truncate(self, event: Event) -> Refusal | list[Event]:
        item, end_ms = self._items.get(event.get("item_id", "")), event.get("audio_end_ms", 0)
        if item is None:
            return self._unknown(event)
        limits = {"item_id": event["item_id"], "sent_ms": end_ms, "maximum_ms": item.audio_ms}
        if item.role != "assistant" or not item.audio_bytes or end_ms <= 0:
            message = "only audio of the model can be truncated, and only behind its beginning"
            return _refuse(event, "unsupported_content_type", message, **limits)
        if end_ms > math.ceil(item.audio_ms):
            message = f"the item has {item.audio_ms:g} ms of audio and cannot be cut at {end_ms} ms"
            return _refuse(event, "invalid_value", message, **limits)
        done = {"item_id": event["item_id"], "content_index": event.get("content_index", 0), "audio_end_ms": end_ms}
        return [{"type": "conversation.item.truncated", **done}]

    def _delete(self, event: Event) -> Refusal | list[Event]:
        if event.get("item_id") not in self._items:
            return self._unknown(event)
        return [{"type": "conversation.item.deleted", "item_id": event["item_id"]}]

    def _retrieve(self, event: Event) -> Refusal | list[Event]:
        """Accept, and leave the answer to the script: what an item holds is not known here."""
        return [] if event.get("item_id") in self._items else self._unknown(event)

    def _request(self, event: Event) -> Refusal | list[Event]:
        if self.active_response is not None or self._requested:
            message = f"a response is under way ({self.active_response or 'requested'}); wait until it is done"
            return _refuse(event, "conversation_already_has_active_response", message)
        self._requested = True
        return []

    def _cancel(self, event: Event) -> Refusal | list[Event]:
        if self.active_response is None and not self._requested:
            return _refuse(event, "response_cancel_not_active", "no response is under way")
        self.cancelled = True
        self._requested = False
        return []

    def _unknown(self, event: Event) -> Refusal:
        item_id = event.get("item_id")
        kind = str(event["type"]).rpartition(".")[2]
        message = f"there is no item {item_id!r} to {kind}"
        return _refuse(event, f"item_{kind}_invalid_item_id", message, item_id=item_id)

    def _rate(self, direction: str) -> int:
        """Return the bytes in a millisecond of the user's (input) or the agent's (output) audio."""
        audio_format = ((self.config.get("audio") or {}).get(direction) or {}).get("format") or {}
        return BYTES_PER_MS.get(audio_format.get("type", ""), BYTES_PER_MS["audio/pcm"])


def _refuse(event: Event, code: str, message: str, **details: Any) -> Refusal:
    return Refusal(code, message, event_type=event["type"], event_id=event.get("event_id"), **details)
