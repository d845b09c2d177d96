"""``voiceharness devices``: lists, tests and makes what calls over the sound card need."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.adapters.sound_card.machines import ATTEMPTS, needs_sound
from voiceharness.cli.devices import Meter

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli

COMMAND = (sys.executable, "-m", "voiceharness", "devices")


def with_cables(*arguments: str, state: Path) -> subprocess.CompletedProcess[str]:
    """Run ``devices ARGUMENTS`` on private cables called ``desk``."""
    return subprocess.run(
        [*COMMAND, "create-cables", "--private", "desk", "--", *COMMAND, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "XDG_STATE_HOME": str(state), "PYTHONWARNINGS": "error"},
    )


@needs_sound
def test_cables_are_listed_and_recommended(tmp_path: Path) -> None:
    listed = with_cables("--json", state=tmp_path)
    document: Any = json.loads(listed.stdout)
    cables = {device["name"]: device for device in document["devices"] if device["cable"]}
    assert cables["pulse:desk_u2a"]["outputs"] == 1
    assert cables["pulse:desk_line.monitor"] | {"inputs": 2, "rate": 48000} == cables["pulse:desk_line.monitor"]
    assert "--set cables=desk" in document["advice"]


@needs_sound
def test_delay_is_measured_and_kept(tmp_path: Path) -> None:
    for _ in range(ATTEMPTS):
        tested = with_cables("test", "--cables", "desk", "--json", state=tmp_path)
        if not tested.returncode:
            break
    document: Any = json.loads(tested.stdout)
    assert 0.005 < document["delay"] < 0.5
    kept: Any = json.loads((tmp_path / "voiceharness" / "devices.json").read_text())
    assert kept[document["pair"]]["delay"] == document["delay"]


def test_meter_shows_the_level_as_a_bar_and_nothing_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    for live in (True, False):
        meter = Meter(live=live)
        meter.show(-30.0)
        meter.show(-96.0)
        meter.clear()
    shown = capsys.readouterr().err
    assert shown == f"\r{'#' * 20:40}  -30.0 dB \r{'':40}  -96.0 dB \n"


@needs_sound
def test_private_cables_return_the_commands_code(tmp_path: Path) -> None:
    assert with_cables("test", "--output", "Nonesuch", state=tmp_path).returncode == 3


@needs_sound
def test_missing_server_is_told(cli: Cli) -> None:
    ended = cli("devices", "create-cables", "--server", "unix:/nonexistent")
    assert ended.code == 3
    assert "pactl info" in ended.err


@pytest.mark.parametrize(("platform", "words"), [("darwin", "blackhole-2ch"), ("win32", "VB-CABLE")])
def test_steps_are_told_where_cables_cannot_be_made(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, platform: str, words: str
) -> None:
    monkeypatch.setattr("sys.platform", platform)
    ended = cli("devices", "create-cables")
    assert ended.code == 4
    assert words in ended.out


def test_private_cables_need_a_command(cli: Cli) -> None:
    assert cli("devices", "create-cables", "--private").code == 2
    assert cli("devices", "create-cables", "desk", "true").code == 2
