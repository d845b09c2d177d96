"""Suites of calls, one after the other and side by side."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.signals import speech_like
from voiceharness.errors import OptionError
from voiceharness.report.artefacts import load_call, load_document
from voiceharness.report.interruption import was_interrupted
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Hear, Say, Wait
from voiceharness.suite import Job, run_jobs
from voiceharness.suite.crew import Crew, Listener, Task
from voiceharness.suite.job import pickled

if TYPE_CHECKING:
    from pathlib import Path

    from voiceharness.report.suite import SuiteCall
    from voiceharness.suite.job import Pages

__all__: list[str] = []

AGENTS = "tests.suite.agents"
QUESTION = AudioChunk.from_samples(speech_like(0.5, seed=1))


def scenario(name: str, *, seconds: float = 0.5) -> Scenario:
    return Scenario(name=name, steps=[Wait(seconds)], max_duration=30.0, seed=3)


def job(folder: Path, agent: str, *, name: str | None = None, seconds: float = 0.5) -> Job:
    name = name or agent
    return Job(
        scenario(name, seconds=seconds), folder / name.replace(" ", "-"), agent=f"{AGENTS}:{agent}", virtual=True
    )


def made(jobs: list[Job], *, processes: int = 2, fresh: bool = False, patience: float = 60.0) -> list[SuiteCall]:
    calls: list[SuiteCall] = []
    run_jobs(jobs, processes=processes, fresh=fresh, patience=patience, on_call=calls.append)
    return calls


def outcomes(calls: list[SuiteCall]) -> list[str]:
    return [f"{each['call']['scenario']}: {each['call']['outcome']}" for each in calls]


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_calls_come_in_the_order_of_their_jobs(processes: int, tmp_path: Path) -> None:
    jobs = [job(tmp_path, "silent", name=f"call {n}", seconds=20.0 / (n + 1)) for n in range(6)]
    calls = made(jobs, processes=processes)
    assert outcomes(calls) == [f"call {n}: passed" for n in range(6)]
    assert [each["folder"] for each in calls] == [str(each.folder) for each in jobs]


def test_a_call_is_the_same_wherever_it_is_made(tmp_path: Path) -> None:
    asked = Scenario(name="ask", steps=[Say(audio=QUESTION), Hear()], seed=5)
    here, there = (Job(asked, tmp_path / name, agent=f"{AGENTS}:answering") for name in ("here", "there"))
    (alone,), (beside, _) = made([here], processes=1), made([there, job(tmp_path, "silent")])
    assert alone["call"] == beside["call"]
    assert load_document(here.folder) == load_document(there.folder) == alone["call"]
    assert (load_call(here.folder).agent == load_call(there.folder).agent).all()


@pytest.mark.parametrize("processes", [1, 2])
def test_a_call_in_a_fresh_process_finds_no_trace_of_another(processes: int, tmp_path: Path) -> None:
    calls = made([job(tmp_path, "counting", name=f"call {n}") for n in range(4)], processes=processes, fresh=True)
    assert [each["call"]["ended"]["code"] for each in calls] == [1, 1, 1, 1]


def test_a_process_makes_one_call_after_another(tmp_path: Path) -> None:
    calls = made([job(tmp_path, "counting", name=f"call {n}") for n in range(6)])
    codes = [each["call"]["ended"]["code"] or 0 for each in calls]
    assert sorted(codes)[-1] >= 3  # six calls in two processes


def test_a_process_that_dies_takes_no_other_call_along(tmp_path: Path) -> None:
    jobs = [job(tmp_path, agent) for agent in ("silent", "quitting", "answering", "killed")]
    calls = made(jobs)
    assert outcomes(calls) == [
        "silent: passed",
        "quitting: harness_fault",
        "answering: passed",
        "killed: harness_fault",
    ]
    quit_, killed = calls[1]["call"]["error"], calls[3]["call"]["error"]
    assert quit_ is not None
    assert killed is not None
    assert quit_["type"] == killed["type"] == "WorkerError"
    assert "ended with code 7" in quit_["message"]
    assert "ended by signal 9" in killed["message"]
    assert load_document(jobs[1].folder) == calls[1]["call"]


def test_a_process_that_hangs_is_ended(tmp_path: Path) -> None:
    hanging = job(tmp_path, "hanging")
    hanging = replace(hanging, scenario=replace(hanging.scenario, connect_timeout=0.01, max_duration=0.01))
    calls = made([hanging, job(tmp_path, "silent")], patience=0.5)
    assert outcomes(calls) == ["hanging: harness_fault", "silent: passed"]
    assert "said nothing for 0.5 s" in calls[0]["call"]["explanation"]


def test_what_an_agent_leaves_running_does_not_keep_the_suite(tmp_path: Path) -> None:
    assert outcomes(made([job(tmp_path, "leaving_a_thread")])) == ["leaving_a_thread: passed"]


def test_an_agent_that_does_not_exist_breaks_its_own_call_only(tmp_path: Path) -> None:
    assert outcomes(made([job(tmp_path, "nobody"), job(tmp_path, "silent")])) == [
        "nobody: bad_scenario",
        "silent: passed",
    ]


def test_what_cannot_be_sent_to_another_process_is_refused_before_the_first_call(tmp_path: Path) -> None:
    local = replace(job(tmp_path, "silent", name="local"), agent=lambda: None)  # type: ignore[arg-type,return-value] # on purpose
    calls: list[SuiteCall] = []
    with pytest.raises(OptionError, match="'local' cannot be sent to a process of its own"):
        run_jobs([job(tmp_path, "silent"), local], processes=2, on_call=calls.append)
    assert calls == []


def test_steps_are_told_as_they_are_done(tmp_path: Path) -> None:
    told: list[tuple[str, str]] = []
    started: list[str] = []
    jobs = [job(tmp_path, "silent", name=name) for name in ("one", "two")]
    for processes in (1, 2):
        run_jobs(
            jobs,
            processes=processes,
            on_start=lambda job: started.append(job.scenario.name),
            on_step=lambda job, label: told.append((job.scenario.name, label)),
        )
    assert started == ["one", "two", "one", "two"]
    assert sorted(told[2:]) == sorted(told[:2]) == [("one", "wait seconds 0.5"), ("two", "wait seconds 0.5")]


@pytest.mark.parametrize(
    ("pages", "written"), [("all", [True, True]), ("failed", [False, True]), ("none", [False] * 2)]
)
def test_pages_are_written_of_the_calls_that_are_asked_for(pages: Pages, written: list[bool], tmp_path: Path) -> None:
    jobs = [replace(job(tmp_path, agent), pages=pages) for agent in ("silent", "nobody")]
    made(jobs, processes=1)
    assert [(each.folder / "call.html").exists() for each in jobs] == written
    if written[0]:
        assert 'href="../index.html"' in (jobs[0].folder / "call.html").read_text("utf-8")


INTERRUPTED = """
import sys
from pathlib import Path
from dataclasses import replace
from tests.suite.test_run import job
from voiceharness.scenario.steps import Wait
from voiceharness.suite import run_jobs

