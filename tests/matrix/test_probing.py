"""Probes show what is there, and do not show what is not."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.matrix.adapters import BROKEN, Deaf, Humble, Modest, Ornamental, Unflushing, subject_of
from voiceharness.doubles import SilentAgent, TurnTakingAgent
from voiceharness.errors import CallDroppedError, DeviceError
from voiceharness.events import Interrupted
from voiceharness.matrix import PROBES, Cell, probe_adapter
from voiceharness.matrix.sound import spoken
from voiceharness_adapters.in_process import InProcess, host

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from voiceharness.agent import AgentCall, PhoneAgent
    from voiceharness.capabilities import AdapterCapabilities, DtmfMethod
    from voiceharness.events import UserItem
    from voiceharness.matrix import Subject
    from voiceharness.scenario.result import CallResult


def probed(subject: Subject, *names: str) -> dict[str, Cell]:
    """The cells of some probes."""
    chosen = [probe for probe in PROBES if probe.name in names]
    return {cell.capability: cell for cell in probe_adapter(subject, probes=chosen).cells}


def test_all_that_the_in_process_adapter_declares_is_demonstrated() -> None:
    column = probe_adapter(subject_of(InProcess), probes=[each for each in PROBES if each.name != "barge_in:words"])
    verdicts = {cell.capability: cell.verdict for cell in column.cells if cell.here}
    assert set(verdicts.values()) == {"demonstrated"}
    assert {cell.verdict for cell in column.cells if cell.by_class is False} == {"not_declared"}
    assert {cell.verdict for cell in column.cells if cell.by_class is None} == {"demonstrated"}
    assert (column.clock, column.agent) == ("virtual", "the probe agent")


@pytest.mark.parametrize(("adapter", "capability", "detail"), BROKEN)
def test_a_false_declaration_fails_and_says_what_was_seen(
    adapter: type[InProcess], capability: str, detail: str
) -> None:
    cell = probed(subject_of(adapter), capability)[capability]
    assert cell.verdict == "failed"
    assert detail in cell.detail


def test_what_works_without_being_declared_is_reported() -> None:
    assert probed(subject_of(Modest), "dtmf:rfc4733")["dtmf:rfc4733"].verdict == "works_undeclared"
    cells = probed(subject_of(Humble), "dtmf:inband", "streaming_transcripts", "rate:16000")
    assert cells["dtmf:inband"].verdict == "works_undeclared"
    assert cells["streaming_transcripts"].verdict == "works_undeclared"
    assert cells["rate:16000"].verdict == "not_declared"
    assert "has no line rate 16000 Hz" in cells["rate:16000"].detail


def test_what_no_adapter_declares_is_not_held_against_one_that_lacks_it() -> None:
    assert probed(subject_of(Unflushing), "flush")["flush"].verdict == "not_declared"


def test_being_dialled_is_probed_where_an_agent_can_dial() -> None:
    class Dialled(InProcess):
        capabilities = replace(InProcess.capabilities, directions=frozenset({"dial", "be_dialled"}))

    name = "direction:be_dialled"
    assert probed(subject_of(Dialled), name)[name].verdict == "not_testable_here"
    assert probed(replace(subject_of(Dialled), dialler=host), name)[name].verdict == "demonstrated"


@pytest.mark.parametrize(
    ("action", "reason"), [("transfer", "no address to which one could be transferred"), ("reject", "no dialler")]
)
def test_call_control_that_has_nobody_to_act_on_says_so(action: str, reason: str) -> None:
    name = f"call_control:{action}"
    cell = probed(subject_of(Ornamental), name)[name]
    assert cell.verdict == "not_testable_here"
    assert reason in cell.detail


def test_a_host_is_given_the_options_of_the_adapter_that_it_takes() -> None:
    taken: list[object] = []

    @asynccontextmanager
    async def choosy(agent: PhoneAgent, *, goodbye: float = 0.0) -> AsyncIterator[Mapping[str, object]]:
        taken.append(goodbye)
        yield {"agent": agent}

    subject = replace(subject_of(InProcess), host=choosy, options={"goodbye": 0.5})
    assert probed(subject, "silence")["silence"].verdict == "demonstrated"
    assert set(taken) == {0.5}


def test_a_class_that_can_do_more_than_its_options_let_it_is_told_from_one_that_cannot() -> None:
    narrowed = replace(
        subject_of(Deaf), capabilities_for=lambda _options: replace(InProcess.capabilities, dtmf=frozenset({"event"}))
    )
    cell = probed(narrowed, "dtmf:inband")["dtmf:inband"]
    assert (cell.by_class, cell.here, cell.verdict) == (True, False, "not_declared")


def test_each_call_is_kept_and_named_beside_what_it_showed() -> None:
    kept: list[tuple[str, CallResult]] = []

    def keep(capability: str, result: CallResult) -> str:
        kept.append((capability, result))
        return f"run {len(kept)}"

    chosen = [probe for probe in PROBES if probe.name == "interruption"]
    (cell,) = probe_adapter(subject_of(InProcess), probes=chosen, keep=keep).cells
    assert cell.runs == ("run 1", "run 2")
    assert [capability for capability, _ in kept] == ["interruption"] * 2
    assert cell.figures == {"stop latency, s": 0.005, "turn left alone, s": 6.0}
    assert cell.start == pytest.approx(1.2, abs=0.01)
    assert cell.end == pytest.approx(1.205, abs=0.01)


# The user's own agent


def test_with_the_users_own_agent_what_only_the_probe_agent_can_show_is_left_out() -> None:
    subject = replace(subject_of(InProcess), agent=lambda: TurnTakingAgent([spoken(2.0)], greeting=spoken(1.0)))
    cells = probed(subject, "direction:dial", "virtual_time", "marks")
    assert cells["direction:dial"].verdict == "demonstrated"
    assert cells["virtual_time"].verdict == "demonstrated"
    assert cells["marks"].verdict == "not_testable_here"
    assert cells["marks"].detail == "only the probe agent can show it"


def test_the_users_own_agent_is_asked_something_and_interrupted_while_it_answers() -> None:
    class Obedient(TurnTakingAgent):
        def reaction(self, call: AgentCall) -> Callable[[UserItem], None]:
            converse = super().reaction(call)

            def take(item: UserItem) -> None:
                converse(item)
                if isinstance(item, Interrupted):
                    call.flush()

            return take

    obedient = replace(subject_of(InProcess), agent=lambda: Obedient([spoken(5.0)]))
    cell = probed(obedient, "interruption")["interruption"]
    assert cell.verdict == "demonstrated"
    assert "left alone it spoke for 5.00 s" in cell.detail


def test_an_agent_that_ignores_the_signal_says_nothing_of_the_adapter() -> None:
    deaf_to_signals = replace(subject_of(InProcess), agent=lambda: TurnTakingAgent([spoken(5.0)]))
    cell = probed(deaf_to_signals, "interruption")["interruption"]
    assert (cell.verdict, cell.detail) == (
        "not_testable_here",
        "the agent spoke on for 4.00 s; whether it got the signal, it does not tell",
    )


def test_an_agent_that_says_nothing_cannot_be_interrupted() -> None:
    cells = probed(replace(subject_of(InProcess), agent=SilentAgent), "direction:dial", "interruption")
    assert cells["direction:dial"].verdict == "failed"
    assert "0.00 s of the agent were heard" in cells["direction:dial"].detail
    assert cells["interruption"].verdict == "not_testable_here"


# Trouble


def test_an_adapter_that_cannot_be_reached_is_a_column_that_says_why() -> None:
    def no_device(_agent: PhoneAgent) -> _Unreachable:
        return _Unreachable()

    column = probe_adapter(replace(subject_of(InProcess), host=no_device))
    assert column.trouble == "DeviceError: there is no sound card"
    assert {cell.verdict for cell in column.cells} == {"not_testable_here"}
    assert next(cell for cell in column.cells if cell.capability == "interruption").by_class is True


class _Unreachable:
    async def __aenter__(self) -> Mapping[str, object]:
        raise DeviceError("there is no sound card")

    async def __aexit__(self, *_error: object) -> None:
        """Never entered."""


@asynccontextmanager
async def broken_host(_agent: PhoneAgent) -> AsyncIterator[Mapping[str, object]]:
    yield {"port": int("no port")}


def test_a_host_that_breaks_is_a_column_that_says_why() -> None:
    column = probe_adapter(replace(subject_of(InProcess), host=broken_host))
    assert column.trouble == (
        "ValueError, which is no error of voiceharness's, came out of the adapter or its host: "
        "invalid literal for int() with base 10: 'no port'"
    )
    assert {cell.verdict for cell in column.cells} == {"not_testable_here"}


def test_a_declaration_that_breaks_is_a_column_that_says_why() -> None:
    def breaks(_options: object) -> AdapterCapabilities:
        raise ZeroDivisionError("the declaration")

    column = probe_adapter(replace(subject_of(InProcess), capabilities_for=breaks))
    assert column.trouble.startswith("ZeroDivisionError, which is no error of voiceharness's")


def test_a_host_that_breaks_in_a_later_call_fails_only_that_probe() -> None:
    served = 0

    @asynccontextmanager
    async def tired(agent: PhoneAgent) -> AsyncIterator[Mapping[str, object]]:
        nonlocal served
        served += 1
        if served == 2:  # the first is asked what it declares
            raise RuntimeError("tired")
        yield {"agent": agent}

    cells = probed(replace(subject_of(InProcess), host=tired), "silence", "hangup:user")
    assert sorted(cell.verdict for cell in cells.values()) == ["demonstrated", "failed"]
    failed = next(cell for cell in cells.values() if cell.verdict == "failed")
    assert (
        failed.detail == "RuntimeError, which is no error of voiceharness's, came out of the adapter or its host: tired"
    )


def test_of_keys_only_what_a_call_showed_is_told() -> None:
    """A method that is not declared is tried by one call; what no call measured is no figure."""

    class Swallowing(InProcess):
        async def send_dtmf(self, digits: str, *, method: DtmfMethod, tone_ms: int = 100, gap_ms: int = 100) -> None:
            """Take them, and press nothing."""

    swallowed = probed(subject_of(Swallowing), "dtmf:info")["dtmf:info"]
    assert (swallowed.verdict, swallowed.detail) == (
        "not_declared",
        "no digit arrived where 0123456789*#111 was pressed",
    )
    assert not swallowed.figures
    undeclared = probed(subject_of(Modest), "dtmf:rfc4733")["dtmf:rfc4733"]
    assert undeclared.figures["digits during speech"] == 4
    assert len(undeclared.runs) == 2


def test_a_call_that_breaks_fails_the_probe() -> None:
    class Dropping(InProcess):
        async def send_audio(self, chunk: object) -> None:
            raise CallDroppedError("the line is dead")

    cell = probed(subject_of(Dropping), "silence")["silence"]
    assert (cell.verdict, cell.detail) == ("failed", "CallDroppedError: the line is dead")


def test_a_run_that_cannot_be_believed_is_made_again_and_then_decides_nothing() -> None:
    class Doubtful(Deaf):
        def trust_reasons(self) -> tuple[str, ...]:
            return ("the machine is too busy",)

    cell = probed(subject_of(Doubtful), "one_way_delay")["one_way_delay"]
    assert cell.verdict == "not_testable_here"
    assert cell.detail == "this run cannot be believed: the machine is too busy"
