"""The pytest plugin: scenarios as tests, and calls within tests. It needs no async plugin, and loads nothing heavy.

* ``*.voice.yaml`` files are collected: each scenario is a test, and in a suite file each call. The call is made in the
  test's set-up, so a call that could not be made, or trusted, is an *error*, and only an unmet expectation is a
  *failure*. Tags are marks (``-m smoke``), and can be found with ``-k``. What a suite file limits over all its calls is
  its last test, ``all_calls`` (:mod:`.pytest_limits`).
* The fixture ``voice_call`` runs a scenario within a test and returns its result.
* ``@pytest.mark.voiceharness(adapter=..., agent=..., virtual=..., **options)`` says what ``voice_call`` calls.

The fixtures of the scripted doubles come along.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from voiceharness.errors import OptionError, VoiceHarnessError
from voiceharness.pytest_limits import ALL_CALLS, LimitsItem, MadeCalls, limits_told, move_behind_their_calls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from voiceharness.agent import PhoneAgent
    from voiceharness.registry.target import Target
    from voiceharness.scenario.result import CallResult
    from voiceharness.scenario.run import SpeechEngines
    from voiceharness.scenario.scenario import Scenario
    from voiceharness.suite.plan import Plan, PlannedCall

__all__ = [
    "VoiceCall",
    "VoiceFile",
    "VoiceItem",
    "pytest_addoption",
    "pytest_collect_file",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_sessionstart",
    "pytest_terminal_summary",
    "voice_call",
]

pytest_plugins: Final = ("voiceharness.scripted.pytest_fixtures",)

_PATTERNS: Final = ["*.voice.yaml", "*.voice.yml"]
_LONGEST_NAME: Final = 80
_MARK: Final = re.compile(r"[^\W\d_][\w-]*")
_MARKS_OF_PYTEST: Final = frozenset(
    {"filterwarnings", "parametrize", "skip", "skipif", "tryfirst", "trylast", "usefixtures", "voiceharness", "xfail"}
)
"""Marks that do something; a tag of such a name stays a word for ``-k``."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options; each but ``set`` can stand in the ini file too, where the command line goes before it."""
    group = parser.getgroup("voiceharness")
    for name, text in (
        ("adapter", "reach agents over this adapter"),
        ("agent", "MODULE:NAME of the agent that is served on the adapter's transport"),
        ("out", "save the evidence of every call below this folder"),
    ):
        group.addoption(f"--voiceharness-{name}", default=None, help=text)
        parser.addini(f"voiceharness_{name}", text, default="")
    for name, choices, text in (
        ("time", ["virtual", "real"], "virtual or real time (default: virtual where the adapter can)"),
        ("unsupported", ["skip", "fail"], "what a scenario does whose adapter lacks something (default: skip)"),
    ):
        group.addoption(f"--voiceharness-{name}", choices=choices, default=None, help=text)
        parser.addini(f"voiceharness_{name}", text, default="")
    group.addoption("--voiceharness-set", action="append", default=[], metavar="KEY=VALUE", help="adapter option")
    parser.addini("voiceharness_files", "patterns of scenario files", type="args", default=_PATTERNS)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers",
        "voiceharness(adapter, agent, virtual, **options): what the fixture voice_call calls, and how",
    )
    config.addinivalue_line("markers", f"{ALL_CALLS}: limits of all calls of a suite file")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Refuse a folder for evidence that cannot be written, before the first call is made."""
    config = session.config
    if not (out := _setting(config, "out")) or config.option.collectonly or hasattr(config, "workerinput"):
        return
    from voiceharness.report.writable import refuse_unwritable

    folder = config.invocation_params.dir / out
    try:
        refuse_unwritable([folder / f".voiceharness-{os.getpid()}"])
    except OptionError as error:
        raise pytest.UsageError(f"the folder for evidence: {error}") from error


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Judge all calls of a suite file after they were made, also where another plugin shuffles the tests."""
    move_behind_their_calls(items)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell what the limits of all calls came to; a broken one has been told as a failure."""
    reports = (*terminalreporter.getreports("passed"), *terminalreporter.getreports("skipped"))
    if told := [*limits_told(reports)]:
        terminalreporter.section("limits of all calls")
        for text in told:
            terminalreporter.write_line(text)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> VoiceFile | None:
    """Collect scenario files and suite files."""
    patterns = parent.config.getini("voiceharness_files")
    if not any(fnmatch(file_path.name, pattern) for pattern in patterns):
        return None
    file: VoiceFile = VoiceFile.from_parent(parent, path=file_path)
    return file


class VoiceFile(pytest.File):
    """A file of scenarios, or a suite file."""

    def collect(self) -> Iterator[VoiceItem | LimitsItem]:
        """Read the file; one that cannot be used is an error with its line and column."""
        from voiceharness.errors import ConfigurationError
        from voiceharness.scenario.yaml_file import load_scenarios
        from voiceharness.suite.finding import is_suite_file

        try:
            if is_suite_file(self.path):
                yield from self._calls_and_limits(MadeCalls(_plan(self.config, self.path)))
                return
            scenarios = load_scenarios(self.path)
        except ConfigurationError as error:
            raise self.CollectError(str(error)) from error
        for scenario in scenarios:
            yield VoiceItem.from_parent(self, name=scenario.name, scenario=scenario)

    def _calls_and_limits(self, calls: MadeCalls) -> Iterator[VoiceItem | LimitsItem]:
        for number, call in enumerate(calls.plan.calls):
            keep = partial(calls.keep, number)
            yield VoiceItem.from_parent(self, name=_name(call), scenario=call.job.scenario, planned=call, keep=keep)
        if calls.limits is not None:
            yield LimitsItem.from_parent(self, name=ALL_CALLS, calls=calls)


class VoiceItem(pytest.Item):
    """One call as a test; the tags of its scenario are its marks.

    ``planned`` is what a suite file says of it; ``keep`` is given what it came to, with the secrets in its options.
    """

    def __init__(
        self,
        *,
        scenario: Scenario,
        planned: PlannedCall | None = None,
        keep: Callable[[CallResult, Iterable[str]], None] = lambda _result, _secrets: None,
        **options: Any,  # Any: pytest's own
    ) -> None:
        super().__init__(**options)
        self.scenario = scenario
        self.planned = planned
        self.keep = keep
        self.result: CallResult | None = None
        self.secrets: tuple[str, ...] = ()
        self.extra_keyword_matches.update(scenario.tags)
        for tag in scenario.tags:
            if _MARK.fullmatch(tag) and tag not in _MARKS_OF_PYTEST:
                self.config.addinivalue_line("markers", f"{tag}: a tag of scenarios")
                self.add_marker(tag)

    def setup(self) -> None:
        """Make the call; what kept it from being judged is an error."""
        self.result = None
        try:
            target, virtual = self._target()
            self.result = self._impossible() or _call(
                self, self.scenario, target, virtual, number=1, keep=self._keep_result
            )
        except VoiceHarnessError as error:
            if self.planned is not None and self.result is None:
                self.keep(self.planned.job.broken(error), self.secrets)
            came_to = "" if self.result is None else f"\n{_told(self.result, self.secrets)}"
            pytest.fail(f"{type(error).__name__}: {error}{came_to}", pytrace=False)
        if self.result.outcome not in ("passed", "failed", "unsupported"):
            pytest.fail(_told(self.result, self.secrets), pytrace=False)

    def _keep_result(self, result: CallResult) -> None:
        self.result = result
        self.keep(result, self.secrets)

    def runtest(self) -> None:
        """Judge the call; a traceback through the harness would say nothing about the agent."""
        assert self.result is not None  # set-up made it
        if not self.result.passed:
            pytest.fail(_told(self.result, self.secrets), pytrace=False)

    def _target(self) -> tuple[Target, bool | None]:
        from voiceharness.report.redaction import secrets_in

        found = (
            _target(self.config, self.scenario, {}) if self.planned is None else _of_suite(self.config, self.planned)
        )
        self.secrets = secrets_in(found[0].options_for(self.scenario))
        return found

    def _impossible(self) -> CallResult | None:
        """Skip what the plan knows to be impossible, or return what it comes to where that shall fail."""
        if self.planned is None or self.planned.lacks is None:
            return None
        result = self.planned.job.broken(self.planned.lacks)
        self.keep(result, self.secrets)
        if _setting(self.config, "unsupported") != "fail":
            pytest.skip(f"unsupported: {self.planned.lacks}")
        return result

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Say where the scenario stands."""
        place = self.scenario.place
        return self.path, place.line - 1 if place else None, f"scenario: {self.name}"


