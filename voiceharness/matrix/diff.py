"""What has changed from one matrix to another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from voiceharness.matrix.document import column_name
from voiceharness.matrix.wording import SHORT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from voiceharness.matrix.document import CellEntry, MatrixDocument

__all__ = ["Change", "differences"]


@dataclass(frozen=True, slots=True)
class Change:
    """One cell that is not what it was. ``before`` and ``after`` say what is declared and what was probed."""

    adapter: str
    capability: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.adapter}:{self.capability}: {self.before} -> {self.after}"


def differences(earlier: MatrixDocument, later: MatrixDocument, *, in_part: bool = False) -> tuple[Change, ...]:
    """Compare declarations and verdicts, cell by cell; figures differ from run to run and are left out.

    ``in_part``: only some cells were probed again; that the later matrix lacks the others is no change.
    """
    old, new = dict(_states(earlier)), dict(_states(later))
    keys = new if in_part else dict.fromkeys((*old, *new))
    return tuple(
        Change(adapter, capability, old.get((adapter, capability), "absent"), new.get((adapter, capability), "absent"))
        for adapter, capability in keys
        if old.get((adapter, capability)) != new.get((adapter, capability))
    )


def _states(document: MatrixDocument) -> Iterator[tuple[tuple[str, str], str]]:
    for entry in document["adapters"]:
        for cell in entry["cells"]:
            yield (column_name(entry), cell["capability"]), _state(cell)


def _state(cell: CellEntry) -> str:
    if cell["by_class"] is None:
        return SHORT[cell["verdict"]]
    declared = "declared" if cell["here"] else "not declared here" if cell["by_class"] else "not declared"
    return f"{declared}, {SHORT[cell['verdict']]}"
