"""The adapter keeps the contract with each of its libraries, as the public kit checks it."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec

import pytest

from voiceharness.clock import run_real
from voiceharness.testing import check_adapter
from voiceharness.testing.rules import RULES
from voiceharness_adapters.sip import Sip, dialler, host

__all__: list[str] = []


@pytest.mark.realtime
@pytest.mark.parametrize("backend", ["pjsua2", "baresip"])
@pytest.mark.parametrize("rule", RULES)
def test_the_adapter_keeps_the_contract(backend: str, rule: str) -> None:
    if find_spec(backend) is None:
        pytest.skip(f"not installed: {backend}")
    calls = partial(dialler, backend=backend)
    make = partial(Sip, backend=backend)
    run_real(check_adapter(make, host, dialler=calls, rules=[rule], calls=5, patience=5.0))
