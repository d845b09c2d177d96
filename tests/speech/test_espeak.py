"""The espeak synthesizer, in its own process, with the real library."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from voiceharness.errors import MissingExtraError, OptionError, ScenarioError, SpeechError
from voiceharness.speech.espeak import EspeakSynthesizer

if TYPE_CHECKING:
    from pathlib import Path

__all__: list[str] = []


@pytest.fixture(scope="module")
def espeak() -> EspeakSynthesizer:
    pytest.importorskip("espeakng_loader")
    return EspeakSynthesizer()


@pytest.mark.parametrize(
    "text", ["My PIN is 4821.", "To be or not to be, in 2026.", "Hello - there. A table for four at 7:30 pm!"]
)
def test_written_words_are_timed_in_order_inside_the_audio(espeak: EspeakSynthesizer, text: str) -> None:
    speech = espeak.synthesize(text)
    edges = [edge for word in speech.words for edge in (word.start, word.end)]
    assert [word.text for word in speech.words] == [token for token in text.split() if token != "-"]
    assert edges == sorted(edges)
    assert edges[0] >= 0
    assert edges[-1] <= speech.audio.duration


@pytest.mark.parametrize("voice", [None, "en-us+f3", "de"])
def test_same_text_gives_the_same_samples(espeak: EspeakSynthesizer, voice: str | None) -> None:
    assert espeak.synthesize("Hello there.", voice=voice) == espeak.synthesize("Hello there.", voice=voice)


def test_speed_shortens_speech(espeak: EspeakSynthesizer) -> None:
    slow, fast = (espeak.synthesize("A table for four, please.", speed=speed) for speed in (0.7, 1.4))
    assert slow.audio.duration > 1.5 * fast.audio.duration


def test_library_never_enters_this_process(espeak: EspeakSynthesizer) -> None:
    script = (
        "from voiceharness.speech.espeak import EspeakSynthesizer; import sys;"
        "EspeakSynthesizer().synthesize('hi'); assert 'espeakng_loader' not in sys.modules;"
        "assert 'libespeak' not in open('/proc/self/maps').read()"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("text", ["", "…"])
def test_text_that_cannot_be_spoken_is_an_error(espeak: EspeakSynthesizer, text: str) -> None:
    with pytest.raises(ScenarioError, match="nothing to speak"):
        espeak.synthesize(text)


def test_unknown_voice_and_speed_are_refused(espeak: EspeakSynthesizer) -> None:
    with pytest.raises(OptionError, match="no voice 'xx-nope'"):
        espeak.synthesize("hi", voice="xx-nope")
    with pytest.raises(OptionError, match="speed"):
        espeak.synthesize("hi", speed=3.0)


def test_process_that_fails_is_a_speech_error(
    espeak: EspeakSynthesizer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("voiceharness.speech.espeak.__file__", str(tmp_path / "espeak.py"))
    with pytest.raises(SpeechError, match="espeak process failed"):
        espeak.synthesize("hi")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    with pytest.raises(SpeechError, match="no-python"):
        espeak.synthesize("hi")


def test_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voiceharness.speech.extras.find_spec", lambda module: None)
    with pytest.raises(MissingExtraError, match=r'pip install "voiceharness\[espeak\]"'):
        EspeakSynthesizer()
