"""The events of a session of the OpenAI Agents SDK, as what its agent says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voiceharness_adapters.realtime.transport_events import hear_server_event, report_error

if TYPE_CHECKING:
    from voiceharness_adapters.realtime.agent_voice import AgentVoice

__all__ = ["SessionEvents"]


class SessionEvents:
    """Tells an :class:`AgentVoice` what a session reports.

    A response that calls a tool is not the end of the agent's turn: the session runs the tool, and its output brings
    the response that is the answer.
    """

    def __init__(self, voice: AgentVoice) -> None:
        self._voice = voice
        self._calls_a_tool = False

    def hear(self, event: Any) -> None:
        """Take one event of the session."""
        match event.type:
            case "audio":
                self._voice.audio(event.audio.data, item=event.item_id, response=event.audio.response_id)
            case "audio_interrupted":
                self._voice.interrupted()
            case "error":
                report_error(self._voice, event.error)
            case "raw_model_event":
                self._hear_model(event.data)

    def _hear_model(self, event: Any) -> None:
        match event.type:
            case "transcript_delta":
                self._voice.words(event.delta, item=event.item_id, response=event.response_id)
            case "function_call":
                self._calls_a_tool = True
            case "turn_ended":
                if not self._calls_a_tool:
                    self._voice.turn_done()
                self._calls_a_tool = False
            case "raw_server_event":
                hear_server_event(self._voice, event.data)