@dataclass(slots=True)
class VoiceCall:
    """Runs scenarios within one test."""

    node: pytest.Item
    calls: int = 0

    def __call__(self, scenario: Scenario | str | Path, **marks: Any) -> CallResult:  # Any: as the marker's
        """Run a scenario, or the only one of a file beside the test, and return what became of it.

        ``marks`` replace those of the marker, name by name. An unsupported scenario skips the test, unless the option
        says that it fails.

        Raises:
            ConfigurationError: if the scenario, or what is to be called, cannot be used; if the evidence cannot be
                saved.
            OptionError: within a running event loop.
        """
        from voiceharness.errors import ConfigurationError

        __tracebackhide__ = True
        try:
            return self._made(scenario, marks)
        except ConfigurationError as error:  # what the test's author wrote: the way to it through the harness is noise
            raise error.with_traceback(None) from error.__cause__

    def _made(self, scenario: Scenario | str | Path, marks: Mapping[str, Any]) -> CallResult:
        from voiceharness.report.redaction import secrets_in

        _refuse_running_loop()
        if isinstance(scenario, str | Path):
            from voiceharness.scenario.yaml_file import load_scenario

            scenario = load_scenario(self.node.path.parent / scenario)
        self.calls += 1
        target, virtual = _target(self.node.config, scenario, {**_marked(self.node), **marks})
        secrets = secrets_in(target.options_for(scenario))

        def tell(result: CallResult) -> None:
            self.node.add_report_section("call", "voiceharness", _told(result, secrets))

        return _call(self.node, scenario, target, virtual, number=self.calls, keep=tell)


