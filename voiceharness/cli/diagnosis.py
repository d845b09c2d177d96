"""``voiceharness doctor``: what is installed, what is missing, how to get it, and under which licence."""

from __future__ import annotations

import platform
import re
from collections import Counter
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from typing import TYPE_CHECKING, Any, Final

from voiceharness.cli.adapters import lacking, needs_of
from voiceharness.cli.output import tell, tell_json
from voiceharness.errors import VoiceHarnessError
from voiceharness.registry import load_adapter, plugins
from voiceharness.report.serialization import plain
from voiceharness.speech.engines import engine_info

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from voiceharness.registry import Plugin
    from voiceharness.speech.engines import EngineInfo

__all__ = ["LICENCES", "Package", "diagnose", "packages"]

LICENCES: Final[Mapping[str, str]] = {
    "baresip-python": "BSD-2-Clause",
    "click": "BSD-3-Clause",
    "distributed": "BSD-3-Clause",
    "espeakng-loader": "GPL-3.0-or-later",
    "hibari-tts": "Apache-2.0",
    "moonshine-voice": "MIT",
    "numpy": "BSD-3-Clause",
    "openai-agents": "MIT",
    "orjson": "MPL-2.0 AND (Apache-2.0 OR MIT)",
    "picows": "MIT",
    "pjsua2-python": "GPL-2.0-or-later",
    "pyyaml": "MIT",
    "scipy": "BSD-3-Clause",
    "sounddevice": "MIT",
    "soundfile": "BSD-3-Clause",
    "twilio": "MIT",
    "uvloop": "Apache-2.0 OR MIT",
    "webrtcvad-wheels": "MIT",
    "websockets": "BSD-3-Clause",
}
"""Licences of what voiceharness stands on, known before it is installed; README has the details."""

_REQUIREMENT: Final = re.compile(
    r"(?P<name>[\w.-]+)(?P<extras>\[)?[^;]*(?:;.*extra\s*==\s*['\"](?P<extra>[\w-]+)['\"])?"
)


@dataclass(frozen=True, slots=True)
class Package:
    """A package that voiceharness needs always (no ``extras``) or for some extras, the smallest of them first.

    ``version`` is None where it is not installed.
    """

    name: str
    extras: tuple[str, ...]
    version: str | None
    licence: str

    @property
    def install(self) -> str:
        """The command that installs it."""
        return f'pip install "voiceharness[{self.extras[0]}]"' if self.extras else "pip install voiceharness"


def packages() -> tuple[Package, ...]:
    """List every package that voiceharness can use, those it needs always first."""
    extras: dict[str, list[str]] = {}
    for requirement in requires("voiceharness") or ():
        found = _REQUIREMENT.match(requirement)
        if found and found["name"] != "voiceharness":  # an extra that only gathers others
            extras.setdefault(found["name"].lower(), []).extend([found["extra"]] if found["extra"] else [])
    sizes = Counter(extra for names in extras.values() for extra in names)
    listed = [
        Package(name, tuple(sorted(names, key=lambda extra: (sizes[extra], extra))), _version(name), _licence(name))
        for name, names in extras.items()
    ]
    return tuple(sorted(listed, key=lambda package: (bool(package.extras), package.name)))


def diagnose(*, as_json: bool) -> int:
    """Tell everything. What is missing is no error: nothing may need it."""
    if as_json:
        tell_json(_document())
    else:
        tell("\n".join(_lines()))
    return 0


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _licence(name: str) -> str:
    if name in LICENCES:
        return LICENCES[name]
    try:
        return " ".join(metadata(name).get_all("License-Expression") or ["see the package"])
    except PackageNotFoundError:
        return "see the package"


def _document() -> dict[str, Any]:  # Any: JSON
    return {
        "format": "voiceharness-doctor/1",
        "voiceharness": version("voiceharness"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": [{**_fields(package), "install": package.install} for package in packages()],
        "engines": [{**_fields(engine), "install": engine.install} for engine in engine_info()],
        "adapters": [{**_fields(plugin), "problem": _problem(plugin)[0]} for plugin in plugins()],
    }


def _fields(value: object) -> dict[str, Any]:  # Any: JSON
    fields: Any = plain(value)
    return dict(fields)


def _lines() -> Iterator[str]:
    yield f"voiceharness {version('voiceharness')}, Python {platform.python_version()}, {platform.platform()}"
    yield "\npackages"
    for package in packages():
        purpose = f"extra {', '.join(package.extras)}" if package.extras else "always"
        yield _line(package.name, package.version, f"{purpose}; {package.licence}", package.install)
    yield "\nspeech engines"
    for engine in engine_info():
        yield _line(f"{engine.kind} {engine.name}", engine.version, _about(engine), engine.install or "")
    yield "\nadapters"
    for plugin in plugins():
        problem, remedy = _problem(plugin)
        about = "; ".join(filter(None, (plugin.source, problem)))
        yield _line(plugin.name, None if problem else "", about, remedy)


def _problem(plugin: Plugin) -> tuple[str | None, str]:
    """Say what keeps an adapter from working here, if anything does, and what to do about it."""
    try:
        adapter = load_adapter(plugin.name)
    except VoiceHarnessError as error:
        return str(error), f"repair or remove {plugin.source}"
    lacks = lacking(needs_of(adapter, plugin))
    if not lacks:
        return None, ""
    return f"lacks {', '.join(lacks)}", f'pip install "{plugin.source.rpartition(" ")[0]}[{adapter.extra}]"'


def _about(engine: EngineInfo) -> str:
    return "; ".join(part for part in (engine.package, engine.licence, engine.note) if part)


def _line(name: str, release: str | None, about: str, install: str) -> str:
    if release is None:
        return f"  missing    {name} ({about}): {install}"
    return f"  installed  {f'{name} {release}'.rstrip()} ({about})"
