"""The evidence of a call in a folder, and back.

========================  =======================================================================================
``recording.wav``         what was heard: two tracks, user left, agent right, from the answer to the end
``received.wav``          the agent's audio as it came, piece after piece, whether it was heard or not
``timeline.json``         every event, and where each piece of the agent's audio arrived and was played, in samples
``result.json``           the verdict and all figures, as ``schema/call.schema.json`` describes them
``call.html``             on demand, a page to see and hear all this (:mod:`voiceharness.report.html`)
``manifest.json``         the files with sizes and SHA-256, and when they were saved: the only time of day
========================  =======================================================================================

A transport may keep files of its own (a protocol trace), which lie beside these. A call that was never answered has no
recording and no timeline. The manifest is written last: a folder without one was not finished. The same call gives the
same bytes, but for the manifest's time and the page.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from voiceharness.audio.vad import RATES
from voiceharness.audio.wav import read_tracks, wav_bytes
from voiceharness.clock import wall_time
from voiceharness.errors import AudioError, OptionError
from voiceharness.line.record import Arrival, CallRecord, TimelineEvent
from voiceharness.report.document import CALL_FORMAT, call_document
from voiceharness.report.redaction import Redactor
from voiceharness.report.replacing import replace_file
from voiceharness.report.saved_shape import misfit_of, published
from voiceharness.report.serialization import from_json, json_bytes, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from voiceharness.measure.metrics import Json
    from voiceharness.report.agent_words import AgentWords
    from voiceharness.report.document import CallDocument
    from voiceharness.scenario.result import CallResult

__all__ = [
    "MANIFEST",
    "PAGE",
    "RECEIVED",
    "RECORDING",
    "RESULT",
    "TIMELINE",
    "add_agent_words",
    "add_facts",
    "add_to_manifest",
    "altered_files",
    "load_call",
    "load_document",
    "place_call",
    "save_call",
]

RECORDING: Final = "recording.wav"
RECEIVED: Final = "received.wav"
TIMELINE: Final = "timeline.json"
RESULT: Final = "result.json"
PAGE: Final = "call.html"
MANIFEST: Final = "manifest.json"

_TIMELINE_FORMAT: Final = "voiceharness-timeline/1"
_MANIFEST_FORMAT: Final = "voiceharness-manifest/1"

_POSITIONS: Final = {"type": "array", "items": {"type": "integer"}}
_TIMELINE_SHAPE: Final[Mapping[str, Any]] = {  # Any: JSON
    "required": ["rate", "samples", "events", "arrivals"],
    "properties": {
        "rate": {"type": "integer"},
        "samples": {"type": "integer"},
        "events": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["at", "kind", "data"],
                "properties": {"at": {"type": "integer"}, "kind": {"type": "string"}, "data": {"type": "object"}},
            },
        },
        "arrivals": {
            "type": "object",
            "required": list(Arrival._fields),
            "properties": {
                **dict.fromkeys(("at", "start", "samples", "heard"), _POSITIONS),
                "item": {"type": "array", "items": {"type": ["string", "null"]}},
            },
        },
    },
}
_MANIFEST_SHAPE: Final[Mapping[str, Any]] = {  # Any: JSON
    "required": ["files"],
    "properties": {
        "files": {
            "type": "array",
            "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
        }
    },
}


def save_call(result: CallResult, folder: str | Path, *, secrets: Iterable[str] = ()) -> Path:
    """Save a call's evidence into a folder, in place of what an earlier call left there, and return the folder.

    Phone numbers, credentials and the texts in ``secrets`` are kept out of it.

    Raises:
        OptionError: if the folder cannot be written. What could be is there, without a manifest.
    """
    home, redactor = Path(folder), Redactor.of(secrets)
    try:
        _make_room(home)
        for name, content in _contents(result, redactor):
            _write(home / name, content)
        _write(home / MANIFEST, json_bytes(_manifest(home, result.artefacts)))
    except OSError as error:
        raise OptionError(f"cannot save the call in {home}: {error.strerror}") from error
    return home


def _contents(result: CallResult, redactor: Redactor) -> Iterator[tuple[str, bytes]]:
    """Make the files of a call, what matters most and takes least room first: the disk may be full."""
    yield RESULT, json_bytes(call_document(result, secrets=redactor.secrets))
    if (record := result.record) is not None:
        yield TIMELINE, json_bytes(redactor.plain(_timeline(record)), depth=2)
        yield RECORDING, wav_bytes(np.column_stack((record.user, record.agent)), record.rate)
        if len(record.received):
            yield RECEIVED, wav_bytes(record.received, record.rate)
    for name, content in result.artefacts.items():
        yield Path(name).name, redactor.content(content)


def place_call(files: Mapping[str, bytes], folder: str | Path) -> None:
    """Put the files of a call that was saved elsewhere into a folder, in place of what an earlier call left there.

    Raises:
        OptionError: if the folder cannot be written.
    """
    home = Path(folder)
    try:
        _make_room(home)
        for name in sorted(files, key=lambda name: (name == MANIFEST, name != RESULT)):
            _write(home / Path(name).name, files[name])
    except OSError as error:
        raise OptionError(f"cannot save the call in {home}: {error.strerror}") from error


def load_call(folder: str | Path) -> CallRecord:
    """Load the sound and the timeline of a saved call; measuring them again gives the figures of its result.

    Raises:
        OptionError: if there is no saved call, or its timeline cannot be used.
        AudioError: if its recording cannot be used.
    """
    home = Path(folder)
    timeline = _read(home / TIMELINE, _TIMELINE_FORMAT, _TIMELINE_SHAPE)
    if timeline["rate"] not in RATES:
        raise OptionError(f"{home / TIMELINE} is damaged: no call has a rate of {timeline['rate']} Hz")
    user, agent = _tracks(home / RECORDING, timeline["samples"])
    try:
        events = tuple(TimelineEvent(**event) for event in timeline["events"])
        columns: Sequence[Any] = [timeline["arrivals"][name] for name in Arrival._fields]  # Any: ints, texts or None
        arrivals = tuple(Arrival(*row) for row in zip(*columns, strict=True))
    except (KeyError, TypeError, ValueError) as error:
        raise OptionError(f"{home / TIMELINE} is damaged: {error}") from error
    return CallRecord(timeline["rate"], user, agent, events, arrivals, _received(home / RECEIVED))


def load_document(folder: str | Path) -> CallDocument:
    """Load the result of a saved call as a document.

    Raises:
        OptionError: if there is none, or it cannot be used.
    """
    return cast("CallDocument", _read(Path(folder) / RESULT, CALL_FORMAT, published("call")))


def altered_files(folder: str | Path) -> tuple[str, ...]:
    """Return the names of those files of a saved call that are missing, or not what was saved.

    Raises:
        OptionError: if there is no manifest, or it cannot be used.
    """
    home = Path(folder)
    listed = _read(home / MANIFEST, _MANIFEST_FORMAT, _MANIFEST_SHAPE)["files"]
    return tuple(entry["name"] for entry in listed if _entry(home / entry["name"]) != entry)


def add_facts(folder: str | Path, facts: Mapping[str, Json]) -> CallDocument:
    """Add facts to the result of a saved call, and return the result.

    Raises:
        OptionError: if there is no saved call, or its folder cannot be written.
    """
    return _with_additions(folder, {}, facts)


def add_agent_words(folder: str | Path, words: Sequence[AgentWords], facts: Mapping[str, Json]) -> CallDocument:
    """Add the words of the agent's turns to the result of a saved call, and facts of them, and return the result.

    Phone numbers and credentials are kept out of it, as far as they show by themselves.

    Raises:
        OptionError: if there is no saved call, or its folder cannot be written.
    """
    return _with_additions(folder, {"agent_words": Redactor().plain(plain(words))}, facts)


def _with_additions(folder: str | Path, fields: Mapping[str, Json], facts: Mapping[str, Json]) -> CallDocument:
    home, document = Path(folder), load_document(folder)
    document = cast("CallDocument", {**document, **fields, "facts": {**document["facts"], **facts}})
    try:
        _replace(home / RESULT, document)
        add_to_manifest(home, RESULT)
    except OSError as error:
        raise OptionError(f"cannot save the call in {home}: {error.strerror}") from error
    return document


def add_to_manifest(folder: str | Path, name: str) -> None:
    """List a file that came, or changed, after the call was saved.

    Raises:
        OptionError: if there is no manifest, or it cannot be used.
    """
    home = Path(folder)
    manifest = _read(home / MANIFEST, _MANIFEST_FORMAT, _MANIFEST_SHAPE)
    others = [entry for entry in manifest["files"] if entry["name"] != name]
    _replace(home / MANIFEST, {**manifest, "files": [*others, _entry(home / name)]})


def _make_room(home: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    for name in {MANIFEST, RESULT, TIMELINE, RECORDING, RECEIVED, PAGE, *_listed(home)}:
        (home / Path(name).name).unlink(missing_ok=True)


def _listed(home: Path) -> list[str]:
    """Return the files of an earlier call, as far as its manifest can be read."""
    try:
        return [entry["name"] for entry in _read(home / MANIFEST, _MANIFEST_FORMAT, _MANIFEST_SHAPE)["files"]]
    except OptionError:
        return []


def _write(path: Path, content: bytes) -> None:
    """Write a file as a whole or not at all; half of one would only take room from the others."""
    try:
        path.write_bytes(content)
    except OSError:
        with suppress(OSError):
            path.unlink()
        raise


def _replace(path: Path, value: object) -> None:
    replace_file(path, json_bytes(value))


def _read(path: Path, wanted: str, shape: Mapping[str, Any]) -> dict[str, Any]:  # Any: JSON
    try:
        content = from_json(path.read_bytes())
    except OSError as error:
        raise OptionError(f"no saved call in {path.parent}: cannot read {path.name} ({error.strerror})") from error
    except ValueError as error:
        raise OptionError(f"{path} is damaged: {error}") from error
    if not isinstance(content, dict) or content.get("format") != wanted:
        raise OptionError(f"{path} is not in the format {wanted}")
    if wrong := misfit_of(content, shape):
        raise OptionError(f"{path} is damaged: {wrong}")
    return content


def _timeline(record: CallRecord) -> Json:
    columns = zip(*record.arrivals, strict=True) if record.arrivals else [[] for _ in Arrival._fields]
    return {
        "format": _TIMELINE_FORMAT,
        "rate": record.rate,
        "samples": len(record.user),
        "events": [{"at": event.at, "kind": event.kind, "data": plain(event.data)} for event in record.events],
        "arrivals": {name: list(column) for name, column in zip(Arrival._fields, columns, strict=True)},
    }


def _tracks(path: Path, samples: int) -> tuple[Any, Any]:  # Any: int16 arrays
    if samples == 0:
        return np.zeros(0, np.int16), np.zeros(0, np.int16)
    tracks = read_tracks(path)
    if [len(track) for track in tracks] != [samples, samples]:
        found = " and ".join(str(len(track)) for track in tracks)
        raise AudioError(f"{path}: the timeline tells of two tracks of {samples} samples, but there are {found}")
    return tracks[0].samples, tracks[1].samples


def _received(path: Path) -> NDArray[np.int16]:
    return read_tracks(path)[0].samples if path.exists() else np.zeros(0, np.int16)


def _manifest(home: Path, artefacts: Iterable[str]) -> Json:
    own = [name for name in (RECORDING, RECEIVED, TIMELINE, RESULT) if (home / name).exists()]
    names = [*own, *sorted(Path(name).name for name in artefacts)]
    return {
        "format": _MANIFEST_FORMAT,
        "saved_at": wall_time().isoformat(timespec="seconds"),
        "voiceharness": version("voiceharness"),
        "files": [_entry(home / name) for name in names],
    }


def _entry(path: Path) -> dict[str, Json] | None:
    try:
        content = path.read_bytes()
    except OSError:
        return None
    return {"name": path.name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
