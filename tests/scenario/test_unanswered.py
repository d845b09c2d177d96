"""A call that ends before it is answered."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from voiceharness.capabilities import AdapterCapabilities, CallAction
from voiceharness.doubles import SilentAgent
from voiceharness.errors import CallRejectedError
from voiceharness.scenario.checks import Ended
from voiceharness.scenario.run import run_scenario
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Check, Line
from voiceharness_adapters.in_process import InProcess

if TYPE_CHECKING:
    from voiceharness.scenario.result import CallResult


class Ringing(InProcess):
    """Rings after a second, and is answered after ten unless it is cancelled."""

    name = "ringing"
    capabilities = AdapterCapabilities(
        interruption=True,
        dtmf=InProcess.capabilities.dtmf,
        call_control=frozenset({"cancel"}),
        directions=frozenset({"dial"}),
        rates=frozenset({8000}),
        virtual_time=True,
    )
    answers_after = 10.0

    def __init__(self) -> None:
        super().__init__(SilentAgent())
        self.rings, self.cancelled = asyncio.Event(), asyncio.Event()

    async def connect(self) -> None:
        asyncio.get_running_loop().call_later(1.0, self.rings.set)
        try:
            async with asyncio.timeout(self.answers_after):
                await self.cancelled.wait()
        except TimeoutError:
            await super().connect()
        else:
            raise CallRejectedError("the call was cancelled", code=487, reason="Request Terminated")

    async def ringing(self) -> None:
        await self.rings.wait()

    async def control(self, action: CallAction, *, target: str | None = None) -> None:
        self.cancelled.set()


def cancel(*checks: Check, connect_timeout: float = 30.0, adapter: type[Ringing] = Ringing) -> CallResult:
    scenario = Scenario("s", [Line("cancel"), *checks], connect_timeout=connect_timeout)
    return run_scenario(scenario, adapter)


def test_a_call_can_be_cancelled_while_it_rings_and_its_cause_be_checked() -> None:
    result = cancel(Check(Ended(by="user", cause="487")))
    assert result.outcome == "passed", result.explain()
    assert [step.outcome for step in result.steps] == ["done", "done"]
    assert result.record is None


def test_another_cause_than_the_one_expected_fails() -> None:
    result = cancel(Check(Ended(by="user", cause="603")))
    assert [check.kind for check in result.failures] == ["ended"]


@pytest.mark.parametrize(("patience", "said"), [(0.5, "within 0.5 s")])
def test_a_call_that_never_rings_is_a_connect_error(patience: float, said: str) -> None:
    result = cancel(connect_timeout=patience)
    assert result.exit_code == 3
    assert said in str(result.error)


def test_a_call_that_is_answered_all_the_same_is_a_connect_error() -> None:
    class Deaf(Ringing):
        name = "deaf"

        async def control(self, action: CallAction, *, target: str | None = None) -> None:
            return

    result = cancel(adapter=Deaf)
    assert result.exit_code == 3
    assert "was answered before" in str(result.error)
