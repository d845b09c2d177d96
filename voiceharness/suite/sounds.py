"""The sound files that scenarios name, read here for machines that do not have them.

They travel by their content: what is the same file, or the same sound in two files, is sent once. The steps keep the
names that the user wrote, so results and errors speak of those wherever the call is made.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from voiceharness.errors import OptionError, ScenarioError
from voiceharness.scenario.fields import fields_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from voiceharness.scenario.scenario import Scenario
    from voiceharness.scenario.steps import AnyStep
    from voiceharness.suite.job import Job

__all__ = ["LARGEST", "Sounds", "read_sounds"]

LARGEST: Final = 2**28
"""Bytes that the sound files of a run may have together: 23 minutes of two tracks at 48 kHz and 16 bits."""


@dataclass(frozen=True, slots=True)
class Sounds:
    """``contents`` by their SHA-256; ``named``: for each job, under which of them is what a name stands for."""

    contents: Mapping[str, bytes]
    named: Sequence[Mapping[str, str]]


def read_sounds(jobs: Sequence[Job]) -> Sounds:
    """Read every sound file that the scenarios of jobs name, each once, but for those whose content a job brings along.

    Raises:
        ScenarioError: if a file is not there or cannot be read; with file, line and column of a step that has them.
        OptionError: if together they are larger than what may travel.
    """
    known: dict[str, str] = {}
    contents: dict[str, bytes] = {}
    named: list[dict[str, str]] = []
    for job in jobs:
        digests = {name: _enter(contents, name, content) for name, content in job.sounds.items()}
        for name, step in _names(job.scenario):
            if name in digests:
                continue
            if name not in known:
                known[name] = _enter(contents, name, _content(name, step, job.scenario))
            digests[name] = known[name]
        named.append(digests)
    return Sounds(contents, named)


def _enter(contents: dict[str, bytes], name: str, content: bytes) -> str:
    """Keep a content under its digest, if there is room for it, and return that."""
    digest = hashlib.sha256(content).hexdigest()
    contents[digest] = content
    _check_size(contents, name, len(content))
    return digest


def _names(scenario: Scenario) -> Iterator[tuple[str, AnyStep]]:
    """Tell of every file that a step names, in whichever of its fields."""
    for step in scenario.steps:
        for each in fields_of(type(step)).values():
            name = getattr(step, each.name)
            if each.kind is not None and each.kind.name == "file" and name is not None:
                yield name, step


def _content(name: str, step: AnyStep, scenario: Scenario) -> bytes:
    try:
        if not Path(name).is_file():
            raise _error(step, scenario, f"there is no file {name!r}")
        with Path(name).open("rb") as file:
            return file.read(LARGEST + 1)
    except OSError as error:
        raise _error(step, scenario, f"cannot read {name!r}: {error.strerror}") from error


def _error(step: AnyStep, scenario: Scenario, message: str) -> ScenarioError:
    return step.place.error(message) if step.place else ScenarioError(f"scenario {scenario.name!r}: {message}")


def _check_size(contents: Mapping[str, bytes], name: str, size: int) -> None:
    if sum(map(len, contents.values())) > LARGEST:
        raise OptionError(
            f"the sound files of a run on other machines may have {LARGEST} bytes together, and with {name!r} "
            f"({'more than ' if size > LARGEST else ''}{min(size, LARGEST)} bytes) they have more; "
            "make them shorter, mono, or of a lower rate, or run fewer scenarios at a time"
        )
