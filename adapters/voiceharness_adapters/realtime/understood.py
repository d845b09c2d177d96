"""What the far side understood of the user, turn by turn, in the order in which the user spoke.

Transcriptions of user audio come late and in any order: after the answer they caused, partial results of one turn
between those of another, some never. Each event names its item, and items are ordered by the beginning of their speech.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Understood", "UnderstoodTurn"]

TRANSCRIPTION: Final = "conversation.item.input_audio_transcription."
ANNOUNCED_BY: Final = ("input_audio_buffer.speech_started", "input_audio_buffer.committed")


@dataclass(frozen=True, slots=True)
class UnderstoodTurn:
    """One turn of the user as the far side understood it; a turn that failed keeps what came of it before."""

    item: str
    text: str = ""
    state: Literal["partial", "final", "failed"] = "partial"


class Understood:
    """Collects a provider's own events about the user's audio."""

    def __init__(self) -> None:
        self._turns: dict[str, UnderstoodTurn] = {}

    @property
    def turns(self) -> tuple[UnderstoodTurn, ...]:
        """The turns so far, in the order of their speech."""
        return tuple(self._turns.values())

    def take(self, event: Mapping[str, Any]) -> None:
        """Take an event; one about anything else is passed over."""
        kind, item = str(event.get("type")), event.get("item_id")
        if not isinstance(item, str) or not kind.startswith((*ANNOUNCED_BY, TRANSCRIPTION)):
            return
        turn = self._turns.setdefault(item, UnderstoodTurn(item))
        match kind.removeprefix(TRANSCRIPTION):
            case "delta" if turn.state == "partial":
                turn = replace(turn, text=f"{turn.text}{event.get('delta') or ''}")
            case "completed":
                turn = replace(turn, text=str(event.get("transcript") or "").strip(), state="final")
            case "failed":
                turn = replace(turn, state="failed")
        self._turns[item] = turn
