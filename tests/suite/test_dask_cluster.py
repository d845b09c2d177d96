"""What a run finds out about a cluster before its first call."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.suite.cluster import READY, cluster, search_path
from tests.suite.test_run import job
from voiceharness.doubles import SilentAgent
from voiceharness.errors import MissingExtraError, OptionError
from voiceharness.suite import run_jobs
from voiceharness.suite.crew import Listener
from voiceharness.suite.dask_cluster import nobody_for
from voiceharness.suite.dask_engine import DaskEngine

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tests.suite.cluster import Cluster
    from voiceharness.report.suite import SuiteCall
    from voiceharness.suite import Job

__all__: list[str] = []


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster without a worker."""
    with cluster(tmp_path_factory.mktemp("empty")) as running:
        yield running


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster of one worker with a trunk."""
    with cluster(tmp_path_factory.mktemp("cluster")) as running:
        running.hire("--resources", "trunk=1")
        yield running


def refused(where: Cluster, *jobs: Job, answer: float = READY) -> str:
    """Why the calls cannot be made there; none was begun."""
    calls: list[SuiteCall] = []
    with pytest.raises(OptionError) as error:
        DaskEngine(where.address, fresh=False, patience=1.0, arrival=0.2, answer=answer).make_calls(
            jobs, Listener(lambda _job: None, lambda _job, _label: None, calls.append)
        )
    assert calls == []
    assert not any(each.folder.exists() for each in jobs)
    return str(error.value)


def test_a_scheduler_that_does_not_answer_is_named(tmp_path: Path) -> None:
    engine = DaskEngine("tcp://127.0.0.1:9", fresh=False, patience=1.0, connect=0.2)
    with pytest.raises(OptionError, match=r"no dask scheduler answers at tcp://127\.0\.0\.1:9 .*`dask scheduler`"):
        engine.make_calls([job(tmp_path, "silent")], Listener(print, print, print))


def test_without_dask_its_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r'install it with: pip install "voiceharness\[dask\]"'):
        run_jobs([job(tmp_path, "silent")], engine="dask://127.0.0.1:9")


def test_a_cluster_without_workers_is_waited_for_and_then_named(empty: Cluster, tmp_path: Path) -> None:
    said = refused(empty, job(tmp_path, "silent"))
    assert "scenario 'silent' needs a worker, which no worker of the dask cluster offers (no workers)" in said
    assert "No worker came within 0.2 s" in said


def test_what_nobody_offers_is_named_with_what_is_offered(standing: Cluster, tmp_path: Path) -> None:
    jobs = [replace(job(tmp_path, "silent"), resources=wanted) for wanted in ({"trunk": 1}, {"trunk": 2, "cable": 1})]
    said = refused(standing, *jobs)
    assert "scenario 'silent' needs cable=1 trunk=2, which no worker of the dask cluster offers (tcp://" in said
    assert ": trunk=1)" in said
    assert '--resources "cable=1 trunk=2"' in said


def test_a_worker_that_does_not_answer_is_named(standing: Cluster, tmp_path: Path) -> None:
    ((address, process),) = standing.client.run(os.getpid).items()
    os.kill(process, signal.SIGSTOP)
    try:
        said = refused(standing, job(tmp_path, "silent"), answer=0.5)
    finally:
        os.kill(process, signal.SIGCONT)
    assert "no answer within 0.5 s from the workers of the dask cluster" in said
    assert f"of {address} nothing was heard at all" in said


def test_workers_of_another_release_are_named(tmp_path: Path) -> None:
    other = tmp_path / "other" / "voiceharness-99.9.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: voiceharness\nVersion: 99.9\n", "utf-8")
    with cluster(tmp_path, PYTHONPATH=f"{other.parent}{os.pathsep}{search_path()}") as running:
        running.hire()
        said = refused(running, job(tmp_path, "silent"))
    assert "all machines of a run need the same: here is Python 3." in said
    assert "but the scheduler has Python 3." in said
    assert "; worker tcp://127.0.0.1:" in said
    assert said.count(", voiceharness 99.9") == 2


def test_an_agent_that_workers_do_not_find_is_named_with_them(standing: Cluster, tmp_path: Path) -> None:
    said = refused(standing, replace(job(tmp_path, "silent"), agent="nowhere.at_all:Agent"))
    assert "the agent's module 'nowhere.at_all' cannot be imported on worker tcp://127.0.0.1:" in said


def test_a_module_of_an_option_that_workers_do_not_find_is_named_with_them(standing: Cluster, tmp_path: Path) -> None:
    options = {"url": "https://agent.example.test/voice", "app": "nowhere.pizza:app"}
    said = refused(standing, replace(job(tmp_path, "silent"), agent=None, adapter="twilio", options=options))
    assert (
        "the module 'nowhere.pizza' of the option 'app' of adapter 'twilio' cannot be imported on worker tcp:" in said
    )
    assert "start the workers in its folder with PYTHONPATH=." in said


def test_an_agent_that_has_no_name_for_others_is_refused(tmp_path: Path) -> None:
    in_a_script = type("Agent", (SilentAgent,), {"__module__": "__main__"})
    nameless: Any  # Any: also what is none of the agents that a job takes
    for nameless in (lambda: SilentAgent(), in_a_script, SilentAgent().answer):
        with pytest.raises(OptionError, match="other machines cannot find the agent"):
            run_jobs([replace(job(tmp_path, "silent"), agent=nameless)], engine="dask://127.0.0.1:9")


@pytest.mark.parametrize(
    ("wanted", "offers", "lacking"),
    [
        ({}, {}, "a worker, which no worker of the dask cluster offers (no workers)"),
        ({}, {"a": {}}, ""),
        ({"trunk": 1}, {"a": {}, "b": {"trunk": 1.0}}, ""),
        ({"trunk": 2}, {"a": {"trunk": 1.0}, "b": {"trunk": 1.0}}, "trunk=2, which no worker"),
        ({"trunk": 1, "cable": 1}, {"a": {"trunk": 1.0}, "b": {"cable": 1.0}}, "cable=1 trunk=1, which no worker"),
    ],
)
def test_one_worker_must_offer_all_that_a_call_takes(
    wanted: Mapping[str, float], offers: Mapping[str, Mapping[str, float]], lacking: str, tmp_path: Path
) -> None:
    said = nobody_for(replace(job(tmp_path, "silent"), resources=wanted), offers)
    assert said.startswith(lacking)
    assert bool(said) == bool(lacking)
