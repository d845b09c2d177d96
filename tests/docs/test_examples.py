"""Every example passes against the demo's agent, as its first lines say."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from voiceharness.cli.supervision import run_command
from voiceharness.demo.agent import AppointmentLine
from voiceharness.registry.target import Target
from voiceharness.scenario.yaml_file import load_scenarios

__all__: list[str] = []

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = sorted(EXAMPLES.glob("*.yaml"))

pytestmark = pytest.mark.checkout


@pytest.fixture(scope="module")
def line() -> AppointmentLine:
    return AppointmentLine()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_example_passes(file: Path, line: AppointmentLine) -> None:
    results = [Target(agent=line).call(scenario) for scenario in load_scenarios(file)]
    assert [result.explain() for result in results if not result.passed] == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_example_says_how_it_is_run(file: Path) -> None:
    assert f"run examples/{file.name} --agent voiceharness.demo.agent:AppointmentLine" in file.read_text("utf-8")


def test_the_suite_among_the_examples_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = EXAMPLES / "suite" / "nightly.yaml"
    assert f"run examples/suite/{file.name} --out heard" in file.read_text("utf-8")
    code = run_command(["run", str(file), "--out", str(tmp_path), "--pages", "none"])
    printed = capsys.readouterr().out
    assert code == 0, printed
    assert "limit broken" not in printed


def test_the_tests_among_the_examples_pass(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "pytest", tmp_path / "pytest")
    agent = "--voiceharness-agent=voiceharness.demo.agent:AppointmentLine"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", agent, "pytest"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert re.search(r"^6 passed", done.stdout, re.MULTILINE), done.stdout
