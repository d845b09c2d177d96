"""Writing to streams of any encoding: results go to standard output, progress and complaints to standard error."""

from __future__ import annotations

import json
import shutil
import sys
from io import TextIOWrapper
from typing import TextIO

from voiceharness.errors import OptionError
from voiceharness.report.printable import fitted, printable

__all__ = ["Progress", "complain", "takes_unicode", "tell", "tell_json", "terminal_width", "tolerate_any_text"]

_BEYOND_ASCII = "✓█…"


def tolerate_any_text() -> None:
    """Let standard output and error replace what their encoding lacks, instead of raising."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def takes_unicode(stream: TextIO | None = None) -> bool:
    """Tell whether a stream (default: standard output) can show block characters."""
    encoding = getattr(stream or sys.stdout, "encoding", None) or "ascii"
    try:
        _BEYOND_ASCII.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def terminal_width() -> int:
    """Return the columns of the terminal; 80 where there is none."""
    return shutil.get_terminal_size().columns


def tell(text: str) -> None:
    """Write a result for people.

    Raises:
        OptionError: if standard output leads to where nothing can be written.
    """
    _write(text if text.endswith("\n") else f"{text}\n")


def tell_json(value: object) -> None:
    """Write a result for programs: one JSON document in ASCII, which every encoding can hold.

    Raises:
        OptionError: if standard output leads to where nothing can be written.
    """
    _write(f"{json.dumps(value, allow_nan=False, indent=1)}\n")


def _write(text: str) -> None:
    try:
        print(text, end="", flush=True)
    except BrokenPipeError:
        raise  # its reader has gone, which the command line knows
    except OSError as error:
        raise OptionError(f"cannot write to standard output: {error.strerror}") from error


def complain(text: str) -> None:
    """Say what went wrong."""
    print(text, file=sys.stderr, flush=True)


class Progress:
    """What is going on, on standard error: one line that changes on a terminal, a line for each call elsewhere."""

    def __init__(self, total: int = 0) -> None:
        """``total`` is the number of calls, 0 if it is not known."""
        self._total = total
        self._number = 0
        self._call = ""
        self._live = sys.stderr.isatty()

    def call(self, name: str) -> None:
        """Tell that a call begins."""
        self._number += 1
        self._call = f"[{self._number}/{self._total}] {name}"
        if self._live:
            self._show(self._call)
        else:
            complain(printable(self._call))

    def step(self, label: str) -> None:
        """Tell that a step of the call is done; said on a terminal only."""
        if self._live:
            self._show(": ".join(part for part in (self._call, label) if part))

    def clear(self) -> None:
        """Leave the line to whoever writes next."""
        if self._live:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def _show(self, text: str) -> None:
        self.clear()
        print(fitted(text, terminal_width() - 1, more="..."), end="", file=sys.stderr, flush=True)
