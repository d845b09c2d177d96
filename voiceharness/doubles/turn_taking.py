"""Agents that listen: they find the user's turns by energy, answer them, and stop (or not) when talked over."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import NS
from voiceharness.doubles.plain import DoubleAgent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from voiceharness.agent import AgentCall
    from voiceharness.events import UserItem

__all__ = ["Endpointer", "TalkOverAgent", "TurnTakingAgent", "UserSpeech"]

WINDOW: Final = 0.01
DEFAULT_LEVEL_DB: Final = -45.0


@dataclass(frozen=True, slots=True)
class UserSpeech:
    """How the user's speech stands, in samples: ``offset`` is None while the user speaks."""

    onset: int
    offset: int | None = None


class Endpointer:
    """Finds the user's turns in audio as it arrives, by the energy of 10 ms windows.

    Speech begins with the first window above ``level_db`` (RMS, re full scale) and has ended when ``pause`` seconds
    were below it.
    """

    def __init__(self, rate: int, *, pause: float = 0.5, level_db: float = DEFAULT_LEVEL_DB) -> None:
        self._rate = rate
        self._window = round(WINDOW * rate)
        self._ones = np.ones(self._window)
        self._pause = round(pause * rate)
        self._energy = self._window * (32768 * 10 ** (level_db / 20)) ** 2
        self._position = 0
        self._rest = np.zeros(0, np.int16)
        self._onset: int | None = None
        self._loud_until = 0

    @property
    def speaking_for(self) -> float:
        """Seconds from the current speech's onset to its last loud window; 0 when the user does not speak."""
        return 0.0 if self._onset is None else (self._loud_until - self._onset) / self._rate

    def feed(self, chunk: AudioChunk) -> list[UserSpeech]:
        """Take audio and return what was found in it: onsets, and offsets once the pause after them is over."""
        if self._onset is None and chunk.pcm == bytes(len(chunk.pcm)):
            self._position += len(self._rest) + len(chunk)
            self._rest = self._rest[:0]
            return []
        samples = np.concatenate((self._rest, chunk.samples)) if len(self._rest) else chunk.samples
        count = len(samples) // self._window
        squares = samples[: count * self._window].astype(np.float64)
        squares *= squares
        found: list[UserSpeech] = []
        for energy in squares.reshape(count, self._window).dot(self._ones).tolist():  # a sum, in a third of the time
            self._judge(energy > self._energy, found)
        self._rest = samples[count * self._window :]
        return found

    def _judge(self, loud: bool, found: list[UserSpeech]) -> None:
        start, self._position = self._position, self._position + self._window
        if loud:
            self._loud_until = self._position
            if self._onset is None:
                self._onset = start
                found.append(UserSpeech(start))
        elif self._onset is not None and self._position - self._loud_until >= self._pause:
            found.append(UserSpeech(self._onset, self._loud_until))
            self._onset = None


class TurnTakingAgent(DoubleAgent):
    """Answers each turn of the user with the next of its clips; the last one serves all further turns.

    The answer starts ``pause`` (how long it listens for more) plus ``thinking`` seconds after the user's offset.
    ``stops_after``: seconds of the user's speech after which it stops talking and drops the rest of its turn (None: it
    talks on). ``greeting`` is said at the answer. A clip is sent at once, as a whole, and may have any rate.
    """

    def __init__(
        self,
        clips: Sequence[AudioChunk],
        *,
        greeting: AudioChunk | None = None,
        pause: float = 0.3,
        thinking: float = 0.2,
        stops_after: float | None = 0.2,
        level_db: float = DEFAULT_LEVEL_DB,
    ) -> None:
        super().__init__()
        self.clips = tuple(clips)
        self.greeting = greeting
        self.pause = pause
        self.thinking = thinking
        self.stops_after = stops_after
        self.level_db = level_db

    def reaction(self, call: AgentCall) -> Callable[[UserItem], None]:
        """Listen for turns."""
        return _Conversation(self, call).take


class _Conversation:
    """The state of one call of a :class:`TurnTakingAgent`."""

    def __init__(self, agent: TurnTakingAgent, call: AgentCall) -> None:
        self._agent = agent
        self._call = call
        self._endpointer = Endpointer(call.rate, pause=agent.pause, level_db=agent.level_db)
        self._answers: deque[AudioChunk] = deque(agent.clips)
        self._turn = 0
        self._talks_until_ns = 0
        if agent.greeting is not None:
            self._say(agent.greeting)

    def take(self, item: UserItem) -> None:
        """Take what comes from the user's side."""
        if not isinstance(item, AudioChunk):
            return
        found = self._endpointer.feed(item)
        stops_after = self._agent.stops_after
        if stops_after is not None and self._is_talking() and self._endpointer.speaking_for >= stops_after:
            self._call.flush()
            self._talks_until_ns = 0
        if found and any(speech.offset is not None for speech in found):
            self._answer_after(self._agent.thinking)

    def _is_talking(self) -> bool:
        return self._call.clock.now_ns() < self._talks_until_ns

    def _answer_after(self, thinking: float) -> None:
        if not self._answers:
            return
        clip = self._answers.popleft() if len(self._answers) > 1 else self._answers[0]
        clock = self._call.clock
        clock.call_at_ns(clock.now_ns() + round(thinking * NS), lambda: self._say(clip))

    def _say(self, clip: AudioChunk) -> None:
        self._turn += 1
        self._call.send(replace(clip, position=None, item=f"turn {self._turn}", at_ns=None))
        now_ns = self._call.clock.now_ns()
        self._talks_until_ns = max(self._talks_until_ns, now_ns) + round(clip.duration * NS)


class TalkOverAgent(DoubleAgent):
    """Starts to talk ``after`` seconds into each turn of the user, without waiting for its end, and does not stop."""

    def __init__(self, clip: AudioChunk, *, after: float = 0.5, level_db: float = DEFAULT_LEVEL_DB) -> None:
        super().__init__()
        self.clip = clip
        self.after = after
        self.level_db = level_db

    def reaction(self, call: AgentCall) -> Callable[[UserItem], None]:
        """Listen for onsets."""
        endpointer = Endpointer(call.rate, level_db=self.level_db)
        clip = replace(self.clip, position=None, at_ns=None)

        def take(item: UserItem) -> None:
            if isinstance(item, AudioChunk) and any(speech.offset is None for speech in endpointer.feed(item)):
                call.clock.call_at_ns(call.clock.now_ns() + round(self.after * NS), lambda: call.send(clip))

        return take
