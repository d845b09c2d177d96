"""The embedded synthesizer, with the real model. Only properties are asserted: samples differ between processors."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import pytest

from voiceharness.audio.edges import speech_edges
from voiceharness.errors import MissingExtraError, OptionError, ScenarioError, SpeechError
from voiceharness.speech.hibari import HibariSynthesizer
from voiceharness.speech.placing import MARGIN

pytest.importorskip("hibari")

__all__: list[str] = []

SENTENCES = [
    "Good morning.",
    "Stop!",
    "Can you help me?",
    "Hello there. I would like to book a table for four, please.",
    "Your balance is $1,234.56 - due on 3/4 at 9:30pm, OK?",
    "Call (555) 010-1234 now; my PIN is 4821.",
]


@pytest.fixture(scope="module")
def hibari() -> HibariSynthesizer:
    return HibariSynthesizer()


@pytest.mark.parametrize("text", SENTENCES)
def test_written_words_are_timed_in_order_inside_the_audio(hibari: HibariSynthesizer, text: str) -> None:
    speech = hibari.synthesize(text)
    assert [word.text for word in speech.words] == [token for token in text.split() if token != "-"]
    edges = [edge for word in speech.words for edge in (word.start, word.end)]
    assert edges == sorted(edges)
    assert edges[0] >= 0
    assert edges[-1] <= speech.audio.duration
    assert all(word.end > word.start for word in speech.words)


@pytest.mark.parametrize("text", SENTENCES)
def test_speech_starts_and_ends_where_its_audio_does(hibari: HibariSynthesizer, text: str) -> None:
    speech = hibari.synthesize(text)
    edges = speech_edges(speech.audio.samples, speech.audio.rate)
    assert edges is not None
    assert edges.onset / 8000 == pytest.approx(MARGIN, abs=0.01)
    assert speech.audio.duration - edges.offset / 8000 == pytest.approx(MARGIN, abs=0.01)
    assert speech.words[0].start == pytest.approx(edges.onset / 8000, abs=0.05)
    assert speech.words[-1].end == pytest.approx(edges.offset / 8000, abs=0.05)


@pytest.mark.parametrize("speed", [0.7, 1.0, 1.5])
def test_word_after_a_pause_starts_with_its_sound(hibari: HibariSynthesizer, speed: float) -> None:
    speech = hibari.synthesize("Thank you. Goodbye.", speed=speed)
    _, you, goodbye = speech.words
    between = round((you.end + goodbye.start) / 2 * 8000)
    edges = speech_edges(speech.audio.samples[between:], 8000)
    assert edges is not None
    assert goodbye.start == pytest.approx((between + edges.onset) / 8000, abs=0.06)


def test_speed_shortens_speech(hibari: HibariSynthesizer) -> None:
    slow, fast = (hibari.synthesize("I would like to book a table.", speed=speed) for speed in (0.8, 1.6))
    assert slow.audio.duration / fast.audio.duration == pytest.approx(2.0, rel=0.2)


def test_codes_are_read_digit_by_digit(hibari: HibariSynthesizer) -> None:
    assert hibari.synthesize("My PIN is 4821.").audio == hibari.synthesize("My PIN is four eight two one.").audio
    assert hibari.synthesize("In 4821.").audio != hibari.synthesize("In four eight two one.").audio


def test_same_text_gives_the_same_samples(hibari: HibariSynthesizer) -> None:
    text = SENTENCES[3]
    first = hibari.synthesize(text)
    hibari.synthesize("Something else in between.")
    assert hibari.synthesize(text) == first
    assert HibariSynthesizer().synthesize(text) == first


def test_another_process_gives_the_same_samples(hibari: HibariSynthesizer) -> None:
    script = (
        "import hashlib; from voiceharness.speech.hibari import HibariSynthesizer;"
        "print(hashlib.sha256(HibariSynthesizer().synthesize('Good morning.').audio.pcm).hexdigest())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == hashlib.sha256(hibari.synthesize("Good morning.").audio.pcm).hexdigest()


def test_durations_leave_the_audio_of_the_library_as_it_is(
    hibari: HibariSynthesizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    timed = hibari.synthesize("Good morning, Alice.")  # first: the shared engine must load its model unpatched
    monkeypatch.setattr("voiceharness.speech.hibari._DURATIONS", b"/no_such_node")
    plain = HibariSynthesizer().synthesize("Good morning, Alice.")
    assert plain.audio == timed.audio
    assert plain.estimated
    assert all(word.estimated for word in plain.words)
    assert [word.text for word in plain.words] == ["Good", "morning,", "Alice."]


def test_sentence_longer_than_the_model_takes_is_spoken_whole(hibari: HibariSynthesizer) -> None:
    text = "well " * 150 + "and so on, " + "then " * 60 + "end."
    speech = hibari.synthesize(text)
    assert len(speech.words) == len(text.split())
    assert speech.audio.duration > 40


@pytest.mark.parametrize("rate", [16000, 48000])
def test_other_line_rates(rate: int) -> None:
    speech = HibariSynthesizer(rate).synthesize("Good morning.")
    assert speech.audio.rate == rate
    assert 0.5 < speech.audio.duration < 1.2


@pytest.mark.parametrize("text", ["", " ", "!!!", "—", "你好", "hello 你好"])
def test_text_that_cannot_be_spoken_is_an_error(hibari: HibariSynthesizer, text: str) -> None:
    with pytest.raises(ScenarioError, match=r"speak|read"):
        hibari.synthesize(text)


def test_voice_that_would_need_a_download_is_refused(
    hibari: HibariSynthesizer, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIBARI_HOME", str(tmp_path_factory.mktemp("voices")))
    with pytest.raises(OptionError, match="would need a download"):
        hibari.synthesize("hi", voice="emma")


def test_unknown_voice_names_the_known_ones(hibari: HibariSynthesizer) -> None:
    with pytest.raises(OptionError, match="heart, emma"):
        hibari.synthesize("hi", voice="bob")


@pytest.mark.parametrize("speed", [0.0, 0.4, 2.1])
def test_speed_out_of_range_is_refused(hibari: HibariSynthesizer, speed: float) -> None:
    with pytest.raises(OptionError, match="speed"):
        hibari.synthesize("hi", speed=speed)


def test_library_of_another_version_is_a_speech_error(
    hibari: HibariSynthesizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    hibari.synthesize("Hello.")
    monkeypatch.delattr("hibari.Hibari.split_sentences")
    with pytest.raises(SpeechError, match="reinstall the extra"):
        hibari.synthesize("Hello.")


def test_version_names_what_decides_the_samples(hibari: HibariSynthesizer) -> None:
    assert [part for part in hibari.version.split() if not part[0].isdigit()] == [
        "hibari-tts",
        "onnxruntime",
        "numpy",
    ]


def test_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voiceharness.speech.extras.find_spec", lambda module: None)
    with pytest.raises(MissingExtraError, match=r'pip install "voiceharness\[speech\]"'):
        HibariSynthesizer()
