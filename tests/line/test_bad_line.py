"""A bad line on the real path: the agent and the recording see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.line.agents import on_line, tone
from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.mix import level_db
from voiceharness.capabilities import Timing
from voiceharness.clock import run_virtual
from voiceharness.doubles import ScriptedPhoneAgent
from voiceharness.events import Flush
from voiceharness.impairment.packets import Jitter, Loss
from voiceharness.impairment.path import PROFILES, LineImpairments, OneWay
from voiceharness.impairment.sound import Echo, Gain, Noise
from voiceharness.line.opening import open_line
from voiceharness.line.settings import LineSettings
from voiceharness_adapters.in_process import InProcess

if TYPE_CHECKING:
    from voiceharness.line.line import Line
    from voiceharness.line.record import CallRecord


def call(agent: ScriptedPhoneAgent, impairments: LineImpairments, seconds: float, seed: int = 7) -> CallRecord:
    async def body(line: Line) -> CallRecord:
        line.say(tone(500, 1.0).samples)
        await line.until_position(line.settings.samples(seconds))
        line.hang_up()
        return line.record()

    return on_line(agent, body, LineSettings(impairments=impairments, seed=seed))


def frames_of(agent: ScriptedPhoneAgent) -> list[tuple[float, AudioChunk]]:
    return [(entry.at, entry.item) for entry in agent.log.items if isinstance(entry.item, AudioChunk)]


def test_a_lost_frame_never_reaches_the_agent_and_is_listed_with_its_place() -> None:
    """Cases B27 and B62: a probe at the wire sees the fault; positions jump; the same frames are missing each time."""
    runs = []
    for _ in range(2):
        agent = ScriptedPhoneAgent([])
        record = call(agent, LineImpairments(to_agent=OneWay((), (Loss(0.05),))), 60.0)
        got = {frame.position for _, frame in frames_of(agent)}
        missing = sorted(set(range(0, 59 * 8000, 160)) - {position for position in got if position is not None})
        listed = [event.data["frame"] for event in record.of_kind("impaired") if event.data["frame"] is not None]
        assert [position for position in listed if isinstance(position, int) and position < 59 * 8000] == missing
        assert len(missing) == pytest.approx(148, abs=30)
        runs.append(missing)
    assert runs[0] == runs[1]


def test_what_the_user_does_not_hear_is_listed_with_its_place() -> None:
    """Case B27, on the way to the user."""
    agent = ScriptedPhoneAgent([(0.0, tone(440, 10.0))])
    record = call(agent, LineImpairments(to_user=OneWay((), (Loss(0.05),))), 10.0)
    lost = [event for event in record.of_kind("impaired") if event.data["frame"] is not None]
    assert {(event.data["direction"], event.data["kind"], event.data["samples"]) for event in lost} == {
        ("to_user", "loss", 160)
    }
    silent = [start for start in range(0, 80000, 160) if not record.agent[start + 1 : start + 160].any()]
    assert [event.at for event in lost if event.at < 80000] == silent


def test_jitter_makes_frames_late_but_keeps_their_order_and_their_rate() -> None:
    """Case B27, delay."""
    agent = ScriptedPhoneAgent([])
    call(agent, LineImpairments(to_agent=OneWay((), (Jitter(0.08),))), 20.0)
    frames = frames_of(agent)
    positions = [frame.position or 0 for _, frame in frames]
    assert positions == sorted(positions)
    lateness = [at - (position + 160) / 8000 for (at, _), position in zip(frames, positions, strict=True)]
    assert min(lateness) >= -1e-9
    assert 0.06 < max(lateness) <= 0.0801
    assert len(frames) >= 990


def test_noise_around_the_user_reaches_the_agent_and_stays_out_of_the_users_track() -> None:
    agent = ScriptedPhoneAgent([])
    record = call(agent, LineImpairments(to_agent=OneWay((Noise(10.0),))), 3.0)
    sent = np.concatenate([frame.samples for _, frame in frames_of(agent)])
    assert level_db(sent[2 * 8000 :]) == pytest.approx(-30.0, abs=0.5)
    assert not record.user[8001:].any()


def test_the_agents_own_sound_comes_back_to_it_as_an_echo() -> None:
    """Case A25: delay 150 ms, gain -25 dB; nobody spoke."""
    agent = ScriptedPhoneAgent([(2.0, tone(440, 1.0))])
    call(agent, LineImpairments(to_agent=OneWay((Echo(0.15, -25.0),))), 4.0)
    sent = np.concatenate([frame.samples for _, frame in frames_of(agent)])
    onset = 8000 + int(np.flatnonzero(np.abs(sent[8001:]) > 20)[0])
    assert onset == pytest.approx(2.15 * 8000, abs=160)
    assert level_db(sent[17600:24800]) == pytest.approx(level_db(tone(440, 1.0).samples) - 25.0, abs=0.5)


def test_what_happens_on_the_way_to_the_user_is_what_is_heard_and_recorded() -> None:
    agent = ScriptedPhoneAgent([(1.0, tone(440, 1.0))])
    record = call(agent, LineImpairments(to_user=OneWay((Gain(-12.0),))), 3.0)
    assert level_db(record.agent[8800:15200]) == pytest.approx(level_db(tone(440, 1.0).samples) - 12.0, abs=0.1)


def test_a_flush_also_cuts_what_was_read_ahead_on_a_noisy_line() -> None:
    agent = ScriptedPhoneAgent([(0.0, tone(440, 5.0)), (1.7, Flush()), (3.0, tone(880, 0.5))])
    record = call(agent, LineImpairments(to_user=OneWay((Noise(30.0),))), 4.0)
    assert level_db(record.agent[8000:13000]) > -15
    assert level_db(record.agent[13700:23900]) == pytest.approx(-50.0, abs=0.5)
    assert level_db(record.agent[24100:27900]) > -15


def test_the_same_seed_gives_the_same_call_on_every_named_line() -> None:
    for profile in PROFILES.values():
        first, second = (call(ScriptedPhoneAgent([(1.0, tone(440, 1.0))]), profile, 4.0) for _ in range(2))
        assert first.agent.tobytes() == second.agent.tobytes()
        assert first.events == second.events


def test_a_profiles_delay_adds_to_the_lines() -> None:
    settings = LineSettings(delay=0.1, impairments=PROFILES["mobile"])
    assert settings.one_way_delay == pytest.approx(0.22)


def test_gaps_in_the_agents_sound_do_not_add_up_on_a_line_of_another_rate() -> None:
    """Case B49, a tenth of its 45 minutes: 20 ms of nothing each 420 ms, and clicks on both tracks at either end."""
    pieces, rate = 643, 16000
    click, silence = np.zeros(3200, np.int16), np.zeros(3200, np.int16)
    click[800:880] = 20000
    clicks = (2, pieces - 3)
    agent = ScriptedPhoneAgent(
        [(0.42 * index, AudioChunk.from_samples(click if index in clicks else silence)) for index in range(pieces)]
    )

    async def main() -> CallRecord:
        async with open_line(InProcess(agent, rate=rate), LineSettings(rate=rate)) as line:
            for index in clicks:
                line.say(np.full(160, 20000, np.int16), at=round((0.42 * index + 0.1) * rate))
            await line.until_position(round(0.42 * pieces * rate))
            return line.record()

    record = run_virtual(main())
    for track in (record.agent, record.user):
        loud = np.flatnonzero(np.abs(track.astype(int)) > 8000) / rate
        assert loud[0] == pytest.approx(0.42 * clicks[0] + 0.1, abs=0.001)
        assert loud[-1] == pytest.approx(0.42 * clicks[1] + 0.11, abs=0.001)


class Asking(InProcess):
    """A transport that keeps time itself, in blocks of half a frame."""

    name = "asking"
    timing = Timing(paced_by="transport", playout="live")


def test_a_transport_that_keeps_time_loses_what_comes_too_late_for_a_buffer() -> None:
    """Case B27: jitter is applied there, too, and the notes say to which packets, whatever the transport's blocks."""

    async def main() -> tuple[np.ndarray[tuple[int], np.dtype[np.int16]], CallRecord]:
        ways = LineImpairments(to_agent=OneWay((), (Jitter(0.1, buffer=0.06),)))
        async with open_line(Asking(ScriptedPhoneAgent([])), LineSettings(impairments=ways, seed=7)) as line:
            line.say(np.full(16000, 1000, np.int16))
            blocks = []
            for position in range(0, 16000, 80):
                await line.until_position(position)
                blocks.append(line.user_frame(position, 80).samples)
            await line.until_position(16000)
            return np.concatenate(blocks), line.record()

    sent, record = run_virtual(main())
    silent = [frame * 160 for frame in range(100) if not sent[frame * 160 : frame * 160 + 160].any()]
    listed = [event.data["frame"] for event in record.of_kind("impaired") if event.data["frame"] is not None]
    assert listed == silent
    assert len(silent) == pytest.approx(40, abs=15)
    assert int(np.count_nonzero(sent == 0)) == 160 * len(silent)


@pytest.mark.parametrize("queued", [0.0, 4.0])
def test_the_user_hears_an_echo_of_what_is_said_however_much_the_agent_has_queued(queued: float) -> None:
    async def body(line: Line) -> CallRecord:
        await line.until_position(8000)
        line.downlink.segments()  # listen to what lies ahead
        line.say(tone(500, 1.0).samples)
        await line.until_position(24000)
        line.hang_up()
        return line.record()

    ways = LineImpairments(to_user=OneWay((Echo(0.2, -10.0),)))
    silence = AudioChunk(bytes(2 * round(queued * 8000)))
    record = on_line(ScriptedPhoneAgent([(0.5, silence)]), body, LineSettings(impairments=ways))
    assert int(np.abs(record.agent[9700:17500]).max()) > 5000
