"""The adapter ``sound_card``: a call with any agent that the computer's audio reaches.

Theory of operation. The user is played into one device and the agent heard from another, as one full-duplex stream
whose captured samples are the call's clock (:mod:`~voiceharness_adapters.sound_card.media`). There is no signalling:
the call begins when the devices run, and ends when the harness ends it. What the driver loses, how the path moves and
what is left of the user's own echo is measured, reported, and, beyond a limit, a reason not to trust the run.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

from voiceharness.adapter import Option, VoiceAgentAdapter
from voiceharness.capabilities import AdapterCapabilities, Timing
from voiceharness.errors import CallError, LocalProtocolError, OptionError, PendingTransportError
from voiceharness.inbox import Inbox
from voiceharness_adapters.sound_card.cables import CABLE_RATE, Cables
from voiceharness_adapters.sound_card.facts import describe, doubts_of
from voiceharness_adapters.sound_card.far_side import FarSide  # noqa: TC001  the registry reads the types of options
from voiceharness_adapters.sound_card.health import DeviceHealth
from voiceharness_adapters.sound_card.measuring import measure_path
from voiceharness_adapters.sound_card.media import UserMedia
from voiceharness_adapters.sound_card.portaudio import BLOCKS_PER_SECOND, PortAudio
from voiceharness_adapters.sound_card.pulse import PulseServer
from voiceharness_adapters.sound_card.session import Session
from voiceharness_adapters.sound_card.store import measured_delay
from voiceharness_adapters.sound_card.stream import Opening, SoundSystem

if TYPE_CHECKING:
    from voiceharness.adapter import Received, TurnTaker
    from voiceharness.audio.chunk import AudioChunk
    from voiceharness_adapters.sound_card.stream import Block

__all__ = ["SoundCard"]

USUAL_PATH: Final = 0.05
"""Seconds beyond the driver's buffer that are expected of a path of which nothing is known.

