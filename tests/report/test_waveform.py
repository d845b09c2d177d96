"""Tracks as rows of characters."""

from __future__ import annotations

import numpy as np

from voiceharness.report.waveform import ASCII_LEVELS, waveform


def test_height_follows_loudness() -> None:
    track = np.repeat(np.array([0, 10, 100, 1000, 10000, -32768], np.int16), 50)
    heights = ["_▁▂▃▄▅▆▇█".index(each if each != " " else "_") for each in waveform(track, 6)]
    assert heights == sorted(heights)
    assert (heights[0], heights[-1]) == (0, 8)
    assert len(set(heights[2:])) == 4


def test_a_single_loud_sample_is_not_lost() -> None:
    track = np.zeros(8000, np.int16)
    track[4321] = 20000
    assert waveform(track, 10, levels=ASCII_LEVELS).strip() == "@"


def test_there_is_one_character_for_each_column() -> None:
    assert len(waveform(np.ones(7, np.int16), 20)) == 20
    assert waveform(np.zeros(0, np.int16), 0) == ""
