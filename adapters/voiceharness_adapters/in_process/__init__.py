"""Calls to an agent in the same process and on the same event loop, in virtual or real time."""

from voiceharness_adapters.in_process.duplex import InProcess
from voiceharness_adapters.in_process.host import host
from voiceharness_adapters.in_process.turn_host import turn_host
from voiceharness_adapters.in_process.turns import Answer, AnswerFunction, InProcessTurns

__all__ = ["Answer", "AnswerFunction", "InProcess", "InProcessTurns", "host", "turn_host"]
