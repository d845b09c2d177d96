"""Probes of sound: each line rate, the delay of the line, the queue's flush and its marks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.quality import align
from voiceharness.audio.signals import tone
from voiceharness.doubles.probe_agent import ProbeAgent
from voiceharness.events import Flush, Mark, MarkPlayed
from voiceharness.matrix.cell import Proof
from voiceharness.matrix.sound import level_db, seconds_of, sounding, spoken, user_sound
from voiceharness.measure.tones import frequency
from voiceharness.scenario.steps import Say, Wait

if TYPE_CHECKING:
    from voiceharness.doubles.scripted_agent import Cue
    from voiceharness.matrix.stand import Stand

__all__ = ["flush", "line_rate", "marks", "one_way_delay"]

AGENT_HZ: Final = 1000.0
USER_HZ: Final = 700.0
PEAK_DB: Final = -12.0
RMS_DB: Final = PEAK_DB - 3.01
HZ_WITHIN: Final = 0.005
DB_WITHIN: Final = 1.5
MIDDLE: Final = 0.2

LONGEST_ROUND_TRIP: Final = 1.0
FLUSHED_WITHIN: Final = 0.5
MARK_WITHIN: Final = 0.3


def line_rate(stand: Stand, rate: int) -> Proof:
    """A tone from each side comes out at the other with its frequency and level."""
    agent = ProbeAgent([(0.3, AudioChunk.from_samples(tone(AGENT_HZ, 1.0, rate, level_db=PEAK_DB), rate))])
    say = Say(audio=AudioChunk.from_samples(tone(USER_HZ, 1.0, rate, level_db=PEAK_DB), rate), gap=0.3)
    call = stand.call(say, Wait(0.8), agent=agent, rate=rate)
    agent_hz, agent_db = _tone_on(call.record.agent, rate)
    user_hz, user_db = _tone_on(call.log.audio.samples, call.log.rate)
    right = all(
        abs(hz / wanted - 1) <= HZ_WITHIN and abs(db - RMS_DB) <= DB_WITHIN
        for hz, db, wanted in ((agent_hz, agent_db, AGENT_HZ), (user_hz, user_db, USER_HZ))
    )
    return Proof(
        right,
        f"of the agent's {AGENT_HZ:g} Hz at {RMS_DB:.1f} dB came {agent_hz:.1f} Hz at {agent_db:.1f} dB, "
        f"of the user's {USER_HZ:g} Hz {user_hz:.1f} Hz at {user_db:.1f} dB",
        {
            "agent, Hz": round(agent_hz, 1),
            "agent, dB": round(agent_db, 1),
            "user, Hz": round(user_hz, 1),
            "user, dB": round(user_db, 1),
        },
        0.3,
        1.3,
    )


def one_way_delay(stand: Stand) -> Proof:
    """The agent echoes what it hears: half the round trip of the user's sound is the delay of one way."""
    clip = user_sound(0.5)
    call = stand.call(Wait(0.5), Say(audio=clip), Wait(1.5), agent=ProbeAgent(echoes_sound=True))
    said = align(clip.samples, call.record.user, call.rate)
    echoed = align(clip.samples, call.record.agent, call.rate)
    if said is None or echoed is None:
        return Proof.nothing("the user's sound did not come back")
    round_trip = (echoed.position - said.position) / call.rate
    if stand.subject.answers_only:
        round_trip -= clip.duration  # it echoes when the user's turn is over
    return Proof(
        -1 / call.rate <= round_trip <= LONGEST_ROUND_TRIP,
        f"{abs(round_trip) * 500:.1f} ms one way, by half the round trip of an echo",
        {"one way, ms": round(abs(round_trip) * 500, 1), "likeness of the echo": round(echoed.correlation, 3)},
        said.position / call.rate,
        echoed.position / call.rate + clip.duration,
    )


def flush(stand: Stand) -> Proof:
    """The agent sends 6 s at once and drops the rest 1 s later: nothing more is heard."""
    record = stand.call(Wait(5.0), agent=ProbeAgent([(0.2, spoken(6.0)), (1.2, Flush())])).record
    heard = sounding(record.agent, record.rate)
    if not heard:
        return Proof.nothing("the agent was not heard")
    lasted = seconds_of(heard[0], record.rate)
    onset = heard[0].onset / record.rate
    return Proof(
        lasted <= 1.0 + FLUSHED_WITHIN and len(heard) == 1,
        f"{lasted:.3f} s of 6 s were heard, flushed after 1 s",
        {"heard, s": round(lasted, 3)},
        onset,
        onset + lasted,
        sign=lasted < 4.0,
    )


def marks(stand: Stand) -> Proof:
    """One mark is answered when playout reaches it, another at once when a flush removes it."""
    cues: list[Cue] = [
        (0.2, spoken(1.0)), (0.2, Mark("reached")),
        (1.8, spoken(3.0)), (1.8, Mark("flushed")), (2.2, Flush()),
    ]  # fmt: skip
    log = stand.call(Wait(3.5), agent=ProbeAgent(cues)).log
    answered = {each.item.name: each.at for each in log.items if isinstance(each.item, MarkPlayed)}
    if not answered:
        return Proof.nothing("no mark was answered")
    late = {name: answered[name] - due for name, due in (("reached", 1.2), ("flushed", 2.2)) if name in answered}
    return Proof(
        len(late) == 2 and all(abs(each) <= MARK_WITHIN for each in late.values()),
        "; ".join(f"{name}: answered {each * 1000:+.0f} ms from when it was due" for name, each in late.items()),
        {f"{name}, ms": round(each * 1000, 1) for name, each in late.items()},
        0.2,
        2.2,
    )


def _tone_on(track: Any, rate: int) -> tuple[float, float]:  # Any: an int16 array
    """Return frequency and level of the middle of the longest sound on a track."""
    longest = max(sounding(track, rate), key=len, default=None)
    if longest is None:
        return 0.0, level_db(track[:0])
    edge = round(MIDDLE * rate)
    middle = track[longest.onset + edge : longest.offset - edge]
    return frequency(middle, rate)[0], level_db(middle)
