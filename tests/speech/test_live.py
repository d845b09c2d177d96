"""The transcriber beside a call, inline."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from voiceharness.clock import run_virtual
from voiceharness.errors import OptionError
from voiceharness.speech.live import InlineTranscriber, live_transcriber
from voiceharness.speech.worker import WorkerTranscriber

from .doubles import LevelTranscriber, bursts

if TYPE_CHECKING:
    from voiceharness.speech.transcription import TranscriptUpdate

__all__: list[str] = []


def test_updates_come_while_feeding_and_the_final_one_before_the_answer() -> None:
    updates: list[TranscriptUpdate] = []

    async def listen() -> None:
        live = InlineTranscriber(LevelTranscriber(), updates.append)
        await live.open()
        live.feed(bursts(1000, 2000, position=800))
        assert [update.final for update in updates] == [False]
        transcript = await live.finish()
        assert transcript.text == "one two"
        assert transcript.words == updates[-1].stable
        await live.close()

    asyncio.run(listen())
    assert [(update.position, update.final) for update in updates] == [(800, False), (800, True)]


def test_finished_audio_does_not_touch_the_utterance() -> None:
    async def listen() -> None:
        live = InlineTranscriber(LevelTranscriber(), lambda update: None)
        live.feed(bursts(1000))
        assert (await live.transcribe(bursts(3000))).text == "three"
        assert (await live.finish()).text == "one"

    asyncio.run(listen())


def test_closing_forgets_the_utterance() -> None:
    async def listen() -> None:
        live = InlineTranscriber(LevelTranscriber(), lambda update: None)
        live.feed(bursts(1000))
        await live.close()
        await live.close()
        assert (await live.finish()).text == ""

    asyncio.run(listen())


def test_virtual_time_takes_no_process_and_no_time() -> None:
    async def listen() -> float:
        loop = asyncio.get_running_loop()
        live = live_transcriber(LevelTranscriber(), lambda update: None, virtual=True)
        start = loop.time()
        live.feed(bursts(1000, 2000))
        await live.finish()
        return loop.time() - start

    assert run_virtual(listen()) == 0.0


def test_real_time_puts_a_named_engine_in_a_process() -> None:
    pytest.importorskip("moonshine_voice")
    assert isinstance(live_transcriber("moonshine", lambda update: None, virtual=False), WorkerTranscriber)
    assert isinstance(live_transcriber("moonshine", lambda update: None, virtual=True), InlineTranscriber)
    assert isinstance(live_transcriber(LevelTranscriber(), lambda update: None, virtual=False), InlineTranscriber)


@pytest.mark.parametrize("virtual", [True, False])
def test_unknown_engine_is_refused_before_anything_starts(virtual: bool) -> None:
    with pytest.raises(OptionError, match="moonshine"):
        live_transcriber("nope", lambda update: None, virtual=virtual)
