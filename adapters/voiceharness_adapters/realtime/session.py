"""The adapter over a session of the OpenAI Agents SDK in this process: one's own agent, with its tools, on the phone.

Needs the extra ``agents``, which is loaded when the call is made. The session is the real one; what is behind it is
the model that is given: a scripted one, so that nothing leaves this process, or the provider's.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping  # noqa: TC003  the registry reads the types of options at run time
from typing import TYPE_CHECKING, Annotated, Any, Protocol, runtime_checkable

from voiceharness.adapter import Option
from voiceharness.errors import ConnectError, MissingExtraError
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
from voiceharness_adapters.realtime.session_events import SessionEvents

if TYPE_CHECKING:
    from agents.realtime import RealtimeSession

    from voiceharness_adapters.realtime.agent_voice import AgentVoice

__all__ = ["AgentsSessionAdapter", "SdkAgent", "SdkModel"]


@runtime_checkable
class SdkAgent(Protocol):
    """A ``RealtimeAgent`` of the SDK, as far as it can be told without loading that."""

    name: str
    instructions: Any  # Any: a text, or a function that makes one


@runtime_checkable
class SdkModel(Protocol):
    """A ``RealtimeModel`` of the SDK, likewise."""

    async def send_event(self, event: Any, /) -> None:
        """Send something to the model."""


class AgentsSessionAdapter(RealtimeAdapter):
    """One call to a ``RealtimeAgent``, run by the SDK's own ``RealtimeSession``.

    ``session`` is that session, from the moment the call is connected. ``on_event`` gets each of its events, in order;
    what it returns is awaited if it can be. That is where a test approves tool calls. Tracing is off unless ``config``
    says otherwise.
    """

    name = "openai_agents"
    extra = "agents"

    def __init__(
        self,
        agent: Annotated[SdkAgent, Option("the RealtimeAgent, or package.module:name of it")],
        *,
        model: Annotated[
            SdkModel | None, Option("the RealtimeModel, or package.module:name of it; None: the provider's")
        ] = None,
        config: Annotated[Mapping[str, object] | None, Option("the SDK's run configuration")] = None,
        model_config: Annotated[Mapping[str, object] | None, Option("the SDK's model configuration")] = None,
        context: Annotated[object, Option("the context that tools get")] = None,
        on_event: Annotated[Callable[[Any], object] | None, Option("called with each event of the session")] = None,
        turn_detection: TurnDetection = "server",
        audio_rate: AudioRate = 24000,
        audio_encoding: AudioEncoding = "pcm16",
        transcripts: Transcripts = True,
        live: Live = False,
        rate: LineRate = 8000,
    ) -> None:
        wire = WireFormat(audio_rate, audio_encoding)
        super().__init__(rate=rate, wire=wire, harness_detects_turns=turn_detection == "harness")
        self._agent = agent
        self._model = model
        self._config = {"tracing_disabled": True, **(config or {})}
        self._model_config = model_config
        self._context = context
        self._on_event = on_event
        self._session: RealtimeSession | None = None
        self._entered = False
        self._reader: asyncio.Task[None] | None = None
        self._committing: asyncio.Task[None] | None = None

    @property
    def session(self) -> RealtimeSession:
        """The running session.

        Raises:
            ConnectError: if there is none yet.
        """
        if self._session is None:
            raise ConnectError(f"{self.name}: there is no session before the call is connected")
        return self._session

    async def _open(self, voice: AgentVoice) -> None:
        try:
            from agents.realtime import RealtimeRunner
        except ImportError as error:
            raise MissingExtraError("the package openai-agents is not installed", extra="agents") from error
        runner: Any = RealtimeRunner(self._agent, model=self._model, config=self._config)  # type: ignore[arg-type] # the SDK's own, told by their shape
        self._session = session = await runner.run(context=self._context, model_config=self._model_config)
        await session.enter()
        self._entered = True
        self._reader = asyncio.create_task(self._read(session, voice), name="events of a realtime session")

    async def _close(self) -> None:
        self._entered = False
        if self._session is not None:
            await self._session.close()
        tasks = [task for task in (self._reader, self._committing) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _send(self, audio: bytes) -> None:
        await self._committed()
        await self.session.send_audio(audio)

    def _commit(self, audio: bytes) -> None:
        sending = self.session.send_audio(audio, commit=True)
        self._committing = asyncio.create_task(sending, name="commit of a user's turn")

    async def _committed(self) -> None:
        committing, self._committing = self._committing, None
        if committing is not None:
            await committing

    async def _interrupt(self) -> None:
        await self._committed()
        await self.session.interrupt()

    @property
    def _is_open(self) -> bool:
        return self._entered

    # What the session tells

    async def _read(self, session: RealtimeSession, voice: AgentVoice) -> None:
        events = SessionEvents(voice)
        try:
            async for event in session:
                events.hear(event)
                if self._on_event is not None:
                    outcome = self._on_event(event)
                    if inspect.isawaitable(outcome):
                        await outcome
        except Exception as error:  # the model's failure, or that of the agent's own code
            voice.drop(error)
        else:
            voice.hang_up("the session ended")
