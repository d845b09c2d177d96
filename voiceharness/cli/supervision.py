"""The outermost frame of a command: every way it can end becomes a message and an exit code."""

from __future__ import annotations

import traceback
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from voiceharness.cli.app import app
from voiceharness.cli.codes import HARNESS_FAULT, INTERRUPTED, OUTPUT_CLOSED
from voiceharness.cli.output import complain, tell_json, tolerate_any_text
from voiceharness.errors import OptionError, VoiceHarnessError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["run_command"]


def run_command(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code; with ``--json`` an error is a document on standard output too."""
    tolerate_any_text()
    as_json = "--json" in arguments
    try:
        code = app.main(list(arguments), prog_name="voiceharness", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        error.show()
        return _ended(as_json, error.exit_code, "UsageError", error.format_message())
    except VoiceHarnessError as error:
        complain(f"{type(error).__name__}: {error}")
        return _ended(as_json, error.exit_code, type(error).__name__, str(error))
    except click.Abort:
        complain("interrupted")
        return _ended(as_json, INTERRUPTED, "Interrupted", "interrupted")
    except SystemExit:  # click's answer when standard output is closed; its code would say that an agent failed
        return OUTPUT_CLOSED
    except Exception as error:  # supervision point: a fault of the harness must not look like one of the agent
        complain(f"{traceback.format_exc()}this is a fault of voiceharness: please report it")
        return _ended(as_json, HARNESS_FAULT, type(error).__name__, str(error))


def _ended(as_json: bool, code: int, kind: str, message: str) -> int:
    if as_json:
        error = {"type": kind, "message": message}
        with suppress(OptionError):  # of an output that takes nothing, standard error has told
            tell_json({"format": "voiceharness-error/1", "exit_code": code, "error": error})
    return code
