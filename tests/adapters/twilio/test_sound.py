"""Sound over a media stream: what is wrong with it is found, and by how much."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.signal import resample_poly

from tests.adapters.twilio.wire_agent import Played, WireAgent, burst, media, near, paced, play, spread
from tests.measure.calls import spoken
from voiceharness.audio import g711, signals
from voiceharness.measure.tones import rate_factor
from voiceharness.scenario.checks import NoFault, Tone
from voiceharness.scenario.steps import Check, Wait

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__: list[str] = []


def frequency(samples: NDArray[np.int16]) -> float:
    """The strongest frequency, in hertz."""
    padded = np.fft.rfft(samples.astype(float) * np.hanning(len(samples)), 1 << 19)
    return float(np.argmax(np.abs(padded)) * 8000 / (1 << 19))


def heard_samples(played: Played, start: int, end: int) -> NDArray[np.int16]:
    assert played.result.record is not None
    return played.result.record.agent[start * 8 : end * 8]


@pytest.mark.parametrize(
    ("samples", "length", "hz"),
    [
        (signals.tone(440, 1.0, 24000), 3000, 440 / 3),
        (signals.tone(440, 1.0)[::3], 333, 1320.0),
        (signals.tone(440, 1.0), 1000, 440.0),
    ],
    ids=["sent as if 8 kHz", "decimated twice", "right"],
)
def test_sound_of_another_rate_is_heard_slow_or_fast(samples: NDArray[np.int16], length: int, hz: float) -> None:
    """Case A34: what is heard is what the carrier would play, at 8 kHz."""
    agent = WireAgent(spread(g711.encode(samples.tobytes()), 0.0, 0.2))
    played = play(agent, Wait(4))
    assert played.heard == [(0, near(length))]
    heard = heard_samples(played, 0, length)
    assert frequency(heard) == pytest.approx(hz, abs=5 if hz > 1000 else 2)
    assert rate_factor(heard, 8000, expected_hz=440) == pytest.approx(hz / 440, rel=0.01)


@pytest.mark.parametrize(
    ("samples", "outcome", "hz", "duration", "cause"),
    [
        (
            signals.tone(440, 1.0, 24000),
            "failed",
            146.7,
            3.0,
            " (it is played 0.333 times as fast as it was made: 24 kHz audio treated as 8 kHz)",
        ),
        (
            signals.tone(440, 1.0)[::3],
            "failed",
            1320.0,
            0.333,
            " (it is played 3 times as fast as it was made: 8 kHz audio treated as 24 kHz)",
        ),
        (signals.tone(440, 1.0), "passed", 440.0, 1.0, ""),
    ],
    ids=["sent as if 8 kHz", "decimated twice", "right"],
)
def test_a_known_tone_fails_at_another_rate_and_the_factor_is_named(
    samples: NDArray[np.int16], outcome: str, hz: float, duration: float, cause: str
) -> None:
    """Case A34: the scenario says which tone is to be heard."""
    agent = WireAgent(spread(g711.encode(samples.tobytes()), 0.0, 0.2))
    result = play(agent, Wait(4), Check(Tone(440, 1.0))).result
    assert result.outcome == outcome
    (judged,) = (check for check in result.checks if check.kind == "tone")
    wanted = "wanted a tone of 440 ± 1 Hz for 1 ± 0.02 s"
    assert judged.explanation == f"{wanted}: heard {hz:.1f} Hz for {duration:.3f} s from 0.000 s on{cause}"


@pytest.mark.parametrize(
    ("up", "down", "factor", "named"),
    [(3, 1, 1 / 3, "about 0.333 times as fast"), (1, 3, 3.0, "about 3 times as fast")],
    ids=["24 kHz sent as if 8 kHz", "8 kHz treated as 24 kHz"],
)
def test_a_voice_made_at_another_rate_fails_and_the_factor_is_named(
    up: int, down: int, factor: float, named: str
) -> None:
    """Case A34, (a) and (b), with a voice: that of a human is known, as a tone's frequency is only to the scenario."""
    wrong = np.clip(resample_poly(spoken("agent_offer").astype(float), up, down), -32768, 32767).astype(np.int16)
    played = play(WireAgent(spread(g711.encode(wrong.tobytes()), 0.0, 0.2)), Wait(len(wrong) / 8000 + 1))
    assert played.result.outcome == "failed"
    (found,) = played.found("wrong_rate")
    assert found.figure == pytest.approx(factor, abs=1e-3)
    assert named in played.result.explain()


