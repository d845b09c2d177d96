"""A private server and its cables come and go without a trace."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.adapters.sound_card.machines import needs_sound, on_cables
from voiceharness.clock import run_real
from voiceharness.errors import DeviceError, OptionError
from voiceharness_adapters.sound_card.cables import Cables, create_cables, remove_cables
from voiceharness_adapters.sound_card.pulse import PulseServer, private_server


@needs_sound
def test_private_server_is_gone_afterwards_with_its_folder() -> None:
    async def visit() -> tuple[str, tuple[str, ...]]:
        async with private_server() as server:
            return server.address, await server.names("sinks")

    address, sinks = run_real(visit())
    assert sinks == ("auto_null",)[: len(sinks)]
    assert not Path(address.removeprefix("unix:")).parent.exists()


@needs_sound
def test_cables_are_made_once_and_taken_away_whole() -> None:
    async def cycle() -> None:
        async with on_cables("one", "two") as (one, _two):
            assert {one.line, one.to_agent, one.to_user} <= set(await one.server.names("sinks"))
            assert {one.monitor, one.agent_microphone} <= set(await one.server.names("sources"))
            with pytest.raises(DeviceError, match="there are cables 'one' already"):
                await create_cables(one)
            assert await remove_cables(one)
            assert not await remove_cables(one)
            assert not {name for name in await one.server.names("sinks") if name.startswith("one_")}
            assert "two_line" in await one.server.names("sinks")

    run_real(cycle())


@needs_sound
def test_server_that_is_not_there_is_told() -> None:
    nowhere = PulseServer("unix:/nonexistent/native")
    with pytest.raises(DeviceError, match=r"unix:/nonexistent/native refused .*pactl info"):
        run_real(nowhere.names("sinks"))


def test_missing_pulseaudio_is_told_with_its_packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", os.fspath(tmp_path))

    async def start() -> None:
        async with private_server():
            pass

    with pytest.raises(DeviceError, match=r"PulseAudio is not installed.*apt-get install pulseaudio"):
        run_real(start())


@pytest.mark.parametrize("name", ["", "two words", "9lives", "a=b"])
def test_names_that_a_sound_server_would_misread_are_refused(name: str) -> None:
    with pytest.raises(OptionError):
        Cables(name)
