"""Make docs/matrix.md and docs/matrix.json: the capability matrix of the adapters that come with the package.

    python -m tools.update_matrix                 probe all adapters that can be used here, and write both
    python -m tools.update_matrix --only sip      probe one anew, and keep the others
    python -m tools.update_matrix --check         probe, write nothing, and fail if a declaration or a verdict differs

Figures differ from run to run; the comparison leaves them out. An adapter that cannot be used on this machine is left
as it was.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from voiceharness.matrix import MatrixDocument, differences, load_matrix, replaced
from voiceharness.matrix.text import markdown_text
from voiceharness.registry import plugins
from voiceharness.report.serialization import json_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["PAGE", "SAVED", "main", "page_of"]

DOCS: Final = Path(__file__).parents[1] / "docs"
PAGE: Final = DOCS / "matrix.md"
SAVED: Final = DOCS / "matrix.json"
OURS: Final = "voiceharness "
MADE: Final = "<!-- Made by `python -m tools.update_matrix` from calls; change nothing here. -->\n\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Probe, then write or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="ADAPTER", action="append", default=[])
    parser.add_argument("--check", action="store_true")
    chosen = parser.parse_args(arguments)
    names = chosen.only or [plugin.name for plugin in plugins() if plugin.source.startswith(OURS)]
    probed = _probed(names)
    if chosen.check:
        return _compared(load_matrix(SAVED), probed)
    document = _renewed(load_matrix(SAVED), probed) if SAVED.exists() else probed
    SAVED.write_bytes(json_bytes(document, depth=4))
    PAGE.write_text(page_of(document), encoding="utf-8")
    return 0


def page_of(document: MatrixDocument) -> str:
    """Make the page of a document."""
    return MADE + markdown_text(document)


def _probed(names: Sequence[str]) -> MatrixDocument:
    """Run `voiceharness matrix` as a user would."""
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", "voiceharness", "matrix", "--out", out]
        subprocess.run(command + [part for name in names for part in ("--adapter", name)], check=False)
        return load_matrix(Path(out) / "matrix.json")


def _renewed(saved: MatrixDocument, probed: MatrixDocument) -> MatrixDocument:
    """Put in the place of what is saved what was probed anew; what could not be used here stays as it was."""
    known = {entry["adapter"] for entry in saved["adapters"]}
    usable = [entry for entry in probed["adapters"] if not entry["trouble"] or entry["adapter"] not in known]
    return replaced(saved, {**probed, "adapters": usable})


def _compared(saved: MatrixDocument, probed: MatrixDocument) -> int:
    usable = [entry for entry in probed["adapters"] if not entry["trouble"]]
    adapters = {entry["adapter"] for entry in usable}
    known: MatrixDocument = {
        **saved,
        "adapters": [entry for entry in saved["adapters"] if entry["adapter"] in adapters],
    }
    changes = differences(known, {**probed, "adapters": usable})
    for change in changes:
        print(f"docs/matrix.json is not what calls show: {change}")
    return 1 if changes else 0


if __name__ == "__main__":
    sys.exit(main())
