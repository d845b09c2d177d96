"""Speech engines by name: what is built in, what an installed package adds, what each of them needs.

A package adds engines through the entry-point groups ``voiceharness.synthesizers`` (a callable that takes the line rate
in Hz and returns a Synthesizer) and ``voiceharness.transcribers`` (a callable without arguments that returns a
Transcriber). A built-in name cannot be taken over. Wherever a name is accepted, a ready object is too.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, entry_points, version
from typing import TYPE_CHECKING, Any, Literal

from voiceharness.errors import OptionError

if TYPE_CHECKING:
    from voiceharness.speech.cache import SpeechCache
    from voiceharness.speech.synthesis import Synthesizer
    from voiceharness.speech.transcription import Transcriber

__all__ = [
    "DEFAULT_SYNTHESIZER",
    "DEFAULT_TRANSCRIBER",
    "EngineInfo",
    "engine_info",
    "make_synthesizer",
    "make_transcriber",
]

DEFAULT_SYNTHESIZER = "hibari"
DEFAULT_TRANSCRIBER = "moonshine"

_SYNTHESIZERS = "voiceharness.synthesizers"
_TRANSCRIBERS = "voiceharness.transcribers"

Kind = Literal["synthesizer", "transcriber"]


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """One engine, for ``doctor``. ``version`` is the installed package's, None where it is not installed.

    ``install`` is the command that brings a missing one; ``licence`` is "see the package" for engines of others.
    """

    kind: Kind
    name: str
    package: str
    extra: str | None
    licence: str
    version: str | None
    note: str = ""

    @property
    def install(self) -> str | None:
        """The command that installs the engine, where an extra of ours does."""
        return f'pip install "voiceharness[{self.extra}]"' if self.extra else None


def make_synthesizer(
    engine: str | Synthesizer | None = None, *, rate: int = 8000, cache: SpeechCache | None = None
) -> Synthesizer:
    """Return the engine of a name (default: hibari), behind ``cache`` when there is one; loads no model yet.

    Raises:
        MissingExtraError: the engine's package is not installed; carries the install line.
        OptionError: no engine has this name, or an object speaks at another rate than ``rate`` (Hz).
    """
    made = _synthesizer(engine or DEFAULT_SYNTHESIZER, rate) if engine is None or isinstance(engine, str) else engine
    if made.rate != rate:
        raise OptionError(f"the synthesizer {made.name!r} speaks at {made.rate} Hz, but the line runs at {rate} Hz")
    if cache is None:
        return made
    from voiceharness.speech.cache import CachedSynthesizer

    return CachedSynthesizer(made, cache)


def make_transcriber(engine: str | Transcriber | None = None) -> Transcriber:
    """Return the engine of a name (default: moonshine); loads no model yet.

    Raises:
        MissingExtraError: the engine's package is not installed; carries the install line.
        OptionError: no engine has this name.
    """
    if engine is not None and not isinstance(engine, str):
        return engine
    name = engine or DEFAULT_TRANSCRIBER
    if name == "moonshine":
        from voiceharness.speech.moonshine import MoonshineTranscriber

        return MoonshineTranscriber()
    made: Transcriber = _plugged_in(_TRANSCRIBERS, name)()
    return made


def _synthesizer(name: str, rate: int) -> Synthesizer:
    if name == "hibari":
        from voiceharness.speech.hibari import HibariSynthesizer

        return HibariSynthesizer(rate)
    if name == "espeak":
        from voiceharness.speech.espeak import EspeakSynthesizer

        return EspeakSynthesizer(rate)
    made: Synthesizer = _plugged_in(_SYNTHESIZERS, name)(rate)
    return made


def _plugged_in(group: str, name: str) -> Any:  # Any: whatever the entry point names
    found = {entry.name: entry for entry in entry_points(group=group)}
    if name not in found:
        refuse_unknown_engine("synthesizer" if group == _SYNTHESIZERS else "transcriber", name)
    return found[name].load()


def refuse_unknown_engine(kind: Kind, name: str | None) -> None:
    """Refuse the name of an engine that there is none of; None is the default's. Loads none.

    Raises:
        OptionError: with the names that there are.
    """
    known = sorted(info.name for info in engine_info() if info.kind == kind)
    if name is not None and name not in known:
        raise OptionError(f"there is no {kind} named {name!r}; there are: {', '.join(known)}")


def engine_info() -> tuple[EngineInfo, ...]:
    """Return every engine that can be named, in order of preference, installed or not; imports none of them."""
    return (*_built_in(), *_plugged_in_info("synthesizer"), *_plugged_in_info("transcriber"))


def _built_in() -> tuple[EngineInfo, ...]:
    return (
        EngineInfo("synthesizer", "hibari", "hibari-tts", "speech", "Apache-2.0", _installed("hibari-tts")),
        EngineInfo(
            *("synthesizer", "espeak", "espeakng-loader", "espeak", "GPL-3.0-or-later"),
            version=_installed("espeakng-loader"),
            note="runs in a process of its own; never chosen by default",
        ),
        EngineInfo("transcriber", "moonshine", "moonshine-voice", "asr", "MIT", _installed("moonshine-voice")),
    )


def _plugged_in_info(kind: Kind) -> list[EngineInfo]:
    found = []
    for entry in entry_points(group=f"voiceharness.{kind}s"):
        package = entry.dist.name if entry.dist else "?"
        release = entry.dist.version if entry.dist else None
        found.append(EngineInfo(kind, entry.name, package, None, "see the package", release))
    return found


def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
