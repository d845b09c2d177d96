"""Agents and adapters that the tests of the command line name as ``module:name``."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

from tests.report.calls import sound
from voiceharness.doubles import ScriptedPhoneAgent, SilentAgent, TurnTakingAgent
from voiceharness.errors import ConnectError
from voiceharness.events import ProtocolFault
from voiceharness_adapters.in_process import InProcess

if TYPE_CHECKING:
    from voiceharness.agent import AgentCall, PhoneAgent

__all__ = [
    "UnreachableAdapter",
    "answering",
    "broken",
    "interrupting",
    "killing",
    "silent",
    "terminating",
    "violating",
    "waiting",
]


def answering() -> PhoneAgent:
    """An agent that answers every turn."""
    return TurnTakingAgent([sound(1.0)])


def silent() -> PhoneAgent:
    """An agent that never says a word."""
    return SilentAgent()


def violating() -> PhoneAgent:
    """An agent that breaks a rule of its protocol."""
    return ScriptedPhoneAgent([(0.2, ProtocolFault("bad_frame", "from +15550101234"))])


class Waiting(SilentAgent):
    """Says on standard error that it was called, and waits."""

    async def act(self, call: AgentCall) -> None:
        """Tell who waits outside."""
        sys.stderr.write("agent answered\n")
        sys.stderr.flush()


def waiting() -> PhoneAgent:
    """An agent that says on standard error that it was called."""
    return Waiting()


def interrupting() -> PhoneAgent:
    """Interrupt whoever makes calls, as Ctrl-C does."""
    signal.raise_signal(signal.SIGINT)
    return SilentAgent()


class Terminating(SilentAgent):
    """Ends whoever makes calls during a call, as a supervisor does."""

    async def act(self, call: AgentCall) -> None:
        """Ask for the end."""
        signal.raise_signal(signal.SIGTERM)


def terminating() -> PhoneAgent:
    """An agent that asks the process for its end, in a call."""
    return Terminating()


def killing() -> PhoneAgent:
    """End the process that makes calls, without a chance to say anything."""
    os.kill(os.getpid(), signal.SIGKILL)
    return SilentAgent()


def broken() -> PhoneAgent:
    """An agent that cannot be made."""
    raise RuntimeError("no model")


class UnreachableAdapter(InProcess):
    """An adapter whose far side does not answer."""

    name = "unreachable"

    async def connect(self) -> None:
        """Fail."""
        raise ConnectError("nobody answers at sip:+15550101234@127.0.0.1")
