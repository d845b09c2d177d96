"""What the adapters of realtime agents share: one call, whatever takes the user's audio and brings the agent's.

Theory of operation. What the agent does comes in as events and goes through an :class:`AgentVoice` to an
:class:`AgentCall`, which ``receive_audio`` reads. The user's frames go out through :class:`UserAudio`. Who finds the
ends of the user's turns is a choice: the far side (``server``), or the harness, which knows the user's true offset and
commits there (``harness``). The end of the call is received in its order, after all that came before it; where the
transport failed, its error is raised there.
"""

from __future__ import annotations

import asyncio
import logging
from abc import abstractmethod
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

from voiceharness.adapter import Option, VoiceAgentAdapter
from voiceharness.agent import AgentCall
from voiceharness.capabilities import AdapterCapabilities, Timing
from voiceharness.clock import LoopClock
from voiceharness.errors import (
    CallDroppedError,
    ConnectError,
    LocalProtocolError,
    OptionError,
    PendingTransportError,
    VoiceHarnessError,
)
from voiceharness.events import CallEnded, EndOfStream
from voiceharness.scripted.sounds import Encoding, WireFormat
from voiceharness_adapters.realtime.agent_voice import AgentVoice
from voiceharness_adapters.realtime.user_audio import UserAudio

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from voiceharness.adapter import Received
    from voiceharness.audio.chunk import AudioChunk
    from voiceharness_adapters.realtime.understood import UnderstoodTurn

__all__ = ["AudioEncoding", "AudioRate", "LineRate", "Live", "RealtimeAdapter", "Transcripts", "TurnDetection"]

logger = logging.getLogger(__name__)

TurnDetection: TypeAlias = Annotated[
    Literal["server", "harness"],
    Option("who finds the end of the user's turn; harness commits at the user's true offset"),
]
AudioEncoding: TypeAlias = Annotated[Encoding, Option("the far side's audio: pcm16, mulaw or alaw")]
AudioRate: TypeAlias = Annotated[int, Option("rate of the far side's audio", "Hz")]
Transcripts: TypeAlias = Annotated[bool, Option("whether the far side delivers the agent's words")]
Live: TypeAlias = Annotated[bool, Option("whether the network is used, so that the call needs real time")]
LineRate: TypeAlias = Annotated[int, Option("line rate: 8000, 16000 or 48000", "Hz")]


