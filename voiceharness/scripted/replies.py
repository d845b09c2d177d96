"""Standing answers of a scripted transport: one-sided tests need no scenario that waits for each call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from voiceharness.scripted.calls import RealtimeCall
from voiceharness.scripted.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Self

    from voiceharness.scripted.inbound import EventLike
    from voiceharness.scripted.matching import Pattern

__all__ = ["ReplyRule"]

C = TypeVar("C", bound=RealtimeCall)


class ReplyRule(Rule, Generic[C]):
    """A rule that answers calls with events: ``transport.when("send_message").emit(...)``."""

    def __init__(self, pattern: Pattern, emit: Callable[[EventLike], object]) -> None:
        super().__init__(pattern)
        self._emit = emit

    def emit(self, *events: EventLike) -> Self:
        """Answer with these events, each time, before the method returns."""
        return self.respond(lambda _: events)

    def respond(self, respond: Callable[[C], Iterable[EventLike]]) -> Self:
        """Answer with the events that ``respond`` makes of the call."""

        def answer(call: Any) -> None:
            for event in respond(call):
                self._emit(event)

        self.run(answer)
        return self
