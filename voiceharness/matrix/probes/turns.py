"""Probes of turns: the interrupt signal, barge-in by time and by words, the agent's first, longest and missing turn."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from voiceharness.doubles.probe_agent import ProbeAgent
from voiceharness.events import Words
from voiceharness.matrix.cell import Proof
from voiceharness.matrix.sound import seconds_of, sound_until, sounding, spoken, user_sound
from voiceharness.matrix.stand import DEFAULT_RATE
from voiceharness.scenario.steps import Interrupt, Wait
from voiceharness.scenario.triggers import seconds, words
from voiceharness.speech.engines import make_synthesizer

if TYPE_CHECKING:
    from voiceharness.line.record import CallRecord
    from voiceharness.matrix.stand import Stand

__all__ = ["barge_in_by_time", "barge_in_by_words", "interruption", "long_turn", "silence", "speaks_first"]

TURN: Final = 6.0
START: Final = 0.2
INTO: Final = 1.0
REST: Final = 6.5
STOPS_WITHIN: Final = 0.5
LEAST_REST: Final = 1.0

YIELDS_AFTER: Final = 0.2
PLACED_WITHIN: Final = 0.04
COUNTED: Final = "one two three four five six seven eight nine ten"
NTH: Final = 3
WORD_LAG: Final = 1.5

EDGE: Final = 0.06
LONG: Final = 90.0
QUIET: Final = 5.0


def interruption(stand: Stand) -> Proof:
    """Send the transport's own signal 1 s into a turn; a control call without it shows that the agent would go on."""
    opening = stand.opening
    signal = Interrupt(audio=user_sound(0.5), after=seconds(INTO), via="signal")
    control = stand.call(*opening, Wait(START + INTO + REST), agent=_talker()).record
    record = stand.call(*opening, signal, Wait(REST), agent=_talker()).record
    sent = next((event.at for event in record.of_kind("interrupt_signal")), None)
    if sent is None:
        return Proof.unable("the agent did not speak, so there was nothing to interrupt")
    alone = _longest(control)
    if alone < INTO + LEAST_REST:
        return Proof.unable(f"left alone, the agent spoke for {alone:.2f} s only")
    latency = (sound_until(record.agent, record.rate, sent) - sent) / record.rate
    heard = _longest(record)
    shown = latency <= STOPS_WITHIN and heard < alone - LEAST_REST / 2
    if not shown and not stand.subject.is_ours:
        return Proof.unable(f"the agent spoke on for {latency:.2f} s; whether it got the signal, it does not tell")
    return Proof(
        shown,
        f"the agent stopped {latency:.3f} s after the signal; left alone it spoke for {alone:.2f} s",
        {"stop latency, s": round(latency, 3), "turn left alone, s": round(alone, 3)},
        sent / record.rate,
        sent / record.rate + latency,
        sign=heard < alone - LEAST_REST / 2,
    )


def barge_in_by_time(stand: Stand) -> Proof:
    """Talk over the agent 1.5 s into its turn: the user's sound lies there, and the agent yields to it."""
    into = 1.5
    step = Interrupt(audio=user_sound(1.0), after=seconds(into), via="speech")
    agent = ProbeAgent([(START, spoken(TURN))], yields_after=YIELDS_AFTER)
    record = stand.call(step, Wait(REST), agent=agent).record
    placed = _user_onset(record)
    if placed is None:
        return Proof.nothing("the agent was not heard, so nobody was interrupted")
    asked = sounding(record.agent, record.rate)[0].onset + round(into * record.rate)
    error = (placed - asked) / record.rate
    stopped = (sound_until(record.agent, record.rate, placed) - placed) / record.rate
    function = stand.subject.answers_only
    return Proof(
        abs(error) <= PLACED_WITHIN and (function or stopped < TURN - into - LEAST_REST),
        f"the user's onset lay {error * 1000:+.1f} ms from where it was asked; the agent "
        f"{'is a function, which cannot yield, and stopped' if function else 'yielded'} {stopped:.3f} s later",
        {"placement error, ms": round(error * 1000, 1), "stop latency, s": round(stopped, 3)},
        placed / record.rate,
        placed / record.rate + stopped,
    )


