"""The calls of a suite file, before any is made."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from voiceharness.errors import ConfigurationError, UnsupportedCapabilityError
from voiceharness.scenario.checks import LongestSilence, ResponseLatency
from voiceharness.scenario.line_profile import CLEAN_LINE, LineProfile
from voiceharness.suite.job import Job
from voiceharness.suite.plan import Changes, Plan, folder_name, plan_suite
from voiceharness.suite.selection import Selection
from voiceharness.suite.suite_file import read_suite

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__: list[str] = []

AGENT = "tests.suite.agents:silent"
SCENARIOS = """\
- name: greets
  tags: [smoke]
  seed: 7
  line: {delay: 0.1}
  limits: {response_latency: 5s}
  steps: [hear]
- name: holds
  steps: [line: hold]
"""


class Planner:
    """Plans suites of the scenarios above."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "calls.yaml").write_text(SCENARIOS)

    def __call__(self, text: str = "", *, environment: Mapping[str, str] | None = None, **changes: object) -> Plan:
        file = self.folder / "nightly.yaml"
        file.write_text(f"suite: nightly\nscenarios: [calls.yaml]\n{text}")
        made = replace(Changes(), **changes)  # type: ignore[arg-type] # each test gives what the field takes
        return plan_suite(read_suite(file), Job, self.folder / "out", changes=made, environment=environment)


@pytest.fixture
def plan(tmp_path: Path) -> Planner:
    return Planner(tmp_path)


def names(plan: Plan) -> list[str]:
    return [call.job.folder.name for call in plan.calls]


def test_every_scenario_is_called_over_every_adapter_line_and_seed(plan: Planner) -> None:
    found = plan(
        f"adapters: [{{adapter: in_process, agent: '{AGENT}'}}, {{label: Our B, agent: '{AGENT}'}}]\n"
        "lines: [own, mobile]\nseeds: [1, 2]\n",
        selection=Selection(names=["greets"]),
    )
    assert names(found) == [
        "001-greets-in-process-own-seed-1",
        "002-greets-in-process-own-seed-2",
        "003-greets-in-process-mobile-seed-1",
        "004-greets-in-process-mobile-seed-2",
        "005-greets-our-b-own-seed-1",
        "006-greets-our-b-own-seed-2",
        "007-greets-our-b-mobile-seed-1",
        "008-greets-our-b-mobile-seed-2",
    ]
    assert found.calls[7].cell == {"file": "calls.yaml", "adapter": "Our B", "line": "mobile", "seed": 2, "repeat": 1}
    assert [call.job.scenario.seed for call in found.calls] == [1, 2] * 4
    lines = [call.job.scenario.line for call in found.calls]
    assert lines[:4] == [LineProfile(delay=0.1)] * 2 + [LineProfile(profile="mobile")] * 2


def test_what_the_suite_leaves_out_is_the_scenarios_own(plan: Planner) -> None:
    greets, holds = plan().calls
    assert (greets.job.scenario.seed, holds.job.scenario.seed) == (7, 0)
    assert (greets.job.scenario.line, holds.job.scenario.line) == (LineProfile(delay=0.1), CLEAN_LINE)
    assert greets.cell == {"file": "calls.yaml", "adapter": "in_process", "line": None, "seed": 7, "repeat": 1}
    assert greets.job.file == plan.folder / "calls.yaml"


def test_an_entry_says_whom_to_call_and_how(plan: Planner) -> None:
    entry = (
        f"{{adapter: in_process, agent: '{AGENT}', options: {{goodbye: 2}}, virtual: false, resources: {{trunk: 1}}}}"
    )
    job = plan(f"adapters: [{entry}]\n").calls[0].job
    assert (job.adapter, job.agent, job.options, job.virtual) == ("in_process", AGENT, {"goodbye": 2}, False)
    assert job.resources == {"trunk": 1.0}


def test_a_limit_of_the_scenario_goes_before_one_of_the_suite(plan: Planner) -> None:
    greets, holds = plan("limits: {each_call: {response_latency: 2s, silence: 9s}}\n").calls
    assert greets.job.scenario.limits == (ResponseLatency(at_most=5.0), LongestSilence(9.0))
    assert holds.job.scenario.limits == (ResponseLatency(at_most=2.0), LongestSilence(9.0))


def test_what_an_adapter_cannot_do_is_planned_with_the_reason(plan: Planner) -> None:
    greets, holds = plan().calls
    assert greets.lacks is None
    assert str(holds.lacks) == "adapter 'in_process' does not support call_control:hold"


def test_a_direction_replaces_that_of_the_scenario(plan: Planner) -> None:
    greets, _ = plan("adapters: [{adapter: sip, direction: be_dialled}]\n").calls
    assert greets.job.scenario.direction == "be_dialled"
    assert greets.cell is not None
    assert greets.cell["adapter"] == "sip be_dialled"


def test_a_scenario_that_contradicts_the_direction_is_skipped(plan: Planner) -> None:
    (plan.folder / "calls.yaml").write_text("name: gives up\nsteps: [line: cancel]\n")
    (call,) = plan("adapters: [{adapter: sip, direction: be_dialled}]\n").calls
    assert isinstance(call.lacks, UnsupportedCapabilityError)
    assert "line: cancel goes with direction: dial" in str(call.lacks)


