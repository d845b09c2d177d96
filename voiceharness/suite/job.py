"""One call of a suite: what to call and where its evidence goes."""

from __future__ import annotations

import logging
import pickle
import signal
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypedDict

from voiceharness.errors import AudioError, OptionError, RunInterruptedError, VoiceHarnessError
from voiceharness.registry.target import Target
from voiceharness.report.artefacts import save_call
from voiceharness.report.document import call_document
from voiceharness.report.html.call_page import write_call_page
from voiceharness.report.html.suite_page import SUITE_PAGE
from voiceharness.report.redaction import secrets_in
from voiceharness.scenario.result import CallResult, outcome_of
from voiceharness.scenario.run import SpeechEngines
from voiceharness.speech.cache import SpeechCache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from voiceharness.agent import PhoneAgent
    from voiceharness.report.suite import SuiteCall
    from voiceharness.scenario.result import StepResult
    from voiceharness.scenario.scenario import Scenario

__all__ = ["STOPPED", "Job", "Pages", "make_call", "pickled", "save_evidence", "save_result"]

Pages: TypeAlias = Literal["all", "failed", "none"]
"""``failed`` stands for all calls that did not pass."""

STOPPED: Final = "interrupted: the run was stopped by the user"
"""Why a call has no verdict that was going on when its run was stopped."""

_log = logging.getLogger(__name__)


class _Unsaved(TypedDict, total=False):
    """That part of the description of a call."""

    unsaved: str


@dataclass(frozen=True, slots=True)
class Job:
    """A call to make, as plain data, so that another process can make it.

    ``folder`` is where its evidence goes; no two jobs share one. ``adapter``, ``options`` and ``agent`` are those of
    :class:`Target`; an agent goes by ``package.module:name``, or is a class or function at the top of a module.
    ``cache`` is a folder of speech that any number of processes share. ``pages`` says of which calls a page is written.
    ``allow_untrusted``: judge the call by its expectations although the harness was late. ``resources`` are the scarce
    things that the call takes while it lasts, by name and how much of each (``{"trunk": 1}``); an engine that shares
    calls out among machines minds them, see :func:`run_jobs`. ``sounds`` are the contents of sound files by the names
    that the scenario has for them, where they lie on another machine.
    """

    scenario: Scenario
    folder: Path
    adapter: str | None = None
    options: Mapping[str, object] = field(default_factory=dict)
    agent: Callable[[], PhoneAgent] | str | None = None
    virtual: bool | None = None
    file: Path | None = None
    cache: Path | None = None
    pages: Pages = "none"
    allow_untrusted: bool = False
    resources: Mapping[str, float] = field(default_factory=dict)
    sounds: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    @property
    def target(self) -> Target:
        """Whom to call, and how."""
        return Target(self.adapter, self.options, self.agent)

    def broken(self, error: BaseException) -> CallResult:
        """Make the result of a call of which nothing is known but what broke it."""
        adapter = self.target.adapter_for(self.scenario)
        return CallResult(self.scenario.name, adapter, outcome_of(error), self.scenario.seed, error=error)


def pickled(job: Job) -> bytes:
    """Return a job as it is sent to another process.

    Raises:
        OptionError: if something in it cannot be sent.
    """
    try:
        return pickle.dumps(job)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise OptionError(
            f"scenario {job.scenario.name!r} cannot be sent to a process of its own ({error}); name the agent as "
            "package.module:name, and give options that are plain values"
        ) from error


def make_call(
    job: Job,
    *,
    on_step: Callable[[StepResult], None] = lambda _step: None,
    keep: Callable[[CallResult], None],
) -> None:
    """Make a call; ``keep`` is given its result, whatever became of it.

    Raises:
        KeyboardInterrupt: if it was interrupted; also then ``keep`` was given what there is.
    """
    kept: list[CallResult] = []
    speech = SpeechEngines(cache=None if job.cache is None else SpeechCache(job.cache), sounds=job.sounds)
    try:
        job.target.call(job.scenario, virtual=job.virtual, speech=speech, on_step=on_step, keep=kept.append)
    except VoiceHarnessError as error:
        kept = kept or [job.broken(error)]
    except Exception as error:  # supervision point: one broken call must not take the others with it
        _log.exception("the call of scenario %r broke", job.scenario.name)
        kept = kept or [job.broken(error)]
    except BaseException as error:
        kept = [_stopped(result) for result in kept or [job.broken(error)]] if _is_stop(error) else kept
        kept = kept or [job.broken(error)]
        raise
    finally:
        keep(_trusted(kept[0]) if job.allow_untrusted else kept[0])


def save_result(job: Job, result: CallResult) -> SuiteCall:
    """Save the evidence of a job's call, and describe it. Evidence that cannot be saved does not cost the verdict."""
    secrets = secrets_in(job.target.options_for(job.scenario))
    file = None if job.file is None else str(job.file)
    call: SuiteCall = {"file": file, "folder": str(job.folder), "call": call_document(result, secrets=secrets)}
    page = job.pages == "all" or (job.pages == "failed" and not result.passed)
    return {**call, **save_evidence(result, job.folder, secrets=secrets, page=page)}


def save_evidence(result: CallResult, folder: Path, *, secrets: Iterable[str] = (), page: bool = False) -> _Unsaved:
    """Save the evidence of a call, with a ``page`` if there shall be one, and return what could not be saved, and why.

    ``secrets`` are kept out of it.
    """
    try:
        save_call(result, folder, secrets=secrets)
        if page:
            write_call_page(folder, suite_page=f"../{SUITE_PAGE}")
    except (OptionError, AudioError) as error:
        return {"unsaved": str(error)}
    return {}


def _is_stop(error: BaseException) -> bool:
    """Tell whether the user stopped the run: by Ctrl-C, or by SIGTERM as the loop of a call hands it on."""
    return isinstance(error, KeyboardInterrupt) or (
        isinstance(error, SystemExit) and error.code == 128 + signal.SIGTERM
    )


def _stopped(result: CallResult) -> CallResult:
    """Say of a call that the stop of its run cut short that this is why; one that had ended stays as it is."""
    if result.error is None or isinstance(result.error, Exception):
        return result
    return replace(result, error=RunInterruptedError(STOPPED))


def _trusted(result: CallResult) -> CallResult:
    """Judge a call by its expectations although the harness was late."""
    if result.error is not None or result.trust.trustworthy or result.outcome != "harness_fault":
        return result
    return replace(result, outcome="failed" if result.failures else "passed")
