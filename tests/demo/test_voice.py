"""The demo's voice: what is sent, until when it is heard, and what a flush leaves of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voiceharness.agent import AgentCall
from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.signals import tone
from voiceharness.clock import NS, LoopClock, run_virtual
from voiceharness.demo.voice import Voice
from voiceharness.events import Flush, Mark, Word, Words
from voiceharness.speech.synthesis import Speech

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from voiceharness.agent import AgentItem

__all__: list[str] = []


class Beeper:
    """A synthesizer that takes one second for each word."""

    name = version = "beeper"
    rate = 8000

    def synthesize(self, text: str, *, voice: str | None = None, speed: float = 1.0) -> Speech:
        """Beep."""
        words = tuple(Word(word, float(index), index + 1.0) for index, word in enumerate(text.split()))
        return Speech(AudioChunk.from_samples(tone(440, len(words), level_db=-20)), words)


def spoken(body: Callable[[AgentCall, Voice], Awaitable[None]], *, leaks: bool = False) -> list[AgentItem]:
    async def main() -> list[AgentItem]:
        call = AgentCall(LoopClock())
        await body(call, Voice(call, Beeper(), leaks=leaks))
        sent: list[AgentItem] = []
        while (item := call.take_sent()) is not None:
            sent.append(item)
        return sent

    return run_virtual(main())


def test_a_turn_is_its_words_its_sound_and_a_mark() -> None:
    async def body(_call: AgentCall, voice: Voice) -> None:
        await voice.say("Good morning. Hello!")
        assert voice.until_ns == round(3.3 * NS)

    words, sound, mark = spoken(body)
    times = (Word("Good", 0.0, 1.0), Word("morning.", 1.0, 2.0), Word("Hello!", 2.3, 3.3))
    assert words == Words("turn 1", times)
    assert isinstance(sound, AudioChunk)
    assert (sound.item, sound.duration) == ("turn 1", 3.3)
    assert not sound.samples[16000:18400].any()
    assert mark == Mark("turn 1")


def test_it_talks_until_the_last_of_what_it_said_is_heard() -> None:
    async def body(call: AgentCall, voice: Voice) -> None:
        heard = [voice.is_talking]
        await voice.say("one")
        await voice.say("two")
        for _ in range(2):
            await call.clock.sleep(1.0)
            heard.append(voice.is_talking)
        assert heard == [False, True, False]

    assert [item.item for item in spoken(body) if isinstance(item, AudioChunk)] == ["turn 1", "turn 2"]


def test_it_stops_at_once() -> None:
    async def body(call: AgentCall, voice: Voice) -> None:
        await voice.say("one two three")
        await call.clock.sleep(1.0)
        voice.stop()
        assert not voice.is_talking

    assert spoken(body)[-1] == Flush()


def test_a_leaking_voice_sends_some_of_the_rest_after_its_flush() -> None:
    async def body(call: AgentCall, voice: Voice) -> None:
        await voice.say("one two three")
        await call.clock.sleep(1.0)
        voice.stop()
        assert not voice.is_talking
        await call.clock.sleep(0.1)

    _, sound, _, flush, leak = spoken(body, leaks=True)
    assert flush == Flush()
    assert isinstance(sound, AudioChunk)
    assert leak == AudioChunk(sound.pcm[2 * 8000 : 2 * 11200], item="turn 1")


def test_nothing_leaks_of_a_turn_that_was_heard_or_never_said() -> None:
    async def body(call: AgentCall, voice: Voice) -> None:
        voice.stop()
        await voice.say("one")
        await call.clock.sleep(2.0)
        voice.stop()
        await call.clock.sleep(0.1)

    assert sum(isinstance(item, AudioChunk) for item in spoken(body, leaks=True)) == 1
