"""The process in which calls are made.

It is on a leash: the pipe by which it gets its jobs and on which it reports. When that pipe says stop, or closes
because the parent is gone, the call that is going on is interrupted, what there is of it is saved and reported, and the
process ends. The terminal's own interrupt is not for it: it has a process group of its own, so a call is never
interrupted twice.
"""

from __future__ import annotations

import _thread
import os
import pickle
import signal
import threading
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Final

from voiceharness.suite.job import Job, make_call, save_result

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from voiceharness.scenario.result import CallResult

__all__ = ["LAST_WORDS", "STOP", "work"]

STOP: Final = b""

LAST_WORDS: Final = 10.0
"""Seconds that an interrupted call has to save its evidence."""


def work(leash: Connection, last_words: float = LAST_WORDS) -> None:
    """Make the calls of pickled jobs; of each, send the labels of its steps as they are done, then its description.

    The process ends at most ``last_words`` seconds after the leash has said so, whatever the agent under test does.
    """
    if hasattr(os, "setpgrp"):
        os.setpgrp()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a run in the background of a script has it ignored
    jobs: SimpleQueue[bytes] = SimpleQueue()
    calling, stopping = threading.Event(), threading.Event()
    threading.Thread(
        target=_listen, args=(leash, jobs, calling, stopping, last_words), name="leash", daemon=True
    ).start()
    with suppress(KeyboardInterrupt, BrokenPipeError):  # the parent wants no more, or is gone
        while (pickled := jobs.get()) != STOP:
            calling.set()
            if stopping.is_set():  # asked after calling was set: one of the two threads sees what the other has said
                break
            _make(pickle.loads(pickled), leash)
            calling.clear()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # there is nothing left to interrupt


def _make(job: Job, leash: Connection) -> None:
    def report(result: CallResult) -> None:
        # Too late for an interrupt: the call is over, and its evidence shall be whole.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        leash.send(save_result(job, result))
        signal.signal(signal.SIGINT, before)

    make_call(job, on_step=lambda step: leash.send(step.label), keep=report)


def _listen(
    leash: Connection,
    jobs: SimpleQueue[bytes],
    calling: threading.Event,
    stopping: threading.Event,
    last_words: float,
) -> None:
    said = STOP
    with suppress(EOFError, OSError):
        while (said := leash.recv_bytes()) != STOP:
            jobs.put(said)
    stopping.set()
    jobs.put(STOP)
    if calling.is_set():
        _interrupt_main_thread()
    threading.Event().wait(last_words)  # this thread ends with the process, if that ends by itself
    os._exit(1)


def _interrupt_main_thread() -> None:
    if hasattr(signal, "pthread_kill"):
        main = threading.main_thread().ident
        assert main is not None  # it runs
        signal.pthread_kill(main, signal.SIGINT)  # a real signal, which also ends a wait
    else:
        _thread.interrupt_main()
