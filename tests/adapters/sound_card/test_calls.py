"""Calls over real virtual cables; the truth is what another program recorded of the cables."""

from __future__ import annotations

import asyncio
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.adapters.sound_card.agents import agent, clip
from tests.adapters.sound_card.machines import SHORT, listening, needs_sound, on_cables, trusted
from voiceharness.clock import run_real
from voiceharness.scenario.run import run_call
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Hear, Interrupt, Say
from voiceharness.scenario.triggers import AfterSeconds
from voiceharness.testing import check_adapter
from voiceharness.testing.rules.life import CANNOT_TELL
from voiceharness_adapters.sound_card import SoundCard, host
from voiceharness_adapters.sound_card.host import serve_on

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from numpy.typing import NDArray

    from voiceharness.scenario.result import CallResult
    from voiceharness_adapters.sound_card.cables import Cables

TALK = Scenario(
    "talk",
    steps=(
        Hear(),
        Say(audio=clip(1.0, 7)),
        Hear(),
        Say(audio=clip(1.0, 8)),
        Interrupt(audio=clip(1.0, 9), after=AfterSeconds(0.7)),
        Hear(),
    ),
)


def spans(track: NDArray[np.int16]) -> list[tuple[float, float]]:
    """Return onset and offset of every utterance on a cable, in seconds."""
    loud = np.flatnonzero(np.abs(track.astype(np.int32)) > 40) / 48000
    breaks = np.flatnonzero(np.diff(loud) > 0.25)
    return list(zip(loud[np.append(0, breaks + 1)], loud[np.append(breaks, -1)], strict=True))


@needs_sound
def test_latencies_are_those_on_the_cable() -> None:
    """Response latency within 10 ms of the truth, stop latency within 20 ms, by another program's recording."""
    truths: list[NDArray[np.int16]] = []

    async def call() -> CallResult:
        async with (
            on_cables("truth") as (cables,),
            listening(cables) as recorded,
            serve_on(agent(), cables) as far_side,
        ):
            adapter = SoundCard(cables.name, server=cables.server.address, far_side=far_side)
            result = await run_call(TALK, adapter)
            truths.append(await recorded)
        return result

    result = trusted(call)
    assert result.metrics is not None
    user, heard = (spans(truths[-1][:, channel]) for channel in (0, 1))
    user = user[-3:]  # before them came the chirp
    for exchange, (_, offset) in zip(result.metrics.exchanges, user, strict=True):
        truth = min(onset - offset for onset, _ in heard if onset > offset)
        assert exchange.latency is not None
        assert abs(exchange.latency - truth) < 0.010
    barge_in = result.metrics.barge_ins[0]
    truth = next(offset for onset, offset in heard if onset < user[2][0] < offset) - user[2][0]
    assert barge_in.stop_latency is not None
    assert abs(barge_in.stop_latency - truth) < 0.020
    assert result.facts["path_ms"] is not None


@asynccontextmanager
async def other_process(cables: Cables) -> AsyncIterator[asyncio.subprocess.Process]:
    """Serve the agent in a process of its own; it answers at once."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "voiceharness", "devices", "serve", "tests.adapters.sound_card.agents:agent"),
        *("--cables", cables.name, "--server", cables.server.address),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert await process.stdout.readline() == b"ready\n"
        process.stdin.write(b"answer\n")
        yield process
    finally:
        process.stdin.close()
        await process.wait()


@needs_sound
def test_agent_in_another_process_is_called_without_any_chirp() -> None:
    codes: list[int | None] = []

    async def call() -> CallResult:
        async with on_cables("apart") as (cables,):
            async with other_process(cables) as process:
                result = await run_call(SHORT, SoundCard(cables.name, server=cables.server.address))
            codes.append(process.returncode)
        return result

    result = trusted(call)
    assert codes[-1] == 0
    assert result.facts["path_from"] == "the user's own words"
    assert result.metrics is not None
    assert result.metrics.response_latency.n == 1


@needs_sound
def test_two_calls_at_once_hear_their_own_agents() -> None:
    async def call() -> CallResult:
        async with on_cables("one", "two") as pairs:
            results = await asyncio.gather(*(one_of(cables) for cables in pairs))
        return next((result for result in results if not result.trust.trustworthy), results[0])

    async def one_of(cables: Cables) -> CallResult:
        async with serve_on(agent(), cables) as far_side:
            options: dict[str, Any] = {"server": cables.server.address, "far_side": far_side}
            return await run_call(SHORT, SoundCard(cables.name, **options))

    result = trusted(call)
    assert result.metrics is not None
    assert result.metrics.response_latency.n == 1


@needs_sound
def test_adapter_keeps_the_rules_of_the_contract() -> None:
    """All but those that are about what no sound card has, each for its reason in the kit's own words."""
    assert run_real(check_adapter(SoundCard, host, calls=3)) == {
        "send_audio() takes what it is given, and never paces": "the transport keeps time, and is sent nothing",
        "audio that is lost on purpose takes nothing else with it": "the transport keeps time, and is sent nothing",
        "the end of the call is told, after all that came before it": CANNOT_TELL,
        "a failure of the agent ends the wait for it": CANNOT_TELL,
        "a call that the agent places is a call like any other": "it cannot be dialled",
    }
