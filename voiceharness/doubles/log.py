"""What reached an agent double on one call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from voiceharness.audio.chunk import AudioChunk
from voiceharness.events import CallEnded, Digit, Interrupted, MarkPlayed

if TYPE_CHECKING:
    from voiceharness.agent import AgentCall
    from voiceharness.events import UserItem

__all__ = ["CallLog", "LoggedItem"]


class LoggedItem(NamedTuple):
    """One thing from the user's side; ``at`` is seconds after the agent answered."""

    at: float
    item: UserItem


@dataclass(slots=True, eq=False)
class CallLog:
    """Everything that reached the agent's door on one call, in order."""

    rate: int
    items: list[LoggedItem] = field(default_factory=list)
    _start_ns: int = 0

    @classmethod
    def of(cls, call: AgentCall) -> CallLog:
        """Begin the log of a call that is answered now."""
        return cls(call.rate, _start_ns=call.clock.now_ns())

    def note(self, call: AgentCall, item: UserItem) -> None:
        """Take note of one thing."""
        self.items.append(LoggedItem((call.clock.now_ns() - self._start_ns) / 1e9, item))

    @property
    def audio(self) -> AudioChunk:
        """The user's audio, joined in order of arrival."""
        pcm = b"".join(logged.item.pcm for logged in self.items if isinstance(logged.item, AudioChunk))
        return AudioChunk(pcm, self.rate, 0)

    @property
    def digits(self) -> str:
        """The digits that came as keypad events."""
        return "".join(logged.item.digit for logged in self.items if isinstance(logged.item, Digit))

    @property
    def marks(self) -> list[MarkPlayed]:
        """The answers to the agent's marks."""
        return [logged.item for logged in self.items if isinstance(logged.item, MarkPlayed)]

    @property
    def interruptions(self) -> list[float]:
        """When the transport's interrupt signal came, in seconds."""
        return [logged.at for logged in self.items if isinstance(logged.item, Interrupted)]

    @property
    def ended_at(self) -> float | None:
        """When the user's side ended the call, in seconds; None if it did not."""
        return next((logged.at for logged in self.items if isinstance(logged.item, CallEnded)), None)
