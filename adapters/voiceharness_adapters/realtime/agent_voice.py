"""What a realtime agent does, said on a call: where the notions of realtime APIs become those of the line.

Theory of operation. An :class:`AgentVoice` belongs to one :class:`AgentCall`, which brings audio to the line's rate and
keeps all of it in order. Audio, words and claims are kept together by the name of their item; what comes without one
is named after its response, and without that after its turn. An interruption of the audio is a flush. Audio that comes
for an item after that is still played, as a phone line would: if that is wrong, it is for the findings to say.

What the agent keeps of an item in its history is what the far side said last of it, cut where it truncated the audio.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from voiceharness.audio.chunk import AudioChunk
from voiceharness.errors import CallDroppedError, VoiceHarnessError
from voiceharness.events import (
    EndOfStream,
    Flush,
    HistoryClaimed,
    ProtocolFault,
    RemoteHangup,
    TruncationClaimed,
    TurnDone,
    Word,
    Words,
)
from voiceharness.line.words import spread
from voiceharness_adapters.realtime.understood import Understood

if TYPE_CHECKING:
    from collections.abc import Iterable

    from voiceharness.agent import AgentCall
    from voiceharness.scripted.sounds import WireFormat

__all__ = ["AgentVoice"]

WORD_CUT: Final = 0.02
"""Seconds by which the end of a word may lie behind the place of a truncation that keeps it."""


@dataclass(slots=True)
class _Item:
    """What came of one item so far."""

    seconds: float = 0.0
    half: bytes = b""
    words: list[Word] = field(default_factory=list)
    history: str | None = None

    def text_before(self, seconds: float) -> str:
        """Return the history's words that end before a place in the audio."""
        words: Iterable[Word] = self.words or spread(self.history or "", self.seconds)
        return " ".join(word.text for word in words if word.end <= seconds + WORD_CUT)


class AgentVoice:
    """Says what the agent does on ``call``; its audio comes as bytes of the format ``wire``.

    ``failure`` is what broke the transport: the reader of the call raises it in the place of a hang-up. ``understood``
    is what the far side made of the user's speech.
    """

    def __init__(self, call: AgentCall, wire: WireFormat) -> None:
        self.failure: VoiceHarnessError | None = None
        self.understood = Understood()
        self._call = call
        self._wire = wire
        self._items: dict[str, _Item] = {}
        self._speaking: str | None = None  # the item of the response under way
        self._turn = 1

    # What it says

    def audio(self, data: bytes, *, item: str | None, response: str | None = None) -> None:
        """Say audio; half a sample waits for the rest of it."""
        at_ns = self._call.clock.now_ns()
        name, known = self._of(item, response)
        data = known.half + data
        whole = len(data) - len(data) % self._wire.sample_bytes
        known.half = data[whole:]
        samples = self._wire.decode(data[:whole])
        known.seconds += len(samples) / self._wire.rate
        self._call.send(AudioChunk(samples.tobytes(), self._wire.rate, item=name, at_ns=at_ns))

    def words(
        self,
        text: str,
        *,
        item: str | None,
        response: str | None = None,
        start: float | None = None,
        end: float | None = None,
    ) -> None:
        """Say words of an item; with ``start`` and ``end`` (seconds into it) they are timed."""
        name, known = self._of(item, response)
        if start is None or end is None:
            self._call.send(Words(name, text=text))
            return
        timed = _timed(text, start, end)
        known.words += timed
        self._call.send(Words(name, timed))

    def interrupted(self) -> None:
        """Void what was not heard yet."""
        self._call.send(Flush())

    def turn_done(self) -> None:
        """End a response, whether or not there was anything to hear in it."""
        self._call.send(TurnDone(self._speaking))
        self._speaking = None
        self._turn += 1

    # What it claims

    def truncated(self, item: str, seconds: float) -> None:
        """Claim that ``seconds`` of an item were heard."""
        self._call.send(TruncationClaimed(item, seconds))
        known = self._items.get(item)
        if known is not None and known.history is not None:
            self.history(item, known.text_before(seconds))

    def history(self, item: str, text: str) -> None:
        """Claim that a text was spoken as an item."""
        known = self._items.setdefault(item, _Item())
        if text != known.history:
            known.history = text
            self._call.send(HistoryClaimed(item, text))

    # How it ends

    def fault(self, kind: str, detail: str) -> None:
        """Report that the far side said that a rule was broken, or broke one."""
        self._call.send(ProtocolFault(kind, detail))

    def hang_up(self, reason: str) -> None:
        """End the call in good order."""
        self._call.hang_up(reason)

    def drop(self, error: BaseException) -> None:
        """End the call because the transport failed; an error of ours stays what it is."""
        if self.failure is None:
            self.failure = error if isinstance(error, VoiceHarnessError) else _dropped(error)
        self._call.hang_up("the transport failed")

    def ending(self, item: object) -> VoiceHarnessError | None:
        """Return the failure that takes the place of what was received, if that is the end of the call."""
        return self.failure if isinstance(item, RemoteHangup | EndOfStream) else None

    def _of(self, item: str | None, response: str | None) -> tuple[str, _Item]:
        name = self._speaking = item or response or f"turn {self._turn}"
        return name, self._items.setdefault(name, _Item())


def _timed(text: str, start: float, end: float) -> tuple[Word, ...]:
    words = text.split()
    if len(words) == 1:
        return (Word(words[0], start, end),)
    return tuple(Word(word.text, start + word.start, start + word.end, True) for word in spread(text, end - start))


def _dropped(error: BaseException) -> CallDroppedError:
    dropped = CallDroppedError(f"the transport failed: {type(error).__name__}: {error}")
    dropped.__cause__ = error
    return dropped
