"""What the user said and pressed, and when, from the timeline.

The edges of speech are those of the clean source at its sent position, never found in the sound of the line. Keys that
follow one another are one utterance.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, get_args

from voiceharness.audio.edges import Span

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voiceharness.line.record import CallRecord, Value

__all__ = ["FILLERS", "Intent", "Utterance", "integer", "only_fillers", "text_of", "user_utterances"]

Intent = Literal["turn", "backchannel", "noise"]
"""Whether a sound of the user asks for the floor. The other two leave it to the agent."""

FILLERS: Final = frozenset(
    {"ah", "aha", "alright", "hm", "hmm", "huh", "mhm", "mm", "mmhm", "mmhmm", "mmm", "oh", "ok", "okay", "right"}
    | {"sure", "uh", "uhhuh", "uhm", "um", "yeah", "yep", "yup"}
)
"""English words with which a listener says: go on."""

_KEY_GAP: Final = 0.7

_INTENTS: Final = get_args(Intent)


@dataclass(frozen=True, slots=True)
class Utterance:
    """One thing the user said (or pressed), in samples. ``intent`` is None until the sound around it was looked at."""

    onset: int
    offset: int
    source: str = "say"
    step: int | str | None = None
    text: str = ""
    intent: Intent | None = None

    @property
    def span(self) -> Span:
        """Where it was heard."""
        return Span(self.onset, self.offset)

    @property
    def spoken(self) -> bool:
        """Whether it is speech, as opposed to keys."""
        return self.source != "press"


def user_utterances(record: CallRecord) -> list[Utterance]:
    """Read the user's utterances off the timeline, in order of onset; what the call cut off ends with the call."""
    end = len(record.user)
    spoken = [_utterance(event.data, event.at, end) for event in record.of_kind("user_utterance")]
    pressed = [keys for keys in _pressed(record) if not any(said.onset <= keys.onset < said.offset for said in spoken)]
    found = (utterance for utterance in (*spoken, *pressed) if utterance.onset < utterance.offset)
    return sorted(found, key=lambda utterance: utterance.onset)


def _pressed(record: CallRecord) -> list[Utterance]:
    runs: list[Utterance] = []
    gap = round(_KEY_GAP * record.rate)
    for event in record.of_kind("digit_sent"):
        duration = event.data.get("duration")
        seconds = duration if isinstance(duration, int | float) else 0.0
        offset = min(event.at + max(1, round(seconds * record.rate)), len(record.user))
        keys = Utterance(event.at, offset, "press", text=text_of(event.data, "digit"))
        if runs and keys.onset - runs[-1].offset <= gap:
            before = runs.pop()
            keys = replace(keys, onset=before.onset, text=before.text + keys.text)
        runs.append(keys)
    return runs


def _utterance(data: Mapping[str, Value], at: int, end: int) -> Utterance:
    step, intent = data.get("step"), data.get("intent")
    return Utterance(
        onset=integer(data, "onset", at),
        offset=min(integer(data, "offset", at), end),
        source=text_of(data, "source") or "say",
        step=step if isinstance(step, int | str) else None,
        text=text_of(data, "text"),
        intent=next((known for known in _INTENTS if known == intent), None),
    )


def only_fillers(text: str) -> bool:
    """Whether a text has nothing but `FILLERS` in it: "mm-hmm", "yeah, ok"."""
    words = re.findall(r"\w+", text.lower().replace("-", ""))
    return bool(words) and FILLERS.issuperset(words)


def integer(data: Mapping[str, Value], name: str, default: int) -> int:
    """Read a position or number of samples from a timeline event."""
    value = data.get(name)
    return int(value) if isinstance(value, int | float) else default


def text_of(data: Mapping[str, Value], name: str) -> str:
    """Read a text from a timeline event; empty if it has none."""
    value = data.get(name)
    return value if isinstance(value, str) else ""
