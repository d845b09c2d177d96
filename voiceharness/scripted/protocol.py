"""What a realtime transport can do, whether it is real or scripted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypedDict, Unpack, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

    from numpy import int16
    from numpy.typing import NDArray

    from voiceharness.scripted.inbound import EventLike
    from voiceharness.scripted.signatures import Subscribe

    ApiKey: TypeAlias = str | Callable[[], object]
    AudioLike: TypeAlias = bytes | bytearray | memoryview | NDArray[int16]

__all__ = ["ConnectOptions", "RealtimeTransport", "TransportStatus"]

TransportStatus: TypeAlias = Literal["disconnected", "connecting", "connected", "disconnecting"]
"""The state of a transport's connection."""


class ConnectOptions(TypedDict, total=False):
    """What a transport may be told when it connects; ``api_key`` may be a function that fetches the key."""

    api_key: ApiKey | None
    model: str | None
    url: str | None
    call_id: str | None
    headers: Mapping[str, str] | None
    initial_session_config: Any


@runtime_checkable
class RealtimeTransport(Protocol):
    """A two-way realtime voice transport: calls go out, events come in.

    ``connect`` is the only method that waits. Payloads a provider defines (events, messages, configurations, tool
    calls) are of any shape, hence ``Any``.
    """

    @property
    def status(self) -> TransportStatus:
        """The state of the connection."""

    @property
    def muted(self) -> bool | None:
        """Whether the user is muted; None if the transport does not handle muting."""

    @property
    def on(self) -> Subscribe[Self]:
        """Register a listener for an event: ``on(event, listener)``; chainable."""

    @property
    def once(self) -> Subscribe[Self]:
        """Register a listener for the next event of this name only."""

    @property
    def off(self) -> Subscribe[Self]:
        """Remove the newest registration of a listener."""

    def emit(self, event: EventLike) -> object:
        """Deliver an inbound event to the listeners."""

    async def connect(self, **options: Unpack[ConnectOptions]) -> None:
        """Open the connection."""

    def send_event(self, event: Any) -> None:
        """Send a provider's event as it is."""

    def request_response(self, response: Any = None) -> None:
        """Ask the agent to answer."""

    def send_message(self, message: Any, other_event_data: Any = None, *, trigger_response: bool | None = None) -> None:
        """Send a user message, as text or structured."""

    def add_image(self, image: str, *, trigger_response: bool | None = None) -> None:
        """Add an image to the conversation."""

    def send_audio(self, audio: AudioLike, *, commit: bool = False) -> None:
        """Send user audio; ``commit`` ends the user's turn."""

    def update_session_config(self, config: Any) -> None:
        """Change the session's configuration."""

    def close(self) -> None:
        """Close the connection; without effect if it is closed."""

    def mute(self, muted: bool) -> None:
        """Mute or unmute the user."""

    def send_function_call_output(self, tool_call: Any, output: str, start_response: bool) -> None:
        """Send what a tool returned; ``start_response`` asks the agent to go on."""

    def interrupt(
        self,
        *,
        force_response_cancel: bool = False,
        response_id: str | None = None,
        cancel_response_only: bool = False,
        playback_only: bool = False,
    ) -> None:
        """Interrupt the agent."""

    def reset_history(self, old_history: Any, new_history: Any) -> None:
        """Replace the conversation's history."""

    def send_mcp_response(self, approval_request: Any, approved: bool, reason: str | None = None) -> None:
        """Answer a request for approval."""
