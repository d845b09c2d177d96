"""Events that also go to something that awaits: order, waiting, failures."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from voiceharness.clock import LoopClock, run_virtual
from voiceharness.scripted.forwarding import ForwardingTransport
from voiceharness.scripted.inbound import CustomEvent, EventLike

__all__: list[str] = []


class Far:
    """The far end of the forwarding: takes a second for each event, and may fail on one."""

    def __init__(self, failing: dict[str, BaseException] | None = None) -> None:
        self.taken: list[str] = []
        self.transport = ForwardingTransport(self.take)
        self._failing = failing or {}

    async def take(self, event: EventLike) -> None:
        await LoopClock().sleep(1)
        if event.type in self._failing:
            raise self._failing[event.type]
        self.taken.append(event.type)

    def emit(self, name: str) -> Any:
        return self.transport.emit(CustomEvent(type=name))


def test_events_are_forwarded_one_after_another_and_emit_can_wait() -> None:
    async def play() -> float:
        far = Far()
        far.emit("a")
        assert await far.emit("b") is False
        assert far.taken == ["a", "b"]
        await far.transport.forwarded()
        return asyncio.get_running_loop().time()

    assert run_virtual(play()) == 2


def test_the_transports_own_listeners_hear_at_once() -> None:
    async def play() -> None:
        far, heard = Far(), list[str]()
        far.transport.on("a", lambda event: heard.append(event.type))
        emitted = far.emit("a")
        assert heard == ["a"]
        assert far.taken == []
        assert bool(emitted) is await emitted is True

    run_virtual(play())


def test_what_is_emitted_before_there_is_a_loop_goes_out_with_the_first_that_finds_one() -> None:
    far = Far()
    far.emit("early")

    async def play() -> None:
        await far.emit("late")

    run_virtual(play())
    assert far.taken == ["early", "late"]


def test_a_failure_comes_out_where_it_is_awaited_and_later_events_go_on() -> None:
    far = Far({"bad": ValueError("bad")})

    async def play() -> None:
        bad = far.emit("bad")
        with pytest.raises(ValueError, match="bad"):
            await bad
        with pytest.raises(ValueError, match="bad"):
            await bad
        await far.emit("good")

    run_virtual(play())
    assert far.taken == ["good"]


def test_a_failure_nobody_awaits_fails_the_running_scenario() -> None:
    far = Far({"bad": ValueError("bad")})

    def scenario(_far: object) -> None:
        far.emit("bad")

    async def play() -> None:
        await far.transport.run_scenario(scenario=scenario, exercise=lambda: asyncio.Event().wait(), timeout=60)

    with pytest.raises(ValueError, match="bad"):
        run_virtual(play())


def test_whoever_takes_an_event_may_await_an_emit() -> None:
    order: list[str] = []

    async def take(event: EventLike) -> None:
        order.append(event.type)
        if event.type == "a":
            await transport.emit(CustomEvent(type="b"))
            order.append("a is done")

    transport = ForwardingTransport(take)

    async def play() -> None:
        await transport.emit(CustomEvent(type="a"))
        await transport.forwarded()

    run_virtual(play())
    assert order == ["a", "a is done", "b"]
