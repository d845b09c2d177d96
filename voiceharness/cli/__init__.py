"""The command line. Only what is in this package prints.

Exit codes: 0 passed; 1 an expectation failed; 2 usage or scenario error; 3 call not set up, or its transport failed;
4 not supported here; 5 harness fault, or a run that is not trustworthy; 6 the agent violated the protocol; 130
interrupted. A suite ends with the first present of 5, 2, 3, 6, 1; unsupported scenarios count as skipped, and make it 4
only if nothing else ran.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command line (default: that of the process) and exit with its code."""
    from voiceharness.cli.supervision import run_command

    sys.exit(run_command(sys.argv[1:] if arguments is None else list(arguments)))
