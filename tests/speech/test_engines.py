"""Speech engines by name."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint, PackageNotFoundError
from typing import TYPE_CHECKING

import pytest

from voiceharness.audio.chunk import AudioChunk
from voiceharness.errors import MissingExtraError, OptionError
from voiceharness.speech import engines
from voiceharness.speech.cache import CachedSynthesizer, SpeechCache
from voiceharness.speech.engines import engine_info, make_synthesizer, make_transcriber
from voiceharness.speech.synthesis import Speech, Synthesizer
from voiceharness.speech.transcription import Transcriber

from .doubles import LevelTranscriber

if TYPE_CHECKING:
    from collections.abc import Callable

__all__: list[str] = []


class QuietSynthesizer:
    """A third party's engine."""

    name = "quiet"
    version = "1"

    def __init__(self, rate: int) -> None:
        self.rate = rate

    def synthesize(self, text: str, *, voice: str | None = None, speed: float = 1.0) -> Speech:
        return Speech(AudioChunk(b"\0\0", self.rate), ())


@pytest.fixture
def plugged_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package that brings one engine of each kind."""
    found = {
        "voiceharness.synthesizers": [EntryPoint("quiet", f"{__name__}:QuietSynthesizer", "voiceharness.synthesizers")],
        "voiceharness.transcribers": [
            EntryPoint("levels", f"{__name__}:LevelTranscriber", "voiceharness.transcribers")
        ],
    }
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])
    monkeypatch.setattr(engines, "entry_points", lambda group: found[group])


@pytest.mark.parametrize(
    ("name", "extra", "make"),
    [
        ("hibari", "speech", make_synthesizer),
        ("espeak", "espeak", make_synthesizer),
        ("moonshine", "asr", make_transcriber),
        (None, "speech", make_synthesizer),
        (None, "asr", make_transcriber),
    ],
)
def test_missing_extra_is_told_with_its_install_line(
    monkeypatch: pytest.MonkeyPatch, name: str | None, extra: str, make: Callable[[str | None], object]
) -> None:
    monkeypatch.setattr("voiceharness.speech.extras.find_spec", lambda module: None)
    with pytest.raises(MissingExtraError) as raised:
        make(name)
    assert raised.value.install == f'pip install "voiceharness[{extra}]"'


def test_built_in_engines_fit_their_seams() -> None:
    pytest.importorskip("hibari")
    pytest.importorskip("moonshine_voice")
    assert isinstance(make_synthesizer(), Synthesizer)
    assert isinstance(make_transcriber(), Transcriber)
    assert (make_synthesizer().name, make_transcriber().name) == ("hibari", "moonshine")


@pytest.mark.usefixtures("plugged_in")
def test_installed_packages_add_engines() -> None:
    assert make_synthesizer("quiet", rate=16000).rate == 16000
    assert make_transcriber("levels").name == "levels"
    assert {info.name for info in engine_info()} == {"hibari", "espeak", "moonshine", "quiet", "levels"}


@pytest.mark.usefixtures("plugged_in")
def test_unknown_name_tells_the_known_ones() -> None:
    with pytest.raises(OptionError, match="no synthesizer named 'nope'; there are: espeak, hibari, quiet"):
        make_synthesizer("nope")
    with pytest.raises(OptionError, match="no transcriber named 'nope'; there are: levels, moonshine"):
        make_transcriber("nope")


def test_ready_objects_are_taken_as_they_are() -> None:
    synthesizer, transcriber = QuietSynthesizer(8000), LevelTranscriber()
    assert make_synthesizer(synthesizer) is synthesizer
    assert make_transcriber(transcriber) is transcriber


def test_object_at_another_rate_is_refused() -> None:
    with pytest.raises(OptionError, match="16000 Hz, but the line runs at 8000 Hz"):
        make_synthesizer(QuietSynthesizer(16000))


def test_cache_goes_in_front() -> None:
    assert isinstance(make_synthesizer(QuietSynthesizer(8000), cache=SpeechCache()), CachedSynthesizer)


def test_info_names_licence_and_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(package: str) -> str:
        if package == "hibari-tts":
            return "0.2.1"
        raise PackageNotFoundError(package)

    monkeypatch.setattr(engines, "version", version)
    infos = {info.name: info for info in engine_info()}
    assert (infos["hibari"].version, infos["moonshine"].version) == ("0.2.1", None)
    assert [infos[name].licence for name in ("hibari", "espeak", "moonshine")] == [
        "Apache-2.0",
        "GPL-3.0-or-later",
        "MIT",
    ]
    assert infos["moonshine"].install == 'pip install "voiceharness[asr]"'
    assert next(iter(infos)) == "hibari"


def test_nothing_heavy_is_loaded_by_import_or_by_naming_an_engine() -> None:
    script = (
        "import sys; from voiceharness.speech import engine_info, make_synthesizer, make_transcriber, live_transcriber;"
        "engine_info(); make_synthesizer(); make_transcriber(); live_transcriber('moonshine', print, virtual=True);"
        "heavy = {'hibari', 'onnxruntime', 'moonshine_voice', 'scipy', 'espeakng_loader'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    pytest.importorskip("hibari")
    pytest.importorskip("moonshine_voice")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "[]"
