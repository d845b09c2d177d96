"""The ear: segments, bursts, noise, growth in pieces, truncation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import webrtcvad
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.audio.signals import placed, white
from voiceharness.audio import g711
from voiceharness.audio.signals import tone
from voiceharness.audio.vad import RATES, Ear, Span, find_segments
from voiceharness.errors import AudioError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def close_to(spans: list[Span], *expected: tuple[int, int], within: int = 2) -> bool:
    pairs = list(zip(spans, expected, strict=True))
    return all(abs(got.onset - on) <= within and abs(got.offset - off) <= within for got, (on, off) in pairs)


def busy_track() -> NDArray[np.int16]:
    """12 s: tones, clicks, a noisy stretch with bursts in it, a long loud tone, silence."""
    noisy = white(4.3, -45)
    for start in (6000, 14000, 21000):
        noisy[start : start + 3000] += white(0.375, -18, seed=start)
    return placed(
        12 * 8000,
        (1003, tone(440, 0.4)),
        (5000, np.full(3, 12000, np.int16)),
        (9001, noisy),
        (46000, tone(700, 2.9)),
        (71234, white(0.3, -30)),
        (80000, tone(300, 0.1, level_db=-40)),
        (90001, tone(880, 0.7)),
    )


BUSY = busy_track()


@pytest.mark.parametrize("rate", RATES)
def test_tones_on_a_clean_line_are_found_where_they_are(rate: int) -> None:
    ms = rate // 1000
    track = placed(3 * rate, (500 * ms, tone(440, 0.5, rate)), (2000 * ms, tone(880, 0.25, rate)))
    found = find_segments(track, rate)
    assert close_to(found, (500 * ms, 1000 * ms), (2000 * ms, 2250 * ms), within=ms // 4)


@pytest.mark.parametrize("law", ["mulaw", "alaw"])
def test_codec_silence_is_silence(law: g711.Law) -> None:
    track = placed(16000, (4000, tone(440, 0.5)))
    coded = np.frombuffer(g711.decode(g711.encode(track.tobytes(), law), law), "<i2")
    assert close_to(find_segments(coded, 8000), (4000, 8000))
    assert find_segments(np.frombuffer(g711.decode(g711.silence(law, 16000), law), "<i2"), 8000) == []


def test_short_pause_joins_and_long_pause_splits() -> None:
    track = placed(24000, (2000, tone(440, 0.25)), (5000, tone(440, 0.25)), (9000, tone(440, 0.25)))
    assert close_to(find_segments(track, 8000), (2000, 7000), (9000, 11000))
    assert close_to(find_segments(track, 8000, merge_gap=0.3), (2000, 11000))
    assert close_to(find_segments(track, 8000, merge_gap=0.05), (2000, 4000), (5000, 7000), (9000, 11000))


def test_residual_burst_is_hidden_by_merging_but_counted_as_burst() -> None:
    """Case A05."""
    ear = Ear(8000)
    ear.feed(placed(20000, (0, tone(440, 1.7)), (14400, tone(440, 0.06))))
    assert close_to(ear.segments(), (0, 14880))
    assert close_to(ear.bursts(), (0, 13600), (14400, 14880))
    assert close_to(ear.bursts(since=13800), (14400, 14880))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize(("hz", "level_db"), [(440, -6), (440, -30), (1000, -40), (300, -25)])
def test_long_tone_is_sound(rate: int, hz: float, level_db: float) -> None:
    track = placed(6 * rate, (rate // 2, tone(hz, 4.5, rate, level_db=level_db)))
    assert close_to(find_segments(track, rate), (rate // 2, 5 * rate), within=rate // 1000)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("noise_db", [-57, -50, -40, -30])
def test_line_noise_alone_is_not_sound(noise_db: float, rate: int) -> None:
    assert find_segments(white(12, noise_db, rate), rate) == []


def test_noise_that_starts_later_is_not_sound() -> None:
    assert find_segments(placed(80000, (3456, white(8, -45))), 8000) == []


def test_voice_like_bursts_are_found_in_line_noise() -> None:
    track = white(8, -45)
    times = np.arange(8000) / 8000
    voice = sum(np.sin(2 * np.pi * 120 * k * times) / k for k in range(1, 25)) * (1 + np.sin(2 * np.pi * 4 * times))
    track[24000:32000] += (2500 * voice).astype(np.int16)
    (found,) = find_segments(track, 8000, merge_gap=0.5)
    assert found.onset == pytest.approx(24000, abs=800)
    assert found.offset == pytest.approx(32000, abs=1600)


def test_rest_of_a_noisy_stretch_is_heard_as_its_blocks_were() -> None:
    ear = Ear(8000)
    ear.feed(white(3.9, -45))
    ear.feed(white(0.003, -45))
    assert ear.segments() == []


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 20000), max_size=30), st.integers(0, 3))
def test_answers_do_not_depend_on_chunk_sizes(sizes: list[int], ask_every: int) -> None:
    ear, position = Ear(8000), 0
    for index, size in enumerate([*sizes, len(BUSY)]):
        ear.feed(BUSY[position : position + size])
        position += size
        if ask_every and index % ask_every == 0:
            assert ear.segments() == find_segments(BUSY[:position], 8000)
    assert ear.segments() == find_segments(BUSY, 8000)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, len(BUSY)), st.integers(0, len(BUSY)), st.booleans())
def test_truncating_forgets_what_lay_beyond(fed: int, cut: int, asked: bool) -> None:
    ear, cut = Ear(8000), min(cut, fed)
    ear.feed(BUSY[:fed])
    if asked:
        ear.segments()
    ear.truncate(cut)
    assert ear.position == cut
    assert ear.segments() == find_segments(BUSY[:cut], 8000)
    ear.feed(BUSY[::-1])
    assert ear.segments() == find_segments(np.concatenate((BUSY[:cut], BUSY[::-1])), 8000)


def test_fed_silence_equals_fed_zeros() -> None:
    one, other = Ear(8000), Ear(8000)
    for ear, silence in ((one, one.feed_silence), (other, lambda count: other.feed(np.zeros(count, np.int16)))):
        ear.feed(tone(440, 0.31))
        silence(4321)
        ear.feed(tone(440, 0.31))
        silence(50000)
    assert one.segments() == other.segments()
    assert one.position == other.position


def test_a_settled_segment_never_changes() -> None:
    ear = Ear(8000)
    ear.feed(placed(8000, (1000, tone(440, 0.5, level_db=-30))))
    before = ear.segments()
    ear.feed(tone(440, 1.0, level_db=-3))
    assert ear.segments()[0] == before[0]


def test_an_open_segment_grows() -> None:
    ear = Ear(8000)
    for part in range(1, 9):
        ear.feed(tone(500, 0.02))
        assert close_to(ear.segments(), (0, part * 160))


def test_nothing_fed_is_nothing_heard() -> None:
    assert Ear(8000).segments() == []
    assert Ear(8000).bursts() == []
    assert find_segments(np.zeros(0, np.int16), 8000) == []


@pytest.mark.parametrize("rate", [11025, 24000, 44100])
def test_rate_that_webrtcvad_cannot_take_is_refused_at_once(rate: int) -> None:
    """Case B29."""
    with pytest.raises(AudioError, match=f"{rate} Hz.*8000"):
        Ear(rate)


def test_detector_failure_surfaces_with_rate_and_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Case B29."""

    def fail(*_: object) -> bool:
        raise ValueError("Error while processing frame")

    monkeypatch.setattr(webrtcvad.Vad, "is_speech", fail)
    with pytest.raises(AudioError, match="80 samples at 8000 Hz") as raised:
        find_segments(white(3, -40), 8000)
    assert isinstance(raised.value.__cause__, ValueError)


def test_cutting_beyond_the_track_is_refused() -> None:
    ear = Ear(8000)
    ear.feed_silence(100)
    with pytest.raises(AudioError, match=r"101.*100"):
        ear.truncate(101)
