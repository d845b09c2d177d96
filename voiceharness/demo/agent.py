"""An appointment line that one can call: it listens, understands, speaks, can be interrupted, and takes keys.

It hears turns by their energy, understands each with the embedded transcriber, and speaks with the embedded
synthesizer; both run inline in virtual time and beside the loop in real time. Switches plant faults of the kind that
phone agents really have, each for one of the harness's checks to find.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from voiceharness.agent import AgentCall, PhoneAgent
from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.dtmf import detect
from voiceharness.clock import NS
from voiceharness.demo.dialogue import Dialogue
from voiceharness.demo.voice import Voice
from voiceharness.doubles import Endpointer
from voiceharness.errors import OptionError
from voiceharness.events import CallEnded, Digit
from voiceharness.speech.cache import SpeechCache
from voiceharness.speech.engines import make_synthesizer, make_transcriber

if TYPE_CHECKING:
    from voiceharness.demo.dialogue import Reply
    from voiceharness.events import UserItem
    from voiceharness.speech.synthesis import Synthesizer
    from voiceharness.speech.transcription import Transcriber

__all__ = ["AppointmentLine", "Fault"]

Fault = Literal["talks_on", "slow", "deaf_to_digits", "stops_for_mm_hmm", "leaks_after_flush"]
"""What can be wrong with the line: it does not stop when it is interrupted; takes seconds to answer; ignores the
keypad; gives up its turn to a listener's "mm-hmm"; sends on after it was cut."""

PAUSE: Final = 0.5
STOPS_AFTER: Final = 0.5
HASTY: Final = 0.15
SLOWNESS: Final = 4.0
USER_SILENCE: Final = 8.0
MARGIN: Final = 0.2
AROUND: Final = 0.1
BREATH: Final = 0.4
AFTER_LAST_KEY: Final = 0.5
LINE_RATE: Final = 8000


@dataclass(frozen=True, slots=True)
class _Utterance:
    """What the user said; ``over_agent`` if it was said while the agent talked, and did not stop it."""

    audio: AudioChunk
    over_agent: bool


@dataclass(frozen=True, slots=True)
class _Key:
    digit: str


_Heard: TypeAlias = "_Utterance | _Key | CallEnded"


class AppointmentLine(PhoneAgent):
    """Books an appointment: asks what is needed, for which day, and for the member number.

    ``faults`` are planted. One object may take many calls; its engines are the embedded ones, loaded here (which takes
    a second) and not while a user waits, or those it is given.
    """

    def __init__(
        self, *faults: Fault, synthesizer: Synthesizer | None = None, transcriber: Transcriber | None = None
    ) -> None:
        unknown = set(faults) - set(get_args(Fault))
        if unknown:
            raise OptionError(f"no fault {min(unknown)!r} can be planted; there are {', '.join(get_args(Fault))}")
        self.faults = frozenset(faults)
        self._synthesizers = {} if synthesizer is None else {synthesizer.rate: synthesizer}
        self.transcriber = transcriber or make_transcriber()
        if synthesizer is None or transcriber is None:
            self.transcriber.transcribe(self._synthesizer(LINE_RATE).synthesize("Hello.").audio)

    async def answer(self, call: AgentCall) -> None:
        """Serve one call."""
        voice = Voice(call, self._synthesizer(call.rate), leaks="leaks_after_flush" in self.faults)
        ear = _Ear(call, voice, self.faults)
        call.listen(ear.take)
        await _Conversation(self, call, voice, ear).run()

    def _synthesizer(self, rate: int) -> Synthesizer:
        if rate not in self._synthesizers:
            self._synthesizers[rate] = make_synthesizer(rate=rate, cache=SpeechCache())
        return self._synthesizers[rate]


