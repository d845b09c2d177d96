"""The pytest fixtures, each in a pytest run of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

__all__: list[str] = []


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Callable[..., pytest.RunResult]:
    """Write a test module and run it with these fixtures and no other plug-in."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def run(source: str, *options: str) -> pytest.RunResult:
        pytester.makepyfile(source)
        return pytester.runpytest("-p", "voiceharness.scripted.pytest_fixtures", *options)

    return run


def test_a_script_that_was_played_out_passes(run: Callable[..., pytest.RunResult]) -> None:
    result = run(
        """
        def test(scripted_transport):
            first, second = scripted_transport(), scripted_transport(ambient={"send_audio"})
            first.expect_call("connect")
            first.expect_call("close")
            first.connect_nowait()
            second.send_audio(b"")
            first.close()
        """
    )
    result.assert_outcomes(passed=1)


def test_what_is_left_over_is_an_error_of_the_teardown(run: Callable[..., pytest.RunResult]) -> None:
    result = run(
        """
        def test(scripted_transport):
            scripted_transport().interrupt()
            scripted_transport().expect_call("mute")
        """
    )
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        [
            "*IncompleteRealtimeScenarioError: the script is incomplete: calls nobody expected: 1 interrupt*",
            "*(scripted transport 1)*",
            "*-> interrupt*",
            "*also scripted transport 2: the script is incomplete: expectations never met: 1 mute*",
        ]
    )


def test_a_transport_left_open_is_an_error_unless_it_may_be(run: Callable[..., pytest.RunResult]) -> None:
    source = """
        import pytest

        {mark}
        def test(scripted_transport):
            transport = scripted_transport()
            transport.expect_call("connect")
            transport.connect_nowait()
        """
    strict = run(source.format(mark=""))
    strict.assert_outcomes(passed=1, errors=1)
    strict.stdout.fnmatch_lines(["*RealtimeTransportNotClosedError: the transport is still connected*"])
    run(source.format(mark="@pytest.mark.scripted_left_open"), "--strict-markers").assert_outcomes(passed=1)


FAILING = """
    def test(scripted_transport):
        transport = scripted_transport()
        transport.connect_nowait()
        transport.send_message("a secret")
        assert False, "the test's own failure"
    """


def test_a_failed_test_gets_a_section_and_no_second_error(run: Callable[..., pytest.RunResult]) -> None:
    result = run(FAILING)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*the test's own failure*",
            "*- scripted transport 1 -*",
            "the script is incomplete: calls nobody expected: 1 connect, 2 send_message",
            "the transport is still connected*",
            "*-> connect",
            "*-> send_message",
        ]
    )
    assert "a secret" not in result.stdout.str().replace('send_message("a secret")', "")


def test_a_failed_test_is_checked_all_the_same_if_asked_for(run: Callable[..., pytest.RunResult]) -> None:
    run(FAILING, "--scripted-always-check").assert_outcomes(failed=1, errors=1)


def test_a_test_that_failed_in_its_setup_is_not_checked(run: Callable[..., pytest.RunResult]) -> None:
    result = run(
        """
        import pytest

        @pytest.fixture
        def broken(scripted_transport):
            scripted_transport().connect_nowait()
            raise OSError("setup")

        def test(broken):
            pass
        """
    )
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*- scripted transport 1 -*"])


def test_models_and_sessions_are_checked_as_well(run: Callable[..., pytest.RunResult]) -> None:
    result = run(
        """
        from voiceharness.scripted.model import ScriptedModel, model_response
        from voiceharness.scripted.output import assistant_message
        from voiceharness.scripted.session import SessionStep

        class Carrier:
            def dial(self, number): ...

        def test_model(scripted_model):
            scripted_model([model_response([assistant_message("hello")])])

        def test_session(scripted_session):
            scripted_session([SessionStep("dial", result=1)], spec=Carrier)

        def test_both(scripted_model, scripted_session):
            scripted_model()
            double = scripted_session([SessionStep("dial", result=1)], spec=Carrier)
            assert double.session.dial("+15550100") == 1
        """
    )
    result.assert_outcomes(passed=3, errors=2)
    result.stdout.fnmatch_lines(["*UnconsumedModelStepsError*", "*steps left: 1*"])
    result.stdout.fnmatch_lines(["*UnconsumedSandboxStepsError*", "*(scripted session 1)*", "*steps left: 1*"])


def test_a_double_of_ones_own_can_be_tracked(run: Callable[..., pytest.RunResult]) -> None:
    result = run(
        """
        class Mine:
            def assert_complete(self):
                raise ValueError("not yet")

        def test(scripted_doubles):
            scripted_doubles.track("mine", Mine())
        """
    )
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*ValueError: not yet*", "*(mine 1)*"])


def test_the_time_limit_of_scenarios_may_be_set_for_all(
    run: Callable[..., pytest.RunResult], pytester: pytest.Pytester
) -> None:
    source = """
        import asyncio
        import pytest
        from voiceharness.clock import run_virtual
        from voiceharness.scripted.errors import ScenarioTimedOut

        def test(scripted_transport):
            async def run():
                never = asyncio.get_running_loop().create_future
                with pytest.raises(ScenarioTimedOut, match="within 30 s"):
                    await scripted_transport().run_scenario(scenario=lambda _: None, exercise=never)
                with pytest.raises(ScenarioTimedOut, match="within 5 s"):
                    await scripted_transport(scenario_timeout=5).run_scenario(scenario=lambda _: None, exercise=never)

            run_virtual(run())
        """
    pytester.makeini("[pytest]\nscripted_scenario_timeout = 30")
    run(source).assert_outcomes(passed=1)
    pytester.makeini("[pytest]\nscripted_scenario_timeout = soon")
    wrong = run(source)
    wrong.assert_outcomes(errors=1)
    wrong.stdout.fnmatch_lines(["*scripted_scenario_timeout = soon: give a number of seconds*"])