def test_a_command_line_goes_before_the_file(plan: Planner) -> None:
    text = "adapters: [{adapter: in_process, agent: 'a:b', options: {goodbye: 2}}, {adapter: sip}]\nseeds: [1, 2]\n"
    found = plan(
        text,
        adapter="in_process",
        agent=AGENT,
        settings=["goodbye=3"],
        virtual=True,
        seed=5,
        repeat=2,
        selection=Selection(tags=["smoke"]),
    )
    assert names(found) == ["001-greets-in-process-seed-5", "002-greets-in-process-seed-5-repeat-2"]
    job = found.calls[0].job
    assert (job.agent, job.options, job.virtual, job.scenario.seed) == (AGENT, {"goodbye": 3.0}, True, 5)


def test_an_adapter_is_chosen_by_its_label_too_and_a_suite_without_adapters_takes_any(plan: Planner) -> None:
    text = f"adapters: [{{agent: '{AGENT}', label: a}}, {{agent: '{AGENT}', label: b}}]\n"
    assert {call.cell["adapter"] for call in plan(text, adapter="b").calls if call.cell} == {"b"}
    assert {call.job.adapter for call in plan(adapter="in_process_turns").calls} == {"in_process_turns"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("adapters: [{adapter: sipp}]", r"nightly\.yaml:3:12: there is no adapter 'sipp'"),
        ("adapters: [{adapter: in_process, options: {rat: 1}}]", r":3:12: adapter 'in_process' has no option 'rat'"),
        (
            "adapters: [{adapter: sip, virtual: true}]",
            r":3:12: adapter 'sip' cannot run in virtual time; leave it out, or ask for real time",
        ),
        (
            "adapters: [{adapter: twilio, virtual: true, options: {url: 'ws://127.0.0.1:9/media'}}]",
            r":3:12: adapter 'twilio' cannot run in virtual time with these options: .*adapters show twilio",
        ),
        ("adapters: [{adapter: in_process, options: {goodbye: '${NO}'}}]", r":3:53: the variable NO is not set"),
        ("adapters: [{adapter: in_process, options: {goodbye: '${NO WAY}'}}]", r":3:53: '\${NO WAY}' is no variable"),
        ("adapters: [{adapter: in_process}]", ":3:12: adapter 'in_process' needs an agent: "),
        ("adapters: [{adapter: twilio}]", ":3:12: adapter 'twilio' needs the option 'url', or an agent to serve: "),
        ("", "adapter 'in_process' needs an agent: "),
    ],
)
def test_what_cannot_be_used_is_told_before_any_call_with_its_place(text: str, message: str, plan: Planner) -> None:
    with pytest.raises(ConfigurationError, match=message):
        plan(f"{text}\n", environment={})


def test_what_is_wrong_is_told_though_variables_are_not_set_yet(plan: Planner) -> None:
    with pytest.raises(ConfigurationError, match=r":3:12: adapter 'in_process' needs an agent"):
        plan("adapters: [{adapter: in_process}]\n")
    with pytest.raises(ConfigurationError, match=r":3:32: '\${NO' is no variable"):
        plan("adapters: [{options: {goodbye: '${NO'}}]\n")
    assert len(plan("adapters: [{adapter: twilio, options: {url: '${URL}'}}]\n").calls) == 2
    assert len(plan("adapters: [{adapter: in_process}]\n", agent=AGENT).calls) == 2
    assert len(plan("adapters: [{adapter: in_process}]\n", agent_later=True).calls) == 2


def test_an_agent_needs_a_host(plan: Planner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voiceharness.suite.plan.hosting_adapters", frozenset)
    with pytest.raises(ConfigurationError, match=r":3:12: adapter 'in_process' has no host"):
        plan("adapters: [{adapter: in_process, agent: 'a:b'}]\n")


def test_without_an_environment_variables_stay_as_they_are_written(plan: Planner) -> None:
    text = f"adapters: [{{agent: '{AGENT}', options: {{goodbye: '${{GOODBYE}}'}}}}]\n"
    assert plan(text).calls[0].job.options == {"goodbye": "${GOODBYE}"}
    assert plan(text, environment={"GOODBYE": "2"}).calls[0].job.options == {"goodbye": 2.0}


def test_no_adapter_of_that_name_is_an_error(plan: Planner) -> None:
    with pytest.raises(ConfigurationError, match="no adapter of the suite is called 'sip'; there are in_process"):
        plan("adapters: [{adapter: in_process}]\n", adapter="sip")


def test_a_phone_number_in_a_label_reaches_no_folder(plan: Planner) -> None:
    (call, *_) = plan(f"adapters: [{{agent: '{AGENT}', label: '+15550101234'}}]\n").calls
    assert call.cell is not None
    assert call.cell["adapter"] == "…34"
    assert call.job.folder.name == "001-greets-34-seed-7"


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        (["greets"], "003-greets"),
        (["Greets, “hello” & goodbye!", "sip / TLS", "", "seed-1"], "003-greets-hello-goodbye-sip-tls-seed-1"),
        (["日本", "a"], "003-call-a"),
        (["x" * 99, "y" * 99], f"003-{'x' * 40}-{'y' * 24}"),
    ],
)
def test_a_folder_is_named_after_its_call(parts: list[str], name: str) -> None:
    assert folder_name(3, *parts) == name


def test_more_calls_than_a_run_may_have_are_refused_at_once(plan: Planner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voiceharness.suite.plan.MOST_CALLS", 8)
    assert len(plan("seeds: [1, 2]\n", agent=AGENT, repeat=2).calls) == 8
    for text, repeat in (("seeds: [1, 2]\n", 3), ("", 10**12)):
        with pytest.raises(ConfigurationError, match="more than 8 calls are asked for; take fewer scenarios"):
            plan(text, agent=AGENT, repeat=repeat)
