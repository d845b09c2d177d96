"""The agent's turns in words, and whose words they are: what it claims to have said, or what was understood of it.

The two are never mixed. Of an agent whose transport sends words, those are told whose audio was heard. Of one that
sends none, what the harness's transcriber understood in the sound, where it was used; that may be misheard.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voiceharness.line.record import CallRecord, TimelineEvent
    from voiceharness.scenario.result import CallResult

__all__ = ["AgentWords", "agent_words", "words_text"]


class AgentWords(TypedDict):
    """The words of a turn of the agent, ``turn`` being an index into ``agent_turns``, from 0.

    ``by``: the ``agent`` sent them, or the ``transcriber`` of the harness understood them.
    """

    turn: int
    text: str
    by: Literal["agent", "transcriber"]


def agent_words(result: CallResult) -> list[AgentWords]:
    """Return the turns of a call of which there are words."""
    if result.metrics is None or result.record is None:
        return []
    turns = result.metrics.agent_turns
    if any(result.record.of_kind("word_heard")):
        sent = _sent([turn.onset for turn in turns], result.record)
        return [{"turn": turn, "text": text, "by": "agent"} for turn, text in enumerate(sent) if text]
    understood = {(heard.onset, heard.offset): heard.text for heard in result.understood}
    texts = (understood.get((turn.onset, turn.offset), "") for turn in turns)
    return [{"turn": turn, "text": text, "by": "transcriber"} for turn, text in enumerate(texts) if text]


def words_text(words: AgentWords) -> str:
    """Write the words so that they show whose they are."""
    return words["text"] if words["by"] == "agent" else f"heard: {words['text']}"


def _sent(onsets: Sequence[int], record: CallRecord) -> list[str]:
    """Give each word to the turn that had begun last when it ended."""
    said: list[list[str]] = [[] for _ in onsets]
    for word in record.of_kind("word_heard") if onsets else ():
        begun = sum(onset < _end(word) for onset in onsets)
        said[max(0, begun - 1)].append(str(word.data.get("text", "")))
    return [" ".join(words) for words in said]


def _end(word: TimelineEvent) -> int:
    end = word.data.get("end")
    return end if isinstance(end, int) else word.at
