"""``voiceharness adapters``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.conftest import Cli


def test_installed_adapters_are_listed_broken_ones_too(cli: Cli) -> None:
    ended = cli("adapters")
    lines = {line.split()[0]: line for line in ended.out.splitlines()}
    assert ended.code == 0
    assert lines["in_process"].split(maxsplit=1)[1].startswith("One call to a PhoneAgent")
    assert "[vh-adapters-for-tests 1.0]" in lines["unreachable"]
    assert "cannot be loaded" in lines["missing"]


def test_the_list_can_be_a_document(cli: Cli) -> None:
    entries = {entry["name"]: entry["broken"] for entry in cli("adapters", "--json").json["adapters"]}
    assert entries["in_process"] is False
    assert entries["missing"] is True


def test_an_adapter_is_shown_with_options_units_and_capabilities(cli: Cli) -> None:
    lines = cli("adapters", "show", "in_process").out.splitlines()
    assert "  rate (int, Hz; default 8000): line rate: 8000, 16000 or 48000" in lines
    assert any(line.startswith("  agent (PhoneAgent; required):") for line in lines)
    assert "  dtmf: event, inband" in lines
    assert "  rates: 8000, 16000, 48000" in lines
    assert "  interruption: yes" in lines


def test_that_can_be_a_document(cli: Cli) -> None:
    document = cli("adapters", "show", "turns", "--json").json
    options = {option["name"]: option for option in document["options"]}
    assert options["answer"]["required"] is True
    assert options["synthesizer"]["type"] == "Synthesizer or str or none"
    assert document["capabilities"]["directions"] == ["dial"]
    assert document["hosts_agents"] is False


def test_an_adapter_that_is_not_installed_is_an_error(cli: Cli) -> None:
    ended = cli("adapters", "show", "pigeon")
    assert ended.code == 2
    assert "in_process" in ended.err
