"""The suite's own rules, tried on small suites of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

__all__: list[str] = []

MARKERS = "[pytest]\nmarkers =\n    realtime: real clock\n    checkout: source tree\n    virtual: no real time\n"


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    """A suite under this suite's rules."""
    rules = (Path(__file__).parent / "conftest.py").read_text(encoding="utf-8")
    pytester.makeconftest(rules)
    pytester.makeini(MARKERS)
    return pytester


def test_a_skip_for_something_not_installed_fails_on_ci_alone(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.makepyfile(
        test_inside='import pytest\ndef test_peer(): pytest.skip("not installed: a peer")',
        test_by_mark='import pytest\n@pytest.mark.skipif(True, reason="not installed: a peer")\ndef test_peer(): pass',
        test_by_import='import pytest\ndef test_peer(): pytest.importorskip("no_such_module_anywhere")',
        test_whole_module='import pytest\npytest.skip("not installed: a peer", allow_module_level=True)',
    )
    monkeypatch.setenv("CI", "")
    suite.runpytest().assert_outcomes(skipped=4)

    monkeypatch.setenv("CI", "true")
    result = suite.runpytest("--continue-on-collection-errors")
    result.assert_outcomes(failed=2, errors=2)  # by mark in set-up, the module in collection
    result.stdout.fnmatch_lines(["*(a failure on CI, where nothing may be missing)"] * 4)


def test_a_skip_for_another_reason_stays_a_skip_on_ci(suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    suite.makepyfile('import pytest\ndef test_it(): pytest.skip("no such thing on this platform")')
    monkeypatch.setenv("CI", "true")
    suite.runpytest().assert_outcomes(skipped=1)


def test_every_test_is_virtual_unless_it_needs_the_clock_or_the_checkout(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        """
        import pytest

        def test_plain(): pass

        @pytest.mark.realtime
        def test_slow(): pass

        @pytest.mark.checkout
        def test_source(): pass
        """
    )
    result = suite.runpytest("-m", "virtual", "-v")
    result.assert_outcomes(passed=1, deselected=2)
    result.stdout.fnmatch_lines(["*::test_plain PASSED*"])


def test_random_order_has_one_seed_for_all_workers(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("number", range(8))
        def test_seed(number, request, testrun_uid):
            assert request.config.getoption("randomly_seed") == 4821
            assert request.config.workerinput["workercount"] == 2
        """
    )
    suite.runpytest_subprocess("-n", "2", "-p", "randomly", "--randomly-seed=4821").assert_outcomes(passed=8)
