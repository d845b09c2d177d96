"""Sound files on their way to other machines."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from voiceharness.errors import OptionError, ScenarioError
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Interrupt, Say, Wait
from voiceharness.scenario.triggers import AfterSeconds
from voiceharness.scenario.yaml_file import load_scenarios
from voiceharness.suite import Job, sounds
from voiceharness.suite.sounds import read_sounds

if TYPE_CHECKING:
    from voiceharness.scenario.steps import AnyStep

__all__: list[str] = []


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def job(*steps: AnyStep) -> Job:
    return Job(Scenario(name="speaks", steps=steps), Path("out"))


def test_what_several_names_stand_for_is_read_once() -> None:
    for name, content in (("a.wav", b"one"), ("b.wav", b"one"), ("c.wav", b"other")):
        Path(name).write_bytes(content)
    says = job(Say(file="a.wav"), Wait(1.0), Say(file="b.wav"))
    read = read_sounds([says, job(Interrupt(file="c.wav", after=AfterSeconds(1.0))), job(Say("hello")), says])
    one, other = (hashlib.sha256(content).hexdigest() for content in (b"one", b"other"))
    assert read.contents == {one: b"one", other: b"other"}
    assert read.named == [{"a.wav": one, "b.wav": one}, {"c.wav": other}, {}, {"a.wav": one, "b.wav": one}]


def test_what_a_job_brings_along_is_not_read_here() -> None:
    Path("a.wav").write_bytes(b"here")
    says = job(Say(file="a.wav"))
    read = read_sounds([replace(says, sounds={"a.wav": b"there"}), says])
    assert [[read.contents[digest] for digest in each.values()] for each in read.named] == [[b"there"], [b"here"]]


def test_a_file_that_has_gone_is_told_at_its_place() -> None:
    Path("call.yaml").write_text("name: speaks\nsteps:\n  - say: {file: a.wav}\n", "utf-8")
    Path("a.wav").touch()
    (scenario,) = load_scenarios(Path("call.yaml"))
    Path("a.wav").unlink()
    with pytest.raises(ScenarioError, match=r"call\.yaml:3:\d+: there is no file 'a\.wav'"):
        read_sounds([Job(scenario, Path("out"))])


def test_a_file_of_a_step_without_a_place_is_told_with_its_scenario() -> None:
    Path("folder").mkdir()
    with pytest.raises(ScenarioError, match="scenario 'speaks': there is no file 'folder'"):
        read_sounds([job(Say(file="folder"))])


def test_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sounds, "LARGEST", 10)
    for name, content in (("a.wav", b"six..."), ("b.wav", b"six..."), ("c.wav", b"five."), ("d.wav", bytes(100))):
        Path(name).write_bytes(content)
    assert len(read_sounds([job(Say(file="a.wav"), Say(file="b.wav"))]).contents) == 1
    with pytest.raises(OptionError, match=r"may have 10 bytes together, and with 'c\.wav' \(5 bytes\) they have more"):
        read_sounds([job(Say(file="a.wav")), job(Say(file="c.wav"))])
    with pytest.raises(OptionError, match=r"with 'd\.wav' \(more than 10 bytes\) they have more"):
        read_sounds([job(Say(file="d.wav"))])
