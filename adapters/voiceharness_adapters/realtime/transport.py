"""The adapter over a realtime transport, scripted or real."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003  the registry reads the types of options at run time
from typing import TYPE_CHECKING, Annotated, Final, cast

from voiceharness.adapter import Option
from voiceharness.errors import OptionError
from voiceharness.scripted.protocol import RealtimeTransport  # noqa: TC001  likewise
from voiceharness.scripted.sounds import WireFormat
from voiceharness_adapters.realtime.call import (
    AudioEncoding,
    AudioRate,
    LineRate,
    Live,
    RealtimeAdapter,
    Transcripts,
    TurnDetection,
)
from voiceharness_adapters.realtime.transport_events import TransportEvents

if TYPE_CHECKING:
    from voiceharness.scripted.protocol import ConnectOptions
    from voiceharness_adapters.realtime.agent_voice import AgentVoice

__all__ = ["TransportVoiceAdapter"]

SHORT_COMMIT: Final = "input_audio_buffer_commit_empty"
SECOND_RESPONSE: Final = "conversation_already_has_active_response"


class TransportVoiceAdapter(RealtimeAdapter):
    """One call over a ``RealtimeTransport``: what it emits is the agent, what is sent on it is the user.

    Audio is placed and heard by the line, so ``audio_done`` and ``turn_done`` say that it was received. Transcript
    deltas are words of their item's audio. An ``error`` event that carries an exception drops the call; any other is a
    fault of the protocol, noted in the timeline.
    """

    name = "realtime"

    def __init__(
        self,
        transport: Annotated[RealtimeTransport, Option("the transport, or package.module:name of what makes one")],
        *,
        turn_detection: TurnDetection = "server",
        request_response: Annotated[bool, Option("ask for a response after each commit")] = False,
        connect_options: Annotated[
            Mapping[str, object] | None, Option("what the transport is told when it connects: model, url, api_key...")
        ] = None,
        audio_rate: AudioRate = 24000,
        audio_encoding: AudioEncoding = "pcm16",
        transcripts: Transcripts = True,
        live: Live = False,
        rate: LineRate = 8000,
    ) -> None:
        if request_response and turn_detection == "server":
            raise OptionError(
                f"adapter {self.name!r}: a server that detects turns asks for responses itself; leave out "
                "request_response, or set turn_detection to harness"
            )
        wire = WireFormat(audio_rate, audio_encoding)
        super().__init__(rate=rate, wire=wire, harness_detects_turns=turn_detection == "harness")
        self.transport = transport
        self._request_response = request_response
        self._connect_options = connect_options or {}
        self._events: TransportEvents | None = None

    async def _open(self, voice: AgentVoice) -> None:
        ours = {SHORT_COMMIT, SECOND_RESPONSE} if self._request_response else {SHORT_COMMIT}
        self._events = TransportEvents(voice, ours=ours)
        self._events.attach(self.transport)
        await self.transport.connect(**cast("ConnectOptions", self._connect_options))

    async def _close(self) -> None:
        if self._events is None:
            return
        self._events.detach(self.transport)
        self._events = None
        self.transport.close()

    async def _send(self, audio: bytes) -> None:
        self.transport.send_audio(audio)

    def _commit(self, audio: bytes) -> None:
        self.transport.send_audio(audio, commit=True)
        if self._request_response:
            self.transport.request_response()

    async def _interrupt(self) -> None:
        self.transport.interrupt()

    @property
    def _is_open(self) -> bool:
        return self.transport.status == "connected"
