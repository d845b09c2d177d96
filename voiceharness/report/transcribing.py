"""The words of a saved call's agent, understood after the fact: for calls whose scenario needed none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from voiceharness.audio.chunk import AudioChunk
from voiceharness.measure.metrics import measure
from voiceharness.report.artefacts import TIMELINE, add_agent_words, load_call, load_document

if TYPE_CHECKING:
    from voiceharness.speech.transcription import Transcriber

__all__ = ["transcribe_call"]


def transcribe_call(folder: str | Path, transcriber: Transcriber) -> bool:
    """Let a transcriber understand the agent's turns of a saved call, and keep that in its result.

    A call of which there are words already, or nothing to be heard, stays as it is. Returns whether words were added.

    Raises:
        OptionError: if there is no saved call, or its folder cannot be written.
        AudioError: if its recording cannot be used.
        SpeechError: the transcriber failed.
    """
    if load_document(folder).get("agent_words") or not (Path(folder) / TIMELINE).exists():
        return False
    record = load_call(folder)
    understood = {
        index: transcriber.transcribe(
            AudioChunk.from_samples(record.agent[turn.onset : turn.offset], record.rate, turn.onset)
        ).text
        for index, turn in enumerate(measure(record).agent_turns)
    }
    if not any(understood.values()):
        return False
    add_agent_words(
        folder,
        [{"turn": turn, "text": text, "by": "transcriber"} for turn, text in understood.items() if text],
        {"transcriber": transcriber.version},
    )
    return True
