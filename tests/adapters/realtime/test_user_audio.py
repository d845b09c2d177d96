"""The user's audio: whole at any rate, and never too little for a commit."""

from __future__ import annotations

import numpy as np
import pytest

from voiceharness.audio.resample import resample
from voiceharness.audio.signals import speech_like
from voiceharness.scripted.sounds import MULAW_8K, PCM_8K, PCM_24K, WireFormat
from voiceharness_adapters.realtime.user_audio import SHORTEST_COMMIT, UserAudio

__all__: list[str] = []

FRAME = 160
SPOKEN = speech_like(1.0, 8000, seed=1)


def frames(seconds: float) -> list[np.ndarray]:
    return np.split(SPOKEN[: round(seconds * 8000)], range(FRAME, round(seconds * 8000), FRAME))


@pytest.mark.parametrize("wire", [PCM_24K, PCM_8K, MULAW_8K, WireFormat(16000)])
def test_frames_go_out_at_once_but_for_what_the_resampler_looks_ahead(wire: WireFormat) -> None:
    user = UserAudio(8000, wire, commits=False)
    sent = b""
    for number, frame in enumerate(frames(1.0), 1):
        sent += user.push(frame)
        assert number * 0.02 - 0.0026 <= wire.duration(sent) <= number * 0.02
    whole = wire.encode(resample(SPOKEN, 8000, wire.rate))
    assert sent == whole[: len(sent)]


@pytest.mark.parametrize("wire", [PCM_24K, PCM_8K, MULAW_8K])
def test_turns_and_the_audio_between_them_are_whole(wire: WireFormat) -> None:
    user = UserAudio(8000, wire, commits=True)
    pieces = [user.push(frame) for frame in frames(0.5)]
    pieces.append(user.commit() or b"")
    assert wire.duration(b"".join(pieces)) == 0.5
    assert wire.duration(pieces[-1]) == pytest.approx(0.02, abs=0.003)
    assert b"".join(pieces) == wire.encode(resample(SPOKEN[:4000], 8000, wire.rate))


@pytest.mark.parametrize("seconds", [0.02, 0.06, 0.08])
def test_what_is_too_short_for_a_commit_is_made_up_with_silence(seconds: float) -> None:
    """Case A66."""
    user = UserAudio(8000, MULAW_8K, commits=True)
    sent = b"".join(user.push(frame) for frame in frames(seconds))
    committed = user.commit()
    assert committed is not None
    assert MULAW_8K.duration(sent + committed) == pytest.approx(SHORTEST_COMMIT)
    assert committed.endswith(b"\xff")


def test_nothing_is_committed_twice() -> None:
    """Case A66."""
    user = UserAudio(8000, PCM_24K, commits=True)
    assert user.commit() is None
    user.push(SPOKEN[:FRAME])
    assert user.commit()
    assert user.commit() is None
