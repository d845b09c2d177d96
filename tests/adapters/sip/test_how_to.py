"""What docs/sip.md and examples/sip tell to type, typed."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.adapters.sip.peer import Reply, SipPeer
from tests.adapters.sip.programs import kamailio
from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.signals import speech_like
from voiceharness.clock import run_real
from voiceharness.doubles import ProbeAgent
from voiceharness_adapters.sip import SipEndpoint, SipSettings, host
from voiceharness_adapters.sip.hosting import AgentSide, serve_calls

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__: list[str] = []

pytestmark = [pytest.mark.realtime, pytest.mark.checkout]

PAGE = Path(__file__).parents[3] / "docs" / "sip.md"
EXAMPLES = Path(__file__).parents[3] / "examples" / "sip"
SCENARIO = "name: answered\nsteps:\n  - hear: {within: 3s}\n  - hangup\n"


def block_with(words: str, language: str = "sh") -> str:
    """Return the block of the page that has these words."""
    blocks = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (found,) = [block for block in blocks if words in block]
    return str(found)


async def begun(command: str, folder: Path, environment: Mapping[str, str]) -> asyncio.subprocess.Process:
    """Type a command in a folder."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return await asyncio.create_subprocess_exec(
        *("bash", "-c", command),
        cwd=folder,
        env={**os.environ, **environment, "PATH": path},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )


async def typed(command: str, folder: Path, environment: Mapping[str, str]) -> str:
    """Type a command in a folder; returns what it printed, if it ended well."""
    process = await begun(command, folder, environment)
    printed, _ = await process.communicate()
    assert process.returncode == 0, printed.decode()
    return printed.decode()


@dataclass(slots=True, eq=False)
class Registrar(SipPeer):
    """Remembers where who registered can be called."""

    contact: str = ""
    registered: asyncio.Event = field(default_factory=asyncio.Event)

    def _respond(self, request: str, reply: Reply) -> None:
        if found := re.search(r"(?im)^Contact:\s*<([^>]+)>", request):
            self.contact = self.contact or found[1]
            reply = replace(reply, headers=f"Contact: <{found[1]}>;expires=300")
        super(Registrar, self)._respond(request, reply)
        self.registered.set()


def talkative() -> ProbeAgent:
    clip = AudioChunk.from_samples(speech_like(0.6, seed=1))
    return ProbeAgent([(0.2, clip), (4.0, clip)])


async def call_until_taken(agent: ProbeAgent, own: SipEndpoint, target: str) -> None:
    """Call as people do who are told that nobody is there yet."""
    taken = len(agent.logs)
    while len(agent.logs) == taken:
        call = await own.new_call()
        await own.dial(call, target)
        await AgentSide(agent, call, 8000).talk()


def test_the_example_script_calls_an_address(tmp_path: Path) -> None:
    (tmp_path / "answered.yaml").write_text(SCENARIO)

    async def main() -> None:
        agent = talkative()
        async with host(agent) as target:
            printed = await typed(f"sh {EXAMPLES / 'call.sh'} answered.yaml {target['target']}", tmp_path, {})
        assert "answered" in printed
        assert agent.logs

    run_real(main())


def test_the_example_takes_the_calls_that_an_agent_makes(tmp_path: Path) -> None:
    async def main() -> tuple[int | None, str]:
        registrar, agent = Registrar(), talkative()
        await registrar.open()
        command = f"python {EXAMPLES / 'be_called.py'} {registrar.address} tester"
        called = await begun(command, tmp_path, {"SIP_PASSWORD": "secret-tester"})
        await registrar.registered.wait()
        async with SipEndpoint() as own:
            for _ in range(2):
                await call_until_taken(agent, own, registrar.contact)
        printed, _ = await called.communicate()
        await registrar.close()
        return called.returncode, printed.decode()

    assert run_real(main()) == (0, "reminder: passed\nwrong number: passed\n")


def test_an_agent_behind_a_pbx_is_called_as_the_page_says(tmp_path: Path) -> None:
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "answered.yaml").write_text(SCENARIO)

    async def main() -> None:
        async with kamailio(tmp_path) as (port, _):
            pbx = f"127.0.0.1:{port}"
            account: dict[str, Any] = {"user": "200", "password": "secret-200", "registrar": pbx, "proxy": pbx}
            agent = talkative()
            async with SipEndpoint(SipSettings(**account)) as endpoint, serve_calls(agent, endpoint):
                suite = block_with("registrar:", "yaml").replace("pbx.example.com", pbx).replace("0.0.0.0", "127.0.0.1")
                (tmp_path / "pbx.yaml").write_text(suite)
                printed = await typed(block_with("pbx.yaml"), tmp_path, {"SIP_PASSWORD": "secret-tester"})
            assert "answered" in printed
            assert "secret-tester" not in printed
            assert agent.logs

    run_real(main())
