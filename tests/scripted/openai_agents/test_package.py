"""The plug-in is asked for by importing it, and by nothing else."""

from __future__ import annotations

import subprocess
import sys

__all__: list[str] = []


def python(program: str) -> str:
    done = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_doubles_do_not_load_the_sdk() -> None:
    """Items 93 and 94."""
    modules = ", ".join(f"voiceharness.scripted.{name}" for name in ("transport", "model", "session", "wire.server"))
    assert (
        python(f"import sys, {modules}; print('agents' in sys.modules, 'websockets' in sys.modules)") == "False False"
    )


def test_a_missing_sdk_is_said_with_its_install_line() -> None:
    program = """
import sys
from voiceharness.errors import MissingExtraError
sys.modules["agents"] = None
try:
    import voiceharness.scripted.openai_agents
except MissingExtraError as error:
    print(error.install)
"""
    assert python(program) == 'pip install "voiceharness[agents]"'
