"""Limits of all calls of a suite file, judged by pytest."""

from __future__ import annotations

import pytest

from tests.test_pytest_plugin import GREETING, HOLD, ROOT, Pytester, agent, suite

HELD = "limits: {all_calls: {longest_call: 30s, failed: 0}}\n"
BROKEN = "limits: {all_calls: {longest_call: 1s}}\n"


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Pytester:
    monkeypatch.syspath_prepend(str(ROOT))
    made = Pytester(pytester, monkeypatch)
    made.write(greeting__yaml=GREETING)
    return made


def test_the_limits_are_the_last_test_of_the_file_and_are_told(run: Pytester) -> None:
    run.write(nightly__voice__yaml=suite(HELD))
    result = run("-v")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(
        [
            "*nightly.voice.yaml::greeting[[]ours, seed 1[]] PASSED*",
            "*nightly.voice.yaml::greeting[[]ours, seed 2[]] PASSED*",
            "*nightly.voice.yaml::all_calls PASSED*",
            "*= limits of all calls =*",
            "suite nightly, all 2 calls:",
            "✓ limit held: failed: 0 of 2 calls failed; at most 0 may",
            "✓ limit held: longest_call: at most 30 s: *",
        ]
    )


def test_a_broken_limit_is_a_failure_that_names_the_calls(run: Pytester) -> None:
    run.write(nightly__voice__yaml=suite(BROKEN))
    result = run("--junitxml=junit.xml")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        ["✗ limit broken: longest_call: at most 1 s: *too long", "    1. greeting (ours, seed 1): *"]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    assert "limit broken: longest_call" in (run.folder / "junit.xml").read_text("utf-8")


def test_a_suite_without_such_limits_has_no_such_test(run: Pytester) -> None:
    run.write(nightly__voice__yaml=suite("limits: {each_call: {response_latency: 9s}}\n"))
    run().assert_outcomes(passed=2)


def test_it_says_over_how_many_calls_it_judged_where_some_were_deselected(run: Pytester) -> None:
    run.write(nightly__voice__yaml=suite(HELD))
    result = run("-k", "not 2")
    result.assert_outcomes(passed=2, deselected=1)
    result.stdout.fnmatch_lines(["suite nightly, 1 of 2 calls (1 deselected):"])


def test_a_choice_of_calls_leaves_the_limits_out_unless_it_names_them(run: Pytester) -> None:
    run.write(nightly__voice__yaml=suite(BROKEN))
    run("-m", "smoke").assert_outcomes(passed=2, deselected=1)
    run("-m", "smoke or all_calls").assert_outcomes(passed=2, failed=1)


def test_alone_it_has_nothing_to_judge(run: Pytester) -> None:
    run.write(nightly__voice__yaml=suite(BROKEN))
    result = run("nightly.voice.yaml::all_calls", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*no call of the suite was made*"])


def test_limits_that_too_few_values_tell_of_are_skipped_with_the_reason(run: Pytester) -> None:
    run.write(nightly__voice__yaml=suite("limits: {all_calls: {response_latency: {p95: 1s}}}\n"))
    result = run("-rs")
    result.assert_outcomes(passed=2, skipped=1)
    result.stdout.fnmatch_lines(["*not judged: response_latency.p95: at most 1 s: 2 values are too few*"])


def test_calls_that_failed_or_broke_or_are_impossible_count_as_in_a_run(run: Pytester) -> None:
    run.write(nightly__voice__yaml=suite("limits: {all_calls: {failed: 1}}\n", name="silent"))
    failed = run()
    failed.assert_outcomes(failed=3)
    failed.stdout.fnmatch_lines(["✗ limit broken: failed: 2 of 2 calls failed; at most 1 may, so 1 too many"])
    broken = run(agent("broken"))
    broken.assert_outcomes(errors=2, failed=1)
    broken.stdout.fnmatch_lines(["✗ limit broken: failed: 2 of 2 calls failed; *"])
    run.write(greeting__yaml=HOLD)
    run().assert_outcomes(skipped=2, passed=1)


def test_calls_that_something_else_skips_are_told(run: Pytester) -> None:
    run.write(
        nightly__voice__yaml=suite(HELD),
        conftest__py=(
            "import pytest\n\n"
            "def pytest_runtest_setup(item):\n"
            "    if 'seed 1' in item.name:\n"
            "        pytest.skip('not today')\n"
        ),
    )
    result = run()
    result.assert_outcomes(passed=2, skipped=1)
    result.stdout.fnmatch_lines(["suite nightly, 1 of 2 calls (1 skipped):"])


def test_the_limits_come_after_the_calls_in_whatever_order_tests_are_put(run: Pytester) -> None:
    run.write(
        nightly__voice__yaml=suite(HELD),
        later__voice__yaml=suite(HELD).replace("nightly", "later"),
        conftest__py="def pytest_collection_modifyitems(items):\n    items.reverse()\n",
    )
    result = run("-v")
    result.assert_outcomes(passed=6)
    result.stdout.fnmatch_lines(
        ["*nightly*::greeting[[]ours, seed 1[]]*", "*nightly*::all_calls*", "*later*::greeting*", "*later*::all_calls*"]
    )


@pytest.mark.parametrize(
    ("distribution", "outcomes", "told"),
    [
        ("loadfile", {"passed": 3}, "suite nightly, all 2 calls:"),
        ("each", {"passed": 6}, "suite nightly, all 2 calls:"),
    ],
)
def test_with_xdist_the_worker_that_made_all_calls_judges_them(
    distribution: str, outcomes: dict[str, int], told: str, run: Pytester
) -> None:
    run.write(nightly__voice__yaml=suite(HELD))
    result = run("-p", "xdist.plugin", "-n", "2", f"--dist={distribution}")
    result.assert_outcomes(**outcomes)
    result.stdout.fnmatch_lines([told])


def test_with_xdist_calls_that_other_workers_made_leave_the_limits_unjudged(run: Pytester) -> None:
    run.write(nightly__voice__yaml=suite(BROKEN))
    result = run("-p", "xdist.plugin", "-n", "3", "--dist=load", "-rs")
    result.assert_outcomes(passed=2, skipped=1)
    result.stdout.fnmatch_lines(["*other workers made 2 of the suite's calls; --dist=loadfile keeps them together*"])


def test_a_file_of_scenarios_has_no_such_test(run: Pytester) -> None:
    (run.folder / "greeting.yaml").rename(run.folder / "greeting.voice.yaml")
    run(agent("answering")).assert_outcomes(passed=1)


def test_a_module_that_is_skipped_as_a_whole_spoils_nothing(run: Pytester) -> None:
    run.write(nightly__voice__yaml=suite(HELD), test_other__py='import pytest\npytest.importorskip("no_such_module")\n')
    result = run("nightly.voice.yaml", "test_other.py")
    result.assert_outcomes(passed=3, skipped=1)
    result.stdout.fnmatch_lines(["suite nightly, all 2 calls:"])
