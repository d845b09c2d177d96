"""Copies of recorded data, so that no two parties share anything that can change.

A snapshot is taken when a call is recorded, and again for each hand-out (to a matcher, a resolved expectation, a reader
of ``calls``). Plain data is copied deeply: lists, dicts, tuples, sets, deques, byte arrays, memory views (as bytes),
arrays, numpy arrays, and instances of the types the policy knows. Cycles and shared references keep their shape within
one snapshot. Everything else keeps its identity: functions, class instances, exceptions. Dataclasses in general are
*not* copied, for tools and handoffs of an agent are dataclasses whose identity matters.
"""

from __future__ import annotations

import array
import copy
import dataclasses
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

__all__ = ["Copier", "SnapshotData", "SnapshotPolicy"]

T = TypeVar("T")

Copier = Callable[[Any, Callable[[Any], Any]], Any]
"""Copies one value; the second argument copies what is inside it."""

_ATOMS = frozenset({type(None), bool, int, float, complex, str, bytes})


class SnapshotData:
    """Base of dataclasses whose instances are copied field by field in every snapshot."""

    __slots__ = ()


class _Copying:
    """One snapshot under way: the copies made so far, by the identity of their originals."""

    __slots__ = ("_memo", "_types")

    def __init__(self, types: tuple[tuple[type, Copier], ...]) -> None:
        self._types = types
        self._memo: dict[int, Any] = {}

    def __call__(self, value: Any) -> Any:
        kind = type(value)
        if kind in _ATOMS:
            return value
        key = id(value)
        if key in self._memo:
            return self._memo[key]
        done = self._copy(value, kind)
        return self._memo.setdefault(key, done)

    def _copy(self, value: Any, kind: type) -> Any:
        # Subclasses of the built-in containers are class instances, so the type must be the very one.
        if kind is list:
            return self._fill(value, [])
        if kind is deque:
            return self._fill(value, deque(maxlen=value.maxlen))
        if kind is dict:
            return self._dict(value)
        if kind is tuple or kind is frozenset:
            # A cycle through an immutable container has made its copy by the time the items are done.
            items = [self(item) for item in value]
            return self._memo.get(id(value)) or kind(items)
        if kind is set:
            return set(map(self, value))
        if kind is bytearray or kind is array.array:
            return value[:]
        if kind is memoryview:
            return value.tobytes()
        return self._instance(value, kind)

    def _fill(self, value: Any, fresh: Any) -> Any:
        self._memo[id(value)] = fresh
        fresh.extend(self(item) for item in value)
        return fresh

    def _dict(self, value: dict[Any, Any]) -> dict[Any, Any]:
        fresh: dict[Any, Any] = {}
        self._memo[id(value)] = fresh
        for key, item in value.items():
            fresh[key] = self(item)
        return fresh

    def _instance(self, value: Any, kind: type) -> Any:
        if isinstance(value, SnapshotData):
            return self._fields(value, kind)
        for known, copier in self._types:
            if isinstance(value, known):
                return self._fields(value, kind) if copier is _by_fields else copier(value, self)
        # By name, for the core must not load numpy only to find out that there is no array.
        if kind.__name__ == "ndarray" and kind.__module__ == "numpy":
            return value.copy()
        return value

    def _fields(self, value: Any, kind: type) -> Any:
        fresh: Any = object.__new__(kind)
        self._memo[id(value)] = fresh
        for field in dataclasses.fields(value):
            # Frozen dataclasses refuse plain assignment.
            object.__setattr__(fresh, field.name, self(getattr(value, field.name)))
        return fresh


def _by_fields(value: Any, _copy: Callable[[Any], Any]) -> Any:
    """Mark a type as copied field by field; ``_Copying`` does it, for a cycle needs the copy before its fields."""
    return value


def _by_model_copy(value: Any, _copy: Callable[[Any], Any]) -> Any:
    return value.model_copy(deep=True)


def _by_deepcopy(value: Any, _copy: Callable[[Any], Any]) -> Any:
    return copy.deepcopy(value)


@dataclass(frozen=True, slots=True)
class SnapshotPolicy:
    """Which class instances a snapshot copies, besides plain data. A value: extending it makes another one."""

    types: tuple[tuple[type, Copier], ...] = ()

    def register_snapshot_type(self, *kinds: type, copier: Copier | None = None) -> SnapshotPolicy:
        """Return a policy that also copies instances of these types and their subclasses.

        Without a ``copier``, dataclasses are copied field by field, pydantic models by ``model_copy(deep=True)``, and
        anything else by ``copy.deepcopy``.
        """
        added = tuple((kind, copier or _copier_for(kind)) for kind in kinds)
        return SnapshotPolicy(added + self.types)

    def copy(self, value: T) -> T:
        """Take a snapshot of ``value``."""
        return cast("T", _Copying(self.types)(value))


def _copier_for(kind: type) -> Copier:
    if dataclasses.is_dataclass(kind):
        return _by_fields
    return _by_model_copy if hasattr(kind, "model_copy") else _by_deepcopy