@pytest.fixture
def voice_call(request: pytest.FixtureRequest) -> VoiceCall:
    """Run scenarios: ``voice_call(scenario)`` returns a ``CallResult``."""
    return VoiceCall(request.node)


def _marked(node: pytest.Item) -> dict[str, Any]:  # Any: as the marker's
    """Merge the markers of a test; those nearest to it win."""
    marks: dict[str, Any] = {}
    for marker in node.iter_markers("voiceharness"):
        if marker.args:
            raise pytest.UsageError(f"{node.nodeid}: the marker voiceharness takes names: adapter=..., agent=...")
        marks = {**marker.kwargs, **marks}
    return marks


def _call(
    node: pytest.Item,
    scenario: Scenario,
    target: Target,
    virtual: bool | None,
    *,
    number: int,
    keep: Callable[[CallResult], None] = lambda _result: None,
) -> CallResult:
    """Make a call, give it to ``keep``, save its evidence, and skip what is unsupported."""
    kept: list[CallResult] = []
    try:
        target.call(scenario, virtual=virtual, speech=_speech(node.config), keep=kept.append)
    finally:
        for result in kept:
            node.user_properties.append(("voiceharness_outcome", result.outcome))
            keep(result)  # first: a full disk must not cost the verdict
            _save(node, result, target.options_for(scenario), number)
    if kept[0].outcome == "unsupported" and _setting(node.config, "unsupported") != "fail":
        pytest.skip(f"unsupported: {kept[0].error}")
    return kept[0]


