"""An agent that does everything right, built so that each of its habits can be made wrong by itself.

Theory of operation. An :class:`Attendant` has one :class:`Talk` for each call. It greets, hears the user's turns by
their energy, and answers each with a new sentence. What the user says for longer than a cough or an "mm-hmm" stops it:
it flushes, and answers when the user is done. Digits are read back once the number is complete. When the user has said
nothing for some seconds after it, it says goodbye and hangs up when that has been heard.

It sends in one burst or frame by frame (``Style``), with or without words and claims of what was heard. Nothing here
knows a transport: words and claims that a transport cannot carry are simply not seen there.
Each method of a talk is one habit; a fault overrides one of them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import NS
from voiceharness.doubles.faulty.sounds import Sentence, sentence, tagged
from voiceharness.doubles.plain import DoubleAgent
from voiceharness.doubles.turn_taking import Endpointer, UserSpeech
from voiceharness.events import (
    CallEnded,
    Digit,
    HistoryClaimed,
    Interrupted,
    StateClaimed,
    TruncationClaimed,
    TurnDone,
    Words,
)
from voiceharness.measure.tones import pure_tone

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from voiceharness.agent import AgentCall
    from voiceharness.events import AgentState, UserItem

__all__ = ["FRAME", "PAUSE", "Attendant", "Item", "Style", "Talk"]

FRAME: Final = 0.02
"""Seconds of audio that an agent which paces itself sends at a time."""

LEVEL_DB: Final = -25.0
PAUSE: Final = 0.5
THINKING: Final = 0.3
STOPS_AFTER: Final = 0.45
LONGEST_COUGH: Final = 0.4
AFTER_LAST_KEY: Final = 0.7
KEY: Final = 0.1
USER_SILENCE: Final = 5.0
MARGIN: Final = 0.3
_KEPT: Final = 10.0


@dataclass(frozen=True, slots=True)
class Style:
    """How an attendant sends: frame by frame or in bursts, with words, with claims of what it does and was heard.

    ``keys``: it sends the digits that it got back as digits; not every transport carries those from an agent.
    ``rate``: the rate of its sounds in hertz (None: the line's).
    """

    paced: bool = False
    words: bool = False
    claims: bool = False
    keys: bool = False
    rate: int | None = None


@dataclass(slots=True, eq=False)
class Item:
    """What is being said: from when on it is heard, on the loop's clock, and the frames that are still to be sent."""

    name: str
    sentence: Sentence
    start_ns: int
    timers: list[asyncio.TimerHandle]

    @property
    def end_ns(self) -> int:
        """When it will have been heard."""
        return self.start_ns + round(self.sentence.duration * NS)


class Talk:
    """One call of an attendant."""

    level_db: float = LEVEL_DB
    stops_after: float = STOPS_AFTER
    shortest_turn: float = LONGEST_COUGH
    thinking: float = THINKING

    def __init__(self, call: AgentCall, style: Style, seed: int) -> None:
        self.call = call
        self.clock = call.clock
        self.style = style
        self.rate = style.rate or call.rate
        self.draw = random.Random(seed)
        self.ear = Endpointer(call.rate, pause=PAUSE, level_db=self.level_db)
        self.item: Item | None = None
        self.said = 0
        self.turns = 0
        self.leaving = False
        self.digits: list[str] = []
        self._heard = np.zeros(0, np.int16)
        self._position = 0
        self._timers: dict[str, asyncio.TimerHandle] = {}

    # What comes from the user's side

    def take(self, item: UserItem) -> None:
        """Take one thing from the user's side."""
        match item:
            case AudioChunk():
                self.listen(item)
            case Digit(digit=digit):
                self.pressed(digit)
            case Interrupted():
                self.interrupted()
            case CallEnded():
                self.ended()

    def listen(self, chunk: AudioChunk) -> None:
        """Find the user's turns, and notice when the user talks over the agent."""
        self._position += len(chunk)
        self._heard = np.concatenate((self._heard, chunk.samples))[-round(_KEPT * self.call.rate) :]
        for speech in self.ear.feed(chunk):
            if speech.offset is None:
                self.user_began()
            else:
                self.user_finished(speech)
        if self.is_talking and self.ear.speaking_for >= self.stops_after:
            self.interrupted()

    def user_began(self) -> None:
        """Stop waiting for the user to speak, and stay."""
        self.leaving = False
        self.cancel("silence")
        self.cancel("hang up")

    def user_finished(self, speech: UserSpeech) -> None:
        """Answer what was more than a cough or a listener's word."""
        assert speech.offset is not None  # the caller looked
        seconds = (speech.offset - speech.onset) / self.call.rate
        if seconds < self.shortest_turn:
            self.wait_for_user()
            return
        self.claim("thinking")
        heard = self._sound_of(speech)
        self.after(self.thinking, "answer", lambda: self.answer(heard))

    def _sound_of(self, speech: UserSpeech) -> NDArray[np.int16]:
        first = self._position - len(self._heard)
        return self._heard[max(0, speech.onset - first) : (speech.offset or self._position) - first]

    def pressed(self, digit: str) -> None:
        """Take a key, and read the number back when no more follow."""
        self.user_began()
        self.digits.append(digit)
        self.after(AFTER_LAST_KEY, "keys", self.number_complete)

    def interrupted(self) -> None:
        """Stop for the user."""
        self.stop()

    def ended(self) -> None:
        """Stop working: the call is over."""
        for timer in self._timers.values():
            timer.cancel()
        if self.item is not None:
            self._cancel_frames(self.item)

    async def after_the_end(self) -> None:
        """Do what is left to do when the call is over."""

    # What the agent says

    def greet(self) -> None:
        """Say something at the answer."""
        self.say(self.next_sentence())

    def answer(self, heard: NDArray[np.int16]) -> None:
        """Answer a turn of the user."""
        self.turns += 1
        hz = pure_tone(heard, self.call.rate)
        self.say(self.next_sentence() if hz is None else tagged(hz, self.rate))

    def next_sentence(self) -> Sentence:
        """Return something that was not said before."""
        return sentence(self.draw.randint(10, 13), self.rate, self.draw.randrange(2**32))

    def number_complete(self) -> None:
        """Read the digits back, and say something about them."""
        self.say(sentence(4, self.rate, self.draw.randrange(2**32)))
        if self.style.keys:
            self.read_back("".join(self.digits))
        self.digits.clear()

    def read_back(self, digits: str) -> None:
        """Send digits back, one after the other."""
        for index, digit in enumerate(digits):
            event = Digit(digit, KEY)
            self.after(2 * KEY * index, f"digit {index}", lambda event=event: self.call.send(event))  # type: ignore[misc] # the default binds the loop's variable

    def goodbye(self) -> None:
        """Say goodbye to a user who has gone silent, and hang up when that has been heard."""
        self.leaving = True
        self.say(sentence(5, self.rate, self.draw.randrange(2**32)))
        self.hang_up_after_last_word(MARGIN)

    def hang_up_after_last_word(self, margin: float) -> None:
        """Hang up some seconds after what was said last has been heard."""
        self.after(self.left + margin, "hang up", lambda: self.call.hang_up("the conversation is over"))

    # How it says it

    @property
    def is_talking(self) -> bool:
        """Whether the user still hears what was said last."""
        return self.left > 0

    @property
    def left(self) -> float:
        """Seconds until what was said last has been heard."""
        return 0.0 if self.item is None else max(0, self.item.end_ns - self.clock.now_ns()) / NS

    def say(self, told: Sentence) -> None:
        """Say a sentence, after what is still being heard."""
        start_ns = self.clock.now_ns() + round(self.left * NS)
        self.cancel("silence")
        self.said += 1
        told = replace(told, samples=self.coded(told.samples))
        self.item = item = Item(f"item {self.said}", told, start_ns, [])
        if self.style.words:
            self.call.send(Words(item.name, told.words))
        self.claim("speaking")
        self.send(item)
        self.after(self.left, "done", lambda: self.finished(item))

    def send(self, item: Item) -> None:
        """Send the sound of an item, as the style has it."""
        samples = item.sentence.samples
        if not self.style.paced:
            self.send_samples(samples, item)
            return
        for index, frame in enumerate(self.frames(samples)):
            at_ns = item.start_ns + self.due_ns(index)
            item.timers.append(self.clock.call_at_ns(at_ns, lambda frame=frame: self.send_samples(frame, item)))  # type: ignore[misc] # as above

    def due_ns(self, index: int) -> int:
        """Return when a frame is sent, from the first one."""
        return round(index * FRAME * NS)

    def frames(self, samples: NDArray[np.int16]) -> Iterator[NDArray[np.int16]]:
        """Cut sound into frames."""
        size = round(FRAME * self.rate)
        for start in range(0, len(samples), size):
            yield samples[start : start + size]

    def coded(self, samples: NDArray[np.int16]) -> NDArray[np.int16]:
        """Return the sound as it is sent."""
        return samples

    def send_samples(self, samples: NDArray[np.int16], item: Item) -> None:
        """Send a piece of an item."""
        self.call.send(AudioChunk.from_samples(samples, self.rate, item=item.name))

    def finished(self, item: Item) -> None:
        """Take note that an item has been heard to its end."""
        if self.style.claims:
            self.call.send(TurnDone(item.name))
            self.remember(item, item.sentence.duration)
        self.claim("listening")
        self.wait_for_user()

    def wait_for_user(self) -> None:
        """Say goodbye if the user keeps silent."""
        if not self.leaving:
            self.after(self.left + USER_SILENCE, "silence", self.goodbye)

    def stop(self) -> None:
        """Stop talking at once, and keep only what was heard."""
        item = self.item
        if item is None or not self.is_talking:
            return
        self._cancel_frames(item)
        self.cancel("done")
        self.call.flush()
        heard = max(0, self.clock.now_ns() - item.start_ns) / NS
        self.item = None
        if self.style.claims:
            self.truncate(item, heard)
            self.remember(item, heard)
        self.claim("listening")

    def truncate(self, item: Item, heard: float) -> None:
        """Tell how much of an item was heard."""
        self.call.send(TruncationClaimed(item.name, heard))

    def remember(self, item: Item, heard: float) -> None:
        """Keep the words of an item that were heard."""
        words = [word.text for word in item.sentence.words if word.end <= heard + FRAME / 2]
        self.call.send(HistoryClaimed(item.name, " ".join(words)))

    def claim(self, state: AgentState) -> None:
        """Tell what the agent is doing."""
        if self.style.claims:
            self.call.send(StateClaimed(state))

    # Timers

    def after(self, seconds: float, name: str, action: Callable[[], None]) -> None:
        """Do something in some seconds, in place of what was to be done under that name."""
        self.cancel(name)
        self._timers[name] = self.clock.call_at_ns(self.clock.now_ns() + round(seconds * NS), action)

    def cancel(self, name: str) -> None:
        """Do not do what was to be done under a name."""
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()

    def _cancel_frames(self, item: Item) -> None:
        for timer in item.timers:
            timer.cancel()


class Attendant(DoubleAgent):
    """An agent whose calls are talks of one kind; the default kind does everything right."""

    def __init__(self, talk: type[Talk] = Talk, *, style: Style = Style(), seed: int = 0) -> None:
        super().__init__()
        self.talk = talk
        self.style = style
        self.seed = seed
        self._talks: dict[AgentCall, Talk] = {}

    def reaction(self, call: AgentCall) -> Callable[[UserItem], None]:
        """Begin the talk of a call."""
        self._talks[call] = talk = self.talk(call, self.style, self.seed)
        talk.greet()
        return talk.take

    async def answer(self, call: AgentCall) -> None:
        """Serve one call."""
        await super().answer(call)
        await self._talks.pop(call).after_the_end()