Rather too long, so that the present is not ahead: it would have to go back once the path is found.
"""


class SoundCard(VoiceAgentAdapter):
    """One call through the computer's audio.

    With ``cables`` the user plays into one virtual cable and both directions are heard on the line's monitor; else
    choose ``output`` and ``input``. Give ``user_channel`` where a channel of the input carries the user's own sound;
    without, the input is taken for a microphone, or a cable, that may hear the user.
    """

    name = "sound_card"
    extra = "sound"
    capabilities = AdapterCapabilities(
        dtmf=frozenset({"inband"}),
        directions=frozenset({"dial"}),
        rates=frozenset({8000, 16000, 48000}),
        tells_the_end=False,
    )
    timing = Timing(paced_by="transport", playout="live")

    def __init__(
        self,
        cables: Annotated[str, Option("virtual cables, by the name they were created with")] = "",
        *,
        output: Annotated[str, Option("device to play the user into: name, index, pulse:SINK; empty: default")] = "",
        input: Annotated[str, Option("device to hear the agent from: name, index, pulse:SOURCE")] = "",  # noqa: A002
        agent_channel: Annotated[int, Option("channel of the input on which the agent is, from 1")] = 1,
        user_channel: Annotated[int, Option("channel of the input on which the user is; 0: none")] = 0,
        server: Annotated[str, Option("address of the PulseAudio server; empty: the session's")] = "",
        device_rate: Annotated[int, Option("rate to open the devices at; 0: their own", "Hz")] = 0,
        latency_ms: Annotated[int, Option("how much the driver buffers in each direction", "ms")] = 150,
        lead_ms: Annotated[int, Option("how far ahead user audio is made, a multiple of 10", "ms")] = 100,
        delay_ms: Annotated[float | None, Option("how long the path takes, if you know it", "ms")] = None,
        chirp: Annotated[bool, Option("measure the path with a chirp first; only if no agent listens yet")] = False,
        rate: Annotated[int, Option("line rate: 8000, 16000 or 48000", "Hz")] = 8000,
        far_side: Annotated[FarSide | None, Option("the agent's end, when it is served from here")] = None,
        system: Annotated[SoundSystem | None, Option("what opens devices; default: PortAudio")] = None,
    ) -> None:
        if rate not in self.capabilities.rates:
            known = ", ".join(map(str, sorted(self.capabilities.rates)))
            raise OptionError(f"adapter {self.name!r} has no line rate {rate} Hz; it has {known}")
        if lead_ms not in range(10, 201, 10):
            raise OptionError(f"adapter {self.name!r}: lead_ms is a multiple of 10 up to 200, not {lead_ms}")
        if agent_channel < 1 or user_channel < 0 or agent_channel == user_channel:
            raise OptionError(f"adapter {self.name!r}: channels count from 1, and the agent has one of its own")
        self.rate = rate
        if cables:
            made = Cables(cables, PulseServer(server))
            output, input, device_rate = f"pulse:{made.to_agent}", f"pulse:{made.monitor}", CABLE_RATE  # noqa: A001
            user_channel, agent_channel = 1, 2
        self.opening = Opening(input, output, max(agent_channel, user_channel), device_rate, latency_ms, server)
        self._channels = (agent_channel - 1, user_channel - 1 if user_channel else None)
        self._lead = lead_ms * BLOCKS_PER_SECOND // 1000
        self._far_side = far_side
        self._chirp = chirp or far_side is not None
        self._inbox = Inbox()
        self._session = Session(system or PortAudio(), self.opening)
        self._media: UserMedia | None = None
        self._health: DeviceHealth | None = None
        self._over = False
        self.delay, self.delay_from = self._known_delay(delay_ms)

    def _known_delay(self, delay_ms: float | None) -> tuple[float | None, str]:
        """Say what is known of the path before the call, in seconds, and from where."""
        if delay_ms is not None:
            return delay_ms / 1000, "option"
        tested = measured_delay(self.opening.pair)
        return (None, "unknown") if tested is None else (tested.delay, f"device test of {tested.date}")

    @property
    def is_connected(self) -> bool:
        """Whether the devices run."""
        return self._media is not None and not self._over

    async def connect(self) -> None:
        """Open the devices; returns when they run steadily.

        Raises:
            DeviceError: if they cannot be opened; says what there is and what to try.
            MissingExtraError: if sounddevice is not installed.
            LocalProtocolError: if this adapter has been connected before. One adapter object is one call.
        """
        if self._media is not None or self._over:
            raise LocalProtocolError(f"adapter {self.name!r} has had its call; make another adapter for the next")
        self._session.on_failure = self._failed
        stream = await self._session.open()
        agent_channel, user_channel = self._channels
        if self._chirp:  # the agent's end is not on the line yet, or the user says so
            path = await measure_path(self._session, agent_channel if user_channel is None else user_channel)
            self.delay, self.delay_from = path.delay, "a chirp before the call"
        self._health = DeviceHealth(stream.rate, stream.block)
        self._media = UserMedia(
            stream,
            self._inbox,
            rate=self.rate,
            agent_channel=agent_channel,
            user_channel=user_channel,
            lead=self._lead,
            expected=self.opening.latency_ms / 1000 + USUAL_PATH if self.delay is None else self.delay,
        )
        if self._far_side is not None:
            self._media.on_first = partial(self._far_side.call_begins, self._is_judged)
        self._session.on_block = self._take

    def _take(self, block: Block) -> None:
        assert self._health is not None  # both were made
        assert self._media is not None  # before the first block came
        if not self._is_judged():
            self._health.take(block, sounding=self._media.sounding.at(block.tick))
            self._health.check_count()
        self._media.take(block)

    def _is_judged(self) -> bool:
        """Whether the call is over, so that the loop may be busy with judging it: what is lost then is no loss."""
        return self._line is not None and self._line.is_over

    def _failed(self, error: CallError) -> None:
        self._over = True
        self._inbox.end(error)

    async def disconnect(self) -> None:
        """Release the devices."""
        self._over = True
        self._inbox.end()
        if self._far_side is not None:
            self._far_side.call_ends()
        await self._session.close()

    def attach(self, line: TurnTaker) -> None:
        """Play what the line says from the next block on."""
        super().attach(line)
        if self._media is not None:
            self._media.attach(line)

    async def send_audio(self, chunk: AudioChunk) -> None:
        """Refuse: the device keeps time and asks its line for the user's audio."""
        if not self.is_connected:
            raise PendingTransportError(self.name, "send audio")
        raise LocalProtocolError(f"adapter {self.name!r} asks its line for each frame; audio cannot be pushed into it")

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        """Return the next thing heard; after the end, always ``EndOfStream``."""
        if self._media is None:
            raise PendingTransportError(self.name, "receive audio")
        return await self._inbox.get(timeout)

    # What is known of the call

    def call_facts(self) -> dict[str, str | int | float | bool | None]:
        """Return what a report should say of the devices and their path."""
        facts: dict[str, str | int | float | bool | None] = {"devices": self.opening.pair}
        if self._media is not None and self._health is not None:
            facts |= describe(self._media, self._health, known=self.delay, known_from=self.delay_from)
        return facts

    def trust_reasons(self) -> tuple[str, ...]:
        """Return why this call's figures cannot be believed."""
        if self._media is None or self._health is None:
            return ()
        served = () if self._far_side is None else self._far_side.doubts()
        return (*doubts_of(self._media, self._health, known=self.delay), *served)