class _Ear:
    """Finds in the user's frames what there is to answer, and stops the voice when the user talks over it."""

    def __init__(self, call: AgentCall, voice: Voice, faults: frozenset[Fault]) -> None:
        self.heard: asyncio.Queue[_Heard] = asyncio.Queue()
        self._voice = voice
        self._deaf_to_digits = "deaf_to_digits" in faults
        self._stops_after = HASTY if "stops_for_mm_hmm" in faults else STOPS_AFTER
        self._talks_on = "talks_on" in faults
        self._rate = call.rate
        self._endpointer = Endpointer(call.rate, pause=PAUSE)
        self._audio = bytearray()
        self._dropped = 0
        self._over_agent = False

    def take(self, item: UserItem) -> None:
        """Take what comes from the user's side."""
        match item:
            case AudioChunk():
                self._listen(item)
            case Digit(digit=digit) if not self._deaf_to_digits:
                self.heard.put_nowait(_Key(digit))
            case CallEnded():
                self.heard.put_nowait(item)

    @property
    def user_speaks(self) -> bool:
        """Whether the user is speaking now, as far as one can tell before the pause is over."""
        return self._endpointer.speaking_for > 0

    def _listen(self, chunk: AudioChunk) -> None:
        self._audio += chunk.pcm
        for speech in self._endpointer.feed(chunk):
            if speech.offset is None:
                self._over_agent = self._voice.is_talking
            else:
                self.heard.put_nowait(_Utterance(self._cut(speech.onset, speech.offset), self._over_agent))
        if self._voice.is_talking and self._endpointer.speaking_for >= self._stops_after and not self._talks_on:
            self._over_agent = False
            self._voice.stop()
        if not self.user_speaks:
            self._forget()

    def _cut(self, onset: int, offset: int) -> AudioChunk:
        around = round(AROUND * self._rate)
        start = max(0, onset - around - self._dropped)
        return AudioChunk(bytes(self._audio[2 * start : 2 * (offset + around - self._dropped)]), self._rate)

    def _forget(self) -> None:
        """Keep only what may belong to an utterance that is about to begin."""
        excess = len(self._audio) // 2 - round(2 * AROUND * self._rate)
        if excess > 0:
            del self._audio[: 2 * excess]
            self._dropped += excess


class _Conversation:
    """Answers what the ear has heard, one thing after the other, until one side hangs up."""

    def __init__(self, line: AppointmentLine, call: AgentCall, voice: Voice, ear: _Ear) -> None:
        self._line = line
        self._call = call
        self._voice = voice
        self._ear = ear
        self._dialogue = Dialogue()

    async def run(self) -> None:
        """Greet, then answer."""
        await self._voice.say(self._dialogue.greeting().text)
        while not isinstance(heard := await self._next(), CallEnded):
            reply = await self._reply_to(heard)
            if reply is not None and await self._answer(reply):
                return

    async def _next(self) -> _Heard | None:
        """Wait for what comes next; None if the user has said nothing for long after the line had finished."""
        while True:
            idle_ns = self._voice.until_ns + round(USER_SILENCE * NS) - self._call.clock.now_ns()
            try:
                async with asyncio.timeout(max(idle_ns / NS, USER_SILENCE / 2)):
                    return await self._ear.heard.get()
            except TimeoutError:
                if not self._ear.user_speaks and not self._voice.is_talking:
                    return None

    async def _reply_to(self, heard: _Utterance | _Key | None) -> Reply | None:
        match heard:
            case None:
                return self._dialogue.silence()
            case _Key(digit=digit):
                reply = self._dialogue.pressed(digit)
                await self._call.clock.sleep(0.0 if reply is None else AFTER_LAST_KEY)
                return reply
            case _Utterance(audio=audio):
                if digits := detect(audio.samples, audio.rate):
                    return self._keys_in_the_sound("".join(digit.key for digit in digits))
                transcript = await asyncio.to_thread(self._line.transcriber.transcribe, audio)
                if not transcript.text or (heard.over_agent and not self._is_meant(transcript.text)):
                    return None
                return self._dialogue.heard(transcript.text)

    def _keys_in_the_sound(self, keys: str) -> Reply | None:
        if "deaf_to_digits" in self._line.faults:
            return None
        replies = [self._dialogue.pressed(key) for key in keys]
        return next((reply for reply in replies if reply is not None), None)

    def _is_meant(self, text: str) -> bool:
        """Whether something short that was said over the line's own voice asks for the floor."""
        return "stops_for_mm_hmm" in self._line.faults or self._dialogue.understands(text)

    async def _answer(self, reply: Reply) -> bool:
        """Say a reply; True if the call is over with it."""
        clock = self._call.clock
        if "slow" in self._line.faults:
            await clock.sleep(SLOWNESS)
        if self._voice.is_talking and "talks_on" not in self._line.faults:
            self._voice.stop()
            await clock.sleep(BREATH)
        await self._voice.say(reply.text)
        if reply.hang_up:
            await clock.sleep_until_ns(self._voice.until_ns + round(MARGIN * NS))
            self._call.hang_up("the conversation is over")
        return reply.hang_up
