"""Faults of the sound itself, each with its twin that has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.signal import resample_poly

from tests.measure.calls import Call, noise, silence, speechlike, spoken, tone
from tests.measure.verdicts import interval, kinds, only
from voiceharness.audio import g711

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPOKEN = ("agent_greeting", "agent_menu", "agent_offer", "agent_confirm", "agent_goodbye")
SYNTHETIC = {"tone": tone(997, 1), "speechlike": speechlike(2), "quiet tone": tone(440, 2, -30)}


def recoded(sound: NDArray[np.int16], sent: g711.Law, heard: g711.Law) -> NDArray[np.int16]:
    return np.frombuffer(g711.decode(g711.encode(sound.tobytes(), sent), heard), "<i2")


def heard(sound: NDArray[np.int16], *, mulaw: bool = True) -> Call:
    """A call in which the agent's line carries this sound, after a second of silence."""
    return Call(2 + len(sound) / 8000, mulaw=mulaw).agent(1, sound)


@pytest.mark.parametrize("mulaw", [True, False])
@pytest.mark.parametrize("name", [*SPOKEN, *SYNTHETIC])
def test_right_sound_has_no_fault(name: str, mulaw: bool) -> None:
    """Cases A34, A38 and A42, without the fault."""
    sound = SYNTHETIC[name] if name in SYNTHETIC else spoken(name)
    assert kinds(heard(sound, mulaw=mulaw)) == []


@pytest.mark.parametrize("level_db", [-12, -25])
def test_quieter_speech_has_no_fault(level_db: float) -> None:
    assert kinds(heard((spoken("agent_offer") * 10 ** (level_db / 20)).astype(np.int16))) == []


@pytest.mark.parametrize(("sent", "got"), [("mulaw", "alaw"), ("alaw", "mulaw")])
@pytest.mark.parametrize("name", SPOKEN)
def test_the_other_law_is_found_in_speech(name: str, sent: g711.Law, got: g711.Law) -> None:
    """Case A38 (a), with the fault."""
    finding = only(heard(recoded(spoken(name), sent, got)), "wrong_law")
    assert {"mulaw": "mu-law was", "alaw": "A-law was"}[sent] in finding.explanation


@pytest.mark.parametrize(("sent", "got"), [("mulaw", "alaw"), ("alaw", "mulaw")])
def test_the_other_law_is_found_in_a_tone(sent: g711.Law, got: g711.Law) -> None:
    """Case A38 (a): its loudness alone would pass."""
    assert only(heard(recoded(tone(997, 1), sent, got)), "wrong_law").figure > 10


@pytest.mark.parametrize("name", ["tone", *SPOKEN])
def test_swapped_bytes_are_found(name: str) -> None:
    """Case A42, with the fault."""
    sound = tone(997, 1) if name == "tone" else spoken(name)
    assert only(heard(sound.byteswap(), mulaw=False), "swapped_bytes").figure > 3


def test_swapped_bytes_behind_mulaw_are_noise() -> None:
    """Case A42: companding destroyed what would prove it; what is heard is noise all the same."""
    assert kinds(heard(spoken("agent_offer").byteswap())) == ["noise_instead_of_speech"]


def test_a_format_switch_in_mid_call_is_found_with_its_onset() -> None:
    """Case A36: raw 16-bit samples at 24 kHz on a mu-law stream."""
    raw = np.frombuffer(g711.decode(tone(440, 1, rate=24000).tobytes()), "<i2")
    finding = only(heard(np.concatenate((tone(440, 1), raw))), "wrong_encoding")
    assert interval(finding)[0] == pytest.approx(2.0, abs=0.1)
    assert interval(finding)[1] == pytest.approx(8.0, abs=0.5)


def test_speech_sent_as_raw_samples_on_a_mulaw_stream_is_found() -> None:
    """Case A36."""
    raw = np.frombuffer(g711.decode(spoken("agent_greeting").tobytes()), "<i2")
    assert "wrong_encoding" in kinds(heard(raw))


def test_noise_for_speech_is_found() -> None:
    assert only(heard(noise(2, -10)), "noise_instead_of_speech").figure == pytest.approx(-10, abs=1)


@pytest.mark.parametrize(("up", "down", "factor"), [(3, 1, 1 / 3), (1, 2, 2), (1, 3, 3)])
@pytest.mark.parametrize("name", ["agent_greeting", "agent_menu", "agent_offer", "agent_confirm"])
def test_a_voice_at_the_wrong_rate_is_found(name: str, up: int, down: int, factor: float) -> None:
    """Case A34, with the fault: slow and deep, or chipmunk."""
    sound = resample_poly(spoken(name).astype(float), up, down)
    finding = only(heard(np.clip(sound, -32768, 32767).astype(np.int16)), "wrong_rate")
    assert finding.figure == pytest.approx(factor, abs=1e-3)


def test_silence_filled_with_the_wrong_byte_is_found() -> None:
    """Zero is silence in 16-bit samples, and almost full scale in mu-law."""
    wrong = np.frombuffer(g711.decode(bytes(4000)), "<i2")
    call = Call(5).agent(0, spoken("agent_greeting")).agent(2.5, wrong)
    assert "silence_as_noise" in kinds(call)
    assert kinds(Call(5).agent(0, spoken("agent_greeting")).agent(2.5, silence(0.5))) == []
