"""The checked-in sounds are what the manifest says, and the ear hears them where they are."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from voiceharness.audio import g711
from voiceharness.audio.dtmf import KEYS, detect
from voiceharness.audio.mix import add_noise, level_db
from voiceharness.audio.vad import Span, find_segments, speech_edges, utterance_edges
from voiceharness.audio.wav import read_wav

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "fixtures_audio"
ENTRIES = json.loads((FOLDER / "manifest.json").read_text())
SPOKEN = [entry["file"] for entry in ENTRIES if entry["kind"] == "spoken"]


def test_fixtures_come_out_the_same_here() -> None:
    """Case B56."""
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "make_fixtures.py", "--check"],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_fixtures_stay_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.rglob("*")) < 2_000_000


def test_seeds_differ() -> None:
    """Case B56."""
    for kind in ("noise", "speech_like"):
        one, other = (read_wav(FOLDER / f"{kind}_{seed}.wav").samples for seed in (42, 43))
        assert np.mean(one != other) > 0.4


@pytest.mark.parametrize("file", SPOKEN)
def test_no_digit_is_heard_in_speech(file: str) -> None:
    """Case A73: no false digits."""
    clip = read_wav(FOLDER / file)
    assert detect(clip.samples, clip.rate) == []


def test_digits_are_heard() -> None:
    assert "".join(digit.key for digit in detect(read_wav(FOLDER / "dtmf_keys.wav").samples)) == KEYS


@pytest.mark.parametrize("law", ["mulaw", "alaw"])
def test_speech_on_a_clean_line_is_heard_within_10_ms(law: g711.Law) -> None:
    errors = []
    for file in SPOKEN:
        clip = read_wav(FOLDER / file)
        truth = speech_edges(clip.samples, clip.rate)
        assert truth is not None
        track = np.concatenate((np.zeros(8000, np.int16), clip.samples, np.zeros(8000, np.int16)))
        heard = np.frombuffer(g711.decode(g711.encode(track.tobytes(), law), law), "<i2")
        segments = find_segments(heard, 8000)
        found = utterance_edges(heard, 8000, Span(segments[0].onset, segments[-1].offset))
        errors += [abs(found.onset - 8000 - truth.onset), abs(found.offset - 8000 - truth.offset)]
    assert np.percentile(errors, 95) <= 80
    assert max(errors) <= 160


@pytest.mark.parametrize("snr_db", [30, 20])
@pytest.mark.parametrize("file", [file for file in SPOKEN if file.startswith("agent")])
def test_speech_in_line_noise_is_heard(file: str, snr_db: float) -> None:
    clip = read_wav(FOLDER / file)
    truth = speech_edges(clip.samples, clip.rate)
    assert truth is not None
    noise = np.random.default_rng(1).normal(0, 32768 * 10 ** ((level_db(clip.samples) - snr_db) / 20), 40_000)
    track = np.concatenate((noise[:20_000], add_noise(clip.samples, 8000, snr_db=snr_db, seed=2), noise[20_000:]))
    segments = find_segments(np.rint(track).astype(np.int16), 8000)
    assert segments[0].onset - 20_000 == pytest.approx(truth.onset, abs=1200)
    assert segments[-1].offset - 20_000 == pytest.approx(truth.offset, abs=1600)
