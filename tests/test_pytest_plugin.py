"""The pytest plugin, in pytest runs of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli import agents
from tests.report.calls import sound
from tests.report.disks import fill_up
from voiceharness.audio.wav import write_wav
from voiceharness.report.artefacts import load_call

ROOT = Path(__file__).parents[1]

GREETING = """\
name: greeting
tags: [smoke]
steps:
  - say: {file: hello.wav}
  - hear: {within: 1s}
"""
HOLD = "name: hold\nsteps:\n  - line: hold\n"

IN_PYTHON = """\
import pytest
from tests.cli.agents import answering, silent
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Hear, Say

GREETING = Scenario(name="greeting", steps=[Say(file="hello.wav"), Hear(within=1.0)])

"""


class Pytester:
    """pytest with this plugin alone, in this process, in a folder with one sound."""

    def __init__(self, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = pytester.path
        self._pytester = pytester
        monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        write_wav(self.folder / "hello.wav", sound(1.0).samples, 8000)

    def write(self, **files: str) -> None:
        for name, text in files.items():
            (self.folder / name.replace("__", ".")).write_text(text, encoding="utf-8")

    def __call__(self, *options: str) -> pytest.RunResult:
        return self._pytester.runpytest("-p", "voiceharness", "-W", "error", "--strict-markers", *options)


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Pytester:
    monkeypatch.syspath_prepend(str(ROOT))
    return Pytester(pytester, monkeypatch)


def agent(name: str) -> str:
    return f"--voiceharness-agent={agents.__name__}:{name}"


# Files


def test_each_scenario_of_a_file_is_a_test(run: Pytester) -> None:
    second = GREETING.replace("name: greeting", "name: again")
    items = "".join(f"- {text[:-1].replace(chr(10), chr(10) + '  ')}\n" for text in (GREETING, second))
    run.write(calls__voice__yaml=items, other__yaml="not: a scenario")
    result = run(agent("answering"), "-v")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*calls.voice.yaml::greeting PASSED*", "*calls.voice.yaml::again PASSED*"])


def test_an_unmet_expectation_is_a_failure_that_tells_the_verdict_and_no_traceback(run: Pytester) -> None:
    """Case B58."""
    run.write(calls__voice__yaml=GREETING)
    result = run(agent("silent"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*failed: greeting (in_process, *", "*no_answer: in_process: no speech of the agent*"])
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*pytest_plugin.py*")


@pytest.mark.parametrize(
    ("name", "told"),
    [("violating", "*protocol fault bad_frame: from …34*"), ("broken", "*OptionError: *no model*")],
)
def test_a_call_that_cannot_be_judged_is_an_error(name: str, told: str, run: Pytester) -> None:
    """Case B58."""
    run.write(calls__voice__yaml=GREETING)
    result = run(agent(name))
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([told])


def test_junit_tells_failures_from_errors(run: Pytester) -> None:
    """Case B58."""
    run.write(calls__voice__yaml=GREETING)
    run(agent("silent"), "--junitxml=failed.xml")
    run(agent("violating"), "--junitxml=error.xml")
    assert 'errors="0" failures="1"' in (run.folder / "failed.xml").read_text()
    assert 'errors="1" failures="0"' in (run.folder / "error.xml").read_text()
    assert '<property name="voiceharness_outcome" value="failed"' in (run.folder / "failed.xml").read_text()


def test_an_unsupported_scenario_is_skipped_with_the_reason_or_fails_on_demand(run: Pytester) -> None:
    run.write(calls__voice__yaml=HOLD)
    skipped = run(agent("answering"), "-rs")
    skipped.assert_outcomes(skipped=1)
    skipped.stdout.fnmatch_lines(["*unsupported: adapter 'in_process' does not support call_control:hold*"])
    failed = run(agent("answering"), "--voiceharness-unsupported=fail")
    failed.assert_outcomes(failed=1)
    failed.stdout.fnmatch_lines(["*does not support call_control:hold*"])


def test_a_file_that_cannot_be_used_is_an_error_with_its_place(run: Pytester) -> None:
    run.write(calls__voice__yaml="name: bad\nsteps:\n  - shout: hello\n")
    result = run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*calls.voice.yaml:3:*shout*"])


def test_patterns_agent_and_folder_can_stand_in_the_ini_file(run: Pytester) -> None:
    run.write(
        scenario_one__yml=GREETING,
        pytest__ini=(
            "[pytest]\nvoiceharness_files = scenario_*.yml\nvoiceharness_out = evidence\n"
            "voiceharness_agent = tests.cli.agents:answering\n"
        ),
    )
    run().assert_outcomes(passed=1)
    (folder,) = (run.folder / "evidence").glob("*/001")
    assert load_call(folder).duration > 2


def test_tags_select_scenarios(run: Pytester) -> None:
    run.write(calls__voice__yaml=GREETING, more__voice__yaml=GREETING.replace("smoke", "slow"))
    run(agent("answering"), "-k", "smoke").assert_outcomes(passed=1, deselected=1)


def test_tags_are_marks_but_for_those_that_do_something(run: Pytester) -> None:
    tags = "tags: [smoke, barge-in, skip, two words, '1st']"
    run.write(calls__voice__yaml=GREETING.replace("tags: [smoke]", tags), other__voice__yaml=HOLD)
    run(agent("answering"), "-m", "smoke").assert_outcomes(passed=1, deselected=1)
    run(agent("answering"), "-m", "barge-in and smoke").assert_outcomes(passed=1, deselected=1)
    run(agent("answering"), "-m", "not smoke").assert_outcomes(skipped=1, deselected=1)
    run(agent("answering"), "-k", "skip").assert_outcomes(passed=1, deselected=1)


# Suite files


def suite(more: str = "", *, name: str = "answering") -> str:
    entry = f"{{adapter: in_process, label: ours, agent: '{agents.__name__}:{name}'}}"
    return f"suite: nightly\nscenarios: [greeting.yaml]\nadapters: [{entry}]\nseeds: [1, 2]\n{more}"


def test_each_call_of_a_suite_file_is_a_test(run: Pytester) -> None:
    run.write(greeting__yaml=GREETING, nightly__voice__yaml=suite("lines: [own, {label: far, delay: 50ms}]\n"))
    result = run("-v", "--voiceharness-out=out")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["*nightly.voice.yaml::greeting[[]ours, far, seed 2[]] PASSED*"])
    run("-m", "smoke", "-k", "far").assert_outcomes(passed=2, deselected=2)
    assert len(list((run.folder / "out").glob("*/001/result.json"))) == 4


def test_the_options_go_before_a_suite_file_and_the_ini_file_after_it(run: Pytester) -> None:
    run.write(greeting__yaml=GREETING, nightly__voice__yaml=suite())
    run.write(pytest__ini=f"[pytest]\nvoiceharness_agent = {agents.__name__}:silent\n")
    run().assert_outcomes(passed=2)
    run(agent("silent")).assert_outcomes(failed=2)
    run.write(nightly__voice__yaml="suite: nightly\nscenarios: [greeting.yaml]\n")
    run().assert_outcomes(failed=1)


def test_what_a_suite_file_knows_to_be_impossible_is_skipped_or_fails_on_demand(run: Pytester) -> None:
    run.write(greeting__yaml=HOLD, nightly__voice__yaml=suite())
    skipped = run("-rs")
    skipped.assert_outcomes(skipped=2)
    skipped.stdout.fnmatch_lines(["*unsupported: adapter 'in_process' does not support call_control:hold*"])
    run("--voiceharness-unsupported=fail").assert_outcomes(failed=2)


def test_a_suite_file_that_cannot_be_used_is_an_error_with_its_place(run: Pytester) -> None:
    run.write(nightly__voice__yaml="suite: nightly\nscenarios: [nowhere.yaml]\n")
    result = run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*nightly.voice.yaml:2:13: there is no scenario file 'nowhere.yaml'*"])


def test_a_secret_of_a_suite_file_is_told_nowhere(run: Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    run.write(
        greeting__yaml=GREETING, nightly__voice__yaml=suite().replace("ours,", "ours, options: {goodbye: '${BYE}'},")
    )
    result = run("--collect-only")
    result.stdout.fnmatch_lines(["*greeting[[]ours, seed 1[]]*"])
    result = run()
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["*the variable BYE is not set*"])
    monkeypatch.setenv("BYE", "open-sesame")
    result = run("--junitxml=junit.xml")
    result.assert_outcomes(errors=2)
    result.stdout.no_fnmatch_line("*open-sesame*")
    assert "open-sesame" not in (run.folder / "junit.xml").read_text()


# The fixture and the marker


def test_a_test_runs_a_scenario_and_looks_at_its_result(run: Pytester) -> None:
    run.write(
        test_it__py=IN_PYTHON
        + """
