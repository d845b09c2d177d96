"""Agents that a worker finds by name, and what goes wrong with some of them."""

from __future__ import annotations

import os
import signal
import threading
from typing import TYPE_CHECKING

from voiceharness.agent import PhoneAgent
from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.signals import speech_like
from voiceharness.doubles import SilentAgent, TurnTakingAgent

if TYPE_CHECKING:
    from voiceharness.agent import AgentCall

__all__ = ["answering", "counting", "hanging", "ignoring", "killed", "leaving_a_thread", "quitting", "silent"]

calls_in_this_process: list[int] = []  # what an agent must not find here: the trace of another call


def answering() -> PhoneAgent:
    return TurnTakingAgent([AudioChunk.from_samples(speech_like(1.0, seed=2))], greeting=None)


def silent() -> PhoneAgent:
    return SilentAgent()


def counting() -> PhoneAgent:
    """Hangs up with the number of calls that this process has seen as its code."""
    calls_in_this_process.append(1)
    return _Counting()


class _Counting(PhoneAgent):
    async def answer(self, call: AgentCall) -> None:
        call.hang_up("counted", code=len(calls_in_this_process))


def quitting() -> PhoneAgent:
    os._exit(7)


def killed() -> PhoneAgent:
    os.kill(os.getpid(), signal.SIGKILL)
    return SilentAgent()


def hanging() -> PhoneAgent:
    threading.Event().wait()  # for good
    return SilentAgent()


def leaving_a_thread() -> PhoneAgent:
    threading.Thread(target=threading.Event().wait).start()  # keeps its process from ending
    return SilentAgent()


def ignoring() -> PhoneAgent:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return SilentAgent()
