"""A call of a minute with everything a page can show: recorded speech, words, keys, marks, barge-ins, faults."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tests.measure.calls import Call, spoken
from voiceharness.audio.signals import white_noise
from voiceharness.measure import find_faults, measure
from voiceharness.scenario.expectations import CheckResult
from voiceharness.scenario.result import CallResult, StepResult

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voiceharness.line.record import CallRecord

__all__ = ["noisy", "showcase_call"]

RATE = 8000
TEXTS = {
    "agent_greeting": "Thank you for calling Lakeside Dental. How can I help you today?",
    "agent_offer": "I have an opening on Tuesday at half past two, or on Wednesday at nine. Which one works for you?",
    "agent_confirm": "Great, you are booked for Tuesday at half past two. We will send you a reminder the day before.",
    "agent_goodbye": "Thank you for calling. Have a nice day.",
    "agent_menu": "For appointments, press one. For billing, press two.",
    "user_hello": "Hello, can you hear me?",
    "user_book": "I would like to book a check-up.",
    "user_wait": "Wait, one moment please.",
    "user_tuesday": "Tuesday would be great.",
    "user_mm_hmm": "mm-hmm",
    "user_question": "What are your opening hours?",
    "user_thanks": "Thank you, goodbye.",
}


ATTACK = "</script><script>window.attacked = 1</script><img src=x onerror='window.attacked = 2'>\"'&\ud800\x00"


def showcase_call(*, hostile: bool = False) -> CallResult:
    """A minute in which the agent does not stop when it is talked over; ``hostile`` puts an attack in all its texts."""
    call = Call(60)
    _agent(call, 0.4, "agent_greeting")
    _user(call, 5.6, "user_hello", step=1)
    _agent(call, 8.6, "agent_menu")
    call.note(12.6, "digit_sent", digit="1", method="rfc4733", duration=0.1)
    call.note(12.9, "mark_played", name="menu", flushed=False)
    _user(call, 14.5, "user_book", step=3)
    _agent(call, 18.6, "agent_offer")
    call.barge_in(21.0, spoken("user_wait"), step=4, text=TEXTS["user_wait"])
    call.note(21.0, "barge_in", asked=168000, onset=168000, via="speech", step=4, phase="speaking")
    _user(call, 28.5, "user_tuesday", step=5)
    _agent(call, 32.5, "agent_confirm")
    _user(call, 35.0, "user_mm_hmm", step=6)
    _user(call, 42.0, "user_question", step=7)
    _agent(call, 47.0, "agent_offer")
    call.barge_in(49.0, spoken("user_wait"), step=8, text=TEXTS["user_wait"])
    call.note(49.0, "barge_in", asked=392000, onset=392000, via="speech", step=8, phase="speaking")
    call.flush(49.4)
    _user(call, 53.0, "user_thanks", step=9)
    _agent(call, 56.5, "agent_goodbye")
    if hostile:
        call.note(57.0, "protocol_fault", kind=ATTACK, detail=ATTACK)
        call.note(58.0, "word_heard", text=ATTACK, start=464000, end=468000, item=ATTACK, source=ATTACK)
    call.hang_up(by="user")
    result = _result(call.record())
    return _with_attack(result) if hostile else result


def _with_attack(result: CallResult) -> CallResult:
    steps = tuple(replace(step, label=ATTACK, detail=ATTACK) for step in result.steps)
    checks = tuple(replace(check, wanted=ATTACK, measured=ATTACK, explanation=ATTACK) for check in result.checks)
    findings = tuple(replace(finding, explanation=ATTACK) for finding in result.findings)
    return replace(
        result,
        scenario=ATTACK,
        adapter=ATTACK,
        ended_reason=ATTACK,
        facts={ATTACK: ATTACK},
        steps=steps,
        checks=checks,
        findings=findings,
        trust=replace(result.trust, reasons=(ATTACK,)),
        error=OSError(ATTACK),
    )


def noisy(result: CallResult, level_db: float = -33.0) -> CallResult:
    """The same call over a line that hisses in both directions."""
    record = result.record
    assert record is not None
    user, agent = (_hissing(track, level_db, seed) for seed, track in enumerate((record.user, record.agent)))
    return replace(result, record=replace(record, user=user, agent=agent))


def _hissing(track: NDArray[np.int16], level_db: float, seed: int) -> NDArray[np.int16]:
    noise = white_noise(len(track) / RATE, RATE, level_db=level_db, seed=seed)
    both: NDArray[np.int16] = np.clip(track.astype(np.int32) + noise, -32768, 32767).astype(np.int16)
    return both


def _agent(call: Call, at: float, name: str) -> None:
    sound = spoken(name)
    call.agent(at, sound, item=f"{name} {at:g}")
    words = TEXTS[name].split()
    each = len(sound) / RATE / len(words)
    for index, word in enumerate(words):
        start, end = (round((at + each * edge) * RATE) for edge in (index, index + 1))
        call.note(end / RATE, "word_heard", text=word, start=start, end=end, item=name, source="agent", estimated=True)


def _user(call: Call, at: float, name: str, *, step: int) -> None:
    call.user(at, spoken(name), step=step, text=TEXTS[name])


def _result(record: CallRecord) -> CallResult:
    metrics = measure(record)
    labels = ["hear", 'say "Hello, can you hear me?"', 'press "1"', 'say "I would like to book a check-up."']
    labels += ["interrupt after 2.4 s", 'say "Tuesday would be great."', 'say "mm-hmm"', 'say "What are your opening…"']
    labels += ["interrupt after 2 s", 'say "Thank you, goodbye."', "hear", "check dtmf"]
    edges = np.linspace(0, len(record.user), len(labels) + 1).astype(int).tolist()
    steps = [StepResult(index, label, "done", edges[index], edges[index + 1]) for index, label in enumerate(labels)]
    steps[-2] = replace(steps[-2], outcome="failed", detail="wanted agent speech within 3 s: heard after 3.5 s")
    steps[-1] = replace(steps[-1], outcome="skipped", detail="the call had ended")
    late = "wanted an answer after at most 1 s: answered after 3.472 s"
    checks = (
        CheckResult("answered", True, "an answer within 5 s", "answered after 0.12 s", "", step=None, at=0, value=0.12),
        CheckResult("response_latency", False, "an answer after at most 1 s", "3.472 s", late, step=7, at=376000),
    )
    return CallResult(
        "book a check-up and change your mind",
        "twilio",
        "failed",
        seed=42,
        steps=tuple(steps),
        checks=checks,
        metrics=metrics,
        findings=find_faults(record, metrics),
        record=record,
        ended_by="user",
        ended_reason="the scenario was over",
        answered_after=0.12,
        facts={"voiceharness": "0.1.0", "python": "3.11.7", "synthesizer": "hibari-tts 0.2.1"},
    )
