"""Scripted collaborators: which methods exist, what each call is answered with, what is recorded."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import pytest

from voiceharness.scripted.errors import (
    InvalidScriptedSandboxStepError,
    SandboxCallMatcherError,
    ScriptTypeError,
    UnconsumedSandboxStepsError,
    UnexpectedSandboxCallError,
)
from voiceharness.scripted.session import ScriptedSession, SessionCall, SessionStep, on_call, scripted_session
from voiceharness.scripted.snapshot import SnapshotPolicy

__all__: list[str] = []


@dataclass
class Plan:
    """Something the carrier is given, with parts that can change."""

    steps: list[str] = field(default_factory=list)


@runtime_checkable
class Carrier(Protocol):
    """A carrier's REST client."""

    async def place_call(self, to: str, *, record: bool = False) -> str:
        """Place a call; returns its identity."""

    async def apply(self, plan: Plan) -> None:
        """Apply a plan."""

    def balance(self, currency: str = "EUR") -> float:
        """Return what is left."""

    async def hang_up(self, call: str) -> None:
        """End a call."""


class Account(ABC):
    """The same kind of thing as an abstract class."""

    @abstractmethod
    async def register(self) -> bool:
        """Register."""


def carrier(*steps: SessionStep, snapshots: SnapshotPolicy | None = None) -> ScriptedSession[Carrier]:
    return scripted_session(steps, spec=Carrier, snapshots=snapshots)


def test_only_the_methods_that_a_step_names_exist() -> None:
    """Item 78."""
    double = carrier(on_call("place_call").returns("CA1"))
    session: Carrier = double.session  # typed as what the code under test works with
    assert hasattr(session, "place_call")
    assert not hasattr(session, "hang_up")
    assert not hasattr(session, "balance")
    assert asyncio.run(session.place_call("+15550100000", record=True)) == "CA1"
    assert double.calls == (SessionCall(index=0, method="place_call", args=("+15550100000",), kwargs={"record": True}),)
    assert double.remaining_steps == 0
    double.assert_complete()
    assert hasattr(session, "place_call")


def test_a_double_passes_for_an_instance_of_its_spec() -> None:
    assert isinstance(carrier(on_call("hang_up").returns(None)).session, Carrier)
    account = scripted_session([on_call("register").returns(True)], spec=Account).session
    assert isinstance(account, Account)
    assert asyncio.run(account.register()) is True


def test_responders_and_synchronous_methods_share_one_order() -> None:
    """Item 80."""

    async def respond(call: SessionCall) -> str:
        return f"CA{call.index} to {call.args[0]}"

    double = carrier(
        on_call(Carrier.balance).returns(12.5),
        on_call(Carrier.place_call).responds(respond),
        on_call(Carrier.balance).responds(lambda call: call.index / 2),
    )
    assert double.session.balance() == 12.5
    assert asyncio.run(double.session.place_call("A")) == "CA1 to A"
    assert double.session.balance("USD") == 1.0
    double.assert_complete()


def test_scripted_methods_can_be_wrapped() -> None:
    double = carrier(on_call("hang_up").returns(None))
    order: list[str] = []
    scripted = double.session.hang_up

    async def wrapped(call: str) -> None:
        order.append("before")
        await scripted(call)

    double.session.hang_up = wrapped  # type: ignore[method-assign] # what a client library's own hook does
    asyncio.run(double.session.hang_up("CA1"))
    assert order == ["before"]
    assert [call.method for call in double.calls] == ["hang_up"]


def test_arguments_are_copied_when_the_call_is_made_and_for_each_reader() -> None:
    """Items 82, 83, 84 and 85."""
    plan = Plan(["answer"])

    def match(plan: Plan) -> bool:
        plan.steps.append("from the matcher")
        return plan.steps[0] == "answer"

    def respond(call: SessionCall) -> None:
        call.args[0].steps.append("from the responder")

    double = carrier(
        on_call(Carrier.apply).matching(match).responds(respond),
        snapshots=SnapshotPolicy().register_snapshot_type(Plan),
    )
    asyncio.run(double.session.apply(plan))
    plan.steps.append("from the one who called")
    double.calls[0].args[0].steps.append("from a reader")
    assert double.calls[0].args == (Plan(["answer"]),)
    assert plan.steps == ["answer", "from the one who called"]


def test_a_fixed_result_is_copied_when_queued() -> None:
    """Item 86."""
    result = {"calls": ["CA1"]}
    double = carrier(on_call("place_call").returns(result))
    result["calls"].append("CA2")
    got: Any = asyncio.run(double.session.place_call("A"))
    assert got == {"calls": ["CA1"]}


def test_functions_and_instances_keep_their_identity() -> None:
    """Item 87."""
    given: Any = lambda: None  # noqa: E731 - an argument like any other
    double = carrier(on_call("hang_up").returns(None))
    asyncio.run(double.session.hang_up(given))
    assert double.calls[0].args[0] is given


