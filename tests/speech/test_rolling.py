"""Understanding speech while it goes on: stable words, cuts, ends."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from voiceharness.audio.chunk import AudioChunk
from voiceharness.errors import SpeechError
from voiceharness.speech.rolling import RollingTranscription

from .doubles import RATE, LevelTranscriber, bursts

if TYPE_CHECKING:
    from voiceharness.speech.transcription import TranscriptUpdate

__all__: list[str] = []


def _feed(rolling: RollingTranscription, audio: AudioChunk, size: int = 160) -> list[TranscriptUpdate]:
    updates = []
    for start in range(0, len(audio), size):
        chunk = AudioChunk(audio.pcm[2 * start : 2 * (start + size)], audio.rate, (audio.position or 0) + start)
        updates.append(rolling.feed(chunk))
    return [update for update in updates if update is not None]


def _texts(update: TranscriptUpdate) -> list[str]:
    return [word.text for word in update.stable]


def test_word_is_stable_when_two_guesses_agree() -> None:
    updates = _feed(RollingTranscription(LevelTranscriber(), interval=0.4), bursts(1000, 2000, 3000))
    assert [(round(update.heard, 3), update.text, _texts(update)) for update in updates] == [
        (0.4, "hm", []),
        (0.8, "one hm", []),
        (1.2, "one two hm", ["one"]),
    ]


def test_stable_words_are_never_revised() -> None:
    updates = _feed(RollingTranscription(LevelTranscriber()), bursts(*[1000, 2000, 3000, 4000] * 8))
    for earlier, later in pairwise(updates):
        assert later.stable[: len(earlier.stable)] == earlier.stable


def test_finish_makes_every_word_stable() -> None:
    rolling = RollingTranscription(LevelTranscriber())
    _feed(rolling, bursts(1000, 2000, 3000, position=4000))
    final = rolling.finish()
    assert (final.final, final.position, final.text) == (True, 4000, "one two three")
    assert _texts(final) == ["one", "two", "three"]
    assert [word.start for word in final.stable] == [0.0, 0.5, 1.0]
    assert final.heard == 1.5


def test_long_utterance_is_cut_at_a_pause_and_keeps_its_times() -> None:
    engine = LevelTranscriber()
    rolling = RollingTranscription(engine)
    spoken = [1000, 2000, 3000, 4000, 5000] * 12
    _feed(rolling, bursts(*spoken, length=0.5, gap=0.5))
    final = rolling.finish()
    assert final.text.split() == ["one", "two", "three", "four", "five"] * 12
    assert [word.start for word in final.stable] == pytest.approx(list(range(60)))
    assert max(engine.lengths) < 5 * RATE


def test_speech_without_a_pause_is_cut_before_it_gets_too_long() -> None:
    engine = LevelTranscriber()
    rolling = RollingTranscription(engine)
    _feed(rolling, bursts(*[1000, 2000] * 40, length=0.4, gap=0.05))
    final = rolling.finish()
    assert max(engine.lengths) <= 12.5 * RATE
    assert final.heard == pytest.approx(36.0)
    edges = [edge for word in final.stable for edge in (word.start, word.end)]
    assert edges == sorted(edges)


@pytest.mark.parametrize("size", [80, 160, 1000])
def test_final_text_does_not_depend_on_chunks(size: int) -> None:
    rolling = RollingTranscription(LevelTranscriber())
    _feed(rolling, bursts(*[1000, 2000, 3000] * 4), size)
    assert rolling.finish().text == " ".join(["one", "two", "three"] * 4)


def test_next_utterance_starts_afresh() -> None:
    rolling = RollingTranscription(LevelTranscriber())
    _feed(rolling, bursts(1000, 2000))
    rolling.finish()
    _feed(rolling, bursts(3000, position=9000))
    final = rolling.finish()
    assert (final.position, final.text) == (9000, "three")


def test_finish_without_audio_is_an_empty_final() -> None:
    final = RollingTranscription(LevelTranscriber()).finish()
    assert (final.text, final.stable, final.heard, final.final) == ("", (), 0.0, True)


def test_rate_may_not_change_inside_an_utterance() -> None:
    rolling = RollingTranscription(LevelTranscriber())
    rolling.feed(AudioChunk(b"\0\0" * 160, 8000))
    with pytest.raises(SpeechError, match="16000 Hz"):
        rolling.feed(AudioChunk(b"\0\0" * 160, 16000))