def barge_in_by_words(stand: Stand) -> Proof:
    """Talk over the agent after its third word has been heard, by the words this adapter would give a scenario."""
    speech = make_synthesizer(None, rate=DEFAULT_RATE).synthesize(COUNTED)
    audio = replace(speech.audio, position=None, item="counting")
    step = Interrupt(audio=user_sound(1.0), after=words(NTH), via="speech")
    agent = ProbeAgent([(START, Words("counting", speech.words)), (START, audio)])
    record = stand.call(step, Wait(audio.duration), agent=agent, pretending=stand.here).record
    barge_in = next(iter(record.of_kind("barge_in")), None)
    if barge_in is None:
        return Proof.nothing(f"{NTH} words of the agent were never counted")
    heard_from = sounding(record.agent, record.rate)[0].onset - round(speech.words[0].start * record.rate)
    lag = (barge_in.at - heard_from) / record.rate - speech.words[NTH - 1].end
    return Proof(
        -PLACED_WITHIN <= lag <= WORD_LAG,
        f"the user spoke {lag:+.3f} s after word {NTH} was over; words by {barge_in.data['word_source']}",
        {"after the word, s": round(lag, 3)},
        barge_in.at / record.rate,
        barge_in.at / record.rate + 1.0,
    )


def speaks_first(stand: Stand) -> Proof:
    """The agent speaks at the moment of the answer: its first sound is not cut off."""
    if stand.subject.answers_only:
        return Proof.nothing("it is a function, which speaks when it has been spoken to")
    length = 1.0
    record = stand.call(Wait(2.0), agent=ProbeAgent([(0.0, spoken(length))])).record
    heard = sounding(record.agent, record.rate)
    if not heard:
        return Proof.nothing("the agent was not heard")
    onset, lasted = heard[0].onset / record.rate, seconds_of(heard[0], record.rate)
    return Proof(
        abs(lasted - length) <= EDGE,
        f"heard from {onset:.3f} s after the answer for {lasted:.3f} s of {length:g} s",
        {"onset after the answer, s": round(onset, 3), "heard, s": round(lasted, 3)},
        onset,
        onset + lasted,
    )


def long_turn(stand: Stand) -> Proof:
    """A turn of 90 s, sent in one burst, is heard as one turn without a hole."""
    call = stand.call(Wait(LONG + 2.0), agent=ProbeAgent([(START, spoken(LONG))]))
    heard = sounding(call.record.agent, call.rate)
    if not heard:
        return Proof.nothing("the agent was not heard")
    lasted = seconds_of(heard[0], call.rate)
    return Proof(
        len(heard) == 1 and abs(lasted - LONG) <= 2 * EDGE,
        f"heard for {lasted:.2f} s of {LONG:g} s in {len(heard)} piece(s)",
        {"heard, s": round(lasted, 2), "pieces": len(heard)},
    )


def silence(stand: Stand) -> Proof:
    """Nobody speaks: the call stays up, and nothing is heard that nobody said."""
    call = stand.call(Wait(QUIET), agent=ProbeAgent())
    heard = sounding(call.record.agent, call.rate)
    return Proof(
        not heard and call.result.ended_by == "user" and call.record.duration >= QUIET - EDGE,
        f"{call.record.duration:.2f} s of silence, ended by the {call.result.ended_by or 'transport'}",
        {"silence, s": round(call.record.duration, 2)},
    )


def _talker() -> ProbeAgent:
    return ProbeAgent([(START, spoken(TURN))])


def _longest(record: CallRecord) -> float:
    return max((seconds_of(span, record.rate) for span in sounding(record.agent, record.rate)), default=0.0)


def _user_onset(record: CallRecord) -> int | None:
    """Return where the user first speaks once the agent has been heard."""
    agent = sounding(record.agent, record.rate)
    onsets = (span.onset for span in sounding(record.user, record.rate) if agent and span.onset > agent[0].onset)
    return next(onsets, None)
