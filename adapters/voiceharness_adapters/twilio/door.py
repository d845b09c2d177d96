"""How an agent's server is reached: an interface with two ways behind it, in this process or over the network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["MAX_ANSWER", "TIMEOUT", "Closed", "Door", "Headers", "HttpAnswer", "StreamListener", "StreamSocket"]

TIMEOUT: Final = 15.0
"""What Twilio waits for a webhook, in seconds; the handshake of a stream gets as long."""

MAX_ANSWER: Final = 32 << 20
"""Bytes of an answer that are taken."""

Headers: TypeAlias = "Sequence[tuple[str, str]]"


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """What a server answered. ``location``: where a redirect leads to, as it was written."""

    status: int
    content_type: str
    body: bytes
    location: str = ""

    @property
    def media_type(self) -> str:
        """The content type without its parameters, in lower case; empty if there is none."""
        return self.content_type.partition(";")[0].strip().lower()


@dataclass(frozen=True, slots=True)
class Closed:
    """How a websocket ended: the close code (1006: without a word) and, if our side or the agent failed, its error."""

    code: int
    reason: str = ""
    error: BaseException | None = None

    @property
    def clean(self) -> bool:
        """Whether the far side closed as the protocol asks."""
        return self.error is None and self.code in (1000, 1001, 1005)

    def __str__(self) -> str:
        return f"close code {self.code}" + (f", {self.reason!r}" if self.reason else "")


class StreamListener(Protocol):
    """Who is told what comes out of a websocket. Called at once, in order; ``stream_closed`` exactly once, last."""

    def stream_message(self, data: str | bytes, at_ns: int) -> None:
        """Take a message; ``at_ns`` is when it arrived, on the loop's clock, before it was decoded."""

    def stream_closed(self, closed: Closed) -> None:
        """Take note that nothing more will come."""


class StreamSocket(Protocol):
    """An open websocket."""

    def send(self, message: str | bytes) -> bool:
        """Send a message, text or binary; False if the websocket is closed: the listener is told, or about to be, how.

        What the far side does not read is kept, within bounds.
        """

    def close(self, code: int = 1000, reason: str = "") -> None:
        """Begin to close. Idempotent."""

    async def wait_closed(self, timeout: float) -> bool:
        """Wait until the far side is done, at most ``timeout`` seconds; False if it is not, and is cut off."""


class Door(Protocol):
    """One agent's server, for one call."""

    async def request(self, method: str, url: str, headers: Headers, body: bytes) -> HttpAnswer:
        """Send a request and return the answer, whatever its status.

        Raises:
            ConnectError: if there is none.
            AgentCrashedError: if the agent's code raised and we saw it.
        """

    async def open_stream(self, url: str, headers: Headers, listener: StreamListener) -> StreamSocket:
        """Open a websocket.

        Raises:
            CallRejectedError: if the upgrade is refused, with the HTTP status.
            ConnectError: if nobody is there.
        """

    async def close(self) -> None:
        """Let go of the server. Idempotent."""
