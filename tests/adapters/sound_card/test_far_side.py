"""The agent's end of the cables: what goes wrong there is no fault of the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.adapters.sound_card.agents import agent, clip
from tests.adapters.sound_card.simulated import Faults, Simulation
from voiceharness.clock import run_virtual
from voiceharness.errors import LocalProtocolError
from voiceharness.scenario.run import run_call
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Say, Wait
from voiceharness_adapters.sound_card import Cables, SoundCard
from voiceharness_adapters.sound_card.far_side import FarSide

if TYPE_CHECKING:
    from pathlib import Path

    from voiceharness.scenario.result import CallResult

TALK = Scenario("talk", steps=(Wait(1.0), Say(audio=clip(1.0, 7)), Wait(2.0)))


@pytest.fixture(autouse=True)
def own_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep locks and stored delays of other tests out."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def called(agents_device: Simulation) -> CallResult:
    """Call an agent whose end is on a device of its own."""

    async def call() -> CallResult:
        far_side = FarSide(agent(), Cables("desk"), agents_device)
        try:
            await far_side.open()
            return await run_call(TALK, SoundCard("desk", far_side=far_side, system=Simulation()))
        finally:
            await far_side.close()

    return run_virtual(call())


def test_agents_end_that_keeps_up_gives_no_doubts() -> None:
    assert called(Simulation()).trust.trustworthy


def test_agents_end_that_fails_makes_the_run_untrustworthy() -> None:
    result = called(Simulation(faults=Faults(unplugged_at=3.0)))
    assert result.outcome == "harness_fault"
    assert "the agent's end of the sound card failed: " in result.explain()


def test_call_cannot_begin_before_the_devices_are_open() -> None:
    async def begin() -> None:
        with pytest.raises(LocalProtocolError, match="await open"):
            FarSide(agent(), Cables("desk"), Simulation()).call_begins()

    run_virtual(begin())
