"""The cache of synthesized speech."""

from __future__ import annotations

import logging
import multiprocessing
from typing import TYPE_CHECKING

import pytest

from voiceharness.audio.chunk import AudioChunk
from voiceharness.errors import ScenarioError
from voiceharness.events import Word
from voiceharness.speech.cache import CachedSynthesizer, SpeechCache
from voiceharness.speech.synthesis import Speech

if TYPE_CHECKING:
    from pathlib import Path

__all__: list[str] = []

SPEECH = Speech(AudioChunk(b"\x01\x00\x02\x00" * 4000), (Word("hé", 0.0, 0.5), Word("you", 0.5, 1.0, True)), True)


class CountingSynthesizer:
    """Say every text as the same speech, and count how often."""

    name = "counting"
    rate = 8000

    def __init__(self, version: str = "1") -> None:
        self.version = version
        self.count = 0

    def synthesize(self, text: str, *, voice: str | None = None, speed: float = 1.0) -> Speech:
        self.count += 1
        if not text:
            raise ScenarioError("nothing to speak")
        return SPEECH


def test_same_request_is_spoken_once(tmp_path: Path) -> None:
    engine = CountingSynthesizer()
    cached = CachedSynthesizer(engine, SpeechCache(tmp_path))
    assert [cached.synthesize("hi"), cached.synthesize("hi")] == [SPEECH, SPEECH]
    assert engine.count == 1


def test_folder_serves_another_process_with_equal_values(tmp_path: Path) -> None:
    CachedSynthesizer(CountingSynthesizer(), SpeechCache(tmp_path)).synthesize("hi")
    engine = CountingSynthesizer()
    assert CachedSynthesizer(engine, SpeechCache(tmp_path)).synthesize("hi") == SPEECH
    assert engine.count == 0


def test_memory_alone_needs_no_folder() -> None:
    engine = CountingSynthesizer()
    cached = CachedSynthesizer(engine, SpeechCache())
    cached.synthesize("hi")
    cached.synthesize("hi")
    assert engine.count == 1


def test_whatever_changes_the_sound_is_another_entry(tmp_path: Path) -> None:
    cache = SpeechCache(tmp_path)
    engine, newer = CountingSynthesizer("1"), CountingSynthesizer("2")
    cached = CachedSynthesizer(engine, cache)
    for voice, speed, text in [(None, 1.0, "hi"), ("heart", 1.0, "hi"), (None, 1.5, "hi"), (None, 1.0, "ho")]:
        cached.synthesize(text, voice=voice, speed=speed)
    CachedSynthesizer(newer, cache).synthesize("hi")
    assert (engine.count, newer.count) == (4, 1)
    assert len(list(tmp_path.rglob("*.speech"))) == 5


@pytest.mark.parametrize("damage", [b"", b"nonsense", b"abc\n{}\n", b"\x00" * 100])
def test_damaged_entry_is_made_again(tmp_path: Path, damage: bytes, caplog: pytest.LogCaptureFixture) -> None:
    CachedSynthesizer(CountingSynthesizer(), SpeechCache(tmp_path)).synthesize("hi")
    (entry,) = tmp_path.rglob("*.speech")
    whole = entry.read_bytes()
    entry.write_bytes(damage or whole[:-2])
    engine = CountingSynthesizer()
    with caplog.at_level(logging.WARNING):
        assert CachedSynthesizer(engine, SpeechCache(tmp_path)).synthesize("hi") == SPEECH
    assert engine.count == 1
    assert entry.read_bytes() == whole
    assert "making it again" in caplog.text


def test_folder_that_cannot_be_written_is_logged_and_harmless(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    cached = CachedSynthesizer(CountingSynthesizer(), SpeechCache(blocked / "cache"))
    with caplog.at_level(logging.WARNING):
        assert cached.synthesize("hi") == SPEECH
    assert "cannot be written" in caplog.text


def test_errors_are_not_kept(tmp_path: Path) -> None:
    cached = CachedSynthesizer(CountingSynthesizer(), SpeechCache(tmp_path))
    for _ in range(2):
        with pytest.raises(ScenarioError):
            cached.synthesize("")
    assert not list(tmp_path.rglob("*"))


def _write_many(folder: Path) -> None:
    for index in range(20):
        CachedSynthesizer(CountingSynthesizer(), SpeechCache(folder)).synthesize(f"text {index}")


def test_processes_share_a_folder(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_write_many, args=(tmp_path,)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    assert len(list(tmp_path.rglob("*.speech"))) == 20
    assert not list(tmp_path.rglob("*.part"))