@pytest.mark.voiceharness(agent=answering)
def test_greeting(voice_call):
    result = voice_call(GREETING)
    assert result.passed and result.virtual
    assert result.metrics.latencies[0] == pytest.approx(0.5, abs=0.01)

@pytest.mark.voiceharness(agent=answering, rate=16000)
class TestMarkers:
    @pytest.mark.voiceharness(agent=silent, rate=8000)
    def test_the_nearest_marker_wins(self, voice_call):
        assert voice_call(GREETING).outcome == "failed"
        assert voice_call(GREETING, agent=answering).outcome == "passed"
"""
    )
    run("--voiceharness-out=evidence").assert_outcomes(passed=2)
    assert len(list((run.folder / "evidence").glob("*/*/recording.wav"))) == 3


def test_a_scenario_of_a_file_is_found_beside_the_test(run: Pytester) -> None:
    run.write(
        greeting__yaml=GREETING,
        test_it__py=IN_PYTHON
        + """
def test_greeting(voice_call):
    assert voice_call("greeting.yaml", agent=answering).passed
""",
    )
    run().assert_outcomes(passed=1)


def test_a_test_that_fails_shows_what_was_heard(run: Pytester) -> None:
    run.write(
        test_it__py=IN_PYTHON + "def test_it(voice_call):\n    assert voice_call(GREETING, agent=silent).passed\n"
    )
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*voiceharness*", "*failed: greeting (in_process*", "*no_answer:*", "*2. hear*"])


def test_an_unsupported_scenario_skips_the_test(run: Pytester) -> None:
    run.write(
        test_it__py=IN_PYTHON
        + """