class RealtimeAdapter(VoiceAgentAdapter):
    """One call to a realtime agent.

    A subclass opens and closes the far side, sends to it, and gives what it does to the voice that ``_open`` is given.
    """

    capabilities: ClassVar = AdapterCapabilities(
        interruption=True,
        dtmf=frozenset({"inband"}),
        streaming_transcripts=True,
        directions=frozenset({"dial"}),
        rates=frozenset({8000, 16000, 48000}),
        virtual_time=True,
    )
    timing: ClassVar = Timing(paced_by="line", playout="queued")

    def __init__(self, *, rate: int, wire: WireFormat, harness_detects_turns: bool) -> None:
        if rate not in self.capabilities.rates:
            known = ", ".join(map(str, sorted(self.capabilities.rates)))
            raise OptionError(f"adapter {self.name!r} has no line rate {rate} Hz; it has {known}")
        if wire.rate < 8000:
            raise OptionError(f"adapter {self.name!r}: audio_rate is a rate in hertz from 8000 on, not {wire.rate}")
        self.rate = rate
        self.harness_detects_turns = harness_detects_turns
        self.wire = wire
        self._user = UserAudio(rate, wire, commits=harness_detects_turns)
        self._call: AgentCall | None = None
        self._voice: AgentVoice | None = None
        self._over = False

    @classmethod
    def capabilities_for(cls, options: Mapping[str, object]) -> AdapterCapabilities:
        """Without transcripts there are no words; over the network time is real."""
        return replace(
            cls.capabilities,
            streaming_transcripts=bool(options.get("transcripts", True)),
            virtual_time=not options.get("live", False),
        )

    # The far side

    @abstractmethod
    async def _open(self, voice: AgentVoice) -> None:
        """Connect, and let the voice say what the agent does from now on."""

    @abstractmethod
    async def _close(self) -> None:
        """Disconnect; may be called at any time after ``_open`` began, and more than once."""

    @abstractmethod
    async def _send(self, audio: bytes) -> None:
        """Send user audio."""

    @abstractmethod
    def _commit(self, audio: bytes) -> None:
        """Send user audio and end the user's turn with it."""

    @abstractmethod
    async def _interrupt(self) -> None:
        """Send the interrupt signal."""

    @property
    @abstractmethod
    def _is_open(self) -> bool:
        """Whether the far side is connected."""

    @property
    def understood(self) -> tuple[UnderstoodTurn, ...]:
        """What the far side understood of the user, as far as it said so, in the order of the user's speech."""
        return () if self._voice is None else self._voice.understood.turns

    # The contract

    @property
    def is_connected(self) -> bool:
        """Whether the far side is connected; true too until its end of the call has been received."""
        return self._call is not None and not self._over and (self._is_open or self._call.ended)

    async def connect(self) -> None:
        """Connect the far side; it is answered at once.

        Raises:
            LocalProtocolError: if this adapter has been connected before. One adapter object is one call.
            ConnectError: if the far side cannot be reached.
        """
        if self._call is not None or self._over:
            raise LocalProtocolError(f"adapter {self.name!r} has had its call; make another adapter for the next")
        call = AgentCall(LoopClock(), rate=self.rate)
        self._voice = AgentVoice(call, self.wire)
        try:
            await self._open(self._voice)
        except VoiceHarnessError:
            raise
        except Exception as error:  # the far side is anybody's code
            raise ConnectError(f"{self.name}: cannot connect: {type(error).__name__}: {error}") from error
        if self._over or not self._is_open:
            raise ConnectError(f"{self.name}: the far side was disconnected while the call was being set up")
        self._call = call

    async def disconnect(self) -> None:
        """End the call and close the far side."""
        self._over = True
        if self._call is not None:
            self._call.deliver(CallEnded("the user hung up"))
        try:
            await self._close()
        except Exception as error:  # how the run ended is not hidden by how its clean-up went
            logger.warning("adapter %r: the far side did not close: %r", self.name, error)

    async def send_audio(self, chunk: AudioChunk) -> None:
        """Send the user's audio in the far side's format."""
        if self._connected("send audio").ended:
            return  # the end is on its way to the reader
        audio = self._user.push(chunk.samples)
        if audio:
            with self._translated("send audio"):
                await self._send(audio)

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        """Return the next thing the agent did; after the end, always ``EndOfStream``.

        Raises:
            CallDroppedError: at the end of a call whose transport failed; the transport's error is its cause.
        """
        if self._call is None or self._voice is None:
            raise PendingTransportError(self.name, "receive audio")
        item = self._call.take_sent()
        if item is None:
            if self._over:
                return EndOfStream()
            item = await self._wait_for_item(self._call, timeout)
        failure = self._voice.ending(item)
        if failure is not None:
            self._over = True
            raise failure
        if isinstance(item, EndOfStream):
            self._over = True
        return item

    async def _wait_for_item(self, call: AgentCall, timeout: float | None) -> Received | None:
        try:
            async with asyncio.timeout(timeout):
                return await call.sent()
        except TimeoutError:
            return None

    def user_turn_ended(self) -> None:
        """Commit what the user said, if the harness detects turns."""
        if not self.harness_detects_turns or self._connected("commit the user's turn").ended:
            return
        audio = self._user.commit()
        if audio is not None:
            with self._translated("commit the user's turn"):
                self._commit(audio)

    async def interrupt(self) -> None:
        """Send the far side's own interrupt signal."""
        if not self._connected("interrupt").ended:
            with self._translated("interrupt"):
                await self._interrupt()

    def call_facts(self) -> Mapping[str, Any]:
        """Return the far side's audio format, and who detects turns."""
        turn_detection = "harness" if self.harness_detects_turns else "server"
        return {"audio_rate": self.wire.rate, "audio_encoding": self.wire.encoding, "turn_detection": turn_detection}

    def _connected(self, action: str) -> AgentCall:
        if self._call is None or not self.is_connected:
            raise PendingTransportError(self.name, action)
        return self._call

    @contextmanager
    def _translated(self, action: str) -> Iterator[None]:
        try:
            yield
        except VoiceHarnessError:
            raise
        except Exception as error:  # the far side is anybody's code
            raise CallDroppedError(f"{self.name}: cannot {action}: {type(error).__name__}: {error}") from error
