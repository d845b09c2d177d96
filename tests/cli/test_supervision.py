"""How commands end, and what they print, in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

ROOT = Path(__file__).parents[2]

GREETING = """\
name: "café €5 — ¿qué? 你好 😀 مرحبا"
steps:
  - say: {file: hello.wav}
  - hear: {within: 1s}
"""


def process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command line; PATH is all that is kept of the environment."""
    return subprocess.run(
        [sys.executable, "-m", "voiceharness", *arguments],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        check=False,
    )


@pytest.mark.parametrize(
    "environment",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "cp1252"},
        {"PYTHONIOENCODING": "utf-8"},
    ],
    ids=["C", "cp1252", "utf-8"],
)
def test_any_text_is_printed_on_any_console_and_saved_as_utf_8(environment: dict[str, str], cli: Cli) -> None:
    """Case B47."""
    cli.write("greeting.yaml", GREETING)
    arguments = ["greeting.yaml", "--agent", "tests.cli.agents:answering", "--junit", "junit.xml"]
    done = process("run", *arguments, **environment)
    assert done.returncode == 0, done.stderr
    assert b"passed: caf" in done.stdout
    (folder,) = (cli.folder / "voiceharness-out").glob("001-*")
    name = json.loads((folder / "result.json").read_bytes())["scenario"]
    assert name == "café €5 — ¿qué? 你好 😀 مرحبا"
    assert (len(name), len(name.encode())) == (26, 45)
    assert name.encode() in (cli.folder / "junit.xml").read_bytes()
    shown = process("show", str(folder), **environment)
    assert shown.returncode == 0, shown.stderr
    assert json.loads(process("show", str(folder), "--json", **environment).stdout)["scenario"] == name


def test_help_loads_no_heavy_library() -> None:
    code = (
        "import sys\nfrom voiceharness.cli.supervision import run_command\n"
        "assert run_command(['--help']) == 0\nprint(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert "click" in done.stdout.split()
    assert {"numpy", "scipy", "yaml", "asyncio", "importlib.metadata"} & set(done.stdout.split()) == set()


def test_a_fault_of_the_harness_is_called_one(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voiceharness.cli.diagnosis.packages", lambda: 1 / 0)
    ended = cli("doctor", "--json")
    assert ended.code == 5
    assert "ZeroDivisionError" in ended.err
    assert "this is a fault of voiceharness" in ended.err
    assert ended.json["error"] == {"type": "ZeroDivisionError", "message": "division by zero"}


def test_a_reader_that_has_had_enough_is_no_fault() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "voiceharness", "doctor"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, cwd=ROOT, check=False)
    os.close(writing)
    assert done.returncode == 141
    assert done.stderr == b""


@pytest.mark.parametrize("arguments", [["adapters"], ["adapters", "--json"]])
def test_an_output_that_takes_nothing_is_told_as_that(arguments: list[str]) -> None:
    full = Path("/dev/full")
    with full.open("wb") as output:
        ended = subprocess.run(
            [sys.executable, "-m", "voiceharness", *arguments], stdout=output, stderr=subprocess.PIPE, check=False
        )
    assert ended.stderr.decode() == "OptionError: cannot write to standard output: No space left on device\n"
    assert ended.returncode == 2


def test_an_interrupted_command_ends_as_one(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("voiceharness.cli.diagnosis.packages", interrupt)
    ended = cli("doctor")
    assert ended.code == 130
    assert ended.err.strip() == "interrupted"
