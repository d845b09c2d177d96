"""The worker's tick as a sample clock."""

from __future__ import annotations

from voiceharness_adapters.sip.ticks import Ticks

__all__: list[str] = []

TICKS = Ticks(first=100, frame=160, rate=8000, usual=280, delay=240)


def test_each_tick_sends_the_next_frame() -> None:
    assert [TICKS.sent_at(tick) for tick in (100, 101, 110)] == [0, 160, 1600]


def test_what_is_heard_was_on_the_wire_a_delay_before() -> None:
    """A packet that arrives as a tick's frame leaves begins where that frame ends."""
    assert TICKS.heard_at(110) == TICKS.sent_at(110) + 160 - 240


def test_the_present_is_the_end_of_what_has_been_heard_by_the_usual_delay() -> None:
    present = TICKS.heard_at(110) + 160 + (240 - 280)
    assert TICKS.due_ns(present, tick=110, at_ns=5_000) == 5_000
    assert TICKS.due_ns(present + 8, tick=110, at_ns=5_000) == 1_005_000


def test_an_event_on_the_wire_lands_where_sound_of_that_time_lands() -> None:
    tick_ns = 7_000_000_000
    on_wire = TICKS.sent_at(110) + 160
    assert TICKS.due_ns(on_wire, tick=110, at_ns=tick_ns) == TICKS.line_time(tick_ns)
