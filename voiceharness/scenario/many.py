"""Makes many calls at once in one process, for agents that wait more than they work: a socket, an ASGI application."""

from __future__ import annotations

import asyncio
import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from voiceharness.clock import LoopClock
from voiceharness.errors import OptionError
from voiceharness.scenario.run import run_call
from voiceharness.scenario.slots import Slot, Slots

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from voiceharness.adapter import VoiceAgentAdapter
    from voiceharness.scenario.result import CallResult
    from voiceharness.scenario.run import SpeechEngines
    from voiceharness.scenario.scenario import Scenario

__all__ = ["run_calls"]

NEVER: Final = 1_000_000


async def run_calls(
    calls: Iterable[tuple[Scenario, VoiceAgentAdapter]],
    *,
    apart: float = 0.02,
    speech: SpeechEngines | None = None,
    keep: Callable[[CallResult], None] = lambda _result: None,
) -> list[CallResult]:
    """Run many scenarios at once on the running event loop, a call for each, and return their results in that order.

    They dial ``apart`` seconds after one another, and their frames are spread over the time of a frame. The user's
    audio is made before the first one dials, and all are judged when the last one is over, so that neither holds up a
    call. A call that was held up all the same says so (``result.trust``). ``keep`` is given each result.

    Raises:
        OptionError: if ``apart`` is negative.
    """
    if apart < 0:
        raise OptionError(f"apart is a duration in seconds, not {apart}")
    pairs = list(calls)
    slots = Slots(len(pairs), LoopClock(), apart)

    async def one(index: int, scenario: Scenario, adapter: VoiceAgentAdapter) -> CallResult:
        slot = Slot(slots, index)
        try:
            return await run_call(scenario, adapter, speech=speech, keep=keep, slot=slot)
        finally:
            slot.leave()

    with _no_full_collections():
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(index, *pair), name=f"call {index}") for index, pair in enumerate(pairs)]
    return [task.result() for task in tasks]


@contextmanager
def _no_full_collections() -> Iterator[None]:
    """Put off garbage collections of everything: to walk over what hundreds of calls keep takes frames."""
    young, middle, old = gc.get_threshold()
    gc.set_threshold(young, middle, NEVER)
    try:
        yield
    finally:
        gc.set_threshold(young, middle, old)
