"""A small realtime agent behind a scripted transport: it speaks in paced turns, calls tools, stops when interrupted.

It answers what it is told to answer. It neither understands nor decides anything, and imitates no provider.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from voiceharness.clock import NS, LoopClock
from voiceharness.scripted.calls import (
    CALL_TYPES,
    CloseCall,
    InterruptCall,
    RequestResponseCall,
    SendAudioCall,
    SendFunctionCallOutputCall,
    SendMessageCall,
)
from voiceharness.scripted.inbound import AudioInterruptedEvent, FunctionCallEvent, TurnDoneEvent, TurnStartedEvent
from voiceharness.scripted.sounds import PCM_24K, WireFormat
from voiceharness.scripted.turns import AudioTurn, audio_turn, play

if TYPE_CHECKING:
    from voiceharness.scripted.calls import RealtimeCall
    from voiceharness.scripted.transport import ScriptedRealtimeTransport

__all__ = ["Answer", "SimulatedAgent", "Speak", "UseTool"]


@dataclass(frozen=True, slots=True)
class Speak:
    """Say something: ``text`` for the transcript, ``seconds`` of speech-like sound, or ``audio`` in its place."""

    text: str
    seconds: float = 1.0
    audio: bytes | None = None


@dataclass(frozen=True, slots=True)
class UseTool:
    """Call a tool with JSON arguments; its output asks for the next answer."""

    name: str
    arguments: str = "{}"


Answer: TypeAlias = Speak | UseTool


class SimulatedAgent:
    """Gives its answers in order, one for each request: a message, committed audio, a request, a tool's output.

    Every call is accepted, so a test needs no script beside it. Responses, items and tool calls are numbered
    (``response-1``, ``response-1-item``, ``call-1``). An ``interrupt`` ends the turn that is being spoken, with
    ``audio_interrupted`` and ``turn_done``; one that was sent faster than it is heard, with the first alone,
    as long as some of it is still to be heard. A request that comes meanwhile is answered once the turn is over.
    ``latency`` (seconds) is how long it thinks. Without answers left it stays silent.
    """

    def __init__(
        self,
        transport: ScriptedRealtimeTransport,
        *answers: Answer,
        wire: WireFormat = PCM_24K,
        latency: float = 0.0,
        speed: float = 1.0,
    ) -> None:
        self._transport = transport
        self._answers = deque(answers)
        self._wire = wire
        self._latency = latency
        self._speed = speed
        self._responses, self._tool_calls = itertools.count(1), itertools.count(1)
        self._owed = 0
        self._turn: asyncio.Task[None] | None = None
        self._speaking: AudioTurn | None = None
        self._sent: AudioTurn | None = None
        self._heard_until_ns = 0
        for kind in CALL_TYPES:
            transport.when(kind).run(self._receive)

    async def wait_until_silent(self) -> None:
        """Wait until every request that has an answer was answered; raise what a listener raised meanwhile."""
        while self._turn is not None:
            turn = self._turn
            await asyncio.wait([turn])
            if not turn.cancelled():
                turn.result()

    def _receive(self, call: RealtimeCall) -> None:
        match call:
            case SendMessageCall(trigger_response=False):
                pass
            case SendMessageCall() | RequestResponseCall():
                self._owe_an_answer()
            case SendAudioCall(commit=True) | SendFunctionCallOutputCall(start_response=True):
                self._owe_an_answer()
            case InterruptCall():
                self._stop(interrupted=True)
            case CloseCall():
                self._owed = 0
                self._stop(interrupted=False)

    def _owe_an_answer(self) -> None:
        self._owed += 1
        if self._turn is None:
            self._begin()

    def _begin(self) -> None:
        self._turn = None
        if self._owed and self._answers:
            self._owed -= 1
            self._turn = asyncio.create_task(self._give(self._answers.popleft()))
            self._turn.add_done_callback(self._ended)

    def _ended(self, turn: asyncio.Task[None]) -> None:
        if turn is self._turn:
            self._begin()

    def _stop(self, *, interrupted: bool) -> None:
        if self._turn is not None:
            self._turn.cancel()
        cut, self._speaking = self._speaking, None
        sent, self._sent = self._sent, None
        if not interrupted:
            return
        if cut is not None:
            self._transport.emit(AudioInterruptedEvent(item_id=cut.item_id, response_id=cut.response_id))
            self._transport.emit(TurnDoneEvent(response_id=cut.response_id))
        elif sent is not None and LoopClock().now_ns() < self._heard_until_ns:
            self._transport.emit(AudioInterruptedEvent(item_id=sent.item_id, response_id=sent.response_id))

    async def _give(self, answer: Answer) -> None:
        if self._latency:
            await LoopClock().sleep(self._latency)
        response_id = f"response-{next(self._responses)}"
        if isinstance(answer, UseTool):
            self._use_tool(answer, response_id)
        else:
            await self._speak(answer, response_id)

    def _use_tool(self, tool: UseTool, response_id: str) -> None:
        call_id = f"call-{next(self._tool_calls)}"
        self._transport.emit(TurnStartedEvent(response_id=response_id))
        self._transport.emit(
            FunctionCallEvent(name=tool.name, call_id=call_id, arguments=tool.arguments, response_id=response_id)
        )
        self._transport.emit(TurnDoneEvent(response_id=response_id))

    async def _speak(self, answer: Speak, response_id: str) -> None:
        audio = self._wire.speech(answer.seconds) if answer.audio is None else answer.audio
        turn = audio_turn(response_id, audio, words=answer.text, wire=self._wire, speed=self._speed)
        clock = LoopClock()
        self._speaking = turn
        self._heard_until_ns = clock.now_ns() + round(turn.duration * NS)
        await play(turn, self._transport.emit)
        self._speaking, self._sent = None, turn
