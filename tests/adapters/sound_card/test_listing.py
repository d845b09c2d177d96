"""Virtual cables are recognised, and the advice fits the system."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import pytest

from tests.adapters.sound_card.machines import needs_sound
from voiceharness.clock import run_real
from voiceharness.errors import DeviceError
from voiceharness_adapters.sound_card import pulse
from voiceharness_adapters.sound_card.listing import ListedDevice, advice, cable_kind, list_devices
from voiceharness_adapters.sound_card.pulse import PulseServer, private_server

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("name", "driver", "kind"),
    [
        ("BlackHole 2ch", "", "BlackHole"),
        ("CABLE Output (VB-Audio Virtual Cable)", "", "VB-CABLE"),
        ("CABLE-A Input", "", "VB-CABLE"),
        ("Loopback Audio", "", "Loopback"),
        ("office_u2a", "module-remap-sink.c", "cable of voiceharness"),
        ("office_line.monitor", "PipeWire", "cable of voiceharness"),
        ("auto_null", "module-null-sink.c", "null sink"),
        ("Dummy", "module-null-sink.c", "null sink"),
        ("MacBook Pro Microphone", "", ""),
        ("alsa_output.pci-0000_00_1f.3.analog-stereo", "module-alsa-card.c", ""),
    ],
)
def test_cables_are_known_by_name_or_driver(name: str, driver: str, kind: str) -> None:
    assert cable_kind(name, driver) == kind


def test_own_cables_are_advised_first() -> None:
    sink = ListedDevice("pulse:office_u2a", "PulseAudio", 0, 1, 48000, "cable of voiceharness")
    assert "--set cables=office;" in advice([sink], "linux")


@pytest.mark.parametrize(
    ("platform", "words"),
    [("linux", "create-cables"), ("darwin", "brew install blackhole"), ("win32", "VB-CABLE")],
)
def test_without_cables_the_steps_to_get_them_are_told(platform: str, words: str) -> None:
    assert words in advice([], platform)


@needs_sound
def test_a_server_that_was_named_and_does_not_answer_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match=r"nowhere.* refused get-default-sink"):
        run_real(list_devices(PulseServer(f"unix:{tmp_path}/nowhere")))


@needs_sound
def test_a_server_that_the_environment_names_is_named_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULSE_SERVER", f"unix:{tmp_path}/elsewhere")
    with pytest.raises(DeviceError, match=r"elsewhere refused get-default-sink"):
        run_real(list_devices(PulseServer()))


@needs_sound
@pytest.mark.realtime
def test_a_server_that_takes_connections_and_never_answers_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pulse, "_ANSWER_TIMEOUT", 0.3)
    with socket.socket(socket.AF_UNIX) as mute:
        mute.bind(f"{tmp_path}/mute")
        mute.listen()
        with pytest.raises(DeviceError, match=r"mute did not answer get-default-sink within 0.3 s"):
            run_real(list_devices(PulseServer(f"unix:{tmp_path}/mute")))


@pytest.mark.realtime
def test_a_private_server_that_does_not_hear_that_it_should_end_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deaf = tmp_path / "pulseaudio"
    deaf.write_text(
        f"#!/bin/sh\ntrap '' TERM\necho $$ > {tmp_path}/pid\necho 'Daemon startup complete' >&2\nexec sleep 60\n"
    )
    deaf.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(pulse, "_END_TIMEOUT", 0.3)

    async def come_and_go() -> int:
        async with private_server():
            return int((tmp_path / "pid").read_text())

    with pytest.raises(ProcessLookupError):
        os.kill(run_real(come_and_go()), 0)
