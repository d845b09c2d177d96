"""Who hears an event: delivery in the order of registration, at once, within ``emit``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from voiceharness.scripted.errors import ScriptTypeError

if TYPE_CHECKING:
    from voiceharness.scripted.inbound import EventLike
    from voiceharness.scripted.signatures import Subscribe

__all__ = ["Listener", "Listeners", "Listening", "event_name"]

Listener = Callable[[Any], object]


class _Registration:
    __slots__ = ("listener", "once", "spent")

    def __init__(self, listener: Listener, once: bool) -> None:
        self.listener = listener
        self.once = once
        self.spent = False  # a once-listener that ran; an emission within an emission must not run it again


class Listeners:
    """Listeners by the name of their event.

    An event goes to those registered when its emission starts: one added meanwhile misses it, one removed meanwhile
    still gets it. What a listener raises leaves ``emit`` at once, and later listeners miss the event.
    """

    def __init__(self) -> None:
        self._registered: dict[str, list[_Registration]] = {}

    def add(self, event: str, listener: Listener, *, once: bool = False) -> None:
        """Register a listener; registering it twice makes it hear twice."""
        self._registered.setdefault(event, []).append(_Registration(listener, once))

    def remove(self, event: str, listener: Listener) -> None:
        """Remove the newest registration of this listener, if there is one."""
        registered = self._registered.get(event, [])
        for position in range(len(registered) - 1, -1, -1):
            if registered[position].listener == listener:
                del registered[position]
                return

    def emit(self, event: EventLike) -> bool:
        """Deliver an event; say whether anybody was registered for it."""
        registered = self._registered.get(event.type)
        if not registered:
            return False
        for registration in tuple(registered):
            if registration.spent:
                continue
            if registration.once:
                registration.spent = True  # before it runs, so that it does not come back even if it raises
                if registration in registered:
                    registered.remove(registration)
            registration.listener(event)
        return True


class Listening(ABC):
    """The typed face of listeners."""

    @property
    def on(self) -> Subscribe[Self]:
        """Register a listener: ``on("audio", listener)`` or ``on(AudioEvent, listener)``; chainable."""
        return self._on

    @property
    def once(self) -> Subscribe[Self]:
        """Register a listener for one event; it is removed before it runs."""
        return self._once

    @property
    def off(self) -> Subscribe[Self]:
        """Remove the newest registration of a listener, if there is one."""
        return self._off

    @abstractmethod
    def _on(self, event: object, listener: Listener, /) -> Self: ...

    @abstractmethod
    def _once(self, event: object, listener: Listener, /) -> Self: ...

    @abstractmethod
    def _off(self, event: object, listener: Listener, /) -> Self: ...


def event_name(event: object) -> str:
    """Return the name of an event, given as a name or as an event class.

    Raises:
        ScriptTypeError: if it is neither.
    """
    name = event if isinstance(event, str) else getattr(event, "type", None)
    if not isinstance(name, str):
        raise ScriptTypeError(f"{event!r} is neither the name of an event nor an event class with a fixed type")
    return name
