"""Make the pages of docs/reference from the code: ``python -m tools.make_reference [--check]``.

With ``--check`` nothing is written; the exit code is 1 if a page differs from what would be made.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tools.reference.call_pages import exit_codes_page, findings_page, timeline_page
from tools.reference.scenario_pages import checks_page, line_profiles_page, scenarios_page, steps_page, triggers_page
from tools.reference.suite_pages import suites_page
from tools.reference.tool_pages import adapters_page, cli_page

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["FOLDER", "PAGES", "main"]

FOLDER: Final = Path(__file__).parents[1] / "docs" / "reference"
PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "scenarios.md": scenarios_page,
    "steps.md": steps_page,
    "triggers.md": triggers_page,
    "checks.md": checks_page,
    "line-profiles.md": line_profiles_page,
    "suites.md": suites_page,
    "findings.md": findings_page,
    "timeline.md": timeline_page,
    "exit-codes.md": exit_codes_page,
    "cli.md": cli_page,
    "adapters.md": adapters_page,
}


def main(arguments: Sequence[str]) -> int:
    """Write the pages that differ, or only name them."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    changed = []
    for name, make in PAGES.items():
        file, text = FOLDER / name, make()
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            changed.append(name)
            if "--check" not in arguments:
                file.write_text(text, encoding="utf-8")
    print("\n".join(changed) or "every page is what the code says")
    return 1 if changed and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
