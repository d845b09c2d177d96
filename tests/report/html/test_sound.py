"""The sound of a page."""

from __future__ import annotations

import io
from base64 import b64decode

import numpy as np
import pytest

from voiceharness.audio.signals import tone
from voiceharness.line.record import CallRecord
from voiceharness.report.html import sound as module
from voiceharness.report.html.sound import page_sound

__all__: list[str] = []


def record(rate: int, seconds: float) -> CallRecord:
    return CallRecord(rate, tone(440, seconds, rate, level_db=-10), tone(997, seconds, rate, level_db=-20))


@pytest.mark.parametrize(("rate", "played"), [(8000, 8000), (16000, 16000), (48000, 16000)])
def test_both_tracks_are_embedded_at_their_length_and_place(rate: int, played: int) -> None:
    soundfile = pytest.importorskip("soundfile")
    call = record(rate, 3.0)
    sound = page_sound(call)
    assert sound.embedded
    kind, _, data = sound.source.partition(",")
    assert kind == "data:audio/ogg;base64"
    heard, heard_rate = soundfile.read(io.BytesIO(b64decode(data)), dtype="float64")
    assert (heard.shape, heard_rate) == ((3 * played, 2), played)
    for index, track in enumerate((call.user, call.agent)):
        assert np.corrcoef(heard[:, index], track[:: rate // played])[0, 1] > 0.99


def test_a_long_call_is_written_in_pieces() -> None:
    soundfile = pytest.importorskip("soundfile")
    source = page_sound(record(8000, 130.0)).source
    assert soundfile.info(io.BytesIO(b64decode(source.partition(",")[2]))).frames == 130 * 8000


def test_without_the_extra_the_recording_is_referred_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda _name: None)
    sound = page_sound(record(8000, 1.0))
    assert (sound.source, sound.embedded) == ("recording.wav", False)
