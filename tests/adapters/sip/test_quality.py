"""Quality of a call from its RTP statistics."""

from __future__ import annotations

import pytest

from voiceharness_adapters.sip.quality import RtpQuality, StreamTotals, mean_opinion, rating

__all__: list[str] = []


def test_a_clean_g711_call_is_as_good_as_a_telephone_gets() -> None:
    """G.107: the default R of 93.2 is a score of 4.41."""
    assert mean_opinion(rating(0, 0, codec="PCMU")) == pytest.approx(4.41, abs=0.005)


@pytest.mark.parametrize(("given", "expected"), [(-5.0, 1.0), (0.0, 1.0), (50.0, 2.58), (70.0, 3.60), (120.0, 4.5)])
def test_scores_follow_g107_annex_b(given: float, expected: float) -> None:
    assert mean_opinion(given) == pytest.approx(expected, abs=0.01)


def test_loss_and_delay_lower_the_score() -> None:
    scores = [
        mean_opinion(rating(delay, loss, codec="PCMA")) for delay, loss in ((20, 0), (20, 2), (20, 10), (400, 10))
    ]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 4


def test_a_call_without_media_has_no_score() -> None:
    assert RtpQuality.of({}, codec="") == RtpQuality(0, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0, 0.0, skew_ms=None)


def test_figures_are_taken_from_the_statistics() -> None:
    quality = RtpQuality.of({"received": 90, "lost": 10, "jitter_ms": 1.5, "buffer_empty": 3}, codec="PCMU")
    assert (quality.received, quality.lost, quality.jitter_ms, quality.ran_dry) == (90, 10, 1.5, 2)
    assert 3.0 < quality.opinion < 3.6


def test_the_skew_is_none_where_nobody_measures_it() -> None:
    assert RtpQuality.of({"received": 90}, codec="PCMU").skew_ms is None
    assert RtpQuality.of({"received": 90, "skew_ms": 140.04}, codec="PCMU").skew_ms == 140.0


def test_counts_of_several_streams_are_summed_and_levels_are_not() -> None:
    totals = StreamTotals()
    totals.take({"received": 100, "lost": 5, "jitter_ms": 3.0})
    assert totals.take({"received": 10, "lost": 1, "jitter_ms": 1.0}) == {"received": 110, "lost": 6, "jitter_ms": 1.0}
    assert totals.take({"received": 30, "lost": 1, "jitter_ms": 1.0})["received"] == 130
