"""Measured delays are kept for each pair of devices, with their date."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from voiceharness.errors import DeviceError
from voiceharness_adapters.sound_card.store import measured_delay, remember_delay, store_file

if TYPE_CHECKING:
    from pathlib import Path


def test_each_pair_has_its_own_delay(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "devices.json"
    remember_delay("a -> b", 0.05, file=file)
    remember_delay("c -> d", 0.06, file=file)
    remember_delay("a -> b", 0.07, file=file)
    kept = measured_delay("a -> b", file=file)
    assert kept is not None
    assert kept.delay == 0.07
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", kept.date)
    assert measured_delay("a -> d", file=file) is None


def test_damaged_file_is_told(tmp_path: Path) -> None:
    file = tmp_path / "devices.json"
    file.write_text("{")
    with pytest.raises(DeviceError, match=r"devices\.json is not what was stored there .*delete it"):
        measured_delay("a -> b", file=file)


def test_file_follows_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert store_file() == tmp_path / "voiceharness" / "devices.json"
