"""Where in a file something stands, so that what is found out later (a missing capability, say) can point there."""

from __future__ import annotations

from dataclasses import dataclass

from voiceharness.errors import ScenarioError

__all__ = ["Place"]


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a scenario file; ``line`` and ``column`` count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def error(self, message: str) -> ScenarioError:
        """Make an error that points here."""
        return ScenarioError(message, file=self.file, line=self.line, column=self.column)
