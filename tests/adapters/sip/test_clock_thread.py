"""Which port of a tick is the last to be given what it heard."""

from __future__ import annotations

import threading

import pytest

from voiceharness_adapters.sip.pjsua2_worker.clock_thread import ClockThread

__all__: list[str] = []


@pytest.mark.parametrize("ports", [1, 2, 4])
def test_others_follow_until_the_last_port_that_was_asked(ports: int) -> None:
    clock = ClockThread()
    for _ in range(3):
        for _ in range(ports):
            clock.ask()
        assert [clock.give() for _ in range(ports)] == [True] * (ports - 1) + [False]


def test_a_port_that_was_not_asked_keeps_nobody_waiting() -> None:
    """A call on hold: the bridge asks only ports to which somebody listens."""
    clock = ClockThread()
    assert not clock.give()
    clock.ask()
    assert [clock.give(), clock.give()] == [False, False]


def test_a_port_that_was_asked_but_given_nothing_is_forgotten_with_the_next_tick() -> None:
    clock = ClockThread()
    clock.ask()
    clock.ask()
    assert clock.give()
    clock.ask()
    assert not clock.give()


def test_a_thread_that_keeps_its_state_ends_as_any_other() -> None:
    clock = ClockThread()

    def callbacks() -> None:
        for _ in range(3):
            clock.keep_state()

    thread = threading.Thread(target=callbacks)
    thread.start()
    thread.join(10)
    assert not thread.is_alive()
