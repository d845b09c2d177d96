"""Rules for the whole suite: which tests are virtual, that nothing is skipped quietly on CI, and that Ctrl-C works."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

__all__: list[str] = []

pytest_plugins = ["pytester"]

NOT_INSTALLED = ("Skipped: not installed", "Skipped: could not import")


def pytest_configure() -> None:
    """Listen to interrupts even where the suite runs in the background of a shell, which ignores them for it.

    What ignores them is inherited: the programs that some tests start and interrupt would never hear of it.

    Where dask brings ``importlib_metadata``, that takes the finder of ``importlib.metadata`` away and puts its own in
    place. Imported first inside a test, ``pytester`` would take that one away as well: then nothing is installed.
    And numpy's ``fft``, which numpy imports when it is first used, cannot be imported again once it is taken away; nor
    can ``requests``, which the carrier's client has parts of, and which would then be told of another's cookies.
    """
    import_module("numpy.fft")
    for name in ("importlib_metadata", "requests"):
        with suppress(ImportError):
            import_module(name)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark as virtual whatever needs neither real time nor the checkout."""
    if item.get_closest_marker("realtime") is None and item.get_closest_marker("checkout") is None:
        item.add_marker(pytest.mark.virtual)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _refuse_missing_peer(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _refuse_missing_peer(report)
    return report


def _refuse_missing_peer(report: pytest.TestReport | pytest.CollectReport) -> None:
    """On CI (``CI=true``), turn a skip for something not installed into a failure: there, everything is installed."""
    if os.environ.get("CI") != "true" or not report.skipped or not isinstance(report.longrepr, tuple):
        return
    path, line, reason = report.longrepr
    if reason.startswith(NOT_INSTALLED):
        report.outcome = "failed"
        report.longrepr = f"{path}:{line}: {reason} (a failure on CI, where nothing may be missing)"