from voiceharness.scenario.steps import Line
def test_it(voice_call):
    voice_call(Scenario(name="hold", steps=[Line("hold")]), agent=answering)
    raise AssertionError("not reached")
"""
    )
    run().assert_outcomes(skipped=1)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("voice_call(GREETING)", "*needs the option 'agent'*"),
        ("voice_call(GREETING, agent=answering, speed=3)", "*has no option 'speed'*"),
        ("voice_call(GREETING, agent=dict)", "*makes no PhoneAgent*"),
        (
            "import asyncio\n    async def main(): voice_call(GREETING, agent=answering)\n    asyncio.run(main())",
            "*run_call*",
        ),
    ],
)
def test_what_cannot_be_called_says_so(body: str, told: str, run: Pytester) -> None:
    run.write(test_it__py=IN_PYTHON + f"def test_it(voice_call):\n    {body}\n")
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([told])


def test_an_option_of_the_marker_that_nobody_knows_is_told_without_the_way_through_the_harness(run: Pytester) -> None:
    run.write(
        test_it__py=IN_PYTHON + "@pytest.mark.voiceharness(agent=answering, options={'rate': 8000})\n"
        "def test_it(voice_call): voice_call(GREETING)\n"
    )
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["E *OptionError: adapter 'in_process' has no option 'options'; it has: agent, rate, *"]
    )
    result.stdout.no_fnmatch_line("*options.py*")
    result.stdout.no_fnmatch_line("*def run_to_result*")


def test_the_marker_takes_names_only(run: Pytester) -> None:
    run.write(
        test_it__py=IN_PYTHON
        + "@pytest.mark.voiceharness('in_process')\ndef test_it(voice_call): voice_call(GREETING)\n"
    )
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the marker voiceharness takes names*"])


# The plugin itself


def test_the_fixtures_of_the_scripted_doubles_come_along(run: Pytester) -> None:
    run.write(test_it__py="def test_it(scripted_doubles, voice_call): pass\n")
    run().assert_outcomes(passed=1)


def test_without_the_plugin_nothing_is_collected_and_nothing_breaks(run: Pytester) -> None:
    run.write(calls__voice__yaml=GREETING, test_it__py="def test_it(): pass\n")
    run("-p", "no:voiceharness").assert_outcomes(passed=1)


def test_loading_the_plugin_loads_no_heavy_library() -> None:
    code = "import sys, voiceharness.pytest_plugin, voiceharness.scripted.pytest_fixtures; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert {"numpy", "scipy", "yaml", "click", "agents", "asyncio"} & set(done.stdout.split()) == set()


# Evidence that cannot be saved


@pytest.mark.parametrize("files", [{"calls__voice__yaml": GREETING}, {"test_a__py": "def test_a(): pass"}])
def test_a_folder_that_cannot_be_written_is_refused_before_the_first_test(files: dict[str, str], run: Pytester) -> None:
    run.write(taken="", **files)
    result = run(agent("answering"), "--voiceharness-out=taken/out")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: the folder for evidence: cannot write */taken/out/*: Not a directory; *"])
    assert result.outlines == []  # no test was begun


def test_the_folder_is_not_asked_for_where_nothing_is_called(run: Pytester) -> None:
    run.write(taken="", calls__voice__yaml=GREETING)
    assert run("--voiceharness-out=taken/out", "--collect-only").ret == pytest.ExitCode.OK
    run("--voiceharness-out=there", agent("answering")).assert_outcomes(passed=1)
    assert [path for path in (run.folder / "there").iterdir() if path.is_file()] == []


def test_a_call_whose_evidence_cannot_be_saved_is_an_error_with_its_verdict(
    run: Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_up(monkeypatch, lambda path: path.name == "recording.wav")
    run.write(
        calls__voice__yaml=GREETING,
        nightly__voice__yaml="suite: nightly\nscenarios: [calls.voice.yaml]\nlimits: {all_calls: {failed: 0}}\n",
        test_it__py=f"{IN_PYTHON}def test_it(voice_call):\n    voice_call(GREETING)\n",
    )
    result = run("--voiceharness-out=out", agent("answering"), "-p", "no:randomly", "-rA")
    result.assert_outcomes(errors=2, failed=1, passed=1)
    result.stdout.fnmatch_lines(
        ["*OptionError: cannot save the call in *: No space left on device", "*passed: greeting*"]
    )
    result.stdout.fnmatch_lines(["*limit held: failed*"])
