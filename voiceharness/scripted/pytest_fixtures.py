"""Pytest fixtures that make scripted doubles and check, when the test is over, that their scripts were played out.

``scripted_transport``, ``scripted_model`` and ``scripted_session`` are factories: build as many doubles as the test
needs. In teardown every one must be complete, and every transport closed. pytest counts a failed teardown apart from
the test: "1 passed, 1 error". After a test that failed anyway the state of its doubles, with the timeline of each
transport, is a section of the report instead, not a second error; ``--scripted-always-check`` raises even then.

The fixtures are synchronous, so they work under any async test plugin, and with none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from voiceharness.scripted.model import ScriptedModel
    from voiceharness.scripted.session import ScriptedSession
    from voiceharness.scripted.transport import ScriptedRealtimeTransport

__all__ = [
    "ScriptedDoubles",
    "pytest_addoption",
    "pytest_configure",
    "pytest_runtest_makereport",
    "scripted_doubles",
    "scripted_model",
    "scripted_session",
    "scripted_transport",
]

TIMEOUT_INI: Final = "scripted_scenario_timeout"
ALWAYS_CHECK: Final = "scripted_always_check"
LEFT_OPEN: Final = "scripted_left_open"


class Double(Protocol):
    """What every scripted double can be asked."""

    def assert_complete(self) -> None:
        """Check that its script was played out."""


D = TypeVar("D", bound=Double)


@dataclass(frozen=True, slots=True)
class _Tracked:
    title: str
    checks: tuple[Callable[[], None], ...]
    describe: Callable[[], str]


class ScriptedDoubles:
    """The doubles of one test."""

    def __init__(self) -> None:
        self._tracked: list[_Tracked] = []

    def track(self, title: str, double: D, *checks: Callable[[], None], describe: Callable[[], str] | None = None) -> D:
        """Check a double when the test is over, with ``checks`` after its completeness; return it."""
        number = 1 + sum(item.title.startswith(f"{title} ") for item in self._tracked)
        checks = (double.assert_complete, *checks)
        self._tracked.append(_Tracked(f"{title} {number}", checks, describe or (lambda: repr(double))))
        return double

    def check(self) -> None:
        """Run all checks; raise the first failure, with the others as notes on it."""
        failures = [(item, error) for item in self._tracked for error in _failures(item)]
        if not failures:
            return
        (item, first), *others = failures
        first.add_note(f"({item.title})\n{item.describe()}")
        for other, error in others:
            first.add_note(f"also {other.title}: {error}")
        raise first

    def report(self) -> list[tuple[str, str]]:
        """Describe each double: a title and a text."""
        return [
            (item.title, "\n".join([*(f"{error}" for error in _failures(item)), item.describe()]))
            for item in self._tracked
        ]


def _failures(item: _Tracked) -> list[Exception]:
    failures: list[Exception] = []
    for check in item.checks:
        try:
            check()
        except Exception as error:  # reported, or raised, by the caller
            failures.append(error)
    return failures


DOUBLES: Final = pytest.StashKey[ScriptedDoubles]()
FAILED: Final = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the scripted doubles."""
    group = parser.getgroup("voiceharness")
    group.addoption(
        "--scripted-always-check",
        action="store_true",
        dest=ALWAYS_CHECK,
        help="check the scripted doubles of a test even if the test has failed",
    )
    parser.addini(TIMEOUT_INI, "default time limit of a scripted scenario, in seconds (default: none)", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line("markers", f"{LEFT_OPEN}: the scripted transports of this test may end connected")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Remember that a test failed, and add the state of its doubles to the report."""
    report = yield
    if report.failed and report.when != "teardown":
        item.stash[FAILED] = True
        doubles = item.stash.get(DOUBLES, None)
        if doubles is not None:
            report.sections.extend(doubles.report())
    return report


@pytest.fixture
def scripted_doubles(request: pytest.FixtureRequest) -> Generator[ScriptedDoubles, None, None]:
    """The doubles of this test; ``track`` adds one of your own."""
    node: pytest.Item = request.node
    doubles = node.stash[DOUBLES] = ScriptedDoubles()
    yield doubles
    if not node.stash.get(FAILED, False) or request.config.getoption(ALWAYS_CHECK):
        doubles.check()


@pytest.fixture
def scripted_transport(
    request: pytest.FixtureRequest, scripted_doubles: ScriptedDoubles
) -> Callable[..., ScriptedRealtimeTransport]:
    """A factory of scripted realtime transports, with the arguments of the class."""
    from voiceharness.scripted.transport import ScriptedRealtimeTransport

    timeout = _timeout(request.config)
    may_stay_open = request.node.get_closest_marker(LEFT_OPEN) is not None

    def make(**options: Any) -> ScriptedRealtimeTransport:
        transport = ScriptedRealtimeTransport(**{"scenario_timeout": timeout} | options)
        checks = () if may_stay_open else (transport.assert_closed,)
        return scripted_doubles.track(
            "scripted transport", transport, *checks, describe=lambda: f"{transport.status}\n{transport.timeline}"
        )

    return make


@pytest.fixture
def scripted_model(scripted_doubles: ScriptedDoubles) -> Callable[..., ScriptedModel]:
    """A factory of scripted models, with the arguments of the class."""
    from voiceharness.scripted.model import ScriptedModel

    def make(*steps: Any, **options: Any) -> ScriptedModel:
        model = ScriptedModel(*steps, **options)
        return scripted_doubles.track("scripted model", model, describe=lambda: _calls_and_steps(model))

    return make


@pytest.fixture
def scripted_session(scripted_doubles: ScriptedDoubles) -> Callable[..., ScriptedSession[Any]]:
    """A factory of scripted sessions, with the arguments of ``scripted_session``."""
    from voiceharness.scripted.session import scripted_session as make_session

    def make(*steps: Any, **options: Any) -> ScriptedSession[Any]:
        session: ScriptedSession[Any] = make_session(*steps, **options)
        return scripted_doubles.track("scripted session", session, describe=lambda: _calls_and_steps(session))

    return make


def _calls_and_steps(double: ScriptedModel | ScriptedSession[Any]) -> str:
    calls = "\n".join(map(repr, double.calls)) or "no calls"
    return f"{calls}\nsteps left: {double.remaining_steps}"


def _timeout(config: pytest.Config) -> float | None:
    text = str(config.getini(TIMEOUT_INI))
    try:
        return float(text) if text else None
    except ValueError as error:
        raise pytest.UsageError(f"{TIMEOUT_INI} = {text}: give a number of seconds") from error
