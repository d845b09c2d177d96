"""Print what the signal code costs on this machine: best of several runs, one thread.

python tools/bench_audio.py
"""

from __future__ import annotations

import sys
import timeit
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from voiceharness.audio import g711
from voiceharness.audio.dtmf import DtmfDetector, detect
from voiceharness.audio.mix import add_noise
from voiceharness.audio.resample import Resampler
from voiceharness.audio.signals import white_noise
from voiceharness.audio.vad import Ear, find_segments
from voiceharness.audio.wav import read_wav

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

FIXTURES = Path(__file__).parent.parent / "fixtures_audio"
FRAME = 160


def best(work: Callable[[], object], number: int) -> float:
    """Seconds of one call, the best of five runs."""
    return min(timeit.repeat(work, number=number, repeat=5)) / number


def row(name: str, seconds: float, per: str) -> None:
    unit, scale = ("us", 1e6) if seconds < 1e-3 else ("ms", 1e3)
    print(f"{name:<58}{seconds * scale:9.2f} {unit}  {per}")


def call_track() -> NDArray[np.int16]:
    """18 s of one side of a call: five phrases with pauses, digitally silent between them."""
    track, position = np.zeros(18 * 8000, np.int16), 4000
    for name in ("user_hello", "user_book", "user_tuesday", "user_stop", "user_thanks"):
        clip = read_wav(FIXTURES / f"{name}.wav").samples
        track[position : position + len(clip)] = clip
        position += len(clip) + 8000
    return track


def in_frames(feed: Callable[[NDArray[np.int16]], object], track: NDArray[np.int16]) -> None:
    for start in range(0, len(track), FRAME):
        feed(track[start : start + FRAME])


def bench_g711(frame: bytes) -> None:
    for law in g711.LAWS:
        coded = g711.encode(frame, law)
        row(f"G.711 encode {law}", best(partial(g711.encode, frame, law), 20_000), "20 ms frame")
        row(f"G.711 decode {law}", best(partial(g711.decode, coded, law), 20_000), "20 ms frame")
    if sys.version_info < (3, 13):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            import audioop
        row(
            "  audioop lin2ulaw (508 of 65,536 values off)",
            best(lambda: audioop.lin2ulaw(frame, 2), 20_000),
            "20 ms frame",
        )
        coded = audioop.lin2ulaw(frame, 2)
        row("  audioop ulaw2lin", best(lambda: audioop.ulaw2lin(coded, 2), 20_000), "20 ms frame")


def bench_resampler() -> None:
    pairs = [(8000, 16_000), (16_000, 8000), (24_000, 8000), (8000, 24_000), (8000, 48_000), (48_000, 8000)]
    for source, target in [*pairs, (44_100, 8000), (8000, 44_100), (24_000, 48_000)]:
        resampler = Resampler(source, target)
        chunk = white_noise(0.02, source, level_db=-20, seed=1)
        row(f"resample {source} -> {target}", best(partial(resampler.push, chunk), 500), "20 ms chunk")


def bench_vad(track: NDArray[np.int16], noisy: NDArray[np.int16]) -> None:
    row("segments, digitally silent line", best(lambda: find_segments(track, 8000), 20), "18 s track")
    row("segments, noisy line (20 dB)", best(lambda: find_segments(noisy, 8000), 5), "18 s track")

    def asked_each_frame() -> None:
        ear = Ear(8000)

        def hear(frame: NDArray[np.int16]) -> None:
            ear.feed(frame)
            ear.segments()

        in_frames(hear, track)

    row("segments, fed and asked each 20 ms", best(asked_each_frame, 1) / 900, "20 ms frame")
    row("ear fed only", best(lambda: in_frames(Ear(8000).feed, track), 1) / 900, "20 ms frame")


def bench_dtmf(track: NDArray[np.int16]) -> None:
    row("keypad tones, whole track", best(lambda: detect(track), 3) / 900, "20 ms of audio")
    detector = DtmfDetector()
    row("keypad tones, streaming", best(lambda: in_frames(detector.push, track), 1) / 900, "20 ms frame")


def main() -> None:
    track = call_track()
    print(f"Python {sys.version.split()[0]}, numpy {np.__version__}")
    bench_g711(track[8000:8160].tobytes())
    bench_resampler()
    bench_vad(track, add_noise(track, 8000, snr_db=20, seed=1))
    bench_dtmf(track)


if __name__ == "__main__":
    main()
