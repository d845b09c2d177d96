"""No fault is found in calls that have none: recorded speech, sent in every way, with interruptions and listeners."""

from __future__ import annotations

import random

import pytest

from tests.measure.calls import Call, spoken
from tests.measure.verdicts import faults

ANSWERS = ("agent_greeting", "agent_menu", "agent_offer", "agent_confirm", "agent_goodbye")
QUESTIONS = ("user_hello", "user_question", "user_tuesday", "user_thanks", "user_book")


def clean_call(seed: int) -> Call:
    """Five turns; the agent may be interrupted (it stops in time, and answers) or hear an "mm-hmm" (and goes on)."""
    draw = random.Random(seed)
    call, at = Call(90), draw.uniform(0, 1)
    for turn, name in enumerate(draw.sample(ANSWERS, 5)):
        send = draw.choice((call.agent, call.paced))
        question, answer = spoken(draw.choice(QUESTIONS)), spoken(name)
        call.user(at, question, text="A question.")
        at += len(question) / 8000 + draw.uniform(0.2, 1.5)
        length = len(answer) / 8000
        match draw.choice(("nothing", "interrupted", "listened to")):
            case "interrupted":
                barge_in = at + draw.uniform(0.8, length - 1)
                length = barge_in + draw.uniform(0.1, 0.6) - at
                send(at, answer if send == call.agent else answer[: round(length * 8000)], f"answer {turn}")
                call.barge_in(barge_in, spoken("user_wait"), text="Wait a moment.").flush(at + length)
                at = barge_in + 2 + draw.uniform(0, 1)
                send(at, spoken("agent_menu"), f"second answer {turn}")
                length = len(spoken("agent_menu")) / 8000
            case "listened to":
                send(at, answer, f"answer {turn}")
                call.user(at + draw.uniform(0.5, length - 0.5), spoken("user_mm_hmm"), text="Mm-hmm.")
            case _:
                send(at, answer, f"answer {turn}")
        at += length + draw.uniform(0.9, 2)
    return call.hang_up("user", at=at)


@pytest.mark.parametrize("seed", range(40))
def test_clean_calls_have_no_faults(seed: int) -> None:
    assert faults(clean_call(seed)) == ()
