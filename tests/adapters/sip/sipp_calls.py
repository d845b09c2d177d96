"""Calls played by SIPp from the scenarios in ``sipp/``: the agent's side, message by message, and checked by SIPp.

A scenario is XML of SIPp's own; ``{{name}}`` in it is filled in for one test. SIPp plays it once and reports whether
every message came as written: a test whose agent's side did not run to its end fails.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.adapters.sip.programs import free_port, is_bound, needs, running
from voiceharness.audio import g711
from voiceharness.audio.signals import tone
from voiceharness_adapters.sip import SipSettings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

__all__ = ["TONE_HZ", "SippCall", "agent_plays", "agent_plays_dialling"]

SCENARIOS = Path(__file__).parent / "sipp"
END_TIMEOUT = 10.0
USER = SipSettings().user
TONE_HZ = 440.0
"""What a scenario plays as ``tone.ulaw``."""


@dataclass(slots=True)
class SippCall:
    """A call that SIPp plays."""

    uri: str
    folder: Path
    process: asyncio.subprocess.Process

    async def done(self) -> None:
        """Wait until SIPp has played its call; fail if a message was not as written, or did not come."""
        try:
            async with asyncio.timeout(END_TIMEOUT):
                code = await self.process.wait()
        except TimeoutError:
            pytest.fail(f"SIPp still waits. {self._log('messages')}")
        if code:
            pytest.fail(f"SIPp ended with {code}. {self._log('errors')}")

    def _log(self, name: str) -> str:
        log = self.folder / f"{name}.log"
        return f"Its {name}: {log.read_text(errors='replace')[-2000:] if log.exists() else 'none'}"


@asynccontextmanager
async def agent_plays(folder: Path, scenario: str, *arguments: str, **filled: str) -> AsyncIterator[SippCall]:
    """Let SIPp wait for one call and play a scenario in it; yields it, and sees at the end that all came as written."""
    async with _sipp(folder, scenario, *arguments, filled=filled) as call:
        await is_bound(int(call.uri.rsplit(":", 1)[1]))
        yield call
        await call.done()


@asynccontextmanager
async def agent_plays_dialling(
    folder: Path, scenario: str, target: str, *arguments: str, **filled: str
) -> AsyncIterator[SippCall]:
    """Let SIPp call ``host:port`` and play a scenario in that call."""
    async with _sipp(folder, scenario, target, *arguments, filled=filled) as call:
        yield call
        await call.done()


@asynccontextmanager
async def _sipp(folder: Path, scenario: str, *arguments: str, filled: dict[str, str]) -> AsyncIterator[SippCall]:
    needs("sipp")
    text = (SCENARIOS / f"{scenario}.xml").read_text()
    for name, value in filled.items():
        text = text.replace(f"{{{{{name}}}}}", value)
    (folder / "scenario.xml").write_text(text)
    (folder / "tone.ulaw").write_bytes(g711.encode(tone(TONE_HZ, 1.0).tobytes()))
    port, media, control = free_port(), free_port(), free_port()
    async with running(
        *("sipp", "-sf", "scenario.xml", "-m", "1", "-nostdin", "-s", USER, "-timeout", "20s", "-timeout_error"),
        *("-i", "127.0.0.1", "-p", str(port), "-mi", "127.0.0.1", "-mp", str(media)),
        *("-ci", "127.0.0.1", "-cp", str(control)),
        *("-trace_err", "-error_file", "errors.log", "-trace_msg", "-message_file", "messages.log"),
        *arguments,
        cwd=folder,
    ) as process:
        yield SippCall(f"sip:agent@127.0.0.1:{port}", folder, process)
