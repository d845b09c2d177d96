"""The chirp finds the path of a pair of devices, and says what it heard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.adapters.sound_card.simulated import Faults, Simulation
from voiceharness.clock import run_virtual
from voiceharness.errors import DeviceError, LocalProtocolError
from voiceharness_adapters.sound_card.measuring import chirp, measure_path
from voiceharness_adapters.sound_card.session import Session
from voiceharness_adapters.sound_card.stream import Opening

if TYPE_CHECKING:
    from pathlib import Path

    from voiceharness_adapters.sound_card.measuring import MeasuredPath


def measured(device: Simulation, folder: Path, *, channel: int = 0) -> tuple[MeasuredPath, list[float]]:
    """Measure a device, and return the levels that were told meanwhile."""
    levels = list[float]()

    async def measure() -> MeasuredPath:
        session = Session(device, Opening("mic", "speaker", 2), locks=folder)
        try:
            await session.open()
            return await measure_path(session, channel, on_level=levels.append)
        finally:
            await session.close()

    return run_virtual(measure()), levels


@pytest.mark.parametrize("delay", [0.0123, 0.0371, 0.160, 0.290])
def test_delay_is_found_within_a_millisecond(delay: float, tmp_path: Path) -> None:
    """Case B45."""
    path, _ = measured(Simulation((delay,)), tmp_path)
    assert path.delay == pytest.approx(delay, abs=0.0005)
    assert path.likeness > 0.8


def test_level_is_told_for_every_block_while_it_listens(tmp_path: Path) -> None:
    path, levels = measured(Simulation((0.1,)), tmp_path)
    assert len(levels) > 80
    assert levels[0] == -96.0
    assert max(levels) == pytest.approx(-15.3, abs=0.5)
    assert path.level_db == pytest.approx(-19.5, abs=0.2)


def test_chirp_that_is_not_heard_is_told_with_what_to_try(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match=r"chirp played on speaker -> mic was not heard there; see that .*muted"):
        measured(Simulation((5.0,)), tmp_path)


def test_device_that_stops_meanwhile_is_told(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match="speaker -> mic stopped while it was measured"):
        measured(Simulation(faults=Faults(frozen_at=0.3)), tmp_path)


def test_closed_session_is_refused() -> None:
    async def measure() -> None:
        with pytest.raises(LocalProtocolError, match="open the session first"):
            await measure_path(Session(Simulation(), Opening()), 0)

    run_virtual(measure())


def test_chirp_fits_a_telephone_line_and_begins_and_ends_softly() -> None:
    sound = chirp().astype(float)
    assert len(sound) == 1600
    assert abs(sound[0]) < 1
    assert abs(sound[-1]) < 1
    power = np.abs(np.fft.rfft(sound)) ** 2
    frequencies = np.fft.rfftfreq(len(sound), 1 / 8000)
    outside = power[(frequencies < 300) | (frequencies > 3400)].sum()
    assert outside / power.sum() < 0.001
