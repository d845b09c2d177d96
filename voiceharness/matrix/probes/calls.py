"""Probes of the call itself: its direction, its end from each side, the next call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from voiceharness.doubles.probe_agent import ProbeAgent
from voiceharness.events import RemoteHangup
from voiceharness.matrix.cell import Proof
from voiceharness.matrix.sound import seconds_of, sounding, spoken, user_sound
from voiceharness.scenario.steps import Hangup, Hear, Say, Wait

if TYPE_CHECKING:
    from voiceharness.line.record import CallRecord
    from voiceharness.matrix.stand import ProbeCall, Stand

__all__ = ["be_dialled", "dial", "hangup_by_agent", "hangup_by_user", "reconnect", "virtual_time"]

CALLS: Final = 3
AGENT_ENDS_AT: Final = 1.0
TOLD_WITHIN: Final = 0.5


def dial(stand: Stand) -> Proof:
    """The harness dials, and both sides hear each other."""
    call = stand.call(Hear(within=2.0), Say(audio=user_sound(0.5)), Wait(1.0), agent=_greeter())
    agent, user = _heard(call.record), stand.subject.is_ours and _reached(call)
    answered = call.result.answered_after
    return Proof(
        agent > 0 and (user > 0 or not stand.subject.is_ours),
        f"answered after {answered:.3f} s; {agent:.2f} s of the agent were heard, and {float(user):.2f} s of the user",
        {"answered after, s": round(answered, 3), "agent heard, s": round(agent, 2)},
    )


def be_dialled(stand: Stand) -> Proof:
    """The agent dials, and both sides hear each other."""
    if not stand.be_called():
        return Proof.unable("there is no dialler that would let an agent call it")
    return dial(stand)


def hangup_by_user(stand: Stand) -> Proof:
    """The user hangs up, and the agent is told."""
    call = stand.call(Wait(0.5), Hangup(), agent=_greeter())
    if stand.subject.answers_only:
        return Proof.nothing("the agent is a function, which is not told that the call has ended")
    told = call.log.ended_at
    if told is None:
        return Proof(False, "the agent was never told that the call had ended")
    return Proof(True, f"the agent was told {told:.3f} s into its call", {"told at, s": round(told, 3)})


def hangup_by_agent(stand: Stand) -> Proof:
    """The agent hangs up, and the line says so, then."""
    agent = ProbeAgent([(AGENT_ENDS_AT, RemoteHangup("the probe is over"))])
    tells: list[bool] = []
    call = stand.call(Wait(3.0), agent=agent, watch=lambda adapter: tells.append(adapter.tells_the_end))
    lasted = call.record.duration
    if call.result.ended_by != "agent":
        detail = f"the agent hung up after 1 s; the call went on for {lasted:.2f} s"
        if stand.subject.answers_only:
            return Proof.nothing(f"{detail}, as a function cannot hang up")
        return Proof(False, detail) if all(tells) else Proof.nothing(f"{detail}, as this transport cannot tell")
    return Proof(
        abs(lasted - AGENT_ENDS_AT) <= TOLD_WITHIN,
        f"the agent hung up after 1 s; the call ended after {lasted:.3f} s",
        {"ended after, s": round(lasted, 3)},
        end=lasted,
    )


def reconnect(stand: Stand) -> Proof:
    """One call after the other to the same agent, each by a new adapter."""
    calls = stand.calls(Wait(1.5), agent=_greeter(), times=CALLS)
    heard = [_heard(call.record) for call in calls]
    return Proof(
        all(seconds > 0 for seconds in heard), f"{sum(map(bool, heard))} of {CALLS} calls were heard", {"calls": CALLS}
    )


def virtual_time(stand: Stand) -> Proof:
    """Two calls in virtual time give the same bytes and the same events."""
    first, second = (
        stand.call(Say(audio=user_sound(0.5), gap=0.3), Wait(1.5), agent=_greeter(), virtual=True).record
        for _ in range(2)
    )
    tracks = all((one == other).all() for one, other in ((first.user, second.user), (first.agent, second.agent)))
    same = tracks and first.events == second.events and first.arrivals == second.arrivals
    return Proof(same, f"two calls were {'the same in every byte' if same else 'not the same'}", {"calls": 2})


def _greeter() -> ProbeAgent:
    return ProbeAgent([(0.2, spoken(0.6))])


def _heard(record: CallRecord) -> float:
    return sum(seconds_of(span, record.rate) for span in sounding(record.agent, record.rate))


def _reached(call: ProbeCall) -> float:
    return sum(seconds_of(span, call.log.rate) for span in sounding(call.log.audio.samples, call.log.rate))
