"""The shell scripts that prepare a machine, on machines made of two or three fake commands."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

__all__: list[str] = []

pytestmark = pytest.mark.checkout

TOOLS = Path(__file__).parents[2] / "tools"
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder of commands: the only ones there are, apart from the shell's own."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("dirname", "sh"):
        command(folder, name, f'exec {shutil.which(name)} "$@"')
    command(folder, "id", "echo 1000")
    return folder


def command(machine: Path, name: str, script: str) -> None:
    file = machine / name
    file.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    file.chmod(0o755)


def run(machine: Path, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    line = ["/bin/sh", str(TOOLS / script), *arguments]
    return subprocess.run(line, env={"PATH": str(machine)}, capture_output=True, text=True, check=False)


def test_a_python_counts_only_if_it_runs(machine: Path) -> None:
    command(machine, f"python{VERSION}", "echo 'command not found' >&2; exit 127")
    command(machine, "python3", f'exec {sys.executable} "$@"')
    assert Path(run(machine, "find_python.sh", VERSION).stdout.strip()).samefile(sys.executable)


def test_a_python_of_another_version_is_not_taken(machine: Path) -> None:
    command(machine, "python3", f'exec {sys.executable} "$@"')
    done = run(machine, "find_python.sh", "3.99")
    assert (done.returncode, done.stdout) == (1, "")


def test_a_python_kept_by_a_version_manager_is_found(machine: Path, tmp_path: Path) -> None:
    kept = tmp_path / "versions" / f"{VERSION}.1" / "bin"
    kept.mkdir(parents=True)
    command(kept, "python", f'exec {sys.executable} "$@"')
    command(machine, "pyenv", f"echo {tmp_path}")
    assert Path(run(machine, "find_python.sh", VERSION).stdout.strip()).samefile(sys.executable)


def test_no_python_is_said_in_one_line(machine: Path, tmp_path: Path) -> None:
    done = run(machine, "make_venv.sh", "", str(tmp_path / "venv"))
    assert done.returncode == 1
    assert "PYTHON=/path/to/python" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_python_without_venv_is_said_in_one_line_where_nothing_may_be_installed(
    machine: Path, tmp_path: Path
) -> None:
    command(machine, "python3", f'case "$2" in *ensurepip*) exit 1;; esac; exec {sys.executable} "$@"')
    done = run(machine, "make_venv.sh", "python3", str(tmp_path / "venv"))
    assert done.returncode == 1
    assert (
        done.stderr
        == f"not installed: python{VERSION}-venv. On Debian, as root: apt-get install python{VERSION}-venv\n"
    )


def test_missing_packages_are_installed_by_root_and_present_ones_are_left(machine: Path, tmp_path: Path) -> None:
    log = tmp_path / "apt.log"
    command(machine, "id", "echo 0")
    command(machine, "dpkg-query", 'case "$4" in here) echo "install ok installed";; *) exit 1;; esac')
    command(machine, "apt-get", f'echo "$@" >> {log}')
    assert run(machine, "apt_install.sh", "here").returncode == 0
    assert not log.exists()

    assert run(machine, "apt_install.sh", "here", "missing").returncode == 0
    assert log.read_text(encoding="utf-8").splitlines()[-1].endswith(" missing")
    assert "here" not in log.read_text(encoding="utf-8")
