"""The example package of an adapter: built, installed beside voiceharness in an empty environment, and used there."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

__all__: list[str] = []

pytestmark = [pytest.mark.checkout, pytest.mark.realtime]

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "third_party_adapter"

AGENT = """\
from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.signals import speech_like
from voiceharness.testing import TurnTakingAgent


def agent():
    return TurnTakingAgent([AudioChunk.from_samples(speech_like(1.0, seed=1))])
"""

SCENARIO = """\
name: an answer over the socket
steps:
  - say: {file: hello.wav}
  - hear: {within: 2s}
"""

HELLO = """\
from voiceharness.audio.signals import speech_like
from voiceharness.audio.wav import write_wav
write_wav("hello.wav", speech_like(0.6, seed=2), 8000)
"""


@dataclass(frozen=True)
class Environment:
    """A virtual environment, and a folder to work in."""

    home: Path
    folder: Path

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run Python there, away from the checkout."""
        command = [str(self.home / "bin" / "python"), *arguments]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=100, check=False)

    def voiceharness(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the command line that was installed."""
        return self.python("-m", "voiceharness", *arguments)

    def adapters(self) -> dict[str, dict[str, Any]]:
        """What is listed there, by name."""
        entries = json.loads(self.voiceharness("adapters", "--json").stdout)["adapters"]
        return {entry["name"]: entry for entry in entries}

    def offer(self, package: str, entry_points: str) -> Path:
        """Install a package that has nothing but entry points."""
        site = Path(self.python("-c", "import sysconfig; print(sysconfig.get_path('purelib'))").stdout.strip())
        info = site / f"{package}-0.1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.1\n")
        (info / "entry_points.txt").write_text(f"[voiceharness.adapters]\n{entry_points}\n")
        return info


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with the wheels of voiceharness and of the example, and nothing of the checkout."""
    home, folder = tmp_path_factory.mktemp("environment"), tmp_path_factory.mktemp("work")
    venv.create(home, with_pip=True)
    made = Environment(home, folder)
    wheels = tmp_path_factory.mktemp("wheels")
    pip = ("-m", "pip", "--quiet", "--disable-pip-version-check")
    built = made.python(*pip, "wheel", "--no-deps", "--wheel-dir", str(wheels), str(ROOT), str(EXAMPLE))
    assert built.returncode == 0, built.stderr
    installed = made.python(*pip, "install", *map(str, wheels.glob("*.whl")))
    assert installed.returncode == 0, installed.stderr
    return made


def test_it_is_listed_with_its_package_and_described(environment: Environment) -> None:
    entry = environment.adapters()["pcm_socket"]
    assert (entry["source"], entry["broken"]) == ("voiceharness-pcm-socket 1.0", False)
    assert (
        "  port (int; required): the agent's TCP port"
        in environment.voiceharness("adapters", "show", "pcm_socket").stdout
    )


def test_it_keeps_the_contract_as_installed(environment: Environment) -> None:
    checked = environment.voiceharness("adapters", "check", "pcm_socket", "--calls", "5")
    assert "0 broken" in checked.stdout, checked.stdout + checked.stderr
    assert checked.returncode == 0


def test_a_scenario_is_run_over_it_unchanged(environment: Environment) -> None:
    (environment.folder / "mine.py").write_text(AGENT)
    (environment.folder / "call.yaml").write_text(SCENARIO)
    environment.python("-c", HELLO)
    ended = environment.voiceharness("run", "call.yaml", "--adapter", "pcm_socket", "--agent", "mine:agent")
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_what_it_declares_is_demonstrated(environment: Environment) -> None:
    cells = "rate:48000", "flush", "marks"
    ended = environment.voiceharness("matrix", "--json", *(f"--only=pcm_socket:{cell}" for cell in cells))
    (entry,) = json.loads(ended.stdout)["adapters"]
    assert {cell["capability"]: cell["verdict"] for cell in entry["cells"]} == dict.fromkeys(cells, "demonstrated")


def test_a_broken_package_is_named_and_breaks_nothing_else(environment: Environment) -> None:
    info = environment.offer("broken_pack", "shaky = nowhere_at_all:Adapter")
    try:
        entries = environment.adapters()
        assert entries["shaky"]["broken"] is True
        assert "broken_pack 0.1 cannot be loaded (nowhere_at_all:Adapter)" in entries["shaky"]["about"]
        assert entries["pcm_socket"]["broken"] is False
    finally:
        _remove(info)


def test_the_same_name_twice_is_an_error_that_names_both_and_leaves_others_alone(environment: Environment) -> None:
    info = environment.offer("rival_pack", "pcm_socket = voiceharness_pcm_socket.adapter:PcmSocket")
    try:
        shown = environment.voiceharness("adapters", "show", "pcm_socket")
        assert shown.returncode == 2
        assert "offered twice, by rival_pack 0.1" in shown.stderr
        assert "and voiceharness-pcm-socket 1.0" in shown.stderr
        assert environment.voiceharness("adapters", "show", "in_process").returncode == 0
    finally:
        _remove(info)


def _remove(info: Path) -> None:
    for file in info.iterdir():
        file.unlink()
    info.rmdir()


def test_the_packages_own_tests_pass() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "pyproject.toml", "tests"]
    environ = {"PYTHONPATH": str(EXAMPLE), "PYTHONDONTWRITEBYTECODE": "1", "PATH": ""}
    ended = subprocess.run(command, cwd=EXAMPLE, env=environ, capture_output=True, text=True, timeout=100, check=False)
    assert "3 passed" in ended.stdout, ended.stdout + ended.stderr
