"""Recording what a session reports, by itself: any object that gives events will do."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("agents")

from voiceharness.clock import run_virtual
from voiceharness.scripted.inbound import CustomEvent
from voiceharness.scripted.openai_agents.recorder import SessionEndedError, SessionRecorder

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

__all__: list[str] = []


class Session:
    """A session that gives what is put into it; an exception is raised, None ends it."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[Any] = asyncio.Queue()

    def give(self, *events: Any) -> None:
        for event in events:
            self.queue.put_nowait(event)

    async def __aiter__(self) -> AsyncIterator[Any]:
        while (event := await self.queue.get()) is not None:
            if isinstance(event, Exception):
                raise event
            yield event


def named(*names: str) -> list[CustomEvent]:
    return [CustomEvent(type=name, data=number) for number, name in enumerate(names)]


def test_an_event_that_came_already_is_found_and_a_later_one_is_awaited() -> None:
    async def play() -> None:
        session = Session()
        async with SessionRecorder(session) as recorder:
            session.give(*named("a", "b"))
            assert (await recorder.wait_for("b")).data == 1
            assert (await recorder.wait_for("a")).data == 0
            later = asyncio.ensure_future(recorder.wait_for("a", lambda event: event.data > 0))
            session.give(*named("c", "a"))
            assert (await later).data == 1
            assert [event.type for event in recorder.events] == ["a", "b", "c", "a"]
            assert len(recorder.of("a")) == 2

    run_virtual(play())


@pytest.mark.parametrize("ending", [None, ConnectionError("lost")], ids=["ended", "failed"])
def test_waiting_for_what_never_came_says_how_the_session_ended(ending: Exception | None) -> None:
    async def play() -> None:
        session = Session()
        async with SessionRecorder(session) as recorder:
            session.give(*named("a"), ending)
            with pytest.raises(SessionEndedError, match="after 1 events") as caught:
                await recorder.wait_for("b")
            assert caught.value.__cause__ is recorder.error is ending
            assert (await recorder.wait_for("a")).data == 0

    run_virtual(play())
