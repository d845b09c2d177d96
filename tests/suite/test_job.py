"""One call of a suite."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.report.calls import answered_call, made_up
from voiceharness.audio.signals import speech_like
from voiceharness.audio.wav import wav_bytes
from voiceharness.errors import ConnectError, RunInterruptedError
from voiceharness.report.artefacts import load_document
from voiceharness.report.document import call_document
from voiceharness.scenario.result import Trust
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Say, Wait
from voiceharness.suite.job import Job, make_call, save_result

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from voiceharness.scenario.result import CallResult

__all__: list[str] = []


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(Scenario(name="wait", steps=[Wait(0.1)], seed=4), tmp_path / "call", agent="tests.suite.agents:silent")


def kept(job: Job) -> CallResult:
    results: list[CallResult] = []
    make_call(job, keep=results.append)
    (result,) = results
    return result


def raising(error: BaseException, *, after: CallResult | None = None) -> Callable[..., None]:
    """Stand in for ``Target.call``."""

    def call(_target: object, _scenario: object, *, keep: Callable[[CallResult], None], **_options: object) -> None:
        if after is not None:
            keep(after)
        raise error

    return call


def test_a_call_is_kept_once(job: Job) -> None:
    assert kept(job).passed


def test_a_sound_file_that_a_job_brings_along_is_looked_for_nowhere(job: Job) -> None:
    spoken = replace(job, scenario=replace(job.scenario, steps=[Say(file="nowhere/hello.wav")]))
    sound = wav_bytes(speech_like(0.5, seed=1), 8000)
    result = kept(replace(spoken, sounds={"nowhere/hello.wav": sound}))
    assert result.passed
    assert result.record is not None
    assert result.record.user.any()
    assert "cannot read nowhere/hello.wav" in str(kept(spoken).error)


def test_a_call_that_never_began_says_why(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    error = ConnectError("nobody is there")
    monkeypatch.setattr("voiceharness.registry.target.Target.call", raising(error))
    result = kept(job)
    assert (result.scenario, result.adapter, result.outcome, result.seed) == ("wait", "in_process", "not_called", 4)
    assert result.error is error


def test_an_error_of_no_kind_is_logged_with_its_trace(
    job: Job, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("voiceharness.registry.target.Target.call", raising(ZeroDivisionError("oops")))
    assert kept(job).outcome == "harness_fault"
    assert "ZeroDivisionError: oops" in caplog.text


@pytest.mark.parametrize("after", [None, made_up("failed")])
def test_an_interrupted_call_is_kept_before_the_interrupt_goes_on(
    job: Job, after: CallResult | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("voiceharness.registry.target.Target.call", raising(KeyboardInterrupt(), after=after))
    results: list[CallResult] = []
    with pytest.raises(KeyboardInterrupt):
        make_call(job, keep=results.append)
    assert [result.outcome for result in results] == ["harness_fault" if after is None else "failed"]
    assert isinstance(results[0].error, RunInterruptedError) == (after is None)


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), SystemExit(143)])
def test_a_call_that_was_cut_short_says_that_its_run_was_stopped(
    job: Job, stop: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = made_up("harness_fault", error=asyncio.CancelledError())
    monkeypatch.setattr("voiceharness.registry.target.Target.call", raising(stop, after=cut))
    results: list[CallResult] = []
    with pytest.raises(type(stop)):
        make_call(job, keep=results.append)
    assert str(results[0].error) == "interrupted: the run was stopped by the user"


def test_a_call_that_ends_the_process_by_itself_is_a_fault(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voiceharness.registry.target.Target.call", raising(SystemExit(3)))
    results: list[CallResult] = []
    with pytest.raises(SystemExit):
        make_call(job, keep=results.append)
    assert isinstance(results[0].error, SystemExit)


def test_a_late_run_is_judged_on_demand(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    late = made_up("harness_fault", trust=Trust(("frames left 30 ms late",)))
    monkeypatch.setattr("voiceharness.registry.target.Target.call", lambda *_, keep, **__: keep(late))
    assert kept(job).outcome == "harness_fault"
    assert kept(replace(job, allow_untrusted=True)).outcome == "passed"


def test_what_is_saved_is_what_is_described_without_the_secrets_of_its_options(job: Job, tmp_path: Path) -> None:
    secret = replace(job, options={"auth_token": "very-secret"}, file=tmp_path / "a.yaml")
    call = save_result(secret, made_up("not_called", error=ConnectError("very-secret was refused")))
    assert call["file"] == str(tmp_path / "a.yaml")
    assert load_document(secret.folder) == call["call"]
    assert "very-secret" not in (secret.folder / "result.json").read_text("utf-8")


@pytest.mark.parametrize("name", ["recording.wav", "manifest.json", "call.html"])
def test_evidence_that_cannot_be_saved_does_not_cost_the_verdict(job: Job, name: str) -> None:
    (job.folder / name / "in the way").mkdir(parents=True)
    call = save_result(replace(job, pages="all"), answered_call())
    assert call["call"] == call_document(answered_call())
    assert call["folder"] == str(job.folder)
    assert "Is a directory" in call["unsaved"]
    assert "unsaved" not in save_result(replace(job, folder=job.folder.with_name("other")), answered_call())
