"""The user's side of the line."""

from __future__ import annotations

import numpy as np
import pytest

from voiceharness.audio.signals import tone
from voiceharness.line.uplink import Uplink

RATE, FRAME = 8000, 160


def uplink() -> Uplink:
    return Uplink(RATE, FRAME)


def clip(lead: int, sound: int, tail: int) -> np.ndarray[tuple[int], np.dtype[np.int16]]:
    return np.concatenate([np.zeros(lead, np.int16), np.full(sound, 8000, np.int16), np.zeros(tail, np.int16)])


def test_frames_follow_each_other_and_are_silent_where_nothing_was_said() -> None:
    line = uplink()
    line.place(clip(0, 200, 0), 100)
    frames = []
    for _ in range(3):
        frames.append(line.next_frame())
        line.mark_sent(line.sent + FRAME)
    assert [frame.position for frame in frames] == [0, 160, 320]
    assert frames[0].samples.tolist() == [0] * 100 + [8000] * 60
    assert frames[1].samples.tolist() == [8000] * 140 + [0] * 20
    assert not frames[2].samples.any()


def test_an_utterance_tells_where_its_speech_lies() -> None:
    utterance = uplink().place(clip(300, 800, 500), 1000)
    assert (utterance.start, utterance.end) == (1000, 2600)
    assert utterance.onset == pytest.approx(1300, abs=8)
    assert utterance.offset == pytest.approx(2100, abs=8)


def test_a_barge_in_begins_with_its_speech_not_with_the_clips_silence() -> None:
    utterance = uplink().place(clip(300, 800, 500), 1000, from_onset=True)
    assert utterance.onset == 1000
    assert utterance.end == pytest.approx(2300, abs=8)


def test_what_was_sent_cannot_be_changed_any_more() -> None:
    line = uplink()
    line.mark_sent(480)
    assert line.place(clip(0, 10, 0), 100).start == 480


def test_a_silent_clip_has_its_edges_at_its_ends() -> None:
    utterance = uplink().place(np.zeros(50, np.int16), 10)
    assert (utterance.onset, utterance.offset) == (10, 60)


def test_notifications_fire_in_order_once_their_frame_is_delivered() -> None:
    line, fired = uplink(), list[str]()
    line.notify(200, lambda: fired.append("later"))
    line.notify(100, lambda: fired.append("first"))
    line.notify(100, lambda: fired.append("second"))
    line.mark_delivered(160)
    assert fired == ["first", "second"]
    line.mark_delivered(320)
    assert fired == ["first", "second", "later"]


def test_digits_mixed_into_speech_keep_both() -> None:
    line = uplink()
    speech, digit = tone(300, 0.1), tone(1209, 0.1)
    line.place(speech, 0)
    line.place(digit, 0)
    assert line.frame_at(0, 800).samples.tolist() == np.clip(speech.astype(int) + digit, -32768, 32767).tolist()
