"""Clicks where chunks meet, and chunks that meet well."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.measure.calls import Call, spoken
from tests.measure.verdicts import kinds, only

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

SPOKEN = ("agent_greeting", "agent_menu", "agent_offer", "agent_goodbye")


def chunked(name: str, damage: Callable[[NDArray[np.int16], int], object] = lambda chunk, index: None) -> Call:
    """Speech in frames of 20 ms, each damaged in some way."""
    sound = spoken(name)
    call = Call(1 + len(sound) / 8000)
    for index, start in enumerate(range(0, len(sound), 160)):
        frame = sound[start : start + 160].copy()
        damage(frame, index)
        call.agent(0, frame)
    return call


def step(frame: NDArray[np.int16], index: int) -> None:
    frame += np.int16(1500 if index % 2 else -1500)


def stray_header(frame: NDArray[np.int16], index: int) -> None:
    frame[:22] = np.random.default_rng(1).integers(-20000, 20000, len(frame[:22]))


def spike(frame: NDArray[np.int16], index: int) -> None:
    frame[:2] = 6000


@pytest.mark.parametrize("damage", [step, stray_header, spike])
def test_clicks_where_chunks_meet_are_found(damage: Callable[[NDArray[np.int16], int], object]) -> None:
    finding = only(chunked("agent_goodbye", damage), "clicks_at_seams")
    assert finding.figure > 50
    assert finding.unit == "clicks"


@pytest.mark.parametrize("name", SPOKEN)
def test_chunks_that_meet_well_have_no_fault(name: str) -> None:
    assert kinds(chunked(name)) == []
