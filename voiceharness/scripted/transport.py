"""A scripted realtime transport: both of its sides are played by the test.

Theory of operation
-------------------
The code under test calls the transport's methods and listens to its events. The test scripts the other side: it
expects those calls (``expect_call``), lets them fail (``fail_next_call``), and sends events (``emit``, ``disconnect``).
Matching is the kernel's (``CallScript``). No send needs a connection: on a closed transport it is recorded and matched
like any other.

The connection's status is ``connection.Connection``'s, a run of both sides is ``run.ScenarioRun``'s.

The transport belongs to the thread that first uses it; ``threadsafe()`` gives others a way in.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack, overload

from voiceharness.clock import NS, LoopClock
from voiceharness.scripted.calls import (
    CALL_TYPES,
    CloseCall,
    ConnectCall,
    MuteCall,
    RealtimeCall,
    SendAudioCall,
)
from voiceharness.scripted.connection import Connection
from voiceharness.scripted.errors import (
    ForeignThreadError,
    IncompleteRealtimeScenarioError,
    RealtimeCallMatcherError,
    RealtimeTransportNotClosedError,
    UnexpectedRealtimeCallError,
)
from voiceharness.scripted.expecting import Expecting, pattern_of
from voiceharness.scripted.hindrances import Hindrance
from voiceharness.scripted.inbound import ConnectionChangeEvent, ErrorEvent
from voiceharness.scripted.kernel import CallLog, CallScript, ScriptErrors
from voiceharness.scripted.listeners import Listener, Listeners, Listening, event_name
from voiceharness.scripted.outbound import OutboundMethods, connect_payload
from voiceharness.scripted.protocol import RealtimeTransport
from voiceharness.scripted.replies import ReplyRule
from voiceharness.scripted.run import ScenarioContext, ScenarioRun
from voiceharness.scripted.threadsafe import ThreadsafeTransport
from voiceharness.scripted.timeline import Timeline, TimelineEntry

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Generator

    from voiceharness.scripted.calls import Method
    from voiceharness.scripted.errors import Leftovers
    from voiceharness.scripted.inbound import ConnectionStatus, EventLike
    from voiceharness.scripted.kernel import Reply
    from voiceharness.scripted.matching import Matcher
    from voiceharness.scripted.protocol import ConnectOptions, TransportStatus
    from voiceharness.scripted.snapshot import SnapshotPolicy

__all__ = ["Emitted", "RealtimeTransport", "ScriptedRealtimeTransport"]

C = TypeVar("C", bound=RealtimeCall)
R = TypeVar("R")

METHODS = frozenset(kind.method for kind in CALL_TYPES)
ERRORS = ScriptErrors(UnexpectedRealtimeCallError, RealtimeCallMatcherError, IncompleteRealtimeScenarioError)


class Emitted:
    """The answer of ``emit``: true if anybody listened. Awaiting it gives the same, without waiting."""

    __slots__ = ("_heard",)

    def __init__(self, heard: bool) -> None:
        self._heard = heard

    def __bool__(self) -> bool:
        return self._heard

    def __await__(self) -> Generator[Any, None, bool]:
        yield from ()
        return self._heard


class ScriptedRealtimeTransport(OutboundMethods, Expecting, Listening):
    """An in-memory ``RealtimeTransport`` whose far side is scripted.

    ``ambient`` methods (``{"send_audio"}`` for a phone call) are recorded, but have no place in the order; ``lanes``
    are methods with an order of their own each. ``snapshots`` says which class instances are copied when a call is
    recorded. ``scenario_timeout`` (seconds) is the default of ``run_scenario``.
    """

    def __init__(
        self,
        *,
        ambient: Collection[Method] = (),
        lanes: Collection[Method] = (),
        snapshots: SnapshotPolicy | None = None,
        scenario_timeout: float | None = None,
    ) -> None:
        log = CallLog[RealtimeCall](snapshots=snapshots, now=loop_time)
        super().__init__(CallScript(log, methods=METHODS, errors=ERRORS, ambient=ambient, lanes=lanes))
        self._listeners = Listeners()
        self.muted = False
        self._scenario_timeout = scenario_timeout
        self._connection = Connection(self._announce)
        self._seen: list[tuple[int, TimelineEntry]] = []  # with the number of calls made before
        self._thread: int | None = None

    # What happened

    @property
    def status(self) -> TransportStatus:
        """The state of the connection."""
        return self._connection.status

    @property
    def calls(self) -> tuple[RealtimeCall, ...]:
        """Every call so far, in order, as fresh snapshots."""
        return self._script.log.calls

    @property
    def leftovers(self) -> Leftovers:
        """What keeps the transport from being complete."""
        return self._script.leftovers

    @property
    def timeline(self) -> Timeline:
        """Calls and events in order, with times; ``str()`` of it is text."""
        return Timeline.merge(self._script.log.stored, self._seen)

    def calls_of(self, kind: type[C]) -> tuple[C, ...]:
        """Return the calls of one class."""
        stored = (call for call in self._script.log.stored if isinstance(call, kind))
        return tuple(map(self._script.log.snapshots.copy, stored))

    def audio_sent(self) -> bytes:
        """Return all user audio sent so far, joined."""
        return b"".join(call.audio for call in self._script.log.stored if isinstance(call, SendAudioCall))

    def assert_complete(self) -> None:
        """Check that every call was expected, every expectation met and every injected failure used.

        Raises:
            IncompleteRealtimeScenarioError: if not.
            BaseException: what an expectation failed with that nobody observed.
        """
        self._script.assert_complete()

    def assert_closed(self) -> None:
        """Check that the transport is disconnected.

        Raises:
            RealtimeTransportNotClosedError: if not; disconnecting does not count.
        """
        if self.status != "disconnected":
            raise RealtimeTransportNotClosedError(status=self.status)

    def _on(self, event: object, listener: Listener, /) -> Self:
        self._listeners.add(event_name(event), listener)
        return self

    def _once(self, event: object, listener: Listener, /) -> Self:
        self._listeners.add(event_name(event), listener, once=True)
        return self

    def _off(self, event: object, listener: Listener, /) -> Self:
        self._listeners.remove(event_name(event), listener)
        return self

    def emit(self, event: EventLike) -> Emitted:
        """Deliver an event to its listeners, now; what a listener raises comes out here."""
        self._check_thread()
        data = getattr(event, "data", None)
        size = len(data) if isinstance(data, bytes) else None
        self._seen.append((len(self._script.log), TimelineEntry(loop_time(), "in", event.type, size)))
        return Emitted(self._listeners.emit(event))

    # Scripting the far side

    def fail_next_call(self, method: Method, error: BaseException) -> None:
        """Let the next call of ``method`` raise ``error``, once it was recorded and matched."""
        self._script.fail_next(method, error)

    @overload
    def when(self, method: type[C], matcher: Callable[[C], object] | None = None) -> ReplyRule[C]: ...

    @overload
    def when(self, method: Method, matcher: Callable[[Any], object] | None = None) -> ReplyRule[Any]: ...

    def when(self, method: object, matcher: Matcher[Any] | None = None) -> ReplyRule[Any]:
        """Answer every call that fits: ``when("send_message").emit(...)``, ``.respond(...)`` or ``.fail(...)``.

        An answered call needs no expectation. A pending one takes the call all the same, before the answer is given.
        """
        rule = ReplyRule[Any](pattern_of(method, matcher), self.emit)
        self._script.add_rule(rule)
        return rule

    def drop_next_call(self, method: Method) -> None:
        """Let the next call get lost: it is recorded, but nothing on the far side sees it."""
        self._script.hinder_next(method, Hindrance("drop"))

    def delay_next_call(self, method: Method, seconds: float) -> None:
        """Let the next call take its time: it is recorded now, and meets the script ``seconds`` later.

        A connect waits as long. What goes wrong with a late call fails the expectation, not the caller.
        """
        self._script.hinder_next(method, Hindrance("delay", seconds))

    def hang_next_connect(self) -> None:
        """Let the next connect wait until it is cancelled, or overtaken by ``close`` or ``disconnect``."""
        self._script.hinder_next("connect", Hindrance("hang"))

    def threadsafe(self) -> ThreadsafeTransport:
        """Return a facade for other threads; call this on the loop the transport is used on."""
        return ThreadsafeTransport(self, asyncio.get_running_loop())

    def disconnect_after_audio(self, frames: int, error: BaseException | None = None) -> None:
        """Lose the connection when ``frames`` more calls of ``send_audio`` were made."""
        self.when("send_audio").every(frames).times(1).watch(lambda _: self.disconnect(error))

    def disconnect(self, error: BaseException | None = None) -> None:
        """Lose the connection from the far side, with an ``error`` event if there is an error; no call is recorded.

        Listeners hear of both, even if one raises; the first failure is raised.
        """
        self._check_thread()
        try:
            self._connection.drop()
        except BaseException:
            with suppress(BaseException):  # the first failure is the one to report
                self._report(error)
            raise
        self._report(error)

    def _report(self, error: BaseException | None) -> None:
        if error is not None:
            self.emit(ErrorEvent(error=error))

    @overload
    async def run_scenario(
        self,
        *,
        scenario: Callable[[ScenarioContext], object],
        exercise: Callable[[], Awaitable[R]],
        timeout: float | None = None,
        cancel: asyncio.Event | None = None,
    ) -> R: ...

    @overload
    async def run_scenario(
        self,
        *,
        scenario: Callable[[ScenarioContext], object],
        exercise: Callable[[], R],
        timeout: float | None = None,
        cancel: asyncio.Event | None = None,
    ) -> R: ...

    async def run_scenario(
        self,
        *,
        scenario: Callable[[ScenarioContext], object],
        exercise: Callable[[], Any],
        timeout: float | None = None,
        cancel: asyncio.Event | None = None,
    ) -> Any:
        """Run the scripted side and the code under test together; return what the exercise returned.

        The first failure on either side ends both and is raised as it is. There is no limit in time unless
        ``timeout`` (seconds) is given; ``cancel`` ends the run when it is set. See ``run`` for all the rules.
        """
        self._check_thread()
        run = ScenarioRun(self._script, timeout=self._scenario_timeout if timeout is None else timeout, cancel=cancel)
        return await run.play(scenario, exercise, emit=self.emit)

    # The transport's own methods

    async def connect(self, **options: Unpack[ConnectOptions]) -> None:
        """Connect; waits only if the script says so. Keys, headers and secrets in the URL are not recorded."""
        hindrance = self._script.hindrances.take("connect")
        with closing(self._connecting(options)) as steps:
            for _ in steps:
                if hindrance is not None:
                    await self._hold(hindrance)

    def connect_nowait(self, **options: Unpack[ConnectOptions]) -> None:
        """Connect within this call; a delay or a hang that the script holds ready stays for ``connect``."""
        for _ in self._connecting(options):
            pass

    def _connecting(self, options: ConnectOptions) -> Generator[None, None, None]:
        self._check_thread()
        replies = yield from self._connection.open(lambda: self._record(ConnectCall, **connect_payload(options)))
        for reply in replies:
            reply()

    async def _hold(self, hindrance: Hindrance) -> None:
        if hindrance.kind == "hang":
            await self._connection.overtaken()
        else:
            await LoopClock().sleep(hindrance.delay)

    def close(self) -> None:
        """Close the connection; a transport that is disconnected records nothing."""
        self._check_thread()
        for reply in self._connection.close(lambda: self._record(CloseCall)) or ():
            reply()

    def _send(self, kind: type[RealtimeCall], **payload: Any) -> None:
        self._check_thread()
        hindrance = self._script.hindrances.take(kind.method)
        replies = self._record(kind, **payload) if hindrance is None else self._hindered(hindrance, kind, payload)
        if kind is MuteCall:
            self.muted = payload["muted"]
        for reply in replies:
            reply()

    def _record(self, kind: type[RealtimeCall], **payload: Any) -> list[Reply]:
        return self._script.record(kind, method=kind.method, **payload)

    def _hindered(self, hindrance: Hindrance, kind: type[RealtimeCall], payload: dict[str, Any]) -> list[Reply]:
        call = self._script.log.record(kind, **payload)
        self._note(f"call {call.index} ({kind.method}): {hindrance}")
        if hindrance.kind == "delay":
            clock = LoopClock()
            clock.call_at_ns(clock.now_ns() + round(hindrance.delay * NS), lambda: self._arrive(call))
        return []

    def _arrive(self, call: RealtimeCall) -> None:
        try:
            replies = self._script.deliver(call)
        except Exception as error:  # an expectation or the run holds it; whoever made the call is long gone
            self._note(f"call {call.index} ({call.method}) did not fit: {type(error).__name__}")
            return
        for reply in replies:
            reply()

    def _announce(self, status: ConnectionStatus) -> None:
        self.emit(ConnectionChangeEvent(status=status))

    def _note(self, text: str) -> None:
        self._seen.append((len(self._script.log), TimelineEntry(loop_time(), "note", text)))

    def _check_thread(self) -> None:
        current = threading.get_ident()
        if self._thread is None:
            self._thread = current
        elif current != self._thread:
            raise ForeignThreadError(
                f"thread {threading.current_thread().name!r} used a scripted transport of another thread; "
                "make a facade with threadsafe() there, and give this thread that"
            )


def loop_time() -> float | None:
    """Return the running loop's time in seconds; None where no loop runs."""
    try:
        return LoopClock().now_ns() / NS
    except RuntimeError:
        return None
