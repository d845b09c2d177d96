"""Register at a PBX and take the calls that an agent makes: one scenario for each of them.

Try it:  SIP_PASSWORD=... python examples/sip/be_called.py pbx.example.com tester
"""

from __future__ import annotations

import os
import sys

from voiceharness import Hangup, Hear, Say, Scenario, run_call
from voiceharness.clock import run_real
from voiceharness_adapters.sip import Sip, SipEndpoint, SipSettings

SCENARIOS = (
    Scenario("reminder", direction="be_dialled", steps=[Hear(within=5), Say("Yes, I will be there."), Hangup()]),
    Scenario("wrong number", direction="be_dialled", steps=[Say("You have the wrong number."), Hear(), Hangup()]),
)


async def main(registrar: str, user: str, password: str) -> int:
    """Wait for as many calls as there are scenarios; returns how many failed."""
    settings = SipSettings(host="0.0.0.0", registrar=registrar, user=user, password=password)
    failed = 0
    async with SipEndpoint(settings) as endpoint:
        for scenario in SCENARIOS:
            result = await run_call(scenario, Sip(endpoint=endpoint, wait=300))
            sys.stdout.write(f"{scenario.name}: {result.outcome}\n")
            failed += result.outcome != "passed"
    return failed


if __name__ == "__main__":
    sys.exit(run_real(main(sys.argv[1], sys.argv[2], os.environ["SIP_PASSWORD"])))
