"""The one-sided pieces of the script kernel: recorded calls, the log, the step queue, the failure queue.

The scripted model and the scripted session are a ``CallLog`` and a ``StepQueue``. ``kernel`` tells how the pieces work
together.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from voiceharness.scripted.errors import PendingFailure, ScriptTypeError
from voiceharness.scripted.snapshot import SnapshotData, SnapshotPolicy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["Call", "CallLog", "FailureQueue", "RecordedCall", "StepQueue"]


class Call(Protocol):
    """What the kernel needs to know of a recorded call."""

    @property
    def index(self) -> int:
        """Its place in ``calls``, from zero."""

    @property
    def method(self) -> str:
        """The name of the method that was called."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RecordedCall(SnapshotData):
    """Base of recorded calls. ``at`` is the loop's time in seconds, where a loop ran; it does not count in equality.

    The representation shows sizes, never contents: a payload may be audio, what somebody said, or a key.
    """

    index: int
    at: float | None = field(default=None, compare=False)

    _PLAIN: ClassVar[frozenset[str]] = frozenset({"index", "at", "method"})

    def __repr__(self) -> str:
        payload = [item.name for item in fields(self) if item.name not in RecordedCall._PLAIN]
        sizes = ", ".join(f"{name}={_size(getattr(self, name))}" for name in payload)
        method = getattr(self, "method", type(self).__name__)
        return f"<call {self.index} {method}({sizes})>"


def _size(value: object) -> str:
    """Say how big a value is without telling what it is; flags and numbers may be shown."""
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    if isinstance(value, (bytes, bytearray)):
        return f"{len(value)} bytes"
    if isinstance(value, str):
        return f"{len(value)} characters"
    if isinstance(value, (list, tuple, dict, set, frozenset)):
        return f"{len(value)} items"
    return type(value).__name__


C = TypeVar("C")
S = TypeVar("S")


def _no_time() -> float | None:
    return None


class CallLog(Generic[C]):
    """Every call ever recorded, in order.

    ``now`` gives the time stamped on a call; without one, calls carry none.
    """

    def __init__(
        self, *, snapshots: SnapshotPolicy | None = None, now: Callable[[], float | None] | None = None
    ) -> None:
        self.snapshots = snapshots or SnapshotPolicy()
        self._now = now or _no_time
        self._calls: list[C] = []

    def record(self, make: Callable[..., C], /, **payload: Any) -> C:
        """Store ``make(index=..., at=..., **copy of payload)`` and return it; hand out only copies of it.

        The payload is copied in one snapshot, so values it shares stay shared.
        """
        # Copied first: an accessor that runs user code could record a call of its own.
        detached = self.snapshots.copy(payload)
        call = make(index=len(self._calls), at=self._now(), **detached)
        self._calls.append(call)
        return call

    def copy(self, call: C) -> C:
        """Take a fresh snapshot of a recorded call."""
        return self.snapshots.copy(call)

    @property
    def calls(self) -> tuple[C, ...]:
        """Fresh snapshots of all calls."""
        return tuple(map(self.copy, self._calls))

    @property
    def stored(self) -> tuple[C, ...]:
        """The calls as they are stored, for reading only: cheap, and not to be handed out."""
        return tuple(self._calls)

    def __len__(self) -> int:
        return len(self._calls)


class StepQueue(Generic[S]):
    """Steps that calls take in order."""

    def __init__(self) -> None:
        self._steps: deque[S] = deque()

    def enqueue(self, inputs: Iterable[object], prepare: Callable[[int, object], S]) -> None:
        """Queue ``prepare(input_index, input)`` for each input: all of them, or none if one is refused."""
        self._steps.extend([prepare(index, given) for index, given in enumerate(inputs)])

    def take(self) -> S | None:
        """Remove and return the oldest step; None when there is none."""
        return self._steps.popleft() if self._steps else None

    @property
    def remaining(self) -> tuple[S, ...]:
        """The steps nobody took yet, oldest first."""
        return tuple(self._steps)

    def __len__(self) -> int:
        return len(self._steps)


class FailureQueue:
    """Injected failures, first in, first out, per method."""

    def __init__(self) -> None:
        self._failures: defaultdict[str, deque[BaseException]] = defaultdict(deque)

    def add(self, method: str, error: BaseException) -> None:
        """Let the next unclaimed call of ``method`` raise ``error``.

        Raises:
            ScriptTypeError: if it is not an exception instance.
        """
        if not isinstance(error, BaseException):
            raise ScriptTypeError(f"a failure to inject is an exception instance, not a {type(error).__name__}")
        self._failures[method].append(error)

    def reserve(self, method: str) -> BaseException | None:
        """Take the oldest failure of ``method``, if there is one."""
        waiting = self._failures.get(method)
        return waiting.popleft() if waiting else None

    @property
    def unused(self) -> tuple[PendingFailure, ...]:
        """How many failures are left, per method."""
        return tuple(PendingFailure(method, len(errors)) for method, errors in self._failures.items() if errors)

    def clear(self) -> None:
        """Forget all failures."""
        self._failures.clear()
