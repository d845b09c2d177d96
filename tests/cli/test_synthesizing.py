"""``voiceharness synth``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.report.disks import fill_up
from voiceharness.audio.wav import read_wav

if TYPE_CHECKING:
    from tests.cli.conftest import Cli


def test_a_text_is_spoken_into_a_file(cli: Cli) -> None:
    document = cli("synth", "hello there", "-o", "spoken.wav", "--json").json
    chunk = read_wav(cli.folder / "spoken.wav")
    assert chunk.rate == 8000
    assert chunk.duration == document["duration"] > 0.3
    assert [word["text"] for word in document["words"]] == ["hello", "there"]


def test_its_length_is_told(cli: Cli) -> None:
    ended = cli("synth", "hello there", "-o", "spoken.wav", "--rate", "16000")
    assert ended.out.startswith("spoken.wav: ")
    assert "2 words" in ended.out
    assert read_wav(cli.folder / "spoken.wav").rate == 16000


def test_an_engine_that_does_not_exist_is_an_error(cli: Cli) -> None:
    ended = cli("synth", "hello", "-o", "spoken.wav", "--engine", "parrot")
    assert ended.code == 2
    assert "there is no synthesizer named 'parrot'" in ended.err


@pytest.mark.parametrize("rate", ["0", "-1", "7999", "999999999", "fast"])
def test_a_rate_that_no_sound_of_a_call_has_is_refused(rate: str, cli: Cli) -> None:
    ended = cli("synth", "hello there", "-o", "spoken.wav", "--rate", rate)
    assert ended.code == 2
    assert "Invalid value for '--rate'" in ended.err
    assert not (cli.folder / "spoken.wav").exists()


@pytest.mark.parametrize("output", ["hello.wav/spoken.wav", "x" * 300])
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_spoken(output: str, cli: Cli) -> None:
    ended = cli("synth", "hello", "-o", output, "--engine", "parrot")
    assert ended.code == 2
    assert f"cannot write {output}" in ended.err
    assert [path.name for path in cli.folder.iterdir() if "spoken" in path.name] == []


def test_a_full_disk_is_no_fault_of_the_harness(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    fill_up(monkeypatch, lambda path: path.name == "spoken.wav")
    ended = cli("synth", "hello", "-o", "spoken.wav")
    assert ended.code == 2
    assert ended.err == "OptionError: cannot write spoken.wav: No space left on device\n"
