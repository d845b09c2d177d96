"""The order of things in a batch of calls."""

from __future__ import annotations

import asyncio

import numpy as np

from voiceharness.clock import NS, LoopClock, run_virtual
from voiceharness.scenario.preparation import Clip
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.slots import Slot, Slots
from voiceharness.scenario.steps import Wait


def test_calls_dial_one_after_another_once_all_are_prepared() -> None:
    async def main() -> list[int]:
        clock = LoopClock()
        slots = Slots(3, clock, apart=0.5)

        async def one(index: int) -> int:
            await clock.sleep(2.0 * (index == 1))  # the second takes long to make its audio
            await Slot(slots, index).until_dialling()
            return clock.now_ns()

        return list(await asyncio.gather(*map(one, range(3))))

    assert run_virtual(main()) == [2 * NS, 2 * NS + NS // 2, 3 * NS]


def test_nobody_is_judged_before_the_last_call_is_over() -> None:
    async def main() -> list[int]:
        clock = LoopClock()
        slots = Slots(3, clock, apart=0.0)

        async def one(index: int) -> int:
            slot = Slot(slots, index)
            await slot.until_dialling()
            await clock.sleep(1.0 + index)
            await slot.until_judging()
            return clock.now_ns()

        return list(await asyncio.gather(*map(one, range(3))))

    assert run_virtual(main()) == [3 * NS] * 3


def test_a_call_that_is_given_up_holds_up_nobody() -> None:
    async def main() -> None:
        slots = Slots(2, LoopClock(), apart=0.0)
        broken, other = Slot(slots, 0), Slot(slots, 1)
        broken.leave()
        broken.leave()
        await other.until_dialling()
        await other.until_judging()

    run_virtual(main())


def test_frames_are_spread_over_the_time_of_one() -> None:
    async def main() -> list[float]:
        slots = Slots(4, LoopClock(), apart=0.0)
        return [Slot(slots, index).phase for index in range(4)]

    assert run_virtual(main()) == [0.0, 0.25, 0.5, 0.75]


def test_the_audio_of_a_scenario_is_made_once() -> None:
    async def main() -> None:
        slots = Slots(2, LoopClock(), apart=0.0)
        scenario, made = Scenario("s", [Wait(1.0)]), {0: Clip(np.zeros(1, np.int16), "")}
        first = Slot(slots, 0).clips(scenario, lambda: made)
        assert first is Slot(slots, 1).clips(scenario, dict)
        assert Slot(slots, 1).clips(Scenario("s", [Wait(1.0)]), dict) == {}

    run_virtual(main())
