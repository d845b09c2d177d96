"""Trouble on the way of the next call: it is dropped, arrives late, or hangs."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass
from typing import Literal, TypeAlias

from voiceharness.scripted.errors import PendingFailure, ScriptValueError

__all__ = ["Hindrance", "Hindrances"]

Kind: TypeAlias = Literal["drop", "delay", "hang"]


@dataclass(frozen=True, slots=True)
class Hindrance:
    """What happens to one call; ``delay`` in seconds."""

    kind: Kind
    delay: float = 0.0

    def __str__(self) -> str:
        return {"drop": "dropped", "delay": f"delayed by {self.delay:g} s", "hang": "hangs"}[self.kind]


class Hindrances:
    """Hindrances waiting for their call, first in, first out, per method."""

    def __init__(self) -> None:
        self._waiting: defaultdict[str, deque[Hindrance]] = defaultdict(deque)

    def add(self, method: str, hindrance: Hindrance) -> None:
        """Let the next unhindered call of ``method`` run into this.

        Raises:
            ScriptValueError: if a call of that method cannot: only connect is awaited, so only it can hang, and a
                connect cannot be dropped.
        """
        if hindrance.delay < 0:
            raise ScriptValueError(f"a delay of {hindrance.delay:g} s: give a number of seconds, not below 0")
        if hindrance.kind == "hang" and method != "connect":
            raise ScriptValueError(f"{method} returns at once, so it cannot hang; drop it, or delay it")
        if hindrance.kind == "drop" and method == "connect":
            raise ScriptValueError("a connect cannot be dropped; let it hang, or fail")
        self._waiting[method].append(hindrance)

    def take(self, method: str) -> Hindrance | None:
        """Take the oldest hindrance of this method, if there is one."""
        waiting = self._waiting.get(method)
        return waiting.popleft() if waiting else None

    @property
    def unused(self) -> tuple[PendingFailure, ...]:
        """How many hindrances no call ran into, per method."""
        return tuple(PendingFailure(method, len(waiting)) for method, waiting in self._waiting.items() if waiting)

    def clear(self) -> None:
        """Forget all hindrances."""
        self._waiting.clear()
