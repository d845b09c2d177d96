"""``voiceharness synth``: text to a WAV file, as the user of a scenario would say it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from voiceharness.audio.wav import wav_bytes
from voiceharness.cli.output import tell, tell_json
from voiceharness.report.writable import refuse_unwritable, write_file
from voiceharness.speech.engines import make_synthesizer

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["synthesize_file"]


def synthesize_file(
    *, text: str, output: Path, engine: str | None, voice: str | None, speed: float, rate: int, as_json: bool
) -> int:
    """Speak a text into a file, and tell its length and words."""
    refuse_unwritable([output])
    synthesizer = make_synthesizer(engine, rate=rate)
    speech = synthesizer.synthesize(text, voice=voice, speed=speed)
    write_file(output, wav_bytes(speech.audio.samples, rate))
    if as_json:
        words = [asdict(word) for word in speech.words]
        facts = {"file": str(output), "engine": synthesizer.version, "duration": speech.audio.duration}
        tell_json({"format": "voiceharness-synthesis/1", **facts, "words": words})
    else:
        tell(f"{output}: {speech.audio.duration:.3f} s, {len(speech.words)} words, by {synthesizer.version}")
    return 0
