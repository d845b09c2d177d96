"""The scripted transport as the realtime model of the SDK: its real ``RealtimeSession`` runs against a script.

Tools, handoffs, guardrails, approvals and interruption are the session's own. Script and checks are on ``transport``::

    model = ScriptedAgentsRealtimeModel(ambient={"send_audio"})
    runner = RealtimeRunner(agent, model=model, config={"tracing_disabled": True})
    await model.transport.run_scenario(scenario=..., exercise=...)

Once ``await emit(...)`` returns, the session has dealt with the event, but for the tools and guardrails that it runs in
tasks of its own. The session swallows what its background tasks raise; a call there that does not fit the script fails
the run all the same.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from agents.realtime.model import RealtimeModel
from agents.realtime.model_events import RealtimeModelEndOfStreamEvent, RealtimeModelExceptionEvent

from voiceharness.errors import CallDroppedError
from voiceharness.scripted.forwarding import Forwarded, ForwardingTransport, TransportOptions
from voiceharness.scripted.openai_agents.inbound import to_sdk
from voiceharness.scripted.openai_agents.outbound import SNAPSHOTS, connect_options, send

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Unpack

    from agents.realtime.model import RealtimeModelConfig, RealtimeModelListener, RealtimePlaybackTracker
    from agents.realtime.model_inputs import RealtimeModelSendEvent

    from voiceharness.scripted.inbound import EventLike

__all__ = ["AgentsTransport", "ScriptedAgentsRealtimeModel"]


class AgentsTransport(ForwardingTransport):
    """A scripted transport that ends as the SDK's own does.

    A far side that hangs up gives the SDK a status and the end of the stream; one that fails gives it an exception,
    and nothing else.
    """

    _withheld = False

    def forward(self, event: EventLike, *, heard: bool = False) -> Forwarded:
        """Forward an event, unless it is one that the SDK's transport would not give."""
        if self._withheld:
            return Forwarded(heard, event, self)
        return super().forward(event, heard=heard)

    def disconnect(self, error: BaseException | None = None) -> None:
        """Lose the connection from the far side; the session ends, or raises the error from its iterator."""
        was_open = self.status != "disconnected"
        if error is None:
            super().disconnect()
            if was_open:
                self.forward(RealtimeModelEndOfStreamEvent())
            return
        with self._withholding():
            super().disconnect(error)
        self.forward(RealtimeModelExceptionEvent(exception=_as_exception(error), context="the connection was lost"))

    @contextmanager
    def _withholding(self) -> Iterator[None]:
        self._withheld = True
        try:
            yield
        finally:
            self._withheld = False


class ScriptedAgentsRealtimeModel(RealtimeModel):
    """A ``RealtimeModel`` over a scripted transport.

    ``transport`` takes the script; the options are those of a scripted transport. ``retired_responses`` are the
    responses whose audio the session told the model to forget.
    """

    def __init__(self, **options: Unpack[TransportOptions]) -> None:
        options.setdefault("snapshots", SNAPSHOTS)
        self.transport = AgentsTransport(self._deliver, **options)
        self.playback_tracker: RealtimePlaybackTracker | None = None
        self.retired_responses: list[str] = []
        self._listeners: list[RealtimeModelListener] = []

    async def connect(self, options: RealtimeModelConfig) -> None:
        """Connect the transport; keys and headers are not recorded."""
        self.playback_tracker = options.get("playback_tracker")
        await self.transport.connect(**connect_options(options))
        await self.transport.forwarded()

    def add_listener(self, listener: RealtimeModelListener) -> None:
        """Add a listener, once."""
        if listener not in self._listeners:
            self._listeners.append(listener)

    def remove_listener(self, listener: RealtimeModelListener) -> None:
        """Remove a listener, if it is there."""
        if listener in self._listeners:
            self._listeners.remove(listener)

    async def send_event(self, event: RealtimeModelSendEvent) -> None:
        """Make the transport's call for what the session sends."""
        send(self.transport, event)

    async def send_event_if(self, event: RealtimeModelSendEvent, send_if: Callable[[], bool]) -> bool:
        """Send, if the condition holds at this very moment."""
        if not send_if():
            return False
        send(self.transport, event)
        return True

    async def close(self) -> None:
        """Close the transport; without effect if it is closed."""
        self.transport.close()

    def _retire_response_audio(self, response_id: str) -> None:
        self.retired_responses.append(response_id)

    async def _deliver(self, event: EventLike) -> None:
        for native in to_sdk(event):
            for listener in tuple(self._listeners):
                await listener.on_event(native)


def _as_exception(error: BaseException) -> Exception:
    if isinstance(error, Exception):
        return error
    wrapped = CallDroppedError("the scripted far side failed")  # the SDK's event holds an Exception
    wrapped.__cause__ = error
    return wrapped