def test_a_call_that_does_not_fit_spends_its_step() -> None:
    """Item 88."""
    double = carrier(
        on_call("place_call").returns("CA1"),
        on_call("hang_up").matching(lambda call: call == "CA1").returns(None),
        on_call("balance").returns(1.0),
    )
    with pytest.raises(UnexpectedSandboxCallError) as wrong:
        asyncio.run(double.session.hang_up("secret"))
    with pytest.raises(SandboxCallMatcherError) as rejected:
        asyncio.run(double.session.hang_up("secret"))
    double.session.balance()
    with pytest.raises(UnexpectedSandboxCallError) as extra:
        double.session.balance("secret")
    error = wrong.value
    assert (error.call_index, error.actual_method, error.expected_method) == (0, "hang_up", "place_call")
    assert error.remaining_steps == 2
    assert (rejected.value.call_index, rejected.value.method) == (1, "hang_up")
    assert (extra.value.call_index, extra.value.expected_method, extra.value.remaining_steps) == (3, None, 0)
    assert not any("secret" in str(caught.value) for caught in (wrong, rejected, extra))
    assert not any("secret" in repr(call) for call in double.calls)


def test_what_a_matcher_raises_and_what_is_injected_comes_out_as_it_is() -> None:
    """Item 89."""
    raised, injected = AssertionError("no"), ConnectionError("down")

    def match(_call: str) -> None:
        raise raised

    double = carrier(on_call("hang_up").matching(match).returns(None), on_call("hang_up").raises(injected))
    for expected in (raised, injected):
        with pytest.raises(type(expected)) as caught:
            asyncio.run(double.session.hang_up("CA1"))
        assert caught.value is expected
    double.assert_complete()


def test_steps_left_over_are_named_in_order() -> None:
    """Item 90."""
    double = carrier(on_call("place_call").returns("CA1"), on_call("balance").returns(1.0))
    with pytest.raises(UnconsumedSandboxStepsError) as caught:
        double.assert_complete()
    assert (caught.value.remaining_steps, caught.value.pending_methods) == (2, ("place_call", "balance"))


UNUSABLE: list[tuple[Any, str, str | None]] = [
    ("hang_up", "invalid_input", None),
    (on_call("sing").returns(None), "unknown_method", "sing"),
    (on_call("_private").returns(None), "unknown_method", "_private"),
    (SessionStep("hang_up", match=7, result=None), "invalid_matcher", "hang_up"),
    (on_call("hang_up"), "invalid_outcome", "hang_up"),
    (SessionStep("hang_up", result=None, error=ValueError()), "invalid_outcome", "hang_up"),
    (SessionStep("hang_up", respond="CA1"), "invalid_outcome", "hang_up"),
    (SessionStep("hang_up", error="CA1"), "invalid_outcome", "hang_up"),
]


@pytest.mark.parametrize(("given", "reason", "method"), UNUSABLE)
def test_a_step_that_cannot_be_used_is_refused_with_a_stable_reason(
    given: Any, reason: str, method: str | None
) -> None:
    """Item 91."""
    with pytest.raises(InvalidScriptedSandboxStepError) as caught:
        carrier(on_call("balance").returns(1.0), given)
    assert (caught.value.reason, caught.value.input_index, caught.value.method) == (reason, 1, method)


def test_none_is_a_result_like_any_other() -> None:
    double = carrier(on_call("hang_up").returns(None))
    asyncio.run(double.session.hang_up("CA1"))
    double.assert_complete()


def test_arguments_the_spec_does_not_allow_are_refused_as_by_the_real_object() -> None:
    double = carrier(on_call("place_call").returns("CA1"))
    with pytest.raises(TypeError, match="recrod"):
        asyncio.run(double.session.place_call("A", recrod=True))  # type: ignore[call-arg] # the mistake
    assert double.calls == ()
    assert double.remaining_steps == 1


def test_an_async_responder_of_a_synchronous_method_is_refused() -> None:
    async def respond(_call: SessionCall) -> float:
        return 1.0

    double = carrier(on_call("balance").responds(respond))
    with pytest.raises(ScriptTypeError, match="balance"):
        double.session.balance()


def test_steps_of_the_specs_own_methods_are_typed() -> None:
    """Item 92: the type checker refuses each of these; it complains if one of the comments is not needed."""
    on_call(Carrier.place_call).matching(lambda to, *, record=False: to and record).returns("CA1")
    on_call(Carrier.place_call).returns(7)  # type: ignore[arg-type] # a call's identity is text
    on_call(Carrier.balance).returns("much")  # type: ignore[arg-type] # a balance is a number

    def match(call: int) -> bool:
        return call > 0

    on_call(Carrier.hang_up).matching(match)  # type: ignore[arg-type] # it is given text
