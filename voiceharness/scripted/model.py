"""A scripted model: each call takes the next step of a script.

Theory of operation
-------------------
A plain call (``get_response``) and a streamed one (``stream_response``) are recorded, as a snapshot of the request, and
take their step at the moment they are made; a stream that is consumed late, or never, has its place in the order all
the same. The step then answers: with a response, an exception, or a stream of events (see ``model_steps``). A streamed
call whose step is a response gets an automatic stream.

Cancellation is cooperative. A ``cancel`` event that is set before the call leaves no trace of it; set later, it is
noticed at the next point where the script has control: before a value is handed over, never in the middle of a
callback. The cancellation of a task is another matter and passes through; the call stays recorded, its step spent.

``ScriptedModel`` stands alone: it serves any code that asks a model for text, a user simulator or a judge for example.
The same script behind another library's model interface is a ``ModelScript`` with that library's dialect.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from voiceharness.scripted.errors import (
    InvalidScriptedModelStepError,
    ScriptedModelRequestAbortedError,
    UnconsumedModelStepsError,
    UnexpectedModelCallError,
)
from voiceharness.scripted.model_dialect import Dialect, PlainDialect
from voiceharness.scripted.model_retry import RetryLedger, RetryQuery
from voiceharness.scripted.model_steps import (
    ModelStep,
    is_stream,
    model_error,
    model_responder,
    model_response,
    model_stream,
    model_stream_responder,
    prepare_step,
)
from voiceharness.scripted.output import ModelResponse, StreamEvent
from voiceharness.scripted.records import CallLog, RecordedCall, StepQueue
from voiceharness.scripted.snapshot import SnapshotData

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "Cancel",
    "ModelCall",
    "ModelRequest",
    "ModelScript",
    "ScriptedModel",
    "model_error",
    "model_responder",
    "model_response",
    "model_stream",
    "model_stream_responder",
]

R = TypeVar("R")
E = TypeVar("E")


class Cancel(Protocol):
    """Tells that a request was cancelled; an ``asyncio.Event`` does, and a ``threading.Event``."""

    def is_set(self) -> bool:
        """Whether the request was cancelled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest(SnapshotData):
    """What a model is asked. Tools, handoffs and other objects keep their identity in recorded calls."""

    input: Any
    system_instructions: str | None = None
    settings: Any = None
    tools: Any = ()
    handoffs: Any = ()
    output_schema: Any = None
    tracing: Any = None
    previous_response_id: str | None = None
    conversation_id: str | None = None
    prompt: Any = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ModelCall(RecordedCall):
    """One recorded call of the model."""

    method: ClassVar[str] = "model"
    streamed: bool
    request: ModelRequest


class ModelScript(Generic[R, E]):
    """The script of a model that speaks a dialect: the log, the steps, and how they answer.

    Raises:
        InvalidScriptedModelStepError: if a step cannot be used; then none is queued.
    """

    def __init__(
        self,
        steps: Iterable[object] = (),
        *,
        dialect: Dialect[R, E],
        now: Callable[[], float | None] | None = None,
    ) -> None:
        self._dialect = dialect
        self._log = CallLog[ModelCall](snapshots=dialect.snapshots, now=now)
        self._steps = StepQueue[ModelStep]()
        self._failures = RetryLedger()
        self.enqueue(*steps)

    def enqueue(self, *steps: object) -> None:
        """Add steps behind those that are left: all of them, or none if one cannot be used."""
        self._steps.enqueue(steps, lambda index, given: prepare_step(given, index, self._dialect))

    @property
    def calls(self) -> tuple[ModelCall, ...]:
        """Snapshots of all calls."""
        return self._log.calls

    @property
    def first_call(self) -> ModelCall | None:
        """A snapshot of the first call."""
        stored = self._log.stored
        return self._log.copy(stored[0]) if stored else None

    @property
    def last_call(self) -> ModelCall | None:
        """A snapshot of the latest call."""
        stored = self._log.stored
        return self._log.copy(stored[-1]) if stored else None

    @property
    def remaining_steps(self) -> int:
        """How many steps no call took yet."""
        return len(self._steps)

    def assert_complete(self) -> None:
        """Check that every step was used; changes nothing.

        Raises:
            UnconsumedModelStepsError: if steps are left.
        """
        if len(self._steps):
            raise UnconsumedModelStepsError(remaining_steps=len(self._steps))

    def retry_advice(self, error: BaseException, *, streamed: bool, query: object) -> Any:
        """Return the advice scripted for a failure; None if there is none, or it was asked for already."""
        return self._failures.advice(error, streamed=streamed, query=query)

    async def respond(self, request: ModelRequest, *, cancel: Cancel | None = None) -> R:
        """Answer a plain call."""
        exchange = self._begin(request, streamed=False, cancel=cancel)
        if exchange.step.streams:
            raise exchange.unusable("incompatible_call")
        return await exchange.response()

    def stream(self, request: ModelRequest, *, cancel: Cancel | None = None) -> AsyncGenerator[E, None]:
        """Answer a streamed call: recorded now, played when the result is iterated."""
        return self._begin(request, streamed=True, cancel=cancel).events()

    def _begin(self, request: ModelRequest, *, streamed: bool, cancel: Cancel | None) -> _Exchange[R, E]:
        if cancel is not None and cancel.is_set():
            raise ScriptedModelRequestAbortedError
        call = self._log.record(ModelCall, streamed=streamed, request=request)
        step = self._steps.take()
        if step is None:
            raise UnexpectedModelCallError(call_index=call.index, streamed=streamed)
        return _Exchange(self._dialect, self._failures, self._log.copy(call), step, cancel)