def started(*_):
    print("started", flush=True)

def told(call):
    print(call["call"]["scenario"], call["call"]["error"]["type"], call["call"]["metrics"]["duration"] > 0, flush=True)

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    jobs = [replace(job(folder, "silent", name=name, seconds=25), virtual=False) for name in ("one", "two", "never")]
    steps = [Wait(0.1), *jobs[0].scenario.steps]
    jobs = [replace(each, scenario=replace(each.scenario, steps=steps)) for each in jobs]
    try:
        run_jobs(jobs, processes=2, on_step=started, on_call=told)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


@pytest.mark.realtime
def test_an_interrupt_stops_all_calls_and_keeps_what_they_had_come_to(tmp_path: Path) -> None:
    script = tmp_path / "suite.py"
    script.write_text(INTERRUPTED, "utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, str(script), str(tmp_path)], stdout=subprocess.PIPE, text=True, env=environment
    ) as running:
        assert running.stdout is not None
        assert [running.stdout.readline() for _ in range(2)] == ["started\n"] * 2
        running.send_signal(signal.SIGINT)
        told = running.stdout.read().splitlines()
    assert told == ["one RunInterruptedError True", "two RunInterruptedError True", "interrupted"]
    assert load_call(tmp_path / "one").duration > 0
    assert not (tmp_path / "never").exists()


@pytest.mark.realtime
def test_a_call_whose_process_had_only_begun_to_start_was_interrupted_too(tmp_path: Path) -> None:
    calls: list[SuiteCall] = []
    listener = Listener(lambda _job: None, lambda _job, _label: None, calls.append)
    waits = replace(job(tmp_path, "silent", seconds=25), virtual=False)
    stop, ours = multiprocessing.Pipe(duplex=False)
    ours.close()
    with pytest.raises(KeyboardInterrupt):
        Crew(1, False, 60.0, listener, deque([Task(0, waits, pickled(waits))]), stop=stop).run()
    stop.close()
    assert [was_interrupted(each["call"]) for each in calls] == [True]


@pytest.mark.parametrize("processes", [1, 2])
def test_that_a_run_begins_is_told_once_and_only_if_its_calls_can_be_made(processes: int, tmp_path: Path) -> None:
    told: list[str] = []

    def run(*jobs: Job, engine: str | None = None) -> None:
        run_jobs(
            jobs,
            processes=processes,
            engine=engine,
            on_begin=lambda: told.append("begin"),
            on_start=lambda each: told.append(each.scenario.name),
        )

    run(job(tmp_path, "silent", name="one"), job(tmp_path, "silent", name="two"))
    assert told == ["begin", "one", "two"]
    with pytest.raises(OptionError):
        run(job(tmp_path, "silent", name="three"), engine="ray://nowhere")
    assert told == ["begin", "one", "two"]
