"""A scripted collaborator of any interface: each method call takes the next step of one script.

A carrier's REST client, a SIP account, a sandbox: give the Protocol or the abstract class the code under test works
with as ``spec``, and the steps. The double has exactly the methods that some step names; all others are absent, which
is what code that probes for capabilities looks at. Whether a method is awaited, and which arguments it takes, is the
spec's.

Every call is recorded and takes the oldest step, in one order over all methods. A call that does not fit the step (in
method, or by the step's matcher) raises, and the step is spent all the same.
"""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Concatenate, Final, Generic, ParamSpec, TypeVar, cast, overload

from voiceharness.scripted.errors import (
    InvalidScriptedSandboxStepError,
    SandboxCallMatcherError,
    ScriptTypeError,
    UnconsumedSandboxStepsError,
    UnexpectedSandboxCallError,
)
from voiceharness.scripted.matching import run_matcher
from voiceharness.scripted.records import CallLog, RecordedCall, StepQueue

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping

    from voiceharness.scripted.snapshot import SnapshotPolicy

__all__ = [
    "NamedStepFor",
    "ScriptedSession",
    "SessionCall",
    "SessionScript",
    "SessionStep",
    "StepFor",
    "on_call",
    "public_methods",
    "scripted_method",
    "scripted_session",
]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class _Missing:
    def __repr__(self) -> str:
        return "<missing>"


_MISSING: Final[Any] = _Missing()  # stands for an outcome that was not given, for None is one like any other


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SessionCall(RecordedCall):
    """One recorded call, with its arguments as they were given."""

    method: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SessionStep:
    """One step: a method, a matcher of its arguments, and exactly one of result, respond and error.

    Nothing is typed, for it is checked when it is queued; ``on_call`` makes typed steps.
    """

    method: str
    match: Any = None
    result: Any = _MISSING
    respond: Any = _MISSING
    error: Any = _MISSING


class StepFor(Generic[P, R]):
    """Begins a step for a method with the parameters ``P`` that returns ``R``; made by ``on_call``."""

    def __init__(self, step: SessionStep) -> None:
        self.step = step

    def matching(self, match: Callable[P, object]) -> StepFor[P, R]:
        """Accept only arguments that ``match`` accepts, with None or anything true; it is given copies of them."""
        return StepFor(replace(self.step, match=match))

    def returns(self, result: R) -> SessionStep:
        """Answer with this result."""
        return replace(self.step, result=result)

    def responds(self, respond: Callable[[SessionCall], R | Awaitable[R]]) -> SessionStep:
        """Answer with what a function makes of the recorded call; for an async method it may be async."""
        return replace(self.step, respond=respond)

    def raises(self, error: BaseException) -> SessionStep:
        """Answer by raising this very exception."""
        return replace(self.step, error=error)


class NamedStepFor(StepFor[..., Any]):
    """Begins a step for a method that is known by name alone."""

    def matching(self, match: Callable[..., object]) -> NamedStepFor:
        """Accept only arguments that ``match`` accepts."""
        return NamedStepFor(replace(self.step, match=match))


@overload
def on_call(method: Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]) -> StepFor[P, R]: ...


@overload
def on_call(method: Callable[Concatenate[Any, P], R]) -> StepFor[P, R]: ...


@overload
def on_call(method: str) -> NamedStepFor: ...


def on_call(method: Callable[..., Any] | str) -> StepFor[..., Any]:
    """Begin a step: ``on_call(Carrier.place_call).returns("CA1")``.

    The method is the spec's own, which types what follows, or a name.
    """
    return NamedStepFor(SessionStep(method if isinstance(method, str) else method.__name__))


