"""What docs/sip.md tells to type, typed: a PBX is called through as it says."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.adapters.sip.programs import kamailio
from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.signals import speech_like
from voiceharness.clock import run_real
from voiceharness.doubles import ProbeAgent
from voiceharness_adapters.sip import SipEndpoint, SipSettings
from voiceharness_adapters.sip.hosting import serve_calls

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__: list[str] = []

pytestmark = [pytest.mark.realtime, pytest.mark.checkout]

PAGE = Path(__file__).parents[3] / "docs" / "sip.md"
SCENARIO = "name: answered\nsteps:\n  - hear: {within: 3s}\n  - hangup\n"


def block_with(words: str) -> str:
    """Return the shell block of the page that has these words."""
    (found,) = [block for block in re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL) if words in block]
    return str(found)


async def typed(command: str, folder: Path, environment: Mapping[str, str]) -> str:
    """Type a command in a folder; returns what it printed, if it ended well."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    process = await asyncio.create_subprocess_exec(
        *("bash", "-c", command),
        cwd=folder,
        env={**os.environ, **environment, "PATH": path},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    printed, _ = await process.communicate()
    assert process.returncode == 0, printed.decode()
    return printed.decode()


def test_an_agent_behind_a_pbx_is_called_as_the_page_says(tmp_path: Path) -> None:
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "answered.yaml").write_text(SCENARIO)

    async def main() -> None:
        async with kamailio(tmp_path) as (port, _):
            pbx = f"127.0.0.1:{port}"
            account: dict[str, Any] = {"user": "200", "password": "secret-200", "registrar": pbx, "proxy": pbx}
            agent = ProbeAgent([(0.2, AudioChunk.from_samples(speech_like(0.6, seed=1)))])
            async with SipEndpoint(SipSettings(**account)) as endpoint, serve_calls(agent, endpoint):
                command = block_with("registrar=").replace("pbx.example.com", pbx)
                command = command.replace("host=0.0.0.0", "host=127.0.0.1")
                printed = await typed(command, tmp_path, {"SIP_PASSWORD": "secret-tester"})
            assert "answered" in printed
            assert "secret-tester" not in printed
            assert agent.logs

    run_real(main())
