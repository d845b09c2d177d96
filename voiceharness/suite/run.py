"""Runs jobs: one after the other in this process, side by side in others, or on an engine of many machines."""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Final

from voiceharness.errors import OptionError
from voiceharness.suite.crew import Crew, Listener, Task
from voiceharness.suite.engine import engine_for
from voiceharness.suite.job import make_call, pickled, save_result

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from voiceharness.report.suite import SuiteCall
    from voiceharness.scenario.result import CallResult, StepResult
    from voiceharness.suite.job import Job

__all__ = ["PATIENCE", "run_jobs"]

PATIENCE: Final = 60.0
"""Seconds beyond all that a call may take, after which a worker that has said nothing is ended."""


def run_jobs(
    jobs: Sequence[Job],
    *,
    processes: int = 1,
    fresh: bool = False,
    patience: float = PATIENCE,
    engine: str | None = None,
    on_begin: Callable[[], None] = lambda: None,
    on_start: Callable[[Job], None] = lambda _job: None,
    on_step: Callable[[Job, str], None] = lambda _job, _label: None,
    on_call: Callable[[SuiteCall], None] = lambda _call: None,
) -> None:
    """Make all calls, at most ``processes`` of them at a time; ``on_call`` gets each, in the order of the jobs.

    A call whose evidence cannot be written is told of with its verdict, and as ``unsaved``.

    Calls share nothing but the files of a speech cache: seeds, engines and adapters are each call's own. What an agent
    keeps in its modules it finds again in a later call of the same process, unless with ``fresh`` every call gets a
    process of its own (then it also loads speech engines by itself, half a second each).

    ``on_begin`` is called once before the first call, when all that could keep the calls from being made was looked at.
    ``on_step`` gets the label of each step that is done. A call whose process dies, or says nothing for longer than
    the scenario's own limits and ``patience`` seconds, becomes a harness fault; the others go on. As with all that
    starts processes in Python, a script that calls this at its top level needs ``if __name__ == "__main__":`` around.

    ``engine``: the URL of one that makes the calls on other machines, ``dask://HOST:PORT``. It says by itself how many
    calls go on at a time, and takes a call only where the job's ``resources`` are free; see :mod:`.dask_engine`. In one
    process calls come one after the other, and side by side in processes of this machine resources are not minded.

    Raises:
        OptionError: if a job cannot be sent to another process; if an engine is not there, or has nobody who could make
            one of the calls. Then no call was made.
        ScenarioError: if an engine is to make the calls, and a sound file that a scenario names cannot be read.
        MissingExtraError: if the engine is not installed.
        KeyboardInterrupt: after ``on_call`` was given what the interrupted calls had come to.
    """
    listener = Listener(on_start, on_step, on_call, on_begin)
    if engine is not None:
        if processes > 1:
            raise OptionError(
                f"engine {engine} decides how many calls go on at a time; leave out the number of processes (--jobs)"
            )
        engine_for(engine, fresh=fresh, patience=patience).make_calls(jobs, listener)
        return
    if processes > 1 or fresh:
        tasks = deque(Task(number, job, pickled(job)) for number, job in enumerate(jobs))
        on_begin()
        Crew(processes, fresh, patience, listener, tasks).run()
        return
    on_begin()
    for job in jobs:
        on_start(job)
        make_call(job, on_step=partial(_tell_label, on_step, job), keep=partial(_save_and_tell, on_call, job))


def _tell_label(on_step: Callable[[Job, str], None], job: Job, step: StepResult) -> None:
    on_step(job, step.label)


def _save_and_tell(on_call: Callable[[SuiteCall], None], job: Job, result: CallResult) -> None:
    on_call(save_result(job, result))
