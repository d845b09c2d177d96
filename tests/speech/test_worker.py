"""The transcriber in a process of its own, with the real engine."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import TYPE_CHECKING

import pytest

from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import run_real
from voiceharness.errors import SpeechError
from voiceharness.speech.hibari import HibariSynthesizer
from voiceharness.speech.moonshine import MoonshineTranscriber
from voiceharness.speech.rolling import RollingTranscription
from voiceharness.speech.worker import WorkerTranscriber

if TYPE_CHECKING:
    from voiceharness.speech.transcription import TranscriptUpdate

pytest.importorskip("hibari")
pytest.importorskip("moonshine_voice")

pytestmark = pytest.mark.realtime

__all__: list[str] = []


@pytest.fixture(scope="module")
def chunks() -> list[AudioChunk]:
    """A sentence in frames of 20 ms, the first at sample 4000."""
    samples = HibariSynthesizer().synthesize("I would like to book a table for four tomorrow.").audio.samples
    return [
        AudioChunk.from_samples(samples[start : start + 160], 8000, 4000 + start)
        for start in range(0, len(samples), 160)
    ]


def _ignore(update: TranscriptUpdate) -> None:
    pass


def test_worker_hears_what_the_engine_hears_inline(chunks: list[AudioChunk]) -> None:
    updates: list[TranscriptUpdate] = []

    async def listen() -> str:
        worker = WorkerTranscriber("moonshine", updates.append)
        await worker.open()
        for chunk in chunks:
            worker.feed(chunk)
        transcript = await worker.finish()
        whole = await worker.transcribe(AudioChunk(b"".join(chunk.pcm for chunk in chunks)))
        assert whole.text == transcript.text
        await worker.close()
        await worker.close()
        return transcript.text

    text = run_real(listen())
    inline = RollingTranscription(MoonshineTranscriber())
    expected = [update for chunk in chunks if (update := inline.feed(chunk)) is not None]
    assert updates == [*expected, inline.finish()]
    assert text == updates[-1].text
    assert updates[-1].position == 4000


def test_killed_worker_fails_what_waits_and_what_comes_later(chunks: list[AudioChunk]) -> None:
    async def listen() -> None:
        worker = WorkerTranscriber("moonshine", _ignore)
        await worker.open()
        assert worker.pid is not None
        os.kill(worker.pid, signal.SIGSTOP)
        waiting = asyncio.create_task(worker.transcribe(chunks[0]))
        await asyncio.wait([waiting], timeout=0)
        os.kill(worker.pid, signal.SIGKILL)
        with pytest.raises(SpeechError, match="exit code -9"):
            await waiting
        with pytest.raises(SpeechError, match="exit code -9"):
            worker.feed(chunks[0])
        await worker.close()

    run_real(listen())


def test_engine_that_cannot_load_says_why_in_its_last_words() -> None:
    async def listen() -> None:
        worker = WorkerTranscriber("nope", _ignore)
        with pytest.raises(SpeechError, match=r"exit code 1.*no transcriber named 'nope'"):
            await worker.open()
        assert worker.pid is None

    run_real(listen())


def test_worker_that_is_not_ready_in_time_is_ended() -> None:
    async def listen() -> None:
        worker = WorkerTranscriber("moonshine", _ignore, start_timeout=0.001)
        with pytest.raises(SpeechError, match=r"not ready in 0\.001 s"):
            await worker.open()
        assert worker.pid is None

    run_real(listen())


def test_worker_that_does_not_end_is_killed(caplog: pytest.LogCaptureFixture) -> None:
    async def listen() -> None:
        worker = WorkerTranscriber("moonshine", _ignore, stop_timeout=0.01)
        await worker.open()
        assert worker.pid is not None
        pid = worker.pid
        os.kill(pid, signal.SIGSTOP)
        await worker.close()
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)

    run_real(listen())
    assert "is killed" in caplog.text


def test_closing_fails_what_waits(chunks: list[AudioChunk]) -> None:
    async def listen() -> None:
        worker = WorkerTranscriber("moonshine", _ignore, stop_timeout=0.01)
        await worker.open()
        assert worker.pid is not None
        os.kill(worker.pid, signal.SIGSTOP)
        waiting = asyncio.create_task(worker.finish())
        await asyncio.wait([waiting], timeout=0)
        await worker.close()
        with pytest.raises(SpeechError, match="closed"):
            await waiting

    run_real(listen())


def test_callback_that_raises_is_the_cause_of_the_failure(chunks: list[AudioChunk]) -> None:
    def refuse(update: TranscriptUpdate) -> None:
        raise ValueError("no thanks")

    async def listen() -> None:
        worker = WorkerTranscriber("moonshine", refuse)
        await worker.open()
        for chunk in chunks:
            worker.feed(chunk)
        with pytest.raises(SpeechError, match="no thanks") as raised:
            await worker.finish()
        assert isinstance(raised.value.__cause__, ValueError)
        await worker.close()

    run_real(listen())


def test_unopened_worker_says_so(chunks: list[AudioChunk]) -> None:
    with pytest.raises(SpeechError, match="await open"):
        WorkerTranscriber("moonshine", _ignore).feed(chunks[0])
