"""Which advice belongs to which failure of a scripted model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from voiceharness.scripted.snapshot import SnapshotData

__all__ = ["RetryLedger", "RetryQuery"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryQuery(SnapshotData):
    """What a retrying client asks about a failure; ``attempt`` counts from one."""

    error: BaseException
    attempt: int = 1
    streamed: bool = False


@dataclass(frozen=True, slots=True)
class _Record:
    error: BaseException
    streamed: bool
    advice: Any


class RetryLedger:
    """The failures that were raised, oldest first.

    A failure is known by the identity of its error and by the mode of its call. Each is asked about once: an error
    object that several steps share gives the advice of each step in turn, or none for a step without any.
    """

    def __init__(self) -> None:
        self._records: list[_Record] = []

    def remember(self, error: BaseException, *, streamed: bool, advice: Any) -> None:
        """Note a failure that is about to be raised."""
        self._records.append(_Record(error, streamed, advice))

    def advice(self, error: BaseException, *, streamed: bool, query: Any) -> Any:
        """Return the advice for the oldest such failure nobody asked about, and forget the failure."""
        for position, record in enumerate(self._records):
            if record.error is error and record.streamed == streamed:
                del self._records[position]
                return record.advice(query) if callable(record.advice) else record.advice
        return None
