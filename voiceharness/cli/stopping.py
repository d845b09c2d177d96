"""SIGTERM stops a run as Ctrl-C does: what has ended is told, and evidence of the rest is kept."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

__all__ = ["stoppable"]


@contextmanager
def stoppable() -> Iterator[None]:
    """Turn SIGTERM into a KeyboardInterrupt while the block lasts; outside the main thread signals are not ours.

    Raises:
        KeyboardInterrupt: also where a call that SIGTERM ended says so by a SystemExit.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    except SystemExit as error:
        if error.code == 128 + signal.SIGTERM:
            raise KeyboardInterrupt from error
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
