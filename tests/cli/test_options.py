"""An adapter's options are written once, and mean the same in Python, YAML, the pytest marker and ``--set``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import pytest

from voiceharness.adapter import Option
from voiceharness.agent import PhoneAgent  # noqa: TC001  the registry reads the types of options at run time
from voiceharness.doubles import SilentAgent
from voiceharness_adapters.in_process import InProcess

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli

__all__ = ["Keeping"]

made: list[dict[str, Any]] = []


class Keeping(InProcess):
    """Keeps the options that it was made with."""

    def __init__(
        self,
        agent: PhoneAgent,
        *,
        wait: Annotated[float, Option("how long to wait", "s")] = 1.0,
        tries: Annotated[int | None, Option("how often to try")] = None,
        strict: Annotated[bool, Option("whether to be strict")] = False,
        mode: Annotated[Literal["slow", "fast"], Option("how to go about it")] = "slow",
        label: Annotated[str, Option("what to call it")] = "",
        rate: Annotated[int, Option("line rate", "Hz")] = 8000,
    ) -> None:
        super().__init__(agent, rate=rate)
        options = {"wait": wait, "tries": tries, "strict": strict, "mode": mode, "label": label, "rate": rate}
        made.append({name: (type(value), value) for name, value in options.items()})


OPTIONS = {"wait": 0.25, "tries": 3, "strict": True, "mode": "fast", "label": "007"}

CALL = """\
name: a call
steps:
  - wait: 100ms
"""

IN_YAML = """\
adapter: keeping
options: {wait: 0.25, tries: 3, strict: true, mode: fast, label: "007"}
"""

MARKED = """\
import pytest

from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Wait


@pytest.mark.voiceharness(
    adapter="keeping", agent="voiceharness.doubles:SilentAgent",
    wait=0.25, tries=3, strict=True, mode="fast", label="007",
)
def test_a_call(voice_call):
    assert voice_call(Scenario("a call", [Wait(0.1)])).passed
"""

SET = ("wait=0.25", "tries=3", "strict=yes", "mode=fast", "label=007")


@pytest.fixture(autouse=True)
def keeping(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Offer the adapter, as a package would."""
    made.clear()
    info = tmp_path / "offered" / "keeping_pack-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: keeping-pack\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[voiceharness.adapters]\nkeeping = tests.cli.test_options:Keeping\n"
        "[voiceharness.hosts]\nkeeping = voiceharness_adapters.in_process:host\n"
    )
    monkeypatch.syspath_prepend(str(info.parent))


def test_four_ways_make_the_same_adapter(cli: Cli, pytester: pytest.Pytester) -> None:
    Keeping(SilentAgent(), **OPTIONS)  # type: ignore[arg-type]  # one mapping of options of several types
    agent = ("--agent", "voiceharness.doubles:SilentAgent")
    cli.write("typed.yaml", CALL + IN_YAML)
    assert cli("run", str(cli.folder / "typed.yaml"), *agent).code == 0
    cli.write("plain.yaml", CALL)
    settings = [part for setting in SET for part in ("--set", setting)]
    assert cli("run", str(cli.folder / "plain.yaml"), "--adapter", "keeping", *agent, *settings).code == 0
    pytester.makepyfile(MARKED)
    pytester.runpytest_inprocess("-q", "-p", "no:randomly").assert_outcomes(passed=1)
    assert len(made) == 4
    assert made == [made[0]] * 4
    assert {name: value for name, (_, value) in made[0].items()} == {**OPTIONS, "rate": 8000}


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("wait=long", "option 'wait' must be float, not 'long'"),
        ("mode=sideways", "option 'mode' must be 'slow' or 'fast', not 'sideways'"),
        ("wiat=1", "has no option 'wiat'; it has: agent, wait, tries"),
    ],
)
def test_a_wrong_option_is_refused_alike_by_set_and_yaml(cli: Cli, setting: str, message: str) -> None:
    name, _, value = setting.partition("=")
    cli.write("wrong.yaml", f"{CALL}adapter: keeping\noptions: {{{name}: {value}}}\n")
    cli.write("plain.yaml", CALL)
    agent = ("--agent", "voiceharness.doubles:SilentAgent")
    by_set = cli("run", "plain.yaml", "--adapter", "keeping", *agent, "--set", setting)
    in_yaml = cli("run", "wrong.yaml", *agent)
    for ended in (by_set, in_yaml):
        assert ended.code == 2
        assert message in ended.out + ended.err
    assert made == []


def test_they_are_shown_with_units_and_defaults(cli: Cli) -> None:
    lines = cli("adapters", "show", "keeping").out.splitlines()
    assert "  wait (float, s; default 1.0): how long to wait" in lines
    assert "  tries (int or none; default None): how often to try" in lines
    assert "  mode ('slow' or 'fast'; default slow): how to go about it" in lines
    assert "comes with keeping-pack 1.0" in lines
    assert "needs nothing else installed" in lines


def test_what_an_adapter_needs_installed_is_shown_with_how_to_get_it(cli: Cli) -> None:
    lines = cli("adapters", "show", "twilio").out.splitlines()
    assert 'needs the extra twilio (pip install "voiceharness[twilio]"):' in lines
    assert any(line.startswith("  websockets>=15: ") for line in lines)
    needs = cli("adapters", "show", "twilio", "--json").json["needs"]
    assert [need["requirement"] for need in needs] == ["twilio>=9", "websockets>=15"]
