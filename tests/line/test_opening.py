"""How a line comes to be."""

from __future__ import annotations

import pytest

from voiceharness.clock import LoopClock, run_virtual
from voiceharness.doubles import ScriptedPhoneAgent
from voiceharness.errors import OptionError
from voiceharness.line.opening import open_line
from voiceharness.line.settings import LineSettings
from voiceharness_adapters.in_process import InProcess

MS = 1_000_000


def answered_at_ns(phase: float | None, dialled_ms: int) -> int:
    async def main() -> int:
        await LoopClock().sleep_until_ns(dialled_ms * MS)
        async with open_line(InProcess(ScriptedPhoneAgent([])), LineSettings(phase=phase)) as line:
            return line.samples.start_ns

    return run_virtual(main())


@pytest.mark.parametrize(
    ("phase", "dialled_ms", "answered_ms"),
    [(None, 1007, 1007), (0.0, 1007, 1020), (0.25, 1007, 1025), (0.5, 1007, 1010), (0.35, 1007, 1007)],
)
def test_a_line_begins_in_its_phase(phase: float | None, dialled_ms: int, answered_ms: int) -> None:
    assert answered_at_ns(phase, dialled_ms) == answered_ms * MS


@pytest.mark.parametrize("phase", [-0.1, 1.0])
def test_a_phase_is_a_part_of_a_frame(phase: float) -> None:
    with pytest.raises(OptionError, match="phase"):
        LineSettings(phase=phase)
