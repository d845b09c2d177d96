"""Agents for the workers of a cluster: what they do to each other shows in a folder that they share with their test."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from tests.suite.cluster import ROOM
from voiceharness.agent import PhoneAgent
from voiceharness.doubles import SilentAgent

if TYPE_CHECKING:
    from voiceharness.agent import AgentCall

__all__ = ["alone", "first_of_all", "freezing_once", "losing", "losing_once", "meeting", "staying"]

held: list[int] = []  # what a process holds until it ends


def room() -> Path:
    return Path(os.environ[ROOM])


class _Alone(PhoneAgent):
    async def answer(self, call: AgentCall) -> None:
        """Keep a record of when each call begins and ends, as all processes see it."""
        _write("begun")
        while not call.ended:
            await call.receive()
        _write("ended")


def alone() -> PhoneAgent:
    return _Alone()


def _write(word: str) -> None:
    with (room() / "record").open("ab", buffering=0) as record:
        record.write(f"{word}\n".encode())


def meeting() -> PhoneAgent:
    """Answers when another call of it is being made at the same moment, and never otherwise."""
    first = first_of_all("met")
    os.close(os.open(room() / "meeting", os.O_WRONLY if first else os.O_RDONLY))  # waits for the other end
    return SilentAgent()


def losing_once() -> PhoneAgent:
    """Takes its worker away, the first time."""
    return losing() if first_of_all("lost") else SilentAgent()


def losing() -> PhoneAgent:
    """Takes its worker away."""
    return _without_worker(signal.SIGKILL)


def freezing_once() -> PhoneAgent:
    """Lets its worker stand still, the first time, and leaves the number of its process."""
    if not first_of_all("frozen"):
        return SilentAgent()
    (room() / "frozen").write_text(str(_worker()), "ascii")
    return _without_worker(signal.SIGSTOP)


def _without_worker(sent: signal.Signals) -> PhoneAgent:
    os.kill(_worker(), sent)
    threading.Event().wait()  # for its own end, which comes when its leash is let go
    return SilentAgent()


def _worker() -> int:
    server = os.getppid()  # which has started this process for the worker
    _, _, fields = Path(f"/proc/{server}/stat").read_text("ascii").rpartition(")")
    return int(fields.split()[1])


def staying() -> PhoneAgent:
    """Holds an end of a pipe as long as its process lives, and waits for good."""
    held.append(os.open(room() / "pipe", os.O_WRONLY))
    return SilentAgent()


def first_of_all(name: str) -> bool:
    try:
        (room() / name).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True
