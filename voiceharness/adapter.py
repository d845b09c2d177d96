"""The contract between the harness and a transport: one adapter object is one call to a voice agent.

A subclass of :class:`VoiceAgentAdapter` implements ``connect``, ``disconnect``, ``send_audio`` and ``receive_audio``
and publishes ``capabilities`` and ``timing``. Everything else has a default. A capability is a declaration *and* a
method: a class that has one without the other is refused when it is created.
"""

from __future__ import annotations

import asyncio
import inspect
from abc import ABC, abstractmethod
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self, TypeAlias

from voiceharness.capabilities import AdapterCapabilities, CallAction, DtmfMethod, Timing
from voiceharness.errors import (
    AdapterDefinitionError,
    CallRejectedError,
    LocalProtocolError,
    PendingTransportError,
    UnsupportedCapabilityError,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voiceharness.audio.chunk import AudioChunk
    from voiceharness.events import AgentEvent

__all__ = ["Endpoint", "InboundCall", "Message", "Option", "Received", "TurnTaker", "VoiceAgentAdapter"]

Received: TypeAlias = "AudioChunk | AgentEvent"
"""What ``receive_audio`` returns when something came."""


@dataclass(frozen=True, slots=True)
class Option:
    """What a parameter of an adapter means to its user.

    An adapter's options are the keyword parameters of its ``__init__``, each ``Annotated[type, Option(...)]``: written
    once, shared by Python, YAML, the pytest marker and ``--set``.
    """

    help: str
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation, as ``call`` takes it: who, and the audio or text of it."""

    role: Literal["user", "agent"]
    audio: AudioChunk | None = None
    text: str = ""


class TurnTaker(Protocol):
    """What an adapter knows of the line it is attached to."""

    @property
    def agent_speaking(self) -> asyncio.Event:
        """Set while the agent is heard speaking."""

    @property
    def heard_transcript(self) -> str:
        """The agent's words that have been heard so far."""

    @property
    def is_over(self) -> bool:
        """Whether the call has ended: it may be judged already, while its transport still runs."""

    async def take_turn(self, message: Message) -> AudioChunk:
        """Say the message's audio, wait for the agent's answer and return it."""

    def user_frame(self, position: int, samples: int, due_ns: int | None = None) -> AudioChunk:
        """Return the user's audio for a stretch of the track: what a transport that paces itself sends next.

        ``due_ns``: when its first sample will be heard, on the loop's clock; None: now.
        """


class VoiceAgentAdapter(ABC):
    """One call to a voice agent, over one transport.

    ``response_timeout`` bounds the wait for the agent's first speech, ``tail_silence`` is the silence in the sound
    that ends its turn, ``max_turn_duration`` ends the wait for one turn; all in seconds. ``rate`` is the line rate of
    this call in hertz, one of ``capabilities.rates``: user audio comes at it, and agent audio leaves at it. ``extra``
    names the extra of its distribution that brings what it needs (empty: nothing more).
    ``answers_only``: the agent is a function that answers what the user has said. It does not speak first, and while it
    speaks it neither hears the user nor stops; it cannot hang up, and is not told of the call's end.
    ``harness_detects_turns``: the harness, not the agent's side, says when the user's turn begins and ends, so it also
    sends the interrupt signal when the user talks over the agent.
    """

    name: ClassVar[str] = ""
    extra: ClassVar[str] = ""
    answers_only: ClassVar[bool] = False
    capabilities: ClassVar[AdapterCapabilities] = AdapterCapabilities()
    timing: ClassVar[Timing] = Timing()

    harness_detects_turns: bool = False

    rate: int = 8000
    response_timeout: float = 10.0
    tail_silence: float = 0.7
    max_turn_duration: float = 30.0

    _line: TurnTaker | None = None
    _options: Mapping[str, object]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        _check_honesty(cls)

    def __new__(cls, *args: Any, **options: Any) -> Self:
        """Remember the options an adapter is made with: they say what it can do."""
        made = super().__new__(cls)
        made._options = _named_options(cls, args, options)
        return made

    @property
    def own_capabilities(self) -> AdapterCapabilities:
        """What this object can do: the class's capabilities, narrowed by the options it was made with."""
        return self.capabilities_for(self._options)

    @property
    def tells_the_end(self) -> bool:
        """Whether the transport says that the agent has hung up, or failed; a sound card does not."""
        return self.own_capabilities.tells_the_end

    @classmethod
    def capabilities_for(cls, options: Mapping[str, object]) -> AdapterCapabilities:
        """Narrow the class's capabilities to what these options allow. Pure; the default narrows nothing."""
        return cls.capabilities

    # The four that every adapter implements

    @abstractmethod
    async def connect(self) -> None:
        """Set up the call. Returns when it is answered and media is open: that moment is sample 0.

        Raises:
            CallError: if the call cannot be set up.
        """

    @abstractmethod
    async def disconnect(self) -> None:
        """End the call. Idempotent, safe when half connected; never hides how the run ended."""

    @abstractmethod
    async def send_audio(self, chunk: AudioChunk) -> None:
        """Hand the user's audio to the transport; return once it took it. Never pace here.

        ``chunk.position`` is the index of its first sample at the line rate. Positions never go back; a jump is audio
        that is lost on purpose.

        Raises:
            PendingTransportError: if not connected.
            CallDroppedError: if the transport fails.
        """

    @abstractmethod
    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        """Return the next thing from the agent, in arrival order.

        That is an :class:`AudioChunk`, an event, ``EndOfStream`` when nothing more will come, or None when nothing came
        within ``timeout`` seconds (None: wait). Each is stamped (``at_ns``) on arrival, before decoding.

        Raises:
            PendingTransportError: if not connected.
            CallError: if the transport, or the agent, failed.
        """

    # What an adapter may override

    @property
    def is_connected(self) -> bool:
        """Whether audio can be sent now. True for transports that have no other state."""
        return True

    async def ringing(self) -> None:
        """Wait until a call that ``connect`` is setting up can be cancelled or rejected. At once, by default."""

    @property
    def address(self) -> str:
        """The agent's address on this transport, as a transfer would name it. Empty: there is none."""
        return ""

    @property
    def answered_code(self) -> int | None:
        """The transport's code of the answer (a SIP status, for example); None where it has none."""
        return None

    @property
    def sent_after_end(self) -> int:
        """How many messages the agent sent after the user's side had ended the call, as far as one can tell."""
        return 0

    def call_facts(self) -> Mapping[str, str | int | float | bool | None]:
        """Return what the transport knows of the call for its report: backend, codec, statistics. Plain values."""
        return {}

    def artefacts(self) -> Mapping[str, bytes]:
        """Return the files that the transport keeps of the call, by name: a protocol trace, early media. No secrets."""
        return {}

    def trust_reasons(self) -> tuple[str, ...]:
        """Return why this call's figures cannot be believed, as far as the transport knows: lost samples, a slip."""
        return ()

    def played(self, mark_or_position: str | int, flushed: bool) -> None:
        """Take note that playout reached a mark or position, or that a flush removed it."""

    def user_turn_started(self) -> None:
        """Take note of the user's real onset."""

    def user_turn_ended(self) -> None:
        """Take note of the user's real offset; its last frame has been sent."""

    async def interrupt(self) -> None:
        """Send the transport's own interrupt signal to the agent."""
        raise UnsupportedCapabilityError(
            adapter=self.name, capability="interruption", alternative="talk over the agent instead (via: speech)"
        )

    async def send_dtmf(self, digits: str, *, method: DtmfMethod, tone_ms: int = 100, gap_ms: int = 100) -> None:
        """Send digits by a signalled method. In-band tones are mixed by the line and never come here."""
        raise UnsupportedCapabilityError(
            adapter=self.name, capability=f"dtmf:{method}", alternative="send the tones in the sound (method: inband)"
        )

    async def control(self, action: CallAction, *, target: str | None = None) -> None:
        """Hold, resume, transfer (to ``target``), reject or cancel the call."""
        raise UnsupportedCapabilityError(adapter=self.name, capability=f"call_control:{action}")

    async def call(self, message: Message | Sequence[Message]) -> AudioChunk:
        """Take one turn: say the latest user message's audio and return the agent's answer, as heard.

        Raises:
            PendingTransportError: without a line, or when not connected.
            LocalProtocolError: if no user message is given.
        """
        if self._line is None or not self.is_connected:
            raise PendingTransportError(self.name, "take a turn")
        return await self._line.take_turn(_latest_user_message(message))

    # Given by the line

    def attach(self, line: TurnTaker) -> None:
        """Take note of the line that runs this call."""
        self._line = line

    @property
    def agent_speaking(self) -> asyncio.Event:
        """Set at the onset of speech in heard audio, cleared at its end or at a flush."""
        return self._attached("tell whether the agent speaks").agent_speaking

    @property
    def streaming_transcript(self) -> str:
        """The agent's words as heard so far."""
        return self._attached("tell what was heard").heard_transcript

    def _attached(self, action: str) -> TurnTaker:
        if self._line is None:
            raise PendingTransportError(self.name, action)
        return self._line


def _named_options(cls: type, args: tuple[Any, ...], options: dict[str, Any]) -> Mapping[str, object]:
    """Give positional arguments their names; what does not fit is left for ``__init__`` to refuse."""
    names = list(inspect.signature(cls.__init__).parameters)[1:]  # type: ignore[misc] # read, not called
    return {**dict(zip(names, args, strict=False)), **options}


def _latest_user_message(message: Message | Sequence[Message]) -> Message:
    messages = [message] if isinstance(message, Message) else list(message)
    for candidate in reversed(messages):
        if candidate.role == "user":
            return candidate
    raise LocalProtocolError("call() needs a message of the user to say")


def _check_honesty(cls: type[VoiceAgentAdapter]) -> None:
    """Refuse a class that declares what it has no method for, or the reverse."""
    declared = {
        "interrupt": cls.capabilities.interruption,
        "send_dtmf": bool(cls.capabilities.dtmf - {"inband"}),
        "control": bool(cls.capabilities.call_control),
    }
    names = {"interrupt": "interruption", "send_dtmf": "a signalled DTMF method", "control": "call control"}
    for method, is_declared in declared.items():
        is_overridden = getattr(cls, method) is not getattr(VoiceAgentAdapter, method)
        if is_declared and not is_overridden:
            raise AdapterDefinitionError(
                f"{cls.__qualname__} declares {names[method]} but does not override {method}()"
            )
        if is_overridden and not is_declared:
            raise AdapterDefinitionError(
                f"{cls.__qualname__} overrides {method}() but does not declare {names[method]}"
            )


@dataclass(frozen=True, slots=True)
class InboundCall:
    """A call that reached an endpoint, before an adapter has taken it.

    ``nonce`` is a secret the harness handed out for this one call, ``identity`` the address that was dialled, and
    ``handle`` whatever the adapter needs to answer it. The identity may be a phone number, so it is not shown.
    """

    handle: Any = field(repr=False)  # Any: the endpoint's own type
    identity: str = field(default="", repr=False)
    nonce: str = field(default="", repr=False)


@dataclass(slots=True, eq=False)
class _Claim:
    """An adapter that waits for a call, and which one it would take."""

    nonce: str | None
    identity: str | None
    future: asyncio.Future[InboundCall]

    @property
    def is_met(self) -> bool:
        """Whether a call was handed over."""
        return self.future.done() and not self.future.cancelled() and self.future.exception() is None

    def fits(self, call: InboundCall) -> bool:
        if self.future.done():
            return False
        if self.nonce is not None:
            return self.nonce == call.nonce
        return self.identity is None or self.identity == call.identity


class Endpoint(ABC):
    """What outlives calls: a SIP account and its worker, a webhook server with its number, a pair of devices.

    Use it as an async context manager. Each inbound call goes to exactly one waiting adapter: one that knows its
    nonce, else one that waits for the identity that was dialled, else the first that waits. A call nobody waits for
    is declined and counted in ``unclaimed``.
    """

    def __init__(self) -> None:
        self._claims: deque[_Claim] = deque()
        self._claimed = asyncio.Event()
        self.unclaimed = 0

    @abstractmethod
    async def open(self) -> None:
        """Start to take calls."""

    @abstractmethod
    async def close(self) -> None:
        """Stop, and release everything. Idempotent."""

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_exc_info: object) -> None:
        for claim in self._claims:
            if not claim.future.done():
                claim.future.set_exception(CallRejectedError("the endpoint was closed before an inbound call came"))
        self._claims.clear()
        await self.close()

    async def claim(self, *, timeout: float, nonce: str | None = None, identity: str | None = None) -> InboundCall:
        """Wait for the one inbound call that is meant for the asker.

        Raises:
            CallRejectedError: if it does not come within ``timeout`` seconds, or the endpoint is closed.
        """
        claim = _Claim(nonce, identity, asyncio.get_running_loop().create_future())
        self._claims.append(claim)
        self._claimed.set()
        try:
            async with asyncio.timeout(timeout):
                return await claim.future
        except TimeoutError as error:
            if claim.is_met:  # in the moment in which the time was up
                return claim.future.result()
            raise CallRejectedError(f"no inbound call came within {timeout:g} s") from error
        except asyncio.CancelledError:
            if claim.is_met and not self.offer(claim.future.result()):
                self.decline(claim.future.result())
            raise
        finally:
            if claim in self._claims:
                self._claims.remove(claim)
            if not self._claims:
                self._claimed.clear()

    def decline(self, call: InboundCall) -> None:
        """Refuse a call whose taker gave up in the moment in which it was handed over, and that nobody else wants."""

    async def claimed(self) -> None:
        """Wait until somebody waits for a call: the time to place one."""
        await self._claimed.wait()

    def offer(self, call: InboundCall) -> bool:
        """Hand an inbound call to the adapter it is meant for; False: nobody waits, so decline it."""
        fitting = [claim for claim in self._claims if claim.fits(call)]
        if not fitting:
            self.unclaimed += 1
            return False
        best = min(fitting, key=lambda claim: (claim.nonce is None, claim.identity is None))
        best.future.set_result(call)
        return True
