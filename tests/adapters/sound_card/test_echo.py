"""The user's own echo is taken out of the microphone, the agent's voice is not."""

from __future__ import annotations

import numpy as np
import pytest

from voiceharness.audio.signals import speech_like
from voiceharness_adapters.sound_card.echo import EchoCanceller

RATE = 8000
BLOCK = 80


def room() -> np.ndarray:
    """Make a decaying impulse response of 30 ms, 15 dB down."""
    taps = np.random.default_rng(1).normal(size=240) * np.exp(-np.arange(240) / 50)
    return np.asarray(taps / np.linalg.norm(taps) * 10 ** (-15 / 20))


def through(user: np.ndarray, microphone: np.ndarray) -> tuple[np.ndarray, EchoCanceller]:
    echo = EchoCanceller(RATE)
    blocks = range(0, len(user), BLOCK)
    return np.concatenate([echo.cancel(microphone[n : n + BLOCK], user[n : n + BLOCK]) for n in blocks]), echo


def level_db(samples: np.ndarray) -> float:
    return 10 * float(np.log10(np.mean(np.square(samples.astype(float))) / 32768**2 + 1e-12))


def test_echo_is_suppressed_and_what_is_left_is_told() -> None:
    user = speech_like(6.0, seed=1)
    heard = np.convolve(user, room())[: len(user)].astype(np.int16)
    rest, echo = through(user, heard)
    assert level_db(heard[-RATE:]) - level_db(rest[-RATE:]) > 25
    assert echo.echo_db is not None
    assert echo.left_db is not None
    assert echo.echo_db - echo.left_db > 20


def test_agent_alone_passes_unchanged() -> None:
    agent = speech_like(2.0, seed=2)
    rest, echo = through(np.zeros(len(agent), np.int16), agent)
    assert np.array_equal(rest, agent)
    assert echo.left_db is None


def test_agent_is_kept_while_the_user_talks_over_it() -> None:
    user, agent = speech_like(8.0, seed=3), speech_like(8.0, seed=4)
    agent[: 5 * RATE] = 0
    heard = (np.convolve(user, room())[: len(user)] + agent).astype(np.int16)
    rest, _ = through(user, heard)
    error = rest[6 * RATE :].astype(float) - agent[6 * RATE :]
    assert level_db(agent[6 * RATE :]) - level_db(error) > 20


def test_room_that_cannot_be_learned_leaves_an_echo_that_is_told() -> None:
    user = speech_like(4.0, seed=5)
    other = speech_like(4.0, seed=6)
    _, echo = through(user, other)
    assert echo.left_db == pytest.approx(level_db(other), abs=6)
