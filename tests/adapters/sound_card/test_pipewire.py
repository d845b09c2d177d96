"""The same cables on PipeWire: made, recognised, measured, called over, and taken away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.adapters.sound_card.agents import agent
from tests.adapters.sound_card.machines import SHORT, opening, trusted
from tests.adapters.sound_card.pipewire import needs_pipewire, private_pipewire
from voiceharness.clock import run_real
from voiceharness.scenario.run import run_call
from voiceharness_adapters.sound_card import SoundCard
from voiceharness_adapters.sound_card.cables import Cables, create_cables, remove_cables, temporary_cables
from voiceharness_adapters.sound_card.host import serve_on
from voiceharness_adapters.sound_card.listing import advice, list_devices
from voiceharness_adapters.sound_card.measuring import measure_path
from voiceharness_adapters.sound_card.portaudio import PortAudio
from voiceharness_adapters.sound_card.session import Session

if TYPE_CHECKING:
    from voiceharness.scenario.result import CallResult


@needs_pipewire
def test_cables_are_made_recognised_measured_and_taken_away() -> None:
    async def visit() -> tuple[list[float], set[str]]:
        async with private_pipewire() as server:
            cables = Cables("desk", server)
            await create_cables(cables)
            listed = await list_devices(server)
            assert {d.name for d in listed if d.cable} >= {"pulse:desk_u2a", "pulse:desk_line.monitor"}
            assert {d.system for d in listed if d.name.startswith("pulse:desk")} == {"PipeWire"}
            assert "--set cables=desk" in advice(listed, "linux")
            delays = await measured(cables)
            assert await remove_cables(cables)
            assert not await remove_cables(cables)
            return delays, set(await server.names("sinks"))

    delays, sinks = run_real(visit())
    assert all(0.005 < delay < 0.5 for delay in delays)
    assert abs(delays[0] - delays[1]) < 0.001
    assert not {name for name in sinks if name.startswith("desk")}


async def measured(cables: Cables) -> list[float]:
    """Measure the path twice on one opening."""
    session = Session(PortAudio(), opening(cables))
    try:
        await session.open()
        return [(await measure_path(session, 0)).delay for _ in range(2)]
    finally:
        await session.close()


@needs_pipewire
def test_call_goes_over_pipewire() -> None:
    async def call() -> CallResult:
        async with (
            private_pipewire() as server,
            temporary_cables(Cables("desk", server)) as cables,
            serve_on(agent(), cables) as far_side,
        ):
            return await run_call(SHORT, SoundCard(cables.name, server=server.address, far_side=far_side))

    result = trusted(call)
    assert result.passed
    assert result.metrics is not None
    assert result.metrics.response_latency.n == 1
    assert result.facts["path_from"] == "the user's own words"
