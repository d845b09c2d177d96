"""What all ports share: the thread of the library's media clock, and where it is in a tick.

Python makes a state, with a stack of its own, for a thread that it does not know, and frees both when the callback is
over: with 80 calls, a quarter of what the clock's threads did. Who has asked for the interpreter once more than given
it back keeps its state (PyGILState_Ensure, in Python's C API). The clock's thread lives as long as its process.

In each tick the bridge asks all ports for what they send, then gives each what it heard (pjmedia/conference.c). So it
is known which of them is the last.
"""

from __future__ import annotations

import ctypes
from threading import get_ident

__all__ = ["ClockThread"]


class ClockThread:
    """Told by the ports, in their callbacks, of each tick."""

    def __init__(self) -> None:
        self._known: set[int] = set()
        self._asked = self._given = 0

    def keep_state(self) -> None:
        """Keep the Python state of the calling thread from now on."""
        thread = get_ident()
        if thread not in self._known:
            self._known.add(thread)
            ctypes.pythonapi.PyGILState_Ensure()

    def ask(self) -> None:
        """Count a port that is asked for what it sends."""
        if self._given:
            self._asked = self._given = 0
        self._asked += 1

    def give(self) -> bool:
        """Count a port that is given what it heard; say whether others are still to come."""
        self._given += 1
        return self._given < self._asked