def _speech(config: pytest.Config) -> SpeechEngines | None:
    """Return the default engines, with pytest's own cache folder for what they spoke, if there is one."""
    if not config.pluginmanager.has_plugin("cacheprovider"):
        return None
    from voiceharness.scenario.run import SpeechEngines
    from voiceharness.speech.cache import SpeechCache

    return SpeechEngines(cache=SpeechCache(config.cache.mkdir("voiceharness-speech")))


def _target(config: pytest.Config, scenario: Scenario, marks: Mapping[str, Any]) -> tuple[Target, bool | None]:
    """Find what to call as marks, options and ini file say, in this order."""
    from voiceharness.registry.settings import parse_settings
    from voiceharness.registry.target import Target

    options = dict(marks)
    adapter: str | None = options.pop("adapter", None) or _setting(config, "adapter") or None
    agent: PhoneAgent | str | None = options.pop("agent", None) or _setting(config, "agent") or None
    time = _setting(config, "time")
    virtual: bool | None = options.pop("virtual", (time == "virtual") if time else None)
    given = parse_settings(config.getoption("voiceharness_set"), Target(adapter).adapter_for(scenario))
    return Target(adapter, {**given, **options}, agent), virtual


def _plan(config: pytest.Config, file: Path) -> Plan:
    """Plan the calls of a suite file; what the command line says goes before it, variables are looked up later."""
    from voiceharness.suite.job import Job
    from voiceharness.suite.plan import Changes, plan_suite
    from voiceharness.suite.suite_file import read_suite

    adapter, agent, time = (config.getoption(f"voiceharness_{name}") for name in ("adapter", "agent", "time"))
    virtual = None if time is None else time == "virtual"
    later = bool(_setting(config, "agent"))
    changes = Changes(adapter, agent, config.getoption("voiceharness_set"), virtual, agent_later=later)
    return plan_suite(read_suite(file), Job, Path(), changes=changes)


def _of_suite(config: pytest.Config, planned: PlannedCall) -> tuple[Target, bool | None]:
    """Find what a suite file says to call; what it leaves out may stand in the ini file."""
    from voiceharness.registry.target import Target
    from voiceharness.suite.variables import expand_options

    job = planned.job
    target = Target(
        job.adapter or _setting(config, "adapter") or None, {}, job.agent or _setting(config, "agent") or None
    )
    options = expand_options(job.options, os.environ, target.adapter_for(job.scenario))
    time = _setting(config, "time")
    virtual = job.virtual if job.virtual is not None or not time else time == "virtual"
    return Target(target.adapter, options, target.agent), virtual


def _name(call: PlannedCall) -> str:
    from voiceharness.report.cells import cell_text

    name = call.job.scenario.name
    return name if call.cell is None else f"{name}[{cell_text(call.cell)}]"


def _setting(config: pytest.Config, name: str) -> str:
    given = config.getoption(f"voiceharness_{name}")
    return str(given if given is not None else config.getini(f"voiceharness_{name}"))


def _save(node: pytest.Item, result: CallResult, options: Mapping[str, object], number: int) -> None:
    out = _setting(node.config, "out")
    if not out:
        return
    from voiceharness.report.artefacts import save_call
    from voiceharness.report.redaction import secrets_in

    folder = node.config.invocation_params.dir / out / _folder_name(node.nodeid) / f"{number:03d}"
    save_call(result, folder, secrets=secrets_in(options))


def _folder_name(nodeid: str) -> str:
    """Make a name of a test's id that is short, legible and its own."""
    words = re.sub(r"[^A-Za-z0-9_]+", "-", nodeid).strip("-")[-_LONGEST_NAME:].lstrip("-")
    return f"{words}-{hashlib.sha256(nodeid.encode('utf-8', 'backslashreplace')).hexdigest()[:8]}"


def _told(result: CallResult, secrets: Iterable[str]) -> str:
    from voiceharness.report.console import call_text
    from voiceharness.report.document import call_document

    return call_text(call_document(result, secrets=secrets), steps=True).rstrip()


def _refuse_running_loop() -> None:
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise OptionError(
        "voice_call runs an event loop of its own; in an async test, await voiceharness's run_call instead"
    )
