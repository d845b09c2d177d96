"""Probes of call control: hold and resume, a transfer to another agent, calls that end before they are answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from voiceharness.doubles.probe_agent import ProbeAgent
from voiceharness.matrix.cell import Proof
from voiceharness.matrix.sound import seconds_of, sounding, spoken
from voiceharness.scenario.steps import Line, Wait

if TYPE_CHECKING:
    from voiceharness.audio.edges import Span
    from voiceharness.doubles.log import CallLog
    from voiceharness.matrix.stand import ProbeCall, Stand

__all__ = ["cancel", "hold", "reject", "resume", "transfer"]

HELD: Final = 1.5
SETTLES_WITHIN: Final = 0.5
LEAST_HEARD: Final = 0.3
TALKS: Final = 9.0
TALKS_BEFORE: Final = 1.0
RINGS: Final = 5.0
REFUSALS: Final = range(400, 700)


def hold(stand: Stand) -> Proof:
    """The agent, which speaks all the time, is not heard while the call is on hold."""
    call = _held(stand)
    start, end = call.result.steps[1].end / call.rate, call.result.steps[3].start / call.rate
    left = _heard_between(call, start + SETTLES_WITHIN, end)
    return Proof(
        left == 0,
        f"of the agent, which went on speaking, {left:.2f} s were heard in {end - start:.2f} s on hold",
        {"on hold, s": round(end - start, 2), "heard, s": round(left, 2)},
        start,
        end,
    )


def resume(stand: Stand) -> Proof:
    """The agent is heard again once the call is taken up."""
    call = _held(stand)
    start = call.result.steps[3].start / call.rate
    quiet = _heard_between(call, start - 2 * SETTLES_WITHIN, start) == 0
    onset = next((span.onset for span in _heard(call) if span.onset >= start * call.rate), None)
    if onset is None or not quiet:
        return Proof(False, f"the agent was {'not heard again' if quiet else 'heard all the time'}")
    after = onset / call.rate - start
    return Proof(
        after <= SETTLES_WITHIN,
        f"the agent was heard again {after:.3f} s after the call was taken up",
        {"heard again after, s": round(after, 3)},
        start,
        start + after,
    )


def transfer(stand: Stand) -> Proof:
    """The agent is transferred to another: it follows, the two hear each other, and the user's call is over."""
    agent = ProbeAgent([(0.2, spoken(TALKS))])
    other = ProbeAgent([(0.2, spoken(2.0))])
    call = stand.transferred(agent, other, after=TALKS_BEFORE)
    if call is None:
        return Proof.unable("an agent on this transport has no address to which one could be transferred")
    step = call.result.steps[1]
    took = (step.end - step.start) / call.rate
    heard, answered = _sound_in(other.log) if other.logs else 0.0, _sound_after(agent.log, TALKS_BEFORE)
    return Proof(
        min(heard, answered) >= LEAST_HEARD and call.result.ended_by == "agent",
        f"the transfer was done after {took:.3f} s; then the other agent heard {heard:.2f} s of this one, this one "
        f"{answered:.2f} s of the other, and the user's call was over ({call.result.ended_reason or 'no reason told'})",
        {"transferred after, s": round(took, 3), "heard by the other, s": round(heard, 2)},
        step.start / call.rate,
        step.end / call.rate,
    )


def cancel(stand: Stand) -> Proof:
    """A call that rings at the agent is given up: the agent is told, and never answers."""
    return _before_answer(ProbeAgent(ring=RINGS), "cancel", stand)


def reject(stand: Stand) -> Proof:
    """A call of the agent is refused while it rings: the agent is told the cause, and is never connected."""
    if not stand.be_called() and "reject" in stand.here.call_control:
        return Proof.unable("there is no dialler that would let an agent call it")
    return _before_answer(ProbeAgent(), "reject", stand)


def _before_answer(agent: ProbeAgent, action: str, stand: Stand) -> Proof:
    result = stand.unanswered("cancel" if action == "cancel" else "reject", agent)
    if agent.logs:
        return Proof(False, "the agent was connected all the same")
    if not agent.missed_calls:
        return Proof(False, "the agent was never told that its call had ended")
    told = agent.missed_calls[-1]
    code, here = told.code or 0, result.steps[0].detail
    return Proof(
        code in REFUSALS,
        f"the agent was told {code} {told.reason} and was not connected; on this side: {here}",
        {"code": code},
    )


def _held(stand: Stand) -> ProbeCall:
    steps = Wait(1.0), Line("hold"), Wait(HELD), Line("resume"), Wait(2.0)
    return stand.call(*steps, agent=ProbeAgent([(0.2, spoken(TALKS))]))


def _heard(call: ProbeCall) -> list[Span]:
    return sounding(call.record.agent, call.rate)


def _heard_between(call: ProbeCall, start: float, end: float) -> float:
    part = call.record.agent[round(start * call.rate) : round(end * call.rate)]
    return sum(seconds_of(span, call.rate) for span in sounding(part, call.rate))


def _sound_in(log: CallLog) -> float:
    return sum(seconds_of(span, log.rate) for span in sounding(log.audio.samples, log.rate))


def _sound_after(log: CallLog, start: float) -> float:
    spans = sounding(log.audio.samples, log.rate)
    return sum(seconds_of(span, log.rate) for span in spans if span.onset >= start * log.rate)
