"""The outbound methods of a realtime transport as recorded calls: arguments in, payload out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from voiceharness.scripted.calls import (
    AddImageCall,
    InterruptCall,
    MuteCall,
    RequestResponseCall,
    ResetHistoryCall,
    SendAudioCall,
    SendEventCall,
    SendFunctionCallOutputCall,
    SendMcpResponseCall,
    SendMessageCall,
    UpdateSessionConfigCall,
)

if TYPE_CHECKING:
    from voiceharness.scripted.calls import RealtimeCall
    from voiceharness.scripted.protocol import AudioLike, ConnectOptions

__all__ = ["OutboundMethods", "connect_payload"]


class OutboundMethods(ABC):
    """Every outbound method but ``connect`` and ``close``, which change the connection."""

    @abstractmethod
    def _send(self, kind: type[RealtimeCall], **payload: Any) -> None:
        """Make a call; the payload's names are those of the method's parameters."""

    def send_event(self, event: Any) -> None:
        """Send a provider's event as it is."""
        self._send(SendEventCall, event=event)

    def request_response(self, response: Any = None) -> None:
        """Ask the agent to answer."""
        self._send(RequestResponseCall, response=response)

    def send_message(self, message: Any, other_event_data: Any = None, *, trigger_response: bool | None = None) -> None:
        """Send a user message, as text or structured."""
        self._send(
            SendMessageCall, message=message, other_event_data=other_event_data, trigger_response=trigger_response
        )

    def add_image(self, image: str, *, trigger_response: bool | None = None) -> None:
        """Add an image to the conversation."""
        self._send(AddImageCall, image=image, trigger_response=trigger_response)

    def send_audio(self, audio: AudioLike, *, commit: bool = False) -> None:
        """Send user audio; it is recorded as bytes. ``commit`` ends the user's turn."""
        self._send(
            SendAudioCall,
            audio=bytes(audio) if isinstance(audio, (bytes, bytearray)) else audio.tobytes(),
            commit=commit,
        )

    def update_session_config(self, config: Any) -> None:
        """Change the session's configuration."""
        self._send(UpdateSessionConfigCall, config=config)

    def mute(self, muted: bool) -> None:
        """Mute or unmute the user; without effect if the call raises."""
        self._send(MuteCall, muted=muted)

    def send_function_call_output(self, tool_call: Any, output: str, start_response: bool) -> None:
        """Send what a tool returned; ``start_response`` asks the agent to go on."""
        self._send(SendFunctionCallOutputCall, tool_call=tool_call, output=output, start_response=start_response)

    def interrupt(
        self,
        *,
        force_response_cancel: bool = False,
        response_id: str | None = None,
        cancel_response_only: bool = False,
        playback_only: bool = False,
    ) -> None:
        """Interrupt the agent; whether it reacts is up to the script."""
        self._send(
            InterruptCall,
            force_response_cancel=force_response_cancel,
            response_id=response_id,
            cancel_response_only=cancel_response_only,
            playback_only=playback_only,
        )

    def reset_history(self, old_history: Any, new_history: Any) -> None:
        """Replace the conversation's history."""
        self._send(ResetHistoryCall, old_history=old_history, new_history=new_history)

    def send_mcp_response(self, approval_request: Any, approved: bool, reason: str | None = None) -> None:
        """Answer a request for approval."""
        self._send(SendMcpResponseCall, approval_request=approval_request, approved=approved, reason=reason)


def connect_payload(options: ConnectOptions) -> dict[str, Any]:
    """Return what may be recorded of a connect: keys, headers and secrets in the URL are not."""
    return {
        "model": options.get("model"),
        "url": _without_secrets(options.get("url")),
        "call_id": options.get("call_id"),
        "initial_session_config": options.get("initial_session_config"),
        "api_key_provided": options.get("api_key") is not None,
        "headers_provided": bool(options.get("headers")),
    }


def _without_secrets(url: str | None) -> str | None:
    """Keep of a URL what identifies the server: no user, query or fragment."""
    if url is None:
        return None
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
