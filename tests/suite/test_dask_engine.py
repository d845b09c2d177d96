"""Suites on a real dask cluster of processes on this machine."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.report.disks import fill_up
from tests.suite.cluster import READY, cluster
from tests.suite.remote_agents import first_of_all
from tests.suite.test_run import INTERRUPTED, QUESTION, job, outcomes
from voiceharness.audio.wav import wav_bytes
from voiceharness.errors import OptionError, ScenarioError
from voiceharness.report.artefacts import RECORDING, RESULT, TIMELINE, altered_files, load_call, load_document
from voiceharness.report.console import call_text
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Hear, Interrupt, Say
from voiceharness.scenario.triggers import AfterSeconds
from voiceharness.suite import Job, dask_worker, run_jobs
from voiceharness.suite.crew import Listener
from voiceharness.suite.dask_engine import DaskEngine
from voiceharness.suite.dask_watch import Watch
from voiceharness.suite.parcel import packed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from distributed import Scheduler, Worker

    from tests.suite.cluster import Cluster
    from voiceharness.report.suite import SuiteCall

__all__: list[str] = []

REMOTE = "tests.suite.remote_agents"
SIDES = ("client", "scheduler", "worker")


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster of two workers, one of which has a trunk and a lot of cable."""
    with cluster(tmp_path_factory.mktemp("cluster")) as running:
        running.hire("--resources", "trunk=1 cable=4", threads=2)
        running.hire()
        yield running


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster for a test alone; it has no workers yet."""
    room = tmp_path / "cluster"
    room.mkdir()
    with cluster(room, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="1") as running:
        yield running


def remote(folder: Path, agent: str, name: str | None = None, *, seconds: float = 0.5, **resources: float) -> Job:
    made = replace(job(folder, "silent", name=name or agent, seconds=seconds), resources=resources)
    return replace(made, agent=f"{REMOTE}:{agent}")


def made(jobs: list[Job], where: Cluster, *, fresh: bool = False, patience: float = 60.0) -> list[SuiteCall]:
    calls: list[SuiteCall] = []
    run_jobs(jobs, engine=where.url, fresh=fresh, patience=patience, on_call=calls.append)
    return calls


def listener(calls: list[SuiteCall]) -> Listener:
    return Listener(lambda _job: None, lambda _job, _label: None, calls.append)


def test_calls_come_in_the_order_of_their_jobs_with_their_evidence(standing: Cluster, tmp_path: Path) -> None:
    jobs = [job(tmp_path, "silent", name=f"call {n}", seconds=20.0 / (n + 1)) for n in range(6)]
    calls = made(jobs, standing)
    assert outcomes(calls) == [f"call {n}: passed" for n in range(6)]
    assert [each["folder"] for each in calls] == [str(each.folder) for each in jobs]
    assert [altered_files(each.folder) for each in jobs] == [()] * 6
    assert [load_document(each.folder) for each in jobs] == [each["call"] for each in calls]
    assert standing.left_on_workers() == []


def test_a_call_is_the_same_wherever_it_is_made(standing: Cluster, tmp_path: Path) -> None:
    asked = Scenario(name="ask", steps=[Say(audio=QUESTION), Hear()], seed=5)
    here, there = (Job(asked, tmp_path / name, agent="tests.suite.agents:answering") for name in ("here", "there"))
    alone: list[SuiteCall] = []
    run_jobs([here], on_call=alone.append)
    assert made([there], standing) == [{**alone[0], "folder": str(there.folder)}]
    for name in (RECORDING, TIMELINE, RESULT):
        assert (here.folder / name).read_bytes() == (there.folder / name).read_bytes()


def saying(folder: Path, *files: str) -> Job:
    says = [Say(file=name) for name in files[:1]]
    interrupts = [Interrupt(file=name, after=AfterSeconds(0.2)) for name in files[1:]]
    spoken = Scenario(name="say files", steps=[*says, *interrupts], seed=5)
    return Job(spoken, folder, agent="tests.suite.agents:answering")


def test_sound_files_come_with_their_calls_each_content_once(
    standing: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where the workers are not: to them these names are of nothing
    spoken, more = wav_bytes(QUESTION.samples, QUESTION.rate), b"LIST" + (12_000_000).to_bytes(4, "little")
    for name, content in (
        ("hello.wav", spoken),
        ("again.wav", spoken),
        ("large.wav", spoken + more + bytes(12_000_000)),
    ):
        Path(name).write_bytes(content)
    here, there = (saying(tmp_path / name, "hello.wav", "again.wav", "large.wav") for name in ("here", "there"))
    alone: list[SuiteCall] = []
    calls: list[SuiteCall] = []
    held: list[str] = []
    run_jobs([here], on_call=alone.append)
    run_jobs(
        [there, replace(there, folder=tmp_path / "too")],
        engine=standing.url,
        on_start=lambda _job: held.extend(standing.client.run_on_scheduler(_held)),
        on_call=calls.append,
    )
    assert outcomes(calls) == ["say files: passed"] * 2
    assert [{**call, "folder": alone[0]["folder"]} for call in calls] == alone * 2
    assert (here.folder / RESULT).read_bytes() == (there.folder / RESULT).read_bytes()
    assert "hello.wav" in (there.folder / RESULT).read_text("utf-8")
    assert len(set(held)) == 2


def _held(dask_scheduler: Scheduler) -> list[str]:
    return [str(key) for key in dask_scheduler.tasks if "-sound-" in str(key)]


def test_a_sound_file_that_is_none_is_named_as_the_user_wrote_it(
    standing: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("hello.wav").write_bytes(b"hello")
    there = made([saying(tmp_path / "there", "hello.wav")], standing)
    calls: list[SuiteCall] = []
    run_jobs([saying(tmp_path / "here", "hello.wav")], on_call=calls.append)
    assert outcomes(there) == outcomes(calls)
    assert there[0]["call"]["explanation"] == calls[0]["call"]["explanation"]
    assert "hello.wav: not a WAV file" in there[0]["call"]["explanation"]


def test_a_sound_file_that_is_missing_is_refused_before_anything_else(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"scenario 'say files': there is no file 'hello\.wav'"):
        run_jobs([saying(tmp_path, "hello.wav")], engine="dask://127.0.0.1:9")


def test_evidence_takes_the_place_of_an_earlier_call(standing: Cluster, tmp_path: Path) -> None:
    before = replace(job(tmp_path, "nobody", name="call"), pages="all")
    made([before], standing)
    assert (before.folder / "call.html").exists()
    made([job(tmp_path, "silent", name="call")], standing)
    assert load_document(before.folder)["outcome"] == "passed"
    assert not (before.folder / "call.html").exists()


def test_beginnings_and_steps_are_told(standing: Cluster, tmp_path: Path) -> None:
    started, told = list[str](), list[tuple[str, str]]()
    run_jobs(
        [job(tmp_path, "silent", name=name) for name in ("one", "two")],
        engine=standing.url,
        on_start=lambda job: started.append(job.scenario.name),
        on_step=lambda job, label: told.append((job.scenario.name, label)),
    )
    assert sorted(started) == ["one", "two"]
    assert sorted(told) == [("one", "wait seconds 0.5"), ("two", "wait seconds 0.5")]


def test_no_two_calls_at_once_take_what_there_is_one_of(standing: Cluster, tmp_path: Path) -> None:
    # Long enough that calls of two threads could not but meet.
    jobs = [remote(tmp_path, "alone", f"call {n}", seconds=300, trunk=1, cable=2) for n in range(4)]
    jobs = [replace(each, scenario=replace(each.scenario, max_duration=400.0)) for each in jobs]
    assert outcomes(made(jobs, standing)) == [f"call {n}: passed" for n in range(4)]
    assert (standing.room / "record").read_text("utf-8").split() == ["begun", "ended"] * 4


def test_two_calls_at_once_share_what_there_is_enough_of(own: Cluster, tmp_path: Path) -> None:
    os.mkfifo(own.room / "meeting")
    own.hire("--resources", "cable=4", threads=2)
    calls = made([remote(tmp_path, "meeting", name, cable=2) for name in ("one", "two")], own)
    assert outcomes(calls) == ["one: passed", "two: passed"]


def test_a_process_makes_one_call_after_another_and_a_fresh_one_a_single_call(
    standing: Cluster, tmp_path: Path
) -> None:
    jobs = [job(tmp_path, "counting", name=f"call {n}") for n in range(8)]
    codes = [each["call"]["ended"]["code"] or 0 for each in made(jobs, standing)]
    assert max(codes) >= 3  # eight calls in three processes
    assert [each["call"]["ended"]["code"] for each in made(jobs, standing, fresh=True)] == [1] * 8


def test_a_process_that_dies_takes_neither_its_worker_nor_another_call_along(standing: Cluster, tmp_path: Path) -> None:
    jobs = [replace(job(tmp_path, agent), pages="failed") for agent in ("silent", "quitting", "answering", "killed")]
    calls = made(jobs, standing)
    assert [each["call"]["outcome"] for each in calls] == ["passed", "harness_fault"] * 2
    assert "ended with code 7" in calls[1]["call"]["explanation"]
    assert "ended by signal 9" in calls[3]["call"]["explanation"]
    workers = standing.workers
    assert len(workers) == 2
    assert calls[1]["call"]["facts"]["worker"] in workers
    assert altered_files(jobs[1].folder) == ()
    assert f"made on worker {calls[1]['call']['facts']['worker']}" in (jobs[1].folder / "call.html").read_text("utf-8")


def test_a_process_that_hangs_is_ended(standing: Cluster, tmp_path: Path) -> None:
    hanging = job(tmp_path, "hanging")
    hanging = replace(hanging, scenario=replace(hanging.scenario, connect_timeout=0.01, max_duration=0.01))
    calls = made([hanging, job(tmp_path, "silent")], standing, patience=0.5)
    assert outcomes(calls) == ["hanging: harness_fault", "silent: passed"]
    assert "said nothing for 0.5 s" in calls[0]["call"]["explanation"]


def test_a_worker_that_cannot_keep_evidence_breaks_the_calls_that_it_makes(own: Cluster, tmp_path: Path) -> None:
    own.hire()
    own.client.run(_lose_scratch_space)
    (call,) = made([job(tmp_path, "silent")], own)
    assert call["call"]["outcome"] == "harness_fault"
    assert "WorkerError: worker tcp://127.0.0.1:" in call["call"]["explanation"]
    assert "cannot keep the evidence of a call: [Errno 2] No such file or directory" in call["call"]["explanation"]


def _lose_scratch_space(dask_worker: Worker) -> None:
    dask_worker.local_directory = str(Path(dask_worker.local_directory) / "gone")


@pytest.mark.parametrize("nanny", [False, True])
def test_a_call_is_made_again_when_its_worker_is_lost_and_says_so(own: Cluster, tmp_path: Path, nanny: bool) -> None:
    own.hire("--resources", "trunk=1", nanny=nanny)
    if not nanny:  # which starts its worker again
        own.hire("--resources", "trunk=1")
    jobs = [replace(remote(tmp_path, "losing_once", trunk=1), pages="all"), job(tmp_path, "silent")]
    lost, other = made(jobs, own)
    assert outcomes([lost, other]) == ["losing_once: passed", "silent: passed"]
    assert lost["call"]["facts"]["lost_workers"] == 1
    assert "lost_workers" not in other["call"]["facts"]
    assert load_document(jobs[0].folder) == lost["call"]
    assert altered_files(jobs[0].folder) == ()
    assert "made again: the worker that had it was lost\n" in call_text(lost["call"])
    assert "made again: the worker that had it was lost<" in (jobs[0].folder / "call.html").read_text("utf-8")


def test_a_call_is_made_again_when_its_worker_freezes_and_only_once(
    own: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("hello.wav").write_bytes(wav_bytes(QUESTION.samples, QUESTION.rate))
    workers = [own.hire("--resources", "trunk=1") for _ in range(2)]
    jobs = [
        remote(tmp_path, agent, name, trunk=1)
        for agent, name in (("freezing_once", "one"), *(("alone", f"call {n}") for n in range(3)))
    ]
    jobs = [replace(each, scenario=replace(each.scenario, steps=[Say(file="hello.wav")])) for each in jobs]
    calls: list[SuiteCall] = []
    DaskEngine(own.address, fresh=False, patience=60.0, watch=Watch(0.5, 5)).make_calls(jobs, listener(calls))
    assert outcomes(calls) == ["one: passed", *(f"call {n}: passed" for n in range(3))]
    assert calls[0]["call"]["facts"]["lost_workers"] == 1
    (frozen,) = (each for each in workers if str(each.pid) == (own.room / "frozen").read_text("ascii"))
    frozen.send_signal(signal.SIGCONT)
    assert frozen.wait(READY) == 0  # it finds itself put out, and what it was doing counts for nothing
    assert len(calls) == len(jobs)
    assert [altered_files(each.folder) for each in jobs] == [()] * 4


def test_a_worker_that_says_nothing_of_a_call_for_too_long_is_given_up(own: Cluster, tmp_path: Path) -> None:
    for _ in range(2):
        own.hire()
    own.client.run(_never_return_the_first_call)
    slow = job(tmp_path, "silent")
    slow = replace(slow, scenario=replace(slow.scenario, connect_timeout=1.0, max_duration=1.0))
    calls: list[SuiteCall] = []
    engine = DaskEngine(own.address, fresh=False, patience=2.0, arrival=0.5, grace=0.0)
    engine.make_calls([slow], listener(calls))
    assert outcomes(calls) == ["silent: passed"]
    assert calls[0]["call"]["facts"]["lost_workers"] == 1
    assert len(own.workers) == 1


def _never_return_the_first_call() -> None:
    """Let the worker that is the first to pack evidence stand still with it, while its heart goes on beating."""

    def packed_once(folder: Path) -> bytes:
        if first_of_all("stuck"):
            threading.Event().wait()
        return packed(folder)

    vars(dask_worker)["packed"] = packed_once


def test_a_call_that_loses_every_worker_is_given_up_and_those_that_wait_are_not(own: Cluster, tmp_path: Path) -> None:
    own.hire("--resources", "trunk=1", nanny=True)
    jobs = [remote(tmp_path, "losing", trunk=1), *(remote(tmp_path, "alone", f"call {n}", trunk=1) for n in range(3))]
    calls = made(jobs, own)
    assert outcomes(calls) == ["losing: harness_fault", *(f"call {n}: passed" for n in range(3))]
    assert "the worker that made this call was lost, 2 times; the last was tcp://" in calls[0]["call"]["explanation"]


def test_what_no_worker_is_left_for_is_given_up(own: Cluster, tmp_path: Path) -> None:
    own.hire("--resources", "trunk=1")
    own.hire()
    calls: list[SuiteCall] = []
    jobs = [remote(tmp_path, "losing", trunk=1), job(tmp_path, "silent"), remote(tmp_path, "alone", trunk=1)]
    DaskEngine(own.address, fresh=False, patience=60.0, arrival=0.5).make_calls(jobs, listener(calls))
    assert outcomes(calls) == ["losing: harness_fault", "silent: passed", "alone: harness_fault"]
    assert "needs trunk=1, which no worker of the dask cluster offers" in calls[2]["call"]["explanation"]


def test_calls_of_a_scheduler_that_is_lost_are_given_up(own: Cluster, tmp_path: Path) -> None:
    own.hire()
    calls: list[SuiteCall] = []
    jobs = [remote(tmp_path, "staying", name) for name in ("begun", "waiting")]
    os.mkfifo(own.room / "pipe")
    run_jobs(jobs, engine=own.url, on_start=lambda _job: own.scheduler.kill(), on_call=calls.append)
    assert outcomes(calls) == ["begun: harness_fault", "waiting: harness_fault"]
    assert "the dask cluster let go of this call" in calls[0]["call"]["explanation"]


def test_the_processes_of_a_run_leave_when_it_is_over(standing: Cluster, tmp_path: Path) -> None:
    pipe = standing.room / "pipe"
    os.mkfifo(pipe)
    ours = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert outcomes(made([remote(tmp_path, "staying")], standing)) == ["staying: passed"]
    os.set_blocking(ours, True)
    assert os.read(ours, 1) == b""  # nobody holds the other end any more
    os.close(ours)


def script(folder: Path, where: Cluster, code: str) -> subprocess.Popen[str]:
    """Run code in a process of its own, which a test can interrupt or kill."""
    (folder / "suite.py").write_text(code, "utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(folder / "suite.py"), str(folder), where.url]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


@pytest.mark.realtime
def test_an_interrupt_stops_all_calls_and_keeps_what_they_had_come_to(own: Cluster, tmp_path: Path) -> None:
    own.hire(threads=2)
    with script(tmp_path, own, INTERRUPTED.replace("processes=2", "engine=sys.argv[2]")) as running:
        assert running.stdout is not None
        assert [running.stdout.readline() for _ in range(2)] == ["started\n"] * 2
        running.send_signal(signal.SIGINT)
        told = running.stdout.read().splitlines()
    assert told == ["one RunInterruptedError True", "two RunInterruptedError True", "interrupted"]
    assert load_call(tmp_path / "one").duration > 0
    assert not (tmp_path / "never").exists()
    assert own.left_on_workers() == []


LEFT_ALONE = """
import sys
from dataclasses import replace
from pathlib import Path
from pathlib import Path
from tests.suite.test_dask_engine import remote
from voiceharness.suite import run_jobs

