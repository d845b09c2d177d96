"""Faults of giving way, each with its twin that has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.measure.calls import Call, noise, silence, speechlike, tone
from tests.measure.verdicts import kinds, only

if TYPE_CHECKING:
    from numpy.typing import NDArray

FRAME = 0.02


def words(count: int) -> NDArray[np.int16]:
    """Words of 800 ms with short pauses between them."""
    return np.concatenate([np.concatenate((speechlike(0.7, seed=n), silence(0.1))) for n in range(count)])


def test_an_agent_that_a_cough_silences_for_good_is_found() -> None:
    """Case A27, with the fault."""
    call = Call(9).paced(0, words(3)).user(2, noise(0.3), intent="noise")
    finding = only(call, "stopped_not_resumed")
    assert finding.figure == pytest.approx(6.7, abs=0.1)
    assert "never went on" in finding.explanation


def test_an_agent_that_ignores_a_cough_is_right() -> None:
    """Case A27, first twin."""
    assert kinds(Call(9).paced(0, words(10)).user(2, noise(0.3), intent="noise")) == []


def test_an_agent_that_pauses_for_a_cough_and_goes_on_is_right() -> None:
    """Case A27, second twin: paused by a flush, resumed within 2 s."""
    call = Call(11).agent(0, words(10), "a").user(2, noise(0.3), intent="noise").flush(2.4).agent(4, words(7), "a")
    assert kinds(call) == []


def test_a_turn_that_was_complete_was_not_stopped_by_the_sound_in_it() -> None:
    call = Call(9).paced(0, words(3), "a").note(2.4, "turn_done", item="a").user(2, noise(0.3), intent="noise")
    assert kinds(call) == []


@pytest.mark.parametrize(("after", "stop"), [(1, 3.2), (0, 1.2)])
def test_yielding_to_listeners_words_is_found(after: int, stop: float) -> None:
    """Case A23, with the fault: it says after which word."""
    call = Call(6).agent(0, tone(440, 8)).flush(stop).agent(stop + 1, tone(880, 2), "new")
    for at, word in [(1, "yeah"), (3, "ok")][: after + 1]:
        call.user(at, speechlike(0.3), text=word)
    finding = only(call, "false_yield")
    assert finding.figure == pytest.approx(0.2, abs=FRAME)
    assert f'"{["yeah", "ok"][after]}"' in finding.explanation


def test_words_of_a_listener_that_change_nothing_are_no_fault() -> None:
    """Case A23, without the fault."""
    call = Call(10).agent(0, tone(440, 8))
    for at, word in ((1, "yeah"), (3, "ok"), (5, "mm")):
        call.user(at, speechlike(0.3), text=word)
    assert kinds(call) == []


def test_yielding_to_a_real_interruption_is_no_fault() -> None:
    """Case A27: yielding to the user is another thing."""
    call = Call(6).agent(0, tone(440, 5)).barge_in(2, speechlike(1), text="Stop, please.").flush(2.3)
    assert kinds(call.agent(3.5, tone(880, 1))) == []


def test_an_agent_that_cuts_itself_off_is_found() -> None:
    """Case A25, with the fault."""
    call = (
        Call(8)
        .note(0, "impaired", kind="echo", direction="user", frame=None, detail="-10 dB")
        .agent(0, tone(440, 6))
        .flush(1.2)
    )
    finding = only(call, "self_interruption")
    assert finding.figure == pytest.approx(4.8, abs=FRAME)
    assert "echo" in finding.explanation


def test_an_agent_that_speaks_on_through_its_echo_is_right() -> None:
    """Case A25, without the fault."""
    assert (
        kinds(
            Call(8)
            .note(0, "impaired", kind="echo", direction="user", frame=None, detail="-10 dB")
            .agent(0, tone(440, 6))
        )
        == []
    )


@pytest.mark.parametrize("said", [False, True])
def test_a_paced_agent_that_cuts_itself_off_is_known_by_its_claim(said: bool) -> None:
    """Case A25, without a queue to flush."""
    call = Call(8).paced(0, tone(440, 1.2), "a").note(1.2, "truncation_claimed", item="a", heard=1.2)
    if said:
        call.user(0.8, speechlike(1)).paced(3, tone(880, 1), "b")
    assert kinds(call) == ([] if said else ["self_interruption"])


def test_an_empty_flush_cuts_nobody_off() -> None:
    assert kinds(Call(8).agent(0, tone(440, 2)).flush(3)) == []


def test_an_agent_that_begins_in_mid_utterance_is_found() -> None:
    call = Call(7).user(0, speechlike(3)).agent(1.5, tone(440, 3))
    finding = only(call, "talking_over_user")
    assert finding.severity == "warning"
    assert finding.figure == pytest.approx(1.5, abs=FRAME)
    assert finding.end / 8000 == pytest.approx(3, abs=0.005)


@pytest.mark.parametrize("onset", [0.5, 2.8, 3.3])
def test_beginning_together_or_a_moment_early_is_no_fault(onset: float) -> None:
    """Case B07 (b): a greeting and a user who speak at once."""
    assert kinds(Call(7).user(0, speechlike(3)).agent(onset, tone(440, 3))) == []
