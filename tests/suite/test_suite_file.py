"""Suite files: what they say, and where they are wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from voiceharness.errors import ScenarioError
from voiceharness.report.limits import SuiteLimits
from voiceharness.scenario.checks import ResponseLatency, StopLatency
from voiceharness.scenario.line_profile import CLEAN_LINE, LineProfile
from voiceharness.suite.selection import EVERYTHING, Selection
from voiceharness.suite.suite_file import AdapterEntry, SuiteFile, SuiteLine, parse_suite_file, read_suite

if TYPE_CHECKING:
    from pathlib import Path

__all__: list[str] = []

WHOLE = """\
suite: nightly
description: every night
scenarios: [calls, more/*.yaml, calls/a.yaml]
adapters:
  - adapter: in_process
    agent: my_agent:Line
  - adapter: sip
    label: trunk
    direction: be_dialled
    virtual: false
    options: {user: "${SIP_USER}"}
    resources: {trunk: 1, number: 0.5}
lines:
  - own
  - clean
  - mobile
  - {label: lossy, loss: 0.05}
  - {profile: bad_wifi, noise: 20dB}
seeds: [1, 2]
select: {tags: [smoke], without_tags: [slow], names: ["a*"]}
limits:
  each_call:
    response_latency: 2s
  all_calls:
    failed: 5%
    response_latency: {p50: 1s, p95: 1.5s}
    stop_latency: 900ms
    longest_call: 2min
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in ("calls/a", "calls/b", "more/c"):
        file = tmp_path / f"{name}.yaml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"name: {file.stem}\nsteps: [hear]\n")
    return tmp_path


def settings(home: Path, text: str) -> SuiteFile:
    file = home / "nightly.yaml"
    file.write_text(text)
    return read_suite(file).settings


def test_a_suite_file_says_all_this(home: Path) -> None:
    assert settings(home, WHOLE) == SuiteFile(
        suite="nightly",
        description="every night",
        scenarios=("calls", "more/*.yaml", "calls/a.yaml"),
        adapters=(
            AdapterEntry("in_process", agent="my_agent:Line"),
            AdapterEntry(
                "sip",
                label="trunk",
                direction="be_dialled",
                virtual=False,
                options={"user": "${SIP_USER}"},
                resources={"trunk": 1, "number": 0.5},
            ),
        ),
        lines=(
            SuiteLine("own"),
            SuiteLine("clean", CLEAN_LINE),
            SuiteLine("mobile", LineProfile(profile="mobile")),
            SuiteLine("lossy", LineProfile(loss=0.05)),
            SuiteLine("bad_wifi noise 20dB", LineProfile(profile="bad_wifi", noise=20.0)),
        ),
        seeds=(1, 2),
        select=Selection(["smoke"], ["slow"], ["a*"]),
        limits=settings(home, WHOLE).limits,
    )


def test_limits_are_of_each_call_and_of_all_calls(home: Path) -> None:
    limits = settings(home, WHOLE).limits
    assert limits.each_call == (ResponseLatency(at_most=2.0),)
    assert limits.all_calls == SuiteLimits(
        failed=0.05,
        response_latency=ResponseLatency(p50=1.0, p95=1.5),
        stop_latency=StopLatency(at_most=0.9),
        longest_call=120.0,
    )


def test_what_is_left_out_is_the_scenarios_own(home: Path) -> None:
    said = settings(home, "suite: all\nscenarios: [calls]\n")
    assert (said.adapters, said.lines, said.seeds, said.select) == ((), (), (), EVERYTHING)
    assert said.limits.all_calls == SuiteLimits()


def test_every_scenario_is_found_once_in_the_order_of_the_file(home: Path) -> None:
    (home / "nightly.yaml").write_text(WHOLE)
    suite = read_suite(home / "nightly.yaml")
    assert [case.scenario.name for case in suite.cases] == ["a", "b", "c"]
    assert [suite.name_of(case) for case in suite.cases] == ["calls/a.yaml", "calls/b.yaml", "more/c.yaml"]


def test_an_adapter_is_called_by_its_label_or_its_name_and_direction() -> None:
    entries = [AdapterEntry("sip"), AdapterEntry("sip", direction="dial"), AdapterEntry("sip", label="trunk")]
    assert [entry.name for entry in entries] == ["sip", "sip dial", "trunk"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("scenarios: [nowhere]", "2:13: there is no scenario file 'nowhere'"),
        ("scenarios: calls", "2:12: scenarios takes a list, not 'calls'"),
        ("scenarios: []", "1:1: suite: scenarios names none"),
        ("adapters: [{adaptor: sip}]", "3:13: adapter has no 'adaptor'; did you mean 'adapter'?"),
        (
            "adapters: [{adapter: sip}, {adapter: sip}]",
            "3:28: adapters: sip is there twice; give them different",
        ),
        ("adapters: [{resources: {trunk: many}}]", "3:12: resources: of trunk a call takes a number above zero"),
        ("adapters: [{resources: {trunk: 0}}]", "3:12: resources: of trunk a call takes a number above zero"),
        ("adapters: [{direction: sideways}]", "3:24: direction cannot be 'sideways'"),
        ('adapters: [{agent: "${AGENT}"}]', "3:12: agent: only options take variables of the environment"),
        ("lines: [mobil]", "3:9: profile cannot be 'mobil'; did you mean 'mobile'?"),
        ("lines: [{los: 0.1}]", "3:10: line has no 'los'; did you mean 'loss'?"),
        ("lines: [[own]]", "3:9: a line is a name, or a mapping of its faults, not a list"),
        ("lines: mobile", "3:8: lines takes a list, not 'mobile'"),
        ("lines: [mobile, mobile]", "3:17: lines: mobile is there twice"),
        ("seeds: [1, -1]", "3:12: seeds: -1 cannot be a seed; a seed is at least 0"),
        ("seeds: [1, 1]", "3:12: seeds: 1 is there twice"),
        ("select: {tag: [a]}", "3:10: select has no 'tag'; did you mean 'tags'?"),
        ("limits: {each_call: {latency: 1s}}", "3:22: there is no check 'latency'"),
        ("limits: {all_calls: {failed: some}}", "3:30: failed: 'some' is neither a number of calls such as 2 nor"),
        ("limits: {all_calls: {failed: 101%}}", "3:30: failed cannot be '101%'"),
        ("limits: {all_calls: {response_latency: {p99: 1s}}}", "3:41: response_latency has no 'p99'"),
        ("limit: {}", "3:1: suite has no 'limit'; did you mean 'limits'?"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(line: str, message: str, home: Path) -> None:
    scenarios = "" if line.startswith("scenarios") else "scenarios: [calls]\n"
    with pytest.raises(ScenarioError) as raised:
        settings(home, f"suite: nightly\n{scenarios}{line}\n")
    assert str(raised.value).startswith(f"{home / 'nightly.yaml'}:{message}")


def test_a_scenario_that_is_wrong_is_told_with_its_own_place(home: Path) -> None:
    (home / "calls" / "a.yaml").write_text("name: a\nsteps: [shout]\n")
    with pytest.raises(ScenarioError, match=r"calls/a\.yaml:2:9: there is no step 'shout'"):
        settings(home, WHOLE)


def test_a_file_that_is_no_mapping_or_is_not_there_is_refused(home: Path) -> None:
    (home / "list.yaml").write_text("- suite: a\n")
    with pytest.raises(ScenarioError, match="a suite file is a mapping"):
        read_suite(home / "list.yaml")
    with pytest.raises(ScenarioError, match="cannot read the file"):
        read_suite(home / "nowhere.yaml")


def test_a_long_list_is_looked_through_once() -> None:
    seeds = ", ".join(map(str, range(20_000)))
    text = f"suite: s\nscenarios: [a.yaml]\nseeds: [{seeds}]\n"
    assert len(parse_suite_file(text, "s.yaml").seeds) == 20_000
    with pytest.raises(ScenarioError, match="seeds: 7 is there twice"):
        parse_suite_file(text.replace("19999]", "19999, 7]"), "s.yaml")