if __name__ == "__main__":
    run_jobs([replace(remote(Path(sys.argv[1]), "staying", seconds=25), virtual=False)], engine=sys.argv[2])
"""


@pytest.mark.realtime
def test_a_call_that_nobody_wants_any_more_is_interrupted(own: Cluster, tmp_path: Path) -> None:
    own.hire()
    pipe = own.room / "pipe"
    os.mkfifo(pipe)
    with script(tmp_path, own, LEFT_ALONE) as running:
        ours = os.open(pipe, os.O_RDONLY)  # when the call has begun
        running.kill()
        assert os.read(ours, 1) == b""  # when its process has ended
        os.close(ours)
    assert len(own.workers) == 1


def test_calls_go_over_tls_to_a_cluster_that_wants_certificates(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason='not installed: pip install "voiceharness[dask]"')
    import dask

    certificate, key = self_signed(tmp_path)
    told = {f"{side}.{name}": str(file) for side in SIDES for name, file in (("cert", certificate), ("key", key))}
    told = {f"distributed.comm.tls.{name}": value for name, value in {**told, "ca-file": str(certificate)}.items()}
    with dask.config.set(told), cluster(tmp_path, protocol="tls", **inherited()) as secure:
        secure.hire()
        assert outcomes(made([job(tmp_path, "silent")], secure)) == ["silent: passed"]
        with pytest.raises(OptionError, match="no dask scheduler answers at tcp://"):
            DaskEngine(secure.address.replace("tls", "tcp"), fresh=False, patience=1.0, connect=0.5).make_calls(
                [job(tmp_path, "silent")], listener([])
            )


def inherited() -> dict[str, str]:
    """The settings of dask in this process, as its programs inherit them."""
    from dask.config import global_config, serialize

    return {"DASK_INTERNAL_INHERIT_CONFIG": serialize(global_config)}


def self_signed(folder: Path) -> tuple[Path, Path]:
    if shutil.which("openssl") is None:
        pytest.skip("not installed: openssl (apt-get install openssl)")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    made = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(certificate))
    subprocess.run([*made, "-subj", "/CN=127.0.0.1", "-days", "2"], check=True, capture_output=True)
    return certificate, key


def test_evidence_that_has_no_room_here_does_not_cost_the_verdicts(
    standing: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_up(monkeypatch, lambda path: path.parent.name == "call-0" and path.name == RECORDING)
    jobs = [job(tmp_path, "silent", name=f"call {n}") for n in range(2)]
    calls: list[SuiteCall] = []
    begun: list[bool] = []
    run_jobs(jobs, engine=standing.url, on_begin=lambda: begun.append(not calls), on_call=calls.append)
    assert begun == [True]
    assert outcomes(calls) == ["call 0: passed", "call 1: passed"]
    assert ["unsaved" in each for each in calls] == [True, False]
    assert "No space left on device" in calls[0]["unsaved"]