def test_a_voice_made_at_the_streams_rate_has_no_such_finding() -> None:
    """Case A34 (c), with a voice."""
    right = spoken("agent_offer")
    played = play(WireAgent(spread(g711.encode(right.tobytes()), 0.0, 0.2)), Wait(len(right) / 8000 + 1))
    assert played.result.passed, played.result.explain()


def test_a_switch_to_raw_sound_in_mid_call_is_heard_as_noise_from_there() -> None:
    """Case A36: a second of mu-law, then a second of 16-bit PCM at 24 kHz on the same stream."""
    right = signals.tone(440, 1.0)
    wrong = signals.tone(440, 1.0, 24000).tobytes()
    assert len(wrong) == 48000
    agent = WireAgent([*burst(440, 1.0), *spread(wrong, 0.3, 0.2)])
    played = play(agent, Wait(8), Check(NoFault(["wrong_encoding", "noise_instead_of_speech"])))
    assert (played.heard[0][0], played.heard[-1][1]) == (0, near(7000))
    found = [
        finding for finding in played.result.findings if finding.kind in ("wrong_encoding", "noise_instead_of_speech")
    ]
    assert found[0].start / 8 == near(1000, 100)
    assert "no_fault" in played.unmet
    first = heard_samples(played, 0, 1000).astype(float)
    error = first - right
    assert 10 * np.log10(np.square(right.astype(float)).mean() / np.square(error).mean()) > 30


def test_network_order_samples_are_no_mulaw() -> None:
    """Case A42: L16 in network order on a mu-law stream is loud, and nothing like what was meant."""
    swapped = signals.tone(997, 1.0).byteswap().tobytes()
    played = play(WireAgent(spread(swapped, 0.0, 0.2)), Wait(4))
    heard = heard_samples(played, 0, 1000).astype(float)
    meant = signals.tone(997, 1.0).astype(float)
    assert abs(np.corrcoef(heard, meant)[0, 1]) < 0.1
    assert {"wrong_encoding", "noise_instead_of_speech", "swapped_bytes"} & {f.kind for f in played.result.findings}


def test_the_end_of_an_answer_is_not_kept_for_the_next() -> None:
    """Case A44: 50,000 bytes are 312.5 frames; the half one is heard at once."""
    first, second = g711.encode(signals.tone(440, 6.25).tobytes()), g711.encode(signals.tone(880, 1.0).tobytes())
    agent = WireAgent([(0.0, media(first)), (9.25, media(second))])
    played = play(agent, Wait(11))
    assert played.result.record is not None
    assert [piece.samples for piece in played.result.record.arrivals] == [50_000, 8_000]
    assert played.heard == [(0, near(6250)), (near(9250), near(10250))]
    assert np.array_equal(heard_samples(played, 9250, 10250), np.frombuffer(g711.decode(second), "<i2"))


def test_a_backlog_stays_for_the_rest_of_the_call() -> None:
    """Case A46: two seconds of sound in the first, then at 1x for a minute: always a second late."""
    agent = WireAgent([*burst(440, 2.0, 0.0, 1.0), *paced(440, 60.0, 1.0)])
    played = play(agent, Wait(62), Check(NoFault(["backlog"])))
    (backlog,) = played.found("backlog")
    assert backlog.figure == pytest.approx(1.0, abs=0.04)
    record = played.result.record
    assert record is not None
    delays = {piece.start - piece.at for piece in record.arrivals if piece.at / 8000 > 1}
    assert {round(delay / 8000, 2) for delay in delays} <= {0.98, 0.99, 1.0, 1.01}
    assert "no_fault" in played.unmet


def test_silence_between_answers_keeps_its_length() -> None:
    """Case B13: the user says nothing at all; both tracks are as long as the call."""
    agent = WireAgent([cue for start in (0.0, 7.5, 15.0) for cue in burst(440, 0.5, start, 0.02)])
    played = play(agent, Wait(16))
    assert played.heard == [(near(0), near(500)), (near(7500), near(8000)), (near(15_000), near(15_500))]
    record = played.result.record
    assert record is not None
    assert len(record.user) == len(record.agent) == 16 * 8000
    assert not np.any(record.user)
    assert agent.user_audio.pcm == bytes(len(agent.user_audio.pcm))
