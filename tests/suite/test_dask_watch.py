"""How a worker that has frozen is told from one that is late; what is done then is tested on a real cluster."""

from __future__ import annotations

from voiceharness.suite.dask_watch import Pulse

__all__: list[str] = []


def test_a_heart_that_does_not_beat_for_so_many_looks_has_frozen() -> None:
    pulse = Pulse(looks=2)
    looks = [{"a": 1.0, "b": 1.0}, {"a": 2.0, "b": 1.0}, {"a": 3.0, "b": 1.0}, {"a": 4.0}]
    assert [pulse.look(beats) for beats in looks] == [[], [], ["b"], []]


def test_one_late_look_makes_nobody_frozen() -> None:
    pulse = Pulse(looks=2)
    pulse.look({"a": 1.0})
    assert pulse.look({"a": 1.0}) == []  # after whatever time: the scheduler was busy, or this machine asleep
    assert pulse.look({"a": 2.0}) == []
    assert pulse.look({"a": 2.0}) == []


def test_a_worker_that_came_back_begins_anew() -> None:
    pulse = Pulse(looks=1)
    pulse.look({"a": 1.0})
    assert pulse.look({}) == []
    assert pulse.look({"a": 1.0}) == []
    assert pulse.look({"a": 1.0}) == ["a"]
