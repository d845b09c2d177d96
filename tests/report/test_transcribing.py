"""The words of a saved call, understood after the fact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.report.calls import answered_call, broken_call
from tests.report.html.showcase import showcase_call
from voiceharness.errors import ConnectError
from voiceharness.report.artefacts import altered_files, load_document, save_call
from voiceharness.report.transcribing import transcribe_call
from voiceharness.speech.transcription import Transcript

if TYPE_CHECKING:
    from pathlib import Path

    from voiceharness.audio.chunk import AudioChunk


class Attentive:
    """Understands where a piece of audio lies."""

    name, version = "attentive", "attentive 1"

    def transcribe(self, audio: AudioChunk) -> Transcript:
        return Transcript(f"from {audio.position}, {len(audio)} samples, call +1 555 010 1234")


class Deaf:
    """Understands nothing."""

    name, version = "deaf", "deaf 1"

    def transcribe(self, audio: AudioChunk) -> Transcript:
        return Transcript("" if len(audio) else "silence")


def test_each_turn_is_understood_from_what_was_heard_of_it(tmp_path: Path) -> None:
    result = answered_call()
    assert result.metrics is not None
    assert transcribe_call(save_call(result, tmp_path), Attentive())
    document = load_document(tmp_path)
    assert [(each["turn"], each["by"]) for each in document["agent_words"]] == [(0, "transcriber"), (1, "transcriber")]
    for words, turn in zip(document["agent_words"], result.metrics.agent_turns, strict=True):
        assert words["text"].startswith(f"from {turn.onset}, {turn.offset - turn.onset} samples, call ")
    assert document["facts"]["transcriber"] == "attentive 1"


def test_the_call_stays_whole_and_without_phone_numbers(tmp_path: Path) -> None:
    transcribe_call(save_call(answered_call(), tmp_path), Attentive())
    assert altered_files(tmp_path) == ()
    assert "010 1234" not in (tmp_path / "result.json").read_text("utf-8")


def test_words_that_are_there_are_not_replaced(tmp_path: Path) -> None:
    before = (save_call(showcase_call(), tmp_path) / "result.json").read_bytes()
    assert not transcribe_call(tmp_path, Attentive())
    assert (tmp_path / "result.json").read_bytes() == before


def test_where_nothing_is_understood_or_heard_nothing_is_changed(tmp_path: Path) -> None:
    before = (save_call(answered_call(), tmp_path) / "result.json").read_bytes()
    assert not transcribe_call(tmp_path, Deaf())
    assert (tmp_path / "result.json").read_bytes() == before
    save_call(broken_call(ConnectError("nobody there")), tmp_path)
    assert not transcribe_call(tmp_path, Attentive())
