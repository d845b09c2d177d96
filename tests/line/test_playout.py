"""Where agent audio lands."""

from __future__ import annotations

import numpy as np
import pytest

from voiceharness.audio.chunk import AudioChunk
from voiceharness.line.playout import LivePlayout, QueuedPlayout


def chunk(samples: int, *, value: int = 1000, position: int | None = None) -> AudioChunk:
    return AudioChunk.from_samples(np.full(samples, value, np.int16), position=position)


def queued(prebuffer: int = 0) -> QueuedPlayout:
    return QueuedPlayout(capacity=10, prebuffer=prebuffer)


def test_a_chunk_starts_at_its_arrival_when_the_queue_is_empty_and_at_its_end_otherwise() -> None:
    playout = queued()
    assert playout.arrive(chunk(800), at=100).start == 100
    assert playout.arrive(chunk(800), at=110).start == 900
    assert playout.arrive(chunk(800), at=5000).start == 5000
    assert playout.end == 5800


def test_a_prebuffer_delays_only_what_finds_the_queue_empty() -> None:
    playout = queued(prebuffer=80)
    assert [playout.arrive(chunk(100), at=at).start for at in (0, 10, 500)] == [80, 180, 580]


def test_a_flush_removes_what_lies_beyond_it_and_says_how_much() -> None:
    playout = queued()
    playout.arrive(chunk(1000), at=0)
    playout.arrive(chunk(1000), at=0)
    before, after = playout.add_mark("a", at=0), playout.add_mark("b", at=2500)
    flushed = playout.flush(1500)
    assert (flushed.at, flushed.removed) == (1500, 500)
    assert [mark.name for mark in flushed.marks] == ["a", "b"]
    assert [piece.heard for piece in playout.arrivals()] == [1000, 500]
    assert not playout.track.view(1500, 2000).any()
    assert not playout.reach(before)
    assert not playout.reach(after)


@pytest.mark.parametrize("at", [2000, 2500])
def test_a_flush_of_an_empty_queue_removes_nothing(at: int) -> None:
    playout = queued()
    playout.arrive(chunk(2000), at=0)
    mark = playout.add_mark("end", at=0)
    assert playout.flush(at).removed == 0
    assert playout.reach(mark)


def test_two_marks_of_one_name_and_place_are_two_marks() -> None:
    playout = queued()
    first, second = playout.add_mark("m", at=5), playout.add_mark("m", at=5)
    assert playout.reach(first)
    assert not playout.reach(first)
    assert playout.reach(second)


def test_live_audio_lies_at_its_own_position_and_is_never_flushed() -> None:
    playout = LivePlayout(capacity=10)
    playout.arrive(chunk(160, position=320), at=400)
    flushed = playout.flush(330)
    assert flushed.removed == 0
    assert playout.track.view(320, 480).all()
    assert not playout.track.view(0, 320).any()


def test_live_audio_that_comes_late_or_twice_replaces_nothing() -> None:
    playout = LivePlayout(capacity=10)
    playout.arrive(chunk(160, value=1, position=0), at=0)
    twice = playout.arrive(chunk(160, value=2, position=0), at=10)
    overlapping = playout.arrive(chunk(160, value=3, position=80), at=20)
    assert (twice.heard, overlapping.heard) == (0, 80)
    assert playout.track.view(0, 240).tolist() == [1] * 160 + [3] * 80
