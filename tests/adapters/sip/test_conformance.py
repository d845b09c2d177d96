"""The adapter keeps the contract, as the public kit checks it."""

from __future__ import annotations

import pytest

from voiceharness.clock import run_real
from voiceharness.testing import check_adapter
from voiceharness.testing.rules import RULES
from voiceharness_adapters.sip import Sip, dialler, host

__all__: list[str] = []


@pytest.mark.realtime
@pytest.mark.parametrize("rule", RULES)
def test_the_adapter_keeps_the_contract(rule: str) -> None:
    run_real(check_adapter(Sip, host, dialler=dialler, rules=[rule], calls=5, patience=5.0))
