"""The embedded transcriber, with the real model, on speech of the embedded synthesizer over a telephone line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from voiceharness.audio import g711
from voiceharness.audio.chunk import AudioChunk
from voiceharness.errors import MissingExtraError, SpeechError
from voiceharness.speech.hibari import HibariSynthesizer
from voiceharness.speech.moonshine import MoonshineTranscriber
from voiceharness.speech.text import normalize, word_error_rate

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("hibari")
pytest.importorskip("moonshine_voice")

__all__: list[str] = []

SENTENCES = [
    "Yes.",
    "No.",
    "Stop!",
    "Hello there.",
    "I would like to book a table for four at seven thirty tomorrow.",
    "Can you help me?",
    "Please cancel my order.",
    "Good morning, how can I help you today?",
    "Your appointment is confirmed for Friday at ten in the morning.",
    "What time do you open on Sunday?",
]


@pytest.fixture(scope="module")
def moonshine() -> Iterator[MoonshineTranscriber]:
    transcriber = MoonshineTranscriber()
    yield transcriber
    transcriber.close()


@pytest.fixture(scope="module")
def hibari() -> HibariSynthesizer:
    return HibariSynthesizer()


def _on_the_phone(audio: AudioChunk, silence: float = 0.0) -> AudioChunk:
    """The audio after G.711 mu-law, with silence around it."""
    samples = np.pad(audio.samples, round(silence * audio.rate))
    return AudioChunk(g711.decode(g711.encode(samples.tobytes())), audio.rate)


def test_telephone_speech_is_understood(moonshine: MoonshineTranscriber, hibari: HibariSynthesizer) -> None:
    heard = [moonshine.transcribe(_on_the_phone(hibari.synthesize(text).audio)).text for text in SENTENCES]
    assert word_error_rate(" ".join(SENTENCES), " ".join(heard)) <= 0.1


@pytest.mark.parametrize("silence", [0.1, 0.5, 2.0])
def test_no_word_is_invented_in_the_silence_around_speech(
    moonshine: MoonshineTranscriber, hibari: HibariSynthesizer, silence: float
) -> None:
    transcript = moonshine.transcribe(_on_the_phone(hibari.synthesize("Hello there.").audio, silence))
    assert normalize(transcript.text) == ("hello", "there")
    assert transcript.words[0].start == pytest.approx(silence, abs=0.05)


def test_words_are_spread_over_the_sound(moonshine: MoonshineTranscriber, hibari: HibariSynthesizer) -> None:
    audio = hibari.synthesize("Can you help me?").audio
    words = moonshine.transcribe(audio).words
    edges = [edge for word in words for edge in (word.start, word.end)]
    assert len(words) == 4
    assert edges == sorted(edges)
    assert edges[-1] <= audio.duration
    assert all(word.estimated for word in words)


def test_same_audio_gives_the_same_text(moonshine: MoonshineTranscriber, hibari: HibariSynthesizer) -> None:
    audio = hibari.synthesize(SENTENCES[4]).audio
    first = moonshine.transcribe(audio)
    moonshine.transcribe(hibari.synthesize("Something else.").audio)
    assert moonshine.transcribe(audio) == first
    other = MoonshineTranscriber()
    assert other.transcribe(audio) == first
    other.close()


def test_speech_longer_than_the_model_takes_is_understood(
    moonshine: MoonshineTranscriber, hibari: HibariSynthesizer
) -> None:
    text = " ".join(SENTENCES[3:]) * 2
    audio = hibari.synthesize(text).audio
    assert audio.duration > 25
    assert word_error_rate(text, moonshine.transcribe(audio).text) <= 0.1


@pytest.mark.parametrize("samples", [0, 1, 100, 16000])
def test_silence_has_no_words(moonshine: MoonshineTranscriber, samples: int) -> None:
    transcript = moonshine.transcribe(AudioChunk.from_samples(np.zeros(samples, np.int16)))
    assert (transcript.text, transcript.words) == ("", ())


def test_closing_twice_is_harmless_and_it_can_be_used_again(hibari: HibariSynthesizer) -> None:
    transcriber = MoonshineTranscriber()
    transcriber.close()
    assert transcriber.transcribe(hibari.synthesize("Stop!").audio).text
    transcriber.close()
    transcriber.close()


def test_failure_of_the_library_is_a_speech_error(
    hibari: HibariSynthesizer, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    empty = tmp_path_factory.mktemp("model")
    monkeypatch.setattr("moonshine_voice.utils.get_model_path", lambda name: empty)
    with pytest.raises(SpeechError, match="moonshine-voice"):
        MoonshineTranscriber().transcribe(hibari.synthesize("Stop!").audio)


def test_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voiceharness.speech.extras.find_spec", lambda module: None)
    with pytest.raises(MissingExtraError, match=r'pip install "voiceharness\[asr\]"'):
        MoonshineTranscriber()