class SessionScript:
    """The script of a session: the log, the steps, and how they answer; ``methods`` are the names they may use."""

    def __init__(
        self, steps: Iterable[object], *, methods: Iterable[str], snapshots: SnapshotPolicy | None = None
    ) -> None:
        self._log = CallLog[SessionCall](snapshots=snapshots)
        self._steps = StepQueue[SessionStep]()
        known = frozenset(methods)
        self._steps.enqueue(steps, lambda index, given: self._prepare(given, index, known))
        self.methods = frozenset(step.method for step in self._steps.remaining)

    @property
    def calls(self) -> tuple[SessionCall, ...]:
        """Snapshots of all calls."""
        return self._log.calls

    @property
    def remaining_steps(self) -> int:
        """How many steps no call took yet."""
        return len(self._steps)

    def assert_complete(self) -> None:
        """Check that every step was used; changes nothing.

        Raises:
            UnconsumedSandboxStepsError: if steps are left; it names their methods, in order.
        """
        if len(self._steps):
            raise UnconsumedSandboxStepsError(pending_methods=[step.method for step in self._steps.remaining])

    def answer(self, method: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Record a call, take its step, and answer; of an async responder, the answer is its awaitable.

        Raises:
            UnexpectedSandboxCallError: if the step is another method's, or none is left.
            SandboxCallMatcherError: if the step's matcher rejects the arguments.
            BaseException: what the step was told to raise, or its matcher or responder raised.
        """
        call = self._log.record(SessionCall, method=method, args=args, kwargs=dict(kwargs))
        step = self._steps.take()
        if step is None or step.method != method:
            raise UnexpectedSandboxCallError(
                call_index=call.index,
                actual_method=method,
                expected_method=None if step is None else step.method,
                remaining_steps=len(self._steps),
            )
        self._check(step, call)
        if step.error is not _MISSING:
            raise step.error
        return step.result if step.respond is _MISSING else step.respond(self._log.copy(call))

    def _check(self, step: SessionStep, call: SessionCall) -> None:
        copy = self._log.copy(call)
        if step.match is None or run_matcher(
            functools.partial(step.match, *copy.args, **copy.kwargs), method=call.method
        ):
            return
        raise SandboxCallMatcherError(call_index=call.index, method=call.method)

    def _prepare(self, given: object, index: int, known: frozenset[str]) -> SessionStep:
        step = given.step if isinstance(given, StepFor) else given  # one without an outcome, said below
        if not isinstance(step, SessionStep):
            raise InvalidScriptedSandboxStepError("invalid_input", input_index=index)
        reason = _fault(step, known)
        if reason is not None:
            raise InvalidScriptedSandboxStepError(reason, input_index=index, method=step.method)
        return replace(step, result=self._log.snapshots.copy(step.result))


def _fault(step: SessionStep, known: frozenset[str]) -> str | None:
    """Name what is wrong with a step, if anything."""
    if step.method not in known:
        return "unknown_method"
    if step.match is not None and not callable(step.match):
        return "invalid_matcher"
    if sum(outcome is not _MISSING for outcome in (step.result, step.respond, step.error)) != 1:
        return "invalid_outcome"
    if step.respond is not _MISSING and not callable(step.respond):
        return "invalid_outcome"
    if step.error is not _MISSING and not isinstance(step.error, BaseException):
        return "invalid_outcome"
    return None


class ScriptedSession(Generic[T]):
    """A scripted double of ``T``: ``session`` goes to the code under test, the rest is for the test."""

    def __init__(self, script: SessionScript, session: T) -> None:
        self.session = session
        self._script = script

    @property
    def calls(self) -> tuple[SessionCall, ...]:
        """Snapshots of all calls."""
        return self._script.calls

    @property
    def remaining_steps(self) -> int:
        """How many steps no call took yet."""
        return self._script.remaining_steps

    def assert_complete(self) -> None:
        """Check that every step was used.

        Raises:
            UnconsumedSandboxStepsError: if steps are left.
        """
        self._script.assert_complete()


def scripted_session(
    steps: Iterable[SessionStep], *, spec: Callable[..., T], snapshots: SnapshotPolicy | None = None
) -> ScriptedSession[T]:
    """Make a double of ``spec``, a Protocol or a class, that plays the steps.

    (A class is declared as a callable here, for type checkers refuse an abstract one as a ``type[T]``.)
    ``snapshots`` says which class instances are copied when a call is recorded; all others keep their identity.

    Raises:
        InvalidScriptedSandboxStepError: if a step cannot be used.
    """
    if not isinstance(spec, type):
        raise ScriptTypeError(f"a spec is a Protocol or a class, not {spec!r}")
    functions = public_methods(spec)
    script = SessionScript(steps, methods=functions, snapshots=snapshots)
    face = _Face(spec)
    for name in script.methods:
        setattr(face, name, scripted_method(script, functions[name]))
    return ScriptedSession(script, cast("T", face))


class _Face:
    """What the code under test holds: an instance of the spec to ``isinstance``, with the scripted methods alone."""

    def __init__(self, spec: type) -> None:
        self._spec = spec

    @property  # type: ignore[misc] # it is what isinstance() asks, after the real class
    def __class__(self) -> type:
        return self._spec

    def __repr__(self) -> str:
        return f"<scripted {self._spec.__name__}>"


def public_methods(spec: type) -> dict[str, Callable[..., Any]]:
    """Return the public methods of a class, its bases' included, as functions that take ``self``."""
    attributes = ((name, inspect.getattr_static(spec, name)) for name in dir(spec) if not name.startswith("_"))
    return {name: attribute for name, attribute in attributes if inspect.isfunction(attribute)}


def scripted_method(script: SessionScript, function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a bound method that plays the script, sync or async as the spec's function is.

    Arguments that the spec's signature does not allow raise ``TypeError``, as they would on the real object.
    """
    name = function.__name__
    signature = inspect.signature(function)

    def answer(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        signature.bind(None, *args, **kwargs)
        return script.answer(name, args, kwargs)

    async def call_async(*args: Any, **kwargs: Any) -> Any:
        result = answer(args, kwargs)
        return await result if inspect.isawaitable(result) else result

    def call_sync(*args: Any, **kwargs: Any) -> Any:
        result = answer(args, kwargs)
        if inspect.iscoroutine(result):
            result.close()  # or Python warns that it was never awaited
            raise ScriptTypeError(f"the responder of {name} is async, but {name} is not: make it a plain def")
        return result

    method = call_async if inspect.iscoroutinefunction(function) else call_sync
    method.__name__ = method.__qualname__ = name
    method.__doc__ = function.__doc__
    return method
