"""``voiceharness adapters check``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.conftest import Cli


def test_each_rule_is_told_and_those_that_do_not_apply_say_why(cli: Cli) -> None:
    ended = cli("adapters", "check", "in_process", "--calls", "3")
    assert ended.code == 0
    assert "  kept            one adapter object has one call" in ended.out
    assert "  does not apply  a transport that keeps time asks for each frame once, at 1x: the line keeps" in ended.out
    assert ended.out.splitlines()[-1] == "in_process: 16 rules kept, 0 broken, 2 do not apply"


def test_a_broken_rule_is_code_1_and_says_what_was_seen(cli: Cli) -> None:
    ended = cli("adapters", "check", "boastful", "--calls", "3", "--json")
    assert ended.code == 1
    broken = [each for each in ended.json["rules"] if each["outcome"] == "BROKEN"]
    assert [each["detail"] for each in broken] == ["the agent did not get the interrupt signal within 5 s"]


def test_options_are_given_as_to_a_run(cli: Cli) -> None:
    assert cli("adapters", "check", "in_process", "--calls", "1", "--set", "rate=16000").code == 0
    assert cli("adapters", "check", "in_process", "--calls", "1", "--set", "rate=11025").code == 2


def test_options_that_say_whom_to_call_are_refused_because_the_check_serves_the_agents(cli: Cli) -> None:
    ended = cli("adapters", "check", "twilio", "--calls", "1", "--set", "url=https://agent.example.test/voice")
    assert ended.code == 2
    assert "serves agents of its own" in ended.err
    assert "leave out url" in ended.err
    assert "kept" not in ended.out


def test_an_adapter_without_a_host_is_checked_in_python(cli: Cli) -> None:
    ended = cli("adapters", "check", "turns")
    assert ended.code == 2
    assert "has no host that could serve the kit's agents" in ended.err
