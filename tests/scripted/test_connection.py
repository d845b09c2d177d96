"""The status of a scripted connection: who owns it, who is told, and what a failure leaves behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pytest

from tests.scripted.running import virtually
from voiceharness.scripted.calls import ConnectCall
from voiceharness.scripted.errors import (
    RealtimeTransportNotClosedError,
    ScriptedRealtimeConnectionSupersededError,
)
from voiceharness.scripted.transport import ScriptedRealtimeTransport

if TYPE_CHECKING:
    from collections.abc import Callable

    from voiceharness.scripted.inbound import ConnectionChangeEvent, ErrorEvent

__all__: list[str] = []


class Watched:
    """A transport, and the statuses it told its listeners."""

    def __init__(self) -> None:
        self.transport = ScriptedRealtimeTransport()
        self.heard: list[str] = []
        self.transport.on("connection_change", lambda event: self.heard.append(event.status))

    def when(self, status: str, action: Callable[[], object]) -> None:
        def listen(event: ConnectionChangeEvent) -> None:
            if event.status == status:
                action()

        self.transport.on("connection_change", listen)

    def indexes(self, *methods: str) -> list[int]:
        return [call.index for call in self.transport.calls if call.method in methods]


@pytest.fixture
def watched() -> Watched:
    return Watched()


def failing(error: BaseException) -> Callable[[], object]:
    def fail() -> None:
        raise error

    return fail


def close_quietly(transport: ScriptedRealtimeTransport, error: BaseException) -> None:
    """Close, and catch the failure the close was told to raise."""
    with pytest.raises(type(error)) as caught:
        transport.close()
    assert caught.value is error


def test_connecting_walks_through_connecting_to_connected(watched: Watched) -> None:
    watched.transport.assert_closed()
    watched.when("connecting", lambda: watched.heard.append(f"({watched.transport.status})"))
    watched.transport.connect_nowait()
    assert watched.heard == ["connecting", "(connecting)", "connected"]
    assert watched.transport.status == "connected"


@virtually
async def test_connect_and_its_synchronous_twin_do_the_same() -> None:
    watched = Watched()
    await watched.transport.connect(model="voice-1")
    assert watched.heard == ["connecting", "connected"]
    assert [call.model for call in watched.transport.calls_of(ConnectCall)] == ["voice-1"]


def test_connecting_again_announces_no_disconnect_between(watched: Watched) -> None:
    watched.transport.connect_nowait()
    watched.transport.connect_nowait()
    assert watched.heard == ["connecting", "connected"] * 2


def test_an_injected_connect_failure_leaves_the_transport_closed(watched: Watched) -> None:
    """Item 19."""
    error = OSError("refused")
    watched.transport.fail_next_call("connect", error)
    expectation = watched.transport.expect_call("connect")
    with pytest.raises(OSError, match="refused") as caught:
        watched.transport.connect_nowait()
    assert caught.value is error
    assert expectation.result().method == "connect"
    assert watched.heard == ["disconnected"]
    watched.transport.assert_complete()
    watched.transport.assert_closed()


def test_a_connect_failure_is_reserved_for_the_outer_call(watched: Watched) -> None:
    """Item 20."""
    transport, error = watched.transport, OSError("refused")
    transport.fail_next_call("connect", error)
    transport.expect_call("connect", lambda _: transport.connect_nowait())
    inner = transport.expect_call("connect")
    with pytest.raises(OSError, match="refused") as caught:
        transport.connect_nowait()
    assert caught.value is error
    assert inner.result().index == 1
    assert transport.status == "connected"


def test_a_close_failure_is_reserved_for_the_outer_call(watched: Watched) -> None:
    """Item 21."""
    transport, error = watched.transport, OSError("stuck")
    transport.connect_nowait()
    transport.expect_call("connect")
    transport.fail_next_call("close", error)
    transport.expect_call("close", lambda _: transport.close())
    inner = transport.expect_call("close")
    close_quietly(transport, error)
    assert inner.result().index == 2
    assert transport.status == "disconnected"


@pytest.mark.parametrize("place", ["matcher", "notification"])
def test_a_failed_close_during_a_connect_supersedes_it(watched: Watched, place: str) -> None:
    """Item 22."""
    transport, error = watched.transport, OSError("stuck")
    transport.fail_next_call("close", error)
    if place == "matcher":
        transport.expect_call("connect", lambda _: close_quietly(transport, error))
    else:
        watched.when("connecting", lambda: close_quietly(transport, error))
    with pytest.raises(ScriptedRealtimeConnectionSupersededError) as caught:
        transport.connect_nowait()
    assert caught.value.operation == "connect"
    assert transport.status == "disconnected"
    assert watched.heard[-1] == "disconnected"


def test_a_failed_close_in_the_connected_notification_does_not_bring_the_connection_back(watched: Watched) -> None:
    transport, error = watched.transport, OSError("stuck")
    transport.fail_next_call("close", error)
    watched.when("connected", lambda: close_quietly(transport, error))
    with pytest.raises(ScriptedRealtimeConnectionSupersededError):
        transport.connect_nowait()
    assert watched.heard == ["connecting", "connected", "disconnected"]


@pytest.mark.parametrize("status", ["connecting", "connected"])
def test_an_uncaught_close_failure_in_a_notification_is_what_connect_raises(watched: Watched, status: str) -> None:
    """Item 24."""
    error = OSError("stuck")
    watched.transport.fail_next_call("close", error)
    watched.when(status, watched.transport.close)
    with pytest.raises(OSError, match="stuck") as caught:
        watched.transport.connect_nowait()
    assert caught.value is error
    assert watched.transport.status == "disconnected"


def test_a_failing_close_within_the_matcher_of_a_close_ends_it(watched: Watched) -> None:
    """Item 25."""
    transport, error = watched.transport, OSError("stuck")
    transport.connect_nowait()
    transport.expect_call("connect")

    def close_again(_: object) -> None:
        transport.fail_next_call("close", error)
        close_quietly(transport, error)

    outer, inner = transport.expect_call("close", close_again), transport.expect_call("close")
    transport.close()
    assert (outer.result().index, inner.result().index) == (1, 2)
    assert transport.status == "disconnected"


def test_a_failing_close_leaves_an_established_connection_open(watched: Watched) -> None:
    """Item 26."""
    transport, error = watched.transport, OSError("stuck")
    transport.connect_nowait()
    transport.fail_next_call("close", error)
    close_quietly(transport, error)
    assert transport.status == "connected"
    assert watched.indexes("close") == [1]
    transport.close()
    transport.assert_closed()


def test_a_raising_listener_fails_the_connect(watched: Watched) -> None:
    """Item 28."""
    error = ValueError("listener")
    watched.when("connecting", failing(error))
    with pytest.raises(ValueError, match="listener") as caught:
        watched.transport.connect_nowait()
    assert caught.value is error
    assert watched.transport.status == "disconnected"


def test_an_injected_failure_is_not_replaced_by_one_of_the_clean_up(watched: Watched) -> None:
    """Item 28."""
    error = OSError("refused")
    watched.transport.fail_next_call("connect", error)
    watched.when("disconnected", failing(ValueError("listener")))
    with pytest.raises(OSError, match="refused") as caught:
        watched.transport.connect_nowait()
    assert caught.value is error


def test_a_raising_listener_keeps_later_ones_from_that_event_only() -> None:
    """Item 29."""
    transport, later = ScriptedRealtimeTransport(), list[str]()

    def refuse(event: ConnectionChangeEvent) -> None:
        if event.status == "connecting":
            raise ValueError

    transport.on("connection_change", refuse).on("connection_change", lambda event: later.append(event.status))
    with pytest.raises(ValueError, match=r"^$"):
        transport.connect_nowait()
    assert later == ["disconnected"]


def test_a_once_listener_that_raised_is_gone() -> None:
    """Item 30."""
    transport = ScriptedRealtimeTransport()
    transport.once("connection_change", lambda _: failing(ValueError("once"))())
    with pytest.raises(ValueError, match="once"):
        transport.connect_nowait()
    transport.connect_nowait()
    assert transport.status == "connected"


def test_an_injected_connect_failure_comes_before_any_listener(watched: Watched) -> None:
    """Item 31."""
    error = OSError("refused")
    watched.when("connecting", failing(ValueError("listener")))
    watched.transport.fail_next_call("connect", error)
    expectation = watched.transport.expect_call("connect")
    with pytest.raises(OSError, match="refused"):
        watched.transport.connect_nowait()
    assert expectation.result().index == 0


@pytest.mark.parametrize("operation", ["close", "disconnect"])
@pytest.mark.parametrize("place", ["notification", "matcher"])
def test_ending_a_connection_while_it_is_made_supersedes_it(
    watched: Watched, operation: Literal["close", "disconnect"], place: str
) -> None:
    """Items 32 and 33."""
    transport = watched.transport
    end = getattr(transport, operation)
    if place == "matcher":
        transport.expect_call("connect", lambda _: end())
    else:
        transport.expect_call("connect")
        watched.when("connecting", end)
    if operation == "close":
        transport.expect_call("close")
    with pytest.raises(ScriptedRealtimeConnectionSupersededError):
        transport.connect_nowait()
    assert [call.method for call in transport.calls] == ["connect"] + ["close"] * (operation == "close")
    transport.assert_complete()
    transport.assert_closed()


def test_a_connect_within_a_connect_supersedes_the_outer_one(watched: Watched) -> None:
    def connect_once() -> None:
        if len(watched.transport.calls) == 1:
            watched.transport.connect_nowait()

    watched.when("connecting", connect_once)
    with pytest.raises(ScriptedRealtimeConnectionSupersededError):
        watched.transport.connect_nowait()
    assert watched.transport.status == "connected"


def test_the_far_side_disconnects_with_an_error(watched: Watched) -> None:
    """Item 34."""
    errors = list[Any]()
    watched.transport.on("error", lambda event: errors.append(event.error))
    error = OSError("gone")
    watched.transport.connect_nowait()
    watched.transport.disconnect(error)
    assert watched.heard == ["connecting", "connected", "disconnected"]
    assert errors == [error]
    watched.transport.assert_closed()


def test_a_second_close_is_not_recorded(watched: Watched) -> None:
    """Item 35."""
    watched.transport.connect_nowait()
    watched.transport.close()
    watched.transport.fail_next_call("close", OSError())
    watched.transport.close()
    assert watched.indexes("close") == [1]
    assert watched.heard == ["connecting", "connected", "disconnected"]


def test_a_raising_close_listener_surfaces_and_the_transport_stays_closed(watched: Watched) -> None:
    """Item 36."""
    watched.transport.connect_nowait()
    watched.when("disconnected", failing(ValueError("listener")))
    with pytest.raises(ValueError, match="listener"):
        watched.transport.close()
    assert watched.transport.status == "disconnected"


def test_a_reconnect_begun_in_the_matcher_of_close_survives(watched: Watched) -> None:
    """Item 37."""
    transport = watched.transport
    transport.connect_nowait()
    transport.expect_call("connect")
    transport.expect_call("close", lambda _: transport.connect_nowait())
    transport.expect_call("connect")
    transport.close()
    assert [call.method for call in transport.calls] == ["connect", "close", "connect"]
    assert transport.status == "connected"


def test_a_close_that_fails_after_its_matcher_disconnected_stays_closed(watched: Watched) -> None:
    """Item 38."""
    transport, error = watched.transport, OSError("stuck")
    transport.connect_nowait()
    transport.expect_call("connect")
    transport.expect_call("close", lambda _: transport.disconnect())
    transport.fail_next_call("close", error)
    close_quietly(transport, error)
    assert transport.status == "disconnected"


def test_the_error_is_still_told_after_a_status_listener_raised(watched: Watched) -> None:
    """Item 39."""
    heard = list[object]()
    watched.transport.connect_nowait()
    watched.when("disconnected", failing(ValueError("listener")))
    watched.transport.on("error", lambda event: heard.append(event.error))
    error = OSError("gone")
    with pytest.raises(ValueError, match="listener"):
        watched.transport.disconnect(error)
    assert heard == [error]


def test_the_first_failure_outranks_that_of_the_error_listener(watched: Watched) -> None:
    """Item 41."""
    heard, first = list[object](), ValueError("first")

    def listen(event: ErrorEvent) -> None:
        heard.append(event.error)
        raise RuntimeError("second")

    watched.transport.connect_nowait()
    watched.when("disconnected", failing(first))
    watched.transport.on("error", listen)
    with pytest.raises(ValueError, match="first") as caught:
        watched.transport.disconnect(OSError("gone"))
    assert caught.value is first
    assert len(heard) == 1


def test_an_error_listener_alone_may_raise(watched: Watched) -> None:
    watched.transport.on("error", lambda _: failing(RuntimeError("only"))())
    with pytest.raises(RuntimeError, match="only"):
        watched.transport.disconnect(OSError("gone"))


def test_a_disconnect_of_a_closed_transport_tells_nobody(watched: Watched) -> None:
    watched.transport.disconnect()
    assert watched.heard == []


def test_disconnecting_does_not_count_as_closed(watched: Watched) -> None:
    """Item 42."""
    transport, statuses = watched.transport, list[str]()
    transport.connect_nowait()
    with pytest.raises(RealtimeTransportNotClosedError, match="still connected"):
        transport.assert_closed()
    transport.expect_call("connect")

    def look(_: object) -> None:
        with pytest.raises(RealtimeTransportNotClosedError) as caught:
            transport.assert_closed()
        statuses.append(caught.value.status)

    transport.expect_call("close", look)
    transport.close()
    assert statuses == ["disconnecting"]
