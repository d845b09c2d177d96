"""What the agent sends is heard once, whole and at 1x; a flush takes back what was not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.signal import fftconvolve

from tests.adapters.sound_card.simulated import Simulation
from voiceharness.agent import AgentCall
from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.resample import resample
from voiceharness.audio.signals import speech_like
from voiceharness.clock import LoopClock, run_virtual
from voiceharness.events import Flush, Mark, MarkPlayed
from voiceharness_adapters.sound_card.agent_media import AgentMedia
from voiceharness_adapters.sound_card.stream import Opening

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from numpy.typing import NDArray

    from voiceharness.events import UserItem

RATE = 8000
WORDS = speech_like(1.5, seed=3)


class Bench:
    """An agent's media on a simulated device that starts now."""

    def __init__(self) -> None:
        self.clock = LoopClock()
        self.stream = Simulation().open(Opening())
        self.media = AgentMedia(self.stream, RATE)
        self.got: list[tuple[float, UserItem]] = []
        door = AgentCall(self.clock, rate=RATE)
        door.listen(lambda item: self.got.append((self.clock.now_ns() / 1e9, item)))
        self.media.begin(door)
        self.stream.start(self._drain, lambda: None)

    def _drain(self) -> None:
        while (block := self.stream.take()) is not None:
            self.media.take(block)

    def marks(self) -> list[tuple[float, MarkPlayed]]:
        return [(at, item) for at, item in self.got if isinstance(item, MarkPlayed)]


def played(scene: Callable[[Bench], Awaitable[object]], seconds: float = 3.0) -> tuple[NDArray[np.int16], Bench]:
    """Run a scene and return what the device played, at 48 kHz."""

    async def run() -> tuple[NDArray[np.int16], Bench]:
        bench = Bench()
        await scene(bench)
        await bench.clock.sleep(seconds)
        bench.stream.close()
        return bench.stream.played, bench

    return run_virtual(run())


def lag_and_error(sound: NDArray[np.int16], truth: NDArray[np.int16]) -> tuple[int, float]:
    """Return where the truth lies in a sound, in samples, and the largest difference there."""
    there = sound[: 4 * 48000].astype(float)
    at = int(np.argmax(fftconvolve(there, truth[::-1].astype(float), "valid")))
    return at, float(np.abs(there[at : at + len(truth)] - truth).max())


@pytest.mark.parametrize("piece", [len(WORDS), 160, 100, 37])
def test_speech_is_played_whole_however_it_comes(piece: int) -> None:
    """In one burst, in frames, or in odd pieces that come a little ahead of time."""

    async def speak(bench: Bench) -> None:
        await bench.clock.sleep(0.5)
        for start in range(0, len(WORDS), piece):
            bench.media.send(AudioChunk.from_samples(WORDS[start : start + piece]))
            await bench.clock.sleep(0.8 * piece / RATE)

    sound, bench = played(speak)
    truth = resample(WORDS, RATE, 48000)[480:-480]
    at, error = lag_and_error(sound, truth)
    assert error < 200
    assert 0.5 < at / 48000 < 0.57
    assert not bench.media.health.doubts()


def test_end_of_a_sound_is_not_cut_off() -> None:
    async def click(bench: Bench) -> None:
        bench.media.send(AudioChunk.from_samples(np.append(np.zeros(150, np.int16), np.full(5, 9000, np.int16))))
        await bench.clock.sleep(0.5)

    sound, _ = played(click, 0.1)
    assert sound.max() > 6000


def test_flush_silences_what_was_put_ahead_and_answers_marks() -> None:
    async def interrupted(bench: Bench) -> None:
        bench.media.send(AudioChunk.from_samples(WORDS))
        bench.media.send(Mark("end"))
        await bench.clock.sleep(0.4)
        bench.media.send(Flush())
        await bench.clock.sleep(1.0)
        bench.media.send(AudioChunk.from_samples(WORDS[:800]))

    sound, bench = played(interrupted)
    assert [(round(at, 2), item) for at, item in bench.marks()] == [(0.4, MarkPlayed("end", True))]
    loud = np.flatnonzero(np.abs(sound.astype(np.int32)) > 100) / 48000
    assert not ((loud > 0.42) & (loud < 1.4)).any()
    assert ((loud > 1.4) & (loud < 1.6)).any()
    assert not bench.media.health.doubts()


def test_mark_is_answered_when_its_place_was_played() -> None:
    async def speak(bench: Bench) -> None:
        bench.media.send(AudioChunk.from_samples(WORDS))
        bench.media.send(Mark("end"))
        await bench.clock.sleep(0.0)

    _, bench = played(speak)
    ((at, item),) = bench.marks()
    assert item == MarkPlayed("end", False)
    assert at == pytest.approx(1.5, abs=0.07)


def test_what_the_device_loses_after_the_call_is_no_loss() -> None:
    """The harness judges the call before it lets go of the devices, and that keeps the loop."""
    judged = [False]

    async def lose(bench: Bench) -> None:
        bench.media.begin(AgentCall(bench.clock, rate=RATE), lambda: judged[0])
        for over in (False, True):
            judged[0] = over
            bench.media.send(AudioChunk.from_samples(WORDS[:1600]))
            bench.stream.take_back()  # what was put is lost
            await bench.clock.sleep(0.5)

    _, bench = played(lose, 0.1)
    assert bench.media.health.lost("starved") == pytest.approx(0.2 * 48000, abs=480)


def test_loop_that_comes_late_is_told() -> None:
    media_health = played(lambda bench: bench.clock.sleep(0.1))[1].media.health
    media_health.note_lateness(50_000_000)
    assert not media_health.doubts()
    media_health.note_lateness(250_000_000)
    assert media_health.doubts()[0].startswith("the event loop was up to 0.250 s late: the agent's end heard")
