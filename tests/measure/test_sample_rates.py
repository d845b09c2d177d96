"""Mix-ups of sample rates, by their factor."""

from __future__ import annotations

from itertools import combinations, permutations

import pytest

from voiceharness.measure.sample_rates import RATES_HZ, RateMixUp, rate_mix_ups


@pytest.mark.parametrize(
    ("factor", "line_hz", "told"),
    [
        (0.3334, 8000, ["24 kHz audio treated as 8 kHz"]),
        (3.0, 8000, ["8 kHz audio treated as 24 kHz"]),
        (0.5, 8000, ["16 kHz audio treated as 8 kHz"]),
        (0.5, 16000, ["32 kHz audio treated as 16 kHz"]),
        (2.0, 16000, ["8 kHz audio treated as 16 kHz"]),
        (0.363, 8000, ["22.05 kHz audio treated as 8 kHz"]),
        (0.919, 48000, ["48 kHz audio treated as 44.1 kHz"]),
        (0.919, 8000, ["24 kHz audio treated as 22.05 kHz", "48 kHz audio treated as 44.1 kHz"]),
        (1.0, 8000, []),
        (1.2, 8000, []),
        (0.345, 8000, []),
        (10.0, 8000, []),
    ],
)
def test_a_factor_tells_the_rates_and_the_lines_own_comes_first(factor: float, line_hz: int, told: list[str]) -> None:
    """Case A34."""
    assert [str(each) for each in rate_mix_ups(factor, line_hz)] == told


@pytest.mark.parametrize("line_hz", [8000, 16000, 48000])
@pytest.mark.parametrize("pair", list(permutations(RATES_HZ, 2)))
def test_every_pair_of_rates_is_explained_by_pairs_of_its_ratio(pair: tuple[int, int], line_hz: int) -> None:
    mix_up = RateMixUp(*pair)
    found = rate_mix_ups(mix_up.factor, line_hz)
    assert found
    assert all(each.factor == pytest.approx(mix_up.factor) for each in found)
    if line_hz == mix_up.treated_hz:
        assert found == (mix_up,)


def test_no_two_ratios_are_taken_for_each_other() -> None:
    ratios = {round(RateMixUp(*pair).factor, 6) for pair in permutations(RATES_HZ, 2)}
    assert all(max(a, b) / min(a, b) > 1.02 for a, b in combinations(ratios, 2))
