"""A folder with scenarios, and the command line run in it."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.report.calls import sound
from voiceharness.audio.wav import write_wav
from voiceharness.cli.supervision import run_command

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Cli"]

GREETING = """\
name: greeting
steps:
  - say: {file: hello.wav}
  - hear: {within: 1s}
"""

PLUGIN = """\
[voiceharness.adapters]
unreachable = tests.cli.agents:UnreachableAdapter
missing = tests.cli.nowhere:Nothing
turns = voiceharness_adapters.in_process:InProcessTurns
boastful = tests.matrix.adapters:Boastful

[voiceharness.hosts]
unreachable = voiceharness_adapters.in_process:host
boastful = voiceharness_adapters.in_process:host

[voiceharness.audits]
boastful = tests.matrix.adapters:Boastful
"""


@dataclass(frozen=True)
class Ended:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # Any: whatever was printed
        return json.loads(self.out)


@dataclass(frozen=True)
class Cli:
    """The command line in a folder of its own, with ``greeting.yaml``."""

    folder: Path
    capture: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str) -> Ended:
        code = run_command(arguments)
        printed = self.capture.readouterr()
        return Ended(code, printed.out, printed.err)

    def write(self, name: str, text: str) -> None:
        """Write a file into the folder."""
        (self.folder / name).write_text(text, encoding="utf-8")


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """The command line, in an empty folder with one scenario and a package of adapters beside it."""
    installed = tmp_path / "installed"
    package = installed / "vh_adapters_for_tests-1.0.dist-info"
    package.mkdir(parents=True)
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: vh-adapters-for-tests\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text(PLUGIN)
    monkeypatch.syspath_prepend(str(installed))
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "path", list(sys.path))  # `run` adds the working directory
    write_wav("hello.wav", sound(1.0).samples, 8000)
    made = Cli(folder, capsys)
    made.write("greeting.yaml", GREETING)
    return made
