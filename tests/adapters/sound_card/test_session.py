"""Opening, running and closing a pair of devices, whatever they do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.adapters.sound_card.simulated import Faults, Simulation
from voiceharness.clock import LoopClock, run_virtual
from voiceharness.errors import CallDroppedError, CallError, DeviceError
from voiceharness_adapters.sound_card.session import Session
from voiceharness_adapters.sound_card.stream import Opening

if TYPE_CHECKING:
    from pathlib import Path


def opened(device: Simulation, folder: Path, seconds: float = 3.0) -> list[CallError]:
    """Open a device, let it run, close it, and return what failed meanwhile."""
    failures = list[CallError]()

    async def use() -> None:
        session = Session(device, Opening("mic", "speaker"), locks=folder)
        session.on_failure = failures.append
        try:
            await session.open()
            await LoopClock().sleep(seconds)
        finally:
            await session.close()

    run_virtual(use())
    return failures


@pytest.mark.parametrize("stillborn", [0, 1, 2])
def test_stream_that_ends_before_it_runs_is_opened_again(stillborn: int, tmp_path: Path) -> None:
    device = Simulation(faults=Faults(stillborn=stillborn))
    assert opened(device, tmp_path) == []
    assert len(device.streams) == stillborn + 1
    assert all(stream.closed for stream in device.streams)


def test_device_that_never_runs_is_told(tmp_path: Path) -> None:
    device = Simulation(faults=Faults(stillborn=9))
    with pytest.raises(DeviceError, match=r"speaker -> mic was opened 3 times and stopped each time .*latency_ms"):
        opened(device, tmp_path)
    assert all(stream.closed for stream in device.streams)


def test_stream_that_ends_later_is_not_opened_again(tmp_path: Path) -> None:
    device = Simulation(faults=Faults(unplugged_at=1.0))
    (failure,) = opened(device, tmp_path)
    assert isinstance(failure, CallDroppedError)
    assert len(device.streams) == 1


def test_session_that_was_closed_is_not_opened(tmp_path: Path) -> None:
    async def close_first() -> None:
        session = Session(Simulation(), Opening(), locks=tmp_path)
        await session.close()
        with pytest.raises(CallDroppedError, match="ended while its devices were being opened"):
            await session.open()
        await session.close()

    run_virtual(close_first())
