"""Runs jobs, one after the other in this process, or side by side in others."""

from __future__ import annotations

import pickle
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Final

from voiceharness.errors import OptionError
from voiceharness.suite.crew import Crew, Listener, Task
from voiceharness.suite.job import make_call, save_result

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
    on_start: Callable[[Job], None] = lambda _job: None,
    on_step: Callable[[Job, str], None] = lambda _job, _label: None,
    on_call: Callable[[SuiteCall], None] = lambda _call: None,
) -> None:
    """Make all calls, at most ``processes`` of them at a time; ``on_call`` gets each, in the order of the jobs.

    Calls share nothing but the files of a speech cache: seeds, engines and adapters are each call's own. What an agent
    keeps in its modules it finds again in a later call of the same process, unless with ``fresh`` every call gets a
    process of its own (then it also loads speech engines by itself, half a second each).

    ``on_step`` gets the label of each step that is done. A call whose process dies, or says nothing for longer than
    the scenario's own limits and ``patience`` seconds, becomes a harness fault; the others go on. As with all that
    starts processes in Python, a script that calls this at its top level needs ``if __name__ == "__main__":`` around.

    Raises:
        OptionError: if a job cannot be sent to another process, or its evidence cannot be written.
        KeyboardInterrupt: after ``on_call`` was given what the interrupted calls had come to.
    """
    if processes > 1 or fresh:
        tasks = deque(Task(number, job, _pickled(job)) for number, job in enumerate(jobs))
        Crew(processes, fresh, patience, Listener(on_start, on_step, on_call), tasks).run()
        return
    for job in jobs:
        on_start(job)
        make_call(job, on_step=partial(_tell_label, on_step, job), keep=partial(_save_and_tell, on_call, job))


def _tell_label(on_step: Callable[[Job, str], None], job: Job, step: StepResult) -> None:
    on_step(job, step.label)


def _save_and_tell(on_call: Callable[[SuiteCall], None], job: Job, result: CallResult) -> None:
    on_call(save_result(job, result))


def _pickled(job: Job) -> bytes:
    try:
        return pickle.dumps(job)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise OptionError(
            f"scenario {job.scenario.name!r} cannot be sent to a process of its own ({error}); name the agent as "
            "package.module:name, and give options that are plain values"
        ) from error
