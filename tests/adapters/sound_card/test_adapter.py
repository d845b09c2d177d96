"""The adapter on a simulated device, in virtual time: what each fault does to the call, and what is said of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.adapters.sound_card.simulated import Faults, Simulation
from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.signals import speech_like
from voiceharness.clock import run_virtual
from voiceharness.errors import CallDroppedError, DeviceError, LocalProtocolError, OptionError, PendingTransportError
from voiceharness.scenario.run import run_call
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Press, Say, Wait
from voiceharness_adapters.sound_card import SoundCard
from voiceharness_adapters.sound_card.lock import locked_devices
from voiceharness_adapters.sound_card.store import remember_delay

if TYPE_CHECKING:
    from pathlib import Path

    from voiceharness.scenario.result import CallResult


@pytest.fixture(autouse=True)
def own_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep locks and stored delays of other tests out."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def words(seed: int) -> Say:
    return Say(audio=AudioChunk.from_samples(speech_like(1.0, seed=seed)))


def called(device: Simulation, *steps: Any, **options: Any) -> CallResult:
    """Play steps against an agent that repeats, half a second later, what it hears."""
    options = {"input": "mic", "output": "speaker", "user_channel": 1, "agent_channel": 2, **options}
    adapter = SoundCard(system=device, **options)
    scenario = Scenario("sound", steps=steps, max_duration=100.0)
    return run_virtual(run_call(scenario, adapter))


def lags(result: CallResult) -> list[float]:
    """How many ms after the user each repetition lies in the recording; 500 is the truth."""
    assert result.metrics is not None
    assert result.record is not None
    rate = result.record.rate
    found: list[float] = []
    for utterance in result.metrics.utterances:
        said = result.record.user[utterance.onset : utterance.offset].astype(float)
        start = utterance.onset + round(0.3 * rate)
        heard = result.record.agent[start : start + len(said) + round(0.4 * rate)].astype(float)
        if len(heard) > len(said):
            found.append((int(np.argmax(np.correlate(heard, said, "valid"))) / rate + 0.3) * 1000)
    return found


def test_path_is_found_by_the_users_own_words_and_taken_off() -> None:
    result = called(Simulation((0.037,)), Wait(0.5), words(1), Wait(1.0), words(2), Wait(1.0))
    assert result.facts["path_from"] == "the user's own words"
    assert result.facts["path_ms"] == pytest.approx(37.0, abs=0.1)
    assert lags(result)[1] == pytest.approx(500, abs=0.3)
    assert result.trust.trustworthy


def test_chirp_measures_each_session_by_itself() -> None:
    """Case B45: the delay is another one after each opening."""
    device = Simulation((0.037, 0.058))
    for delay in device.delays:
        result = called(device, words(1), Wait(1.0), chirp=True)
        assert result.facts["path_ms"] == pytest.approx(delay * 1000, abs=1.0)
        assert lags(result)[0] == pytest.approx(500, abs=0.3)


def test_drift_between_input_and_output_is_reported_and_followed() -> None:
    """Case B45: 200 ppm over a minute are 12 ms."""
    steps = [step for seed in range(20) for step in (words(seed), Wait(2.0))]
    result = called(Simulation(faults=Faults(input_ppm=200)), *steps, chirp=True)
    assert result.metrics is not None
    assert result.metrics.duration > 60
    assert result.facts["input_drift_ppm"] == pytest.approx(200, abs=40)
    assert lags(result)[-1] == pytest.approx(500, abs=1.0)


def test_two_clocks_that_differ_too_much_are_not_trusted() -> None:
    steps = [step for seed in range(6) for step in (words(seed), Wait(2.0))]
    result = called(Simulation(faults=Faults(input_ppm=800)), *steps, chirp=True)
    assert any("the input runs +8" in reason and "ppm against the output" in reason for reason in result.trust.reasons)
    assert result.outcome == "harness_fault"


def test_overflow_is_told_with_its_time_and_size() -> None:
    """Case B45: a driver that loses 1024 samples says so, and the next words set the clock right."""
    device = Simulation(faults=Faults(overflow=(5.0, 1024)))
    result = called(device, words(1), Wait(4.0), words(2), Wait(1.0), words(3), Wait(1.0))
    assert "1024 samples" in str(result.facts["device_faults"])
    assert "overflow at" in str(result.facts["device_faults"])
    assert any("lost 21.3 ms" in reason for reason in result.trust.reasons)
    assert lags(result)[-1] == pytest.approx(500, abs=1.0)


def test_silent_loss_is_found_in_the_sound() -> None:
    """Case B45: a slip that no driver tells of."""
    device = Simulation(faults=Faults(dropped=(5.0, 1440)))
    result = called(device, words(1), Wait(4.0), words(2), Wait(1.0), words(3), Wait(1.0))
    assert str(result.facts["slips"]).startswith("-30.0")
    assert result.outcome == "harness_fault"
    assert "slipped without the driver telling" in result.explain()


def test_device_that_brings_a_quarter_of_its_samples_is_an_error() -> None:
    """Case B45."""
    result = called(Simulation(faults=Faults(share=0.25)), words(1), Wait(5.0))
    assert isinstance(result.error, DeviceError)
    assert "sample count 0.25 of expected" in str(result.error)


def test_unplugged_device_ends_the_call_with_its_evidence() -> None:
    result = called(Simulation(faults=Faults(unplugged_at=2.0)), words(1), Wait(5.0))
    assert isinstance(result.error, CallDroppedError)
    assert "unplugged" in str(result.error)
    assert result.outcome == "not_called"
    assert result.metrics is not None
    assert len(result.metrics.utterances) == 1


def test_frozen_device_is_noticed() -> None:
    result = called(Simulation(faults=Faults(frozen_at=2.0)), words(1), Wait(5.0))
    assert isinstance(result.error, CallDroppedError)
    assert "brought nothing for 2 s" in str(result.error)


def test_device_that_stops_after_its_buffer_ran_dry_is_the_machines_fault() -> None:
    faults = Faults(overflow=(1.0, 480), unplugged_at=2.0)
    result = called(Simulation(faults=faults), words(1), Wait(5.0), latency_ms=80)
    assert isinstance(result.error, CallDroppedError)
    assert "its buffer of 80 ms had run dry once, so this machine is too busy" in str(result.error)


def test_device_that_never_starts_is_an_error() -> None:
    result = called(Simulation(faults=Faults(frozen_at=0.0)), words(1))
    assert isinstance(result.error, DeviceError)
    assert "brought nothing" in str(result.error)


def test_unknown_path_is_said_and_makes_latencies_doubtful() -> None:
    device = Simulation(answers_after=5.0)
    result = called(device, words(1), words(2), Wait(1.0), user_channel=0, agent_channel=1)
    assert result.facts["path_ms"] is None
    assert result.facts["path_from"] == "unknown"
    assert any("devices test" in reason for reason in result.trust.reasons)


def test_delay_of_an_earlier_device_test_is_taken_off_and_named_with_its_date() -> None:
    tested = remember_delay("speaker -> mic", 0.08)
    device = Simulation((0.08,), answers_after=5.0)
    result = called(device, words(1), Wait(5.5), user_channel=0, agent_channel=1)
    assert result.facts["path_from"] == f"device test of {tested.date}"
    assert result.facts["path_ms"] == 80.0
    assert result.trust.trustworthy


def test_delay_given_by_the_user_is_used() -> None:
    device = Simulation((0.08,), answers_after=0.9)
    result = called(device, words(1), Wait(1.5), user_channel=0, agent_channel=1, delay_ms=80.0)
    assert result.facts["path_from"] in ("option", "the user's own words")
    assert result.metrics is not None


def test_one_device_is_not_opened_twice(tmp_path: Path) -> None:
    with locked_devices(["output speaker"]):
        result = called(Simulation(), words(1))
    assert isinstance(result.error, DeviceError)
    assert "output speaker is in use by process" in str(result.error)


def test_stream_is_closed_and_the_lock_is_free_afterwards() -> None:
    device = Simulation()
    for _ in range(3):
        called(device, Wait(0.1))
    assert all(stream.closed for stream in device.streams)
    assert len(device.streams) == 3


def test_audio_cannot_be_pushed() -> None:
    async def push() -> None:
        adapter = SoundCard(system=Simulation())
        with pytest.raises(PendingTransportError):
            await adapter.send_audio(AudioChunk(b"\0\0"))
        await adapter.connect()
        try:
            with pytest.raises(LocalProtocolError):
                await adapter.send_audio(AudioChunk(b"\0\0"))
        finally:
            await adapter.disconnect()

    run_virtual(push())


@pytest.mark.parametrize("options", [{"rate": 44100}, {"lead_ms": 15}, {"agent_channel": 1, "user_channel": 1}])
def test_impossible_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        SoundCard(**options)


def test_keys_in_the_agents_sound_are_told_where_they_were_heard() -> None:
    result = called(Simulation(), Wait(0.5), Press("5#"), Wait(2.0), chirp=True)
    assert result.record is not None
    sent, received = (list(result.record.of_kind(kind)) for kind in ("digit_sent", "digit_received"))
    assert [event.data["digit"] for event in received] == ["5", "#"]
    for pressed, heard in zip(sent, received, strict=True):
        assert heard.at - pressed.at == pytest.approx(0.5 * result.record.rate, abs=0.03 * result.record.rate)


def test_own_keys_in_a_microphone_are_not_the_agents() -> None:
    device = Simulation((0.060,), answers_after=3.0, room=reverberation(-10.0))
    result = called(device, words(1), Press("5"), Wait(0.5), user_channel=0, agent_channel=1, chirp=True)
    assert result.record is not None
    assert not list(result.record.of_kind("digit_received"))


def reverberation(level_db: float) -> np.ndarray:
    taps = np.zeros(480)
    taps[::60] = np.array([1.0, -0.5, 0.3, 0.2, -0.1, 0.1, -0.05, 0.05]) * 10 ** (level_db / 20)
    return taps


def test_echo_of_the_user_is_no_speech_of_the_agent() -> None:
    """Through speaker and microphone: the echo is learned in the first words, and gone in the next."""
    device = Simulation((0.060,), answers_after=3.0, room=reverberation(-20.0))
    steps = (words(1), Wait(4.0), words(2), Wait(4.0))
    result = called(device, *steps, user_channel=0, agent_channel=1, chirp=True)
    assert result.metrics is not None
    second = result.metrics.utterances[1]
    spoken_over = [
        span for span in result.metrics.segments if span.onset < second.offset and span.offset > second.onset
    ]
    assert not spoken_over
    assert float(str(result.facts["echo_left_db"])) < float(str(result.facts["echo_db"])) - 15


def test_echo_that_stays_makes_overlap_doubtful() -> None:
    device = Simulation((0.060,), answers_after=0.07, room=reverberation(-20.0))  # an "agent" that talks along
    result = called(device, words(1), words(2), Wait(1.0), user_channel=0, agent_channel=1, chirp=True)
    assert any("verdicts on overlap cannot be believed" in reason for reason in result.trust.reasons)
