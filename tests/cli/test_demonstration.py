"""How ``voiceharness demo`` tells of its calls."""

from __future__ import annotations

import json
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.report.calls import answered_call, silent_call
from tests.report.disks import fill_up
from voiceharness.cli.demonstration import tell_verdicts
from voiceharness.cli.output import Progress
from voiceharness.errors import UnsupportedCapabilityError
from voiceharness.report.runs import load_suite
from voiceharness.scenario.result import CallResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.conftest import Cli


@dataclass(frozen=True)
class Verdict:
    """What the demo says of one of its calls."""

    result: CallResult
    as_expected: bool
    explanation: str


def told(verdicts: Any, *, as_json: bool = False) -> int:
    return tell_verdicts(verdicts, Progress(), out=Path("out"), junit=Path("junit.xml"), as_json=as_json)


def test_the_demo_passes_when_planted_faults_are_found(cli: Cli) -> None:
    code = told([Verdict(answered_call(), True, "healthy"), Verdict(silent_call(), True, "planted: says nothing")])
    printed = cli.capture.readouterr().out
    assert code == 0
    assert "planted: says nothing\n" in printed
    assert "listen: out/002-silence/recording.wav" in printed
    assert printed.splitlines()[-1] == "the demo passed: 2 verdicts, all true"
    assert (cli.folder / "junit.xml").exists()
    assert (cli.folder / "out" / "002-silence" / "recording.wav").exists()


def test_the_demo_fails_when_a_verdict_is_wrong(cli: Cli) -> None:
    assert told([Verdict(silent_call(), False, "planted: deaf; not found")]) == 1
    assert cli.capture.readouterr().out.splitlines()[-1] == "the demo failed on silence"


def test_a_call_that_the_transport_cannot_carry_is_told_and_does_not_count(cli: Cli) -> None:
    missing = UnsupportedCapabilityError(adapter="mute", capability="tells_the_end", step="check ended")
    lacking = CallResult("changes its mind", "mute", "unsupported", error=missing)
    not_called = Verdict(lacking, True, "not called: this transport cannot carry it")
    assert told([Verdict(answered_call(), True, "healthy"), not_called]) == 0
    printed = cli.capture.readouterr().out
    assert "adapter 'mute' does not support tells_the_end (needed by check ended)" in printed
    assert "listen:" not in printed
    assert printed.splitlines()[-1] == "the demo passed: 1 verdict, all true; 1 not called"
    assert told([not_called]) == 4
    assert "can carry none of the demo's calls" in cli.capture.readouterr().out


def test_an_interrupted_demo_tells_what_there_is(cli: Cli) -> None:
    def verdicts() -> Iterator[Verdict]:
        yield Verdict(silent_call(), True, "")
        raise KeyboardInterrupt

    assert told(verdicts()) == 130
    assert "interrupted after 1 call" in cli.capture.readouterr().out


def test_as_a_document_it_is_a_suite(cli: Cli) -> None:
    told([Verdict(silent_call(), True, "")], as_json=True)
    assert '"format": "voiceharness-suite/1"' in cli.capture.readouterr().out


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--junit", "greeting.yaml/j.xml"), "cannot write greeting.yaml/j.xml: Not a directory"),
        (("--out", "greeting.yaml/out"), "cannot write greeting.yaml/out/suite.json: Not a directory"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_the_first_call(
    options: tuple[str, ...], told: str, cli: Cli
) -> None:
    ended = cli("demo", *options)
    assert ended.code == 2
    assert told in ended.err
    assert ended.out == ""
    assert not (cli.folder / "voiceharness-out").exists()


@pytest.mark.parametrize("full", ["junit.xml", "recording.wav", ".suite.json.part"])
def test_what_can_still_be_written_is_and_the_rest_is_told(
    full: str, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_up(monkeypatch, lambda path: path.name == full)
    assert told([Verdict(answered_call(), True, "healthy"), Verdict(silent_call(), True, "planted")]) == 2
    printed = cli.capture.readouterr()
    assert "planted\n" in printed.out
    assert "No space left on device" in printed.err
    assert (cli.folder / "out" / "suite.json").exists() == (full != ".suite.json.part")
    assert (cli.folder / "out" / "002-silence" / "result.json").exists()


def test_what_was_called_is_saved_where_the_demo_breaks(cli: Cli) -> None:
    def verdicts() -> Iterator[Verdict]:
        yield Verdict(answered_call(), True, "")
        raise ZeroDivisionError("oops")

    with pytest.raises(ZeroDivisionError):
        told(verdicts())
    assert len(load_suite(cli.folder / "out")["calls"]) == 1


def test_an_interrupted_demo_prints_one_document(cli: Cli) -> None:
    def verdicts() -> Iterator[Verdict]:
        yield Verdict(silent_call(), True, "")
        raise KeyboardInterrupt

    assert told(verdicts(), as_json=True) == 130
    assert len(json.loads(cli.capture.readouterr().out)["calls"]) == 1


def test_sigterm_saves_what_there_is_as_an_interrupt_does(cli: Cli) -> None:
    def verdicts() -> Iterator[Verdict]:
        yield Verdict(silent_call(), True, "")
        signal.raise_signal(signal.SIGTERM)

    assert told(verdicts()) == 130
    assert len(load_suite(cli.folder / "out")["calls"]) == 1
