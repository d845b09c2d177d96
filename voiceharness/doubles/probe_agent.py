"""An agent whose reactions can be seen on the line: what a transport is probed with."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.dtmf import KEYS, generate
from voiceharness.doubles.scripted_agent import ScriptedPhoneAgent
from voiceharness.doubles.turn_taking import Endpointer
from voiceharness.events import Digit, Interrupted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from voiceharness.agent import AgentCall
    from voiceharness.doubles.log import CallLog
    from voiceharness.doubles.scripted_agent import Cue
    from voiceharness.events import UserItem

__all__ = ["MissedCall", "ProbeAgent"]


@dataclass(frozen=True, slots=True)
class MissedCall:
    """A call that never came up, with the transport's own cause where it has one."""

    code: int | None
    reason: str


class ProbeAgent(ScriptedPhoneAgent):
    """Follows a timetable, and obeys the user's side where that can be heard.

    The transport's interrupt signal, and with ``yields_after`` so many seconds of the user's sound, make it drop what
    it was saying. With ``echoes_keys`` it says each key event that reaches it back as that key's tones, and with
    ``echoes_sound`` all it hears. Everything that reached it is in ``log``, and calls that never came up are in
    ``missed_calls``. ``ring``: seconds that a call rings before it is answered.
    """

    def __init__(
        self,
        cues: Iterable[Cue] = (),
        *,
        yields_after: float | None = None,
        echoes_keys: bool = False,
        echoes_sound: bool = False,
        ring: float = 0.0,
    ) -> None:
        super().__init__(cues)
        self.yields_after = yields_after
        self.echoes_keys = echoes_keys
        self.echoes_sound = echoes_sound
        self.ring = ring
        self.missed_calls: list[MissedCall] = []
        self._news = asyncio.Event()

    def reaction(self, call: AgentCall) -> Callable[[UserItem], None]:
        """Obey what comes from the user's side of one call."""
        endpointer = Endpointer(call.rate)
        self._news.set()

        def take(item: UserItem) -> None:
            self._news.set()
            match item:
                case Interrupted():
                    call.flush()
                case Digit(digit=digit) if self.echoes_keys and digit in KEYS:
                    call.send(AudioChunk.from_samples(generate(digit, call.rate), call.rate))
                case AudioChunk():
                    self._hear(call, item, endpointer)

        return take

    def _hear(self, call: AgentCall, chunk: AudioChunk, endpointer: Endpointer) -> None:
        if self.echoes_sound:
            call.send(AudioChunk(chunk.pcm, chunk.rate))
        if self.yields_after is not None:
            was_quiet = endpointer.speaking_for < self.yields_after
            endpointer.feed(chunk)
            if was_quiet and endpointer.speaking_for >= self.yields_after:
                call.flush()

    def missed(self, code: int | None, reason: str) -> None:
        """Take note of a call that never came up."""
        self.missed_calls.append(MissedCall(code, reason))
        self._news.set()

    async def until(self, condition: Callable[[CallLog], bool]) -> None:
        """Wait until the log of the latest call fulfils a condition."""
        while not self.logs or not condition(self.log):
            await self._next_news()

    async def until_missed(self) -> MissedCall:
        """Wait until a call has not come up, and return what is known of the latest."""
        while not self.missed_calls:
            await self._next_news()
        return self.missed_calls[-1]

    async def _next_news(self) -> None:
        self._news.clear()
        await self._news.wait()
