"""A device has one user at a time, across processes."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from voiceharness.errors import DeviceError
from voiceharness_adapters.sound_card.lock import locked_devices

if TYPE_CHECKING:
    from pathlib import Path

HOLDER = """
import sys
from pathlib import Path
from voiceharness_adapters.sound_card.lock import locked_devices
with locked_devices(["output cable"], folder=Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_second_user_is_refused_and_told_who_has_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with (
            pytest.raises(DeviceError, match=f"output cable is in use by process {holder.pid}; end that call"),
            locked_devices(["input mic", "output cable"], folder=tmp_path),
        ):
            pass
        with locked_devices(["input mic"], folder=tmp_path):  # not held by the attempt that failed
            pass


def test_lock_is_free_after_its_holder_was_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        holder.kill()
    with locked_devices(["output cable"], folder=tmp_path):
        pass


def test_one_device_named_twice_is_no_conflict(tmp_path: Path) -> None:
    with locked_devices(["output cable", "output cable"], folder=tmp_path):
        pass
