"""Real devices without hardware: what is played comes back bit for bit, and everything is given back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.adapters.sound_card.machines import ATTEMPTS, Recorder, needs_sound, on_cables, opening
from voiceharness.clock import LoopClock, run_real
from voiceharness.errors import DeviceError
from voiceharness.testing.residue import Residue
from voiceharness_adapters.sound_card.measuring import measure_path
from voiceharness_adapters.sound_card.portaudio import PortAudio
from voiceharness_adapters.sound_card.session import Session
from voiceharness_adapters.sound_card.stream import Opening

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voiceharness_adapters.sound_card.cables import Cables

RATE = 48000
SECONDS = 6


def noise(seconds: float, seed: int) -> NDArray[np.int16]:
    return np.random.default_rng(seed).integers(-9000, 9000, round(seconds * RATE)).astype(np.int16)


def mismatches(played: NDArray[np.int16], captured: NDArray[np.int16]) -> tuple[int, int]:
    """Return how many samples differ after the first second, and how many samples late they came."""
    template, start = played[RATE : RATE + 2400].astype(float), RATE
    delay = int(np.argmax(np.correlate(captured[start : start + RATE // 2].astype(float), template, "valid")))
    count = min(len(played), len(captured) - delay)
    return int(np.count_nonzero(played[RATE:count] != captured[RATE + delay : count + delay])), delay


@needs_sound
def test_loopback_is_bit_exact_and_the_other_channel_is_silent() -> None:
    async def loop_back() -> tuple[int, int]:
        async with on_cables("exact") as (cables,):
            session = Session(PortAudio(), opening(cables))
            try:
                stream = await session.open()
                recorder = Recorder(stream, noise(SECONDS, 1), SECONDS + 0.5)
                session.on_block = recorder.take
                await recorder.done.wait()
            finally:
                await session.close()
            captured = recorder.captured
            return mismatches(noise(SECONDS, 1), captured[:, 0])[0], int(np.abs(captured[:, 1]).max())

    results = [run_real(loop_back())]
    while results[-1][0] and len(results) < ATTEMPTS:
        results.append(run_real(loop_back()))
    assert results[-1] == (0, 0), results


@needs_sound
def test_measured_path_is_the_true_one_within_a_millisecond() -> None:
    async def compare() -> float:
        async with on_cables("path") as (cables,):
            session = Session(PortAudio(), opening(cables))
            try:
                stream = await session.open()
                measured = await measure_path(session, 0)
                recorder = Recorder(stream, noise(2, 2), 3)
                session.on_block = recorder.take
                await recorder.done.wait()
            finally:
                await session.close()
            true = mismatches(noise(2, 2), recorder.captured[:, 0])[1] / RATE
            return abs(measured.delay - true) * 1000

    errors = [run_real(compare())]
    while errors[-1] > 1.0 and len(errors) < ATTEMPTS:
        errors.append(run_real(compare()))
    assert errors[-1] <= 1.0, errors


@needs_sound
def test_twenty_openings_leave_nothing_behind() -> None:
    async def open_and_close(cables: Cables) -> None:
        session = Session(PortAudio(), opening(cables))
        try:
            await session.open()
        finally:
            await session.close()

    async def many() -> object:
        async with on_cables("cycles") as (cables,):
            await open_and_close(cables)  # what the libraries keep from the first time on is no residue
            before = Residue.now()
            for _ in range(20):
                await open_and_close(cables)
            return await before.since(LoopClock(), patience=5.0)

    assert not run_real(many())


@needs_sound
def test_server_that_ends_under_a_stream_is_noticed() -> None:
    async def vanish() -> Exception:
        failed: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()
        async with on_cables("vanish") as (cables,):
            session = Session(PortAudio(), opening(cables))
            session.on_failure = failed.set_result
            await session.open()
        try:
            return await failed
        finally:
            await session.close()

    assert "unplugged" in str(run_real(vanish()))


@needs_sound
def test_missing_sink_is_told_with_what_there_is() -> None:
    async def open_nothing() -> None:
        async with on_cables("there") as (cables,):
            wrong = Opening("pulse:nowhere", f"pulse:{cables.to_agent}", rate=RATE, server=cables.server.address)
            session = Session(PortAudio(), wrong)
            try:
                await session.open()
            finally:
                await session.close()

    with pytest.raises(
        DeviceError, match=r"pulse:nowhere could not be opened at 48000 Hz.*there are inputs:.*see that"
    ):
        run_real(open_nothing())


@needs_sound
def test_unknown_device_is_told_with_what_there_is() -> None:
    with pytest.raises(DeviceError, match=r"no input device 'Nonesuch'; there are: .*voiceharness devices"):
        PortAudio().open(Opening(output="Nonesuch", input="Nonesuch"))
