"""``voiceharness doctor``."""

from __future__ import annotations

import platform
import re
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from voiceharness.cli.diagnosis import LICENCES, packages

if TYPE_CHECKING:
    from tests.cli.conftest import Cli


def test_what_is_installed_is_told_with_version_and_licence(cli: Cli) -> None:
    ended = cli("doctor")
    assert ended.code == 0
    assert ended.out.splitlines()[0].startswith(f"voiceharness 0.1.0, Python {platform.python_version()}, ")
    assert re.search(r"installed  numpy [\d.]+ \(always; BSD-3-Clause\)", ended.out)
    assert "installed  in_process (voiceharness 0.1.0)" in ended.out


def test_what_is_missing_is_told_with_the_command_that_brings_it(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def not_installed(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(
        "voiceharness.cli.diagnosis.version", lambda name: "1" if name == "voiceharness" else not_installed(name)
    )
    monkeypatch.setattr("voiceharness.speech.engines.version", not_installed)
    ended = cli("doctor")
    assert ended.code == 0
    assert (
        'missing    hibari-tts (extra speech, demo, all; Apache-2.0): pip install "voiceharness[speech]"' in ended.out
    )
    assert 'missing    transcriber moonshine (moonshine-voice; MIT): pip install "voiceharness[asr]"' in ended.out


def test_an_adapter_whose_packages_are_missing_is_told_with_them(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def only(*names: str) -> None:
        monkeypatch.setattr("voiceharness.cli.adapters._version", lambda name: "1" if name in names else None)

    only("twilio", "websockets", "sounddevice")
    lines = cli("doctor").out.splitlines()
    assert "  installed  in_process (voiceharness 0.1.0)" in lines
    assert "  installed  twilio (voiceharness 0.1.0)" in lines
    assert any(
        line.startswith("  missing    openai_agents (voiceharness 0.1.0; lacks openai-agents>=")
        and line.endswith('): pip install "voiceharness[agents]"')
        for line in lines
    )
    (sip,) = (line for line in lines if line.startswith("  missing    sip ("))
    assert "pjsua2-python" in sip
    assert "baresip-python" in sip
    only("baresip-python", "websockets")
    document = cli("doctor", "--json").json
    problems = {adapter["name"]: adapter["problem"] for adapter in document["adapters"]}
    assert problems["sip"] is None
    assert problems["twilio"].startswith("lacks twilio>=")
    assert "cannot be loaded" in problems["missing"]


def test_everything_can_be_a_document(cli: Cli) -> None:
    document = cli("doctor", "--json").json
    names = {package["name"]: package for package in document["packages"]}
    assert names["numpy"]["extras"] == []
    assert names["moonshine-voice"]["install"] == 'pip install "voiceharness[asr]"'
    assert {engine["name"] for engine in document["engines"]} >= {"hibari", "espeak", "moonshine"}
    assert {adapter["name"] for adapter in document["adapters"]} >= {"in_process", "in_process_turns"}


def test_each_package_is_listed_once() -> None:
    names = [package.name for package in packages()]
    assert len(set(names)) == len(names)


@pytest.mark.checkout
def test_every_licence_is_known_before_installing() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    requirements = [
        *project["dependencies"],
        *(each for extra in project["optional-dependencies"].values() for each in extra),
    ]
    names = {re.split(r"[^\w.-]", each, maxsplit=1)[0].lower() for each in requirements} - {"voiceharness"}
    assert names - set(LICENCES) == set()
