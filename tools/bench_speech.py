"""Measure the embedded speech engines: loading, speaking, understanding, the cache, word times, live latency.

Run as ``python tools/bench_speech.py``; it prints one figure per line. Medians are over five rounds.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from voiceharness.audio import g711
from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import stopwatch
from voiceharness.speech import SpeechCache, WorkerTranscriber, make_synthesizer, make_transcriber, word_error_rate
from voiceharness.speech.rolling import RollingTranscription
from voiceharness.speech.text import normalize

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from voiceharness.events import Word
    from voiceharness.speech import Speech, Synthesizer, Transcriber

ROUNDS = 5
SENTENCES = (
    "Hello there.",
    "Please cancel my order.",
    "I would like to book a table for four at seven thirty tomorrow.",
    "Good morning, how can I help you today?",
    "Your appointment is confirmed for Friday at ten in the morning.",
    "What time do you open on Sunday?",
    "Thank you, that is all.",
    "My PIN is 4821.",
    "Bring your insurance card and arrive ten minutes early, please.",
    "If you need to change the time, call us before noon.",
)


def timed(work: Callable[[], object]) -> float:
    """Return how long a piece of work takes, in ms."""
    elapsed = stopwatch()
    work()
    return elapsed() * 1000


def median(work: Callable[[], object]) -> float:
    """Return the median time of several rounds of work, in ms."""
    return statistics.median(timed(work) for _ in range(ROUNDS))


def report(name: str, value: float, unit: str) -> None:
    """Print one figure."""
    print(f"{name:<58} {value:9.2f} {unit}")


def bench_synthesis(engine: Synthesizer) -> list[Speech]:
    """Measure loading and speaking; return what was spoken."""
    report(f"{engine.name}: load and first utterance", timed(lambda: engine.synthesize("Hello.")), "ms")
    spoken = [engine.synthesize(text) for text in SENTENCES]
    seconds = sum(speech.audio.duration for speech in spoken)
    total = median(lambda: [engine.synthesize(text) for text in SENTENCES])
    report(f"{engine.name}: utterance ({seconds / len(spoken):.1f} s of speech on average)", total / len(spoken), "ms")
    report(f"{engine.name}: second of speech", total / seconds, "ms")
    return spoken


def bench_cache(engine: Synthesizer) -> None:
    """Measure hits in memory and on disk."""
    with tempfile.TemporaryDirectory() as folder:
        cache = SpeechCache(Path(folder))
        cached = make_synthesizer(engine, cache=cache)
        for text in SENTENCES:
            cached.synthesize(text)
        memory = median(lambda: [cached.synthesize(text) for text in SENTENCES])
        report("cache: hit in memory", memory / len(SENTENCES), "ms")

        def read_all() -> None:
            fresh = make_synthesizer(engine, cache=SpeechCache(Path(folder)))
            for text in SENTENCES:
                fresh.synthesize(text)

        report("cache: hit on disk", median(read_all) / len(SENTENCES), "ms")


def bench_transcription(engine: Transcriber, spoken: list[Speech]) -> None:
    """Measure loading and understanding of telephone speech (8 kHz, mu-law)."""
    heard = [AudioChunk(g711.decode(g711.encode(speech.audio.pcm))) for speech in spoken]
    report(f"{engine.name}: load and first utterance", timed(lambda: engine.transcribe(heard[0])), "ms")
    total = median(lambda: [engine.transcribe(audio) for audio in heard])
    seconds = sum(audio.duration for audio in heard)
    report(f"{engine.name}: utterance", total / len(heard), "ms")
    report(f"{engine.name}: second of speech", total / seconds, "ms")
    texts = [engine.transcribe(audio).text for audio in heard]
    report(f"{engine.name}: word error rate", 100 * word_error_rate(" ".join(SENTENCES), " ".join(texts)), "%")


def bench_live(engine: Transcriber, synthesizer: Synthesizer) -> None:
    """Measure when a word becomes stable, in audio time after its end, and what that costs."""
    speech = synthesizer.synthesize(" ".join(SENTENCES))
    samples = speech.audio.samples
    rolling = RollingTranscription(engine)
    stable: list[tuple[str, float]] = []  # each word, and how much had been heard when it became stable
    elapsed = stopwatch()
    for start in range(0, len(samples), 160):
        update = rolling.feed(AudioChunk.from_samples(samples[start : start + 160], 8000, start))
        if update is not None:
            stable += [(word.text, update.heard) for word in update.stable[len(stable) :]]
    cost = elapsed() / speech.audio.duration
    delays = same_word_delays(speech.words, stable)
    report(f"live: words compared, of {len(speech.words)}", len(delays), "")
    for percentile in (50, 90, 100):
        report(f"live: word stable after its end, p{percentile}", 1000 * float(np.percentile(delays, percentile)), "ms")
    report("live: processor time per second of speech", 1000 * cost, "ms")


def same_word_delays(spoken: Sequence[Word], stable: Sequence[tuple[str, float]]) -> list[float]:
    """Return, for each spoken word that was understood, the seconds from its end until it was stable."""
    said = [normalize(word.text) for word in spoken]
    heard = [normalize(text) for text, _ in stable]
    blocks = SequenceMatcher(None, said, heard, autojunk=False).get_matching_blocks()
    return [stable[b + k][1] - spoken[a + k].end for a, b, size in blocks for k in range(size)]


async def bench_worker(spoken: Speech) -> None:
    """Measure the worker process."""
    worker = WorkerTranscriber("moonshine", lambda update: None)
    elapsed = stopwatch()
    await worker.open()
    report("worker: start", elapsed() * 1000, "ms")
    elapsed = stopwatch()
    await worker.transcribe(spoken.audio)
    report(f"worker: {spoken.audio.duration:.1f} s of speech", elapsed() * 1000, "ms")
    elapsed = stopwatch()
    await worker.close()
    report("worker: stop", elapsed() * 1000, "ms")


def main() -> None:
    """Print every figure."""
    synthesizer, transcriber = make_synthesizer(), make_transcriber()
    print(synthesizer.version, transcriber.version, sep="\n")
    spoken = bench_synthesis(synthesizer)
    bench_cache(synthesizer)
    bench_transcription(transcriber, spoken)
    bench_live(transcriber, synthesizer)
    asyncio.run(bench_worker(spoken[2]))


if __name__ == "__main__":
    main()
