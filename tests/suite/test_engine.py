"""Engines by URL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.suite.test_run import job
from voiceharness.errors import OptionError
from voiceharness.suite import run_jobs
from voiceharness.suite.dask_engine import DaskEngine
from voiceharness.suite.engine import engine_for

if TYPE_CHECKING:
    from pathlib import Path

__all__: list[str] = []


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("dask://10.0.0.1:1234", "tcp://10.0.0.1:1234"),
        ("dask://scheduler", "tcp://scheduler:8786"),
        ("dask://[::1]:5", "tcp://[::1]:5"),
        ("dask+tls://scheduler:5/", "tls://scheduler:5"),
    ],
)
def test_a_url_of_dask_names_a_scheduler(url: str, address: str) -> None:
    assert engine_for(url, fresh=True, patience=2.0) == DaskEngine(address, fresh=True, patience=2.0)


@pytest.mark.parametrize(
    "url", ["dask://", "dask://host:port", "dask://host:1/more", "dask://me:word@host", "dask:host"]
)
def test_a_url_without_a_scheduler_is_refused(url: str) -> None:
    with pytest.raises(OptionError, match="is no address"):
        engine_for(url, fresh=False, patience=1.0)


@pytest.mark.parametrize("url", ["ray://host", "host:8786", "", "tcp://host:8786"])
def test_there_is_no_other_engine(url: str) -> None:
    with pytest.raises(OptionError, match=r"there is no engine .*; there are dask://HOST:PORT and dask\+tls://"):
        engine_for(url, fresh=False, patience=1.0)


def test_an_engine_takes_no_number_of_processes(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="decides how many calls go on at a time"):
        run_jobs([job(tmp_path, "silent")], processes=2, engine="dask://127.0.0.1:1")