class _Exchange(Generic[R, E]):
    """One call and the step that answers it."""

    def __init__(
        self, dialect: Dialect[R, E], failures: RetryLedger, call: ModelCall, step: ModelStep, cancel: Cancel | None
    ) -> None:
        self.step = step
        self._dialect = dialect
        self._failures = failures
        self._call = call
        self._cancel = cancel
        self._index = call.index
        self._settings = dialect.snapshots.copy(call.request.settings)  # out of reach of a responder

    def unusable(self, reason: str) -> InvalidScriptedModelStepError:
        """Make the error for a step that fails in use."""
        return InvalidScriptedModelStepError(reason, call_index=self._index, step_type=self.step.type)

    async def response(self) -> R:
        """Answer with a response."""
        self._check_cancel()
        self._raise_scripted()
        value = self.step.value
        if self.step.type == "responder":
            value = await self._ask()
        if not self._dialect.accepts(value):
            raise self.unusable("invalid_response")
        response = self._dialect.response(value, call_index=self._index, settings=self._settings)
        self._check_cancel()
        return response

    async def events(self) -> AsyncGenerator[E, None]:
        """Answer with a stream of events."""
        self._check_cancel()
        if not self.step.streams:
            response = await self.response()
            for event in self._dialect.events(response, call_index=self._index):
                self._check_cancel()
                yield event
            return
        events = await self._ask() if self.step.type == "stream_responder" else self.step.value
        if not is_stream(events):
            raise self.unusable("invalid_stream")
        async with aclosing(_played(events)) as stream:
            async for event in stream:
                self._check_cancel()
                yield event
        self._check_cancel()

    async def _ask(self) -> Any:
        """Ask the step's function; the call it gets is its own copy."""
        answer = self.step.value(self._call)
        if inspect.isawaitable(answer):
            answer = await answer
        self._check_cancel()
        return answer

    def _raise_scripted(self) -> None:
        if self.step.type == "error":
            self._failures.remember(self.step.value, streamed=self._call.streamed, advice=self.step.retry_advice)
            raise self.step.value

    def _check_cancel(self) -> None:
        if self._cancel is not None and self._cancel.is_set():
            raise ScriptedModelRequestAbortedError(call_index=self._index)


async def _played(events: Iterable[Any] | AsyncIterable[Any]) -> AsyncGenerator[Any, None]:
    """Iterate over a stream, sync or async, and close the generator behind it, however early the reader stops."""
    source = aiter(events) if isinstance(events, AsyncIterable) else iter(events)
    try:
        if isinstance(source, AsyncIterator):
            async for event in source:
                yield event
        else:
            for event in source:
                yield event
    finally:
        if isinstance(source, AsyncGenerator):
            await source.aclose()
        elif inspect.isgenerator(source):
            source.close()


class ScriptedModel(ModelScript[ModelResponse, StreamEvent]):
    """A scripted model in plain dicts and dataclasses; see the module."""

    def __init__(self, steps: Iterable[object] = (), *, now: Callable[[], float | None] | None = None) -> None:
        super().__init__(steps, dialect=PlainDialect(), now=now)

    async def get_response(self, request: ModelRequest, *, cancel: Cancel | None = None) -> ModelResponse:
        """Answer a plain call with the next step.

        Raises:
            UnexpectedModelCallError: if no step is left.
            InvalidScriptedModelStepError: if the step can only stream, or its responder returned no response.
            ScriptedModelRequestAbortedError: if ``cancel`` is set.
            BaseException: what the step was told to raise.
        """
        return await self.respond(request, cancel=cancel)

    def stream_response(self, request: ModelRequest, *, cancel: Cancel | None = None) -> AsyncGenerator[Any, None]:
        """Answer a streamed call with the next step, which is taken now; errors of the step come when it is iterated.

        An automatic stream consists of ``ResponseStarted``, ``OutputTextDelta`` and ``ResponseDone``; an exact one of
        whatever the script says.
        """
        return self.stream(request, cancel=cancel)

    def get_retry_advice(self, query: RetryQuery) -> Any:
        """Return the advice scripted for a failure; the query is what a function as advice is called with."""
        return self.retry_advice(query.error, streamed=query.streamed, query=query)
