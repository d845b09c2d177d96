"""Finished runs: the calls of a folder, and what earlier runs into the same folder came to.

A run leaves ``suite.json`` in its folder, and adds one line to ``history.jsonl``. The history is the only file with a
memory; it is what the trend of a suite's page is drawn from.
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final, TypedDict, cast

from voiceharness.clock import wall_time
from voiceharness.errors import OptionError
from voiceharness.report.artefacts import RESULT
from voiceharness.report.cells import told_apart
from voiceharness.report.document import CALL_FORMAT
from voiceharness.report.interruption import was_interrupted
from voiceharness.report.replacing import replace_file
from voiceharness.report.saved_shape import misfit, misfit_of
from voiceharness.report.serialization import from_json, json_bytes
from voiceharness.report.suite import SUITE_FORMAT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from voiceharness.report.document import CallDocument
    from voiceharness.report.suite import SuiteCall, SuiteDocument
    from voiceharness.scenario.result import Outcome

__all__ = [
    "HISTORY_FILE",
    "SUITE_FILE",
    "PastRun",
    "call_folder",
    "load_calls",
    "load_history",
    "load_suite",
    "remember_run",
    "repeat_additions",
    "save_suite",
]

SUITE_FILE: Final = "suite.json"
HISTORY_FILE: Final = "history.jsonl"

_RUN_FORMAT: Final = "voiceharness-run/1"

_LATENCY: Final = {"type": ["number", "null"]}
_RUN_SHAPE: Final[Mapping[str, Any]] = {  # Any: JSON
    "type": "object",
    "required": ["at", "exit_code", "calls", "counts", "response_latency", "stop_latency"],
    "properties": {
        "at": {"type": "string"},
        "exit_code": {"type": "integer"},
        "calls": {"type": "integer"},
        "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
        "response_latency": _LATENCY,
        "stop_latency": _LATENCY,
    },
}

_ADDITIONS: Final = ("agent_words", "facts")
"""What may be added to the result of a call after it was saved."""


class PastRun(TypedDict):
    """One run as its history has it; latencies are medians over all turns of all calls, in seconds."""

    format: str
    at: str
    exit_code: int
    calls: int
    counts: Mapping[Outcome, int]
    response_latency: float | None
    stop_latency: float | None


def load_calls(path: str | Path) -> list[CallDocument]:
    """Load the calls of a run: of a suite's folder, of a call's folder, or of a result file in one.

    Those of a suite file have the variant they were called over in place of the adapter.

    Raises:
        OptionError: if there is none, or it cannot be used.
    """
    given = Path(path)
    names = (given / SUITE_FILE, given / RESULT)
    file = next((name for name in names if name.exists()), given) if given.is_dir() else given
    content = _read(file)
    match content.get("format"):
        case str(form) if form == SUITE_FORMAT:
            _refuse_damaged(file, content, "suite")
            return told_apart(content["calls"])
        case str(form) if form == CALL_FORMAT:
            _refuse_damaged(file, content, "call")
            return [cast("CallDocument", content)]
    raise OptionError(f"{file} has no calls in it; give the folder of a run, or its {SUITE_FILE}")


def load_suite(folder: str | Path) -> SuiteDocument:
    """Load the suite of a folder.

    Raises:
        OptionError: if there is none, or it cannot be used.
    """
    content = _read(Path(folder) / SUITE_FILE)
    if content.get("format") != SUITE_FORMAT:
        raise OptionError(f"{Path(folder) / SUITE_FILE} is not in the format {SUITE_FORMAT}")
    _refuse_damaged(Path(folder) / SUITE_FILE, content, "suite")
    return cast("SuiteDocument", content)


def save_suite(folder: str | Path, suite: SuiteDocument) -> None:
    """Save the suite of a folder, in place of an earlier one.

    Raises:
        OptionError: if it cannot be written. Then the earlier one is still there.
    """
    file = Path(folder) / SUITE_FILE
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, json_bytes(suite, depth=4))
    except OSError as error:
        raise OptionError(f"cannot write {file}: {error.strerror}") from error


def call_folder(folder: str | Path, call: SuiteCall) -> Path | None:
    """Return where the evidence of a call is below the suite's folder, which may have been moved; None: nowhere."""
    name = (call["folder"] or "").replace("\\", "/").rstrip("/").rpartition("/")[2]
    return Path(folder) / name if name else None


def repeat_additions(folder: str | Path, results: Mapping[Path, CallDocument]) -> tuple[Path, ...]:
    """Repeat in the suite of a folder what was added to the results of its calls, which go by their folders.

    Returns the folders of which the suite tells of another call, as after a run that was killed; they have no part in
    it.

    Raises:
        OptionError: if there is no suite, or it cannot be used or written.
    """
    suite = load_suite(folder)
    calls: list[SuiteCall] = []
    others: list[Path] = []
    for each in suite["calls"]:
        home = call_folder(folder, each)
        result = None if home is None else results.get(home)
        if home is not None and result is not None and not _adds_to(result, each["call"]):
            others.append(home)
            result = None
        calls.append(each if result is None else {**each, "call": result})
    if calls != suite["calls"]:
        save_suite(folder, {**suite, "calls": calls})
    return tuple(others)


def _adds_to(result: CallDocument, known: CallDocument) -> bool:
    """Tell whether a result is what was known of a call, with words of the agent and facts that came later."""
    words, facts = known.get("agent_words"), result["facts"]
    if any(facts.get(name) != fact for name, fact in known["facts"].items()):
        return False
    return words in (None, [], result.get("agent_words")) and _without_additions(result) == _without_additions(known)


def _without_additions(call: CallDocument) -> dict[str, object]:
    return {name: value for name, value in call.items() if name not in _ADDITIONS}


def remember_run(folder: str | Path, suite: SuiteDocument) -> None:
    """Add a run to the history of its folder, with the time of day.

    Raises:
        OptionError: if the history cannot be written.
    """
    run: PastRun = {
        "format": _RUN_FORMAT,
        "at": wall_time().isoformat(timespec="seconds"),
        "exit_code": suite["exit_code"],
        "calls": sum(not was_interrupted(each["call"]) for each in suite["calls"]),
        "counts": suite["counts"],
        "response_latency": _median(suite, "exchanges", "latency"),
        "stop_latency": _median(suite, "barge_ins", "stop_latency"),
    }
    try:
        with (Path(folder) / HISTORY_FILE).open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(run)}\n")
    except OSError as error:
        raise OptionError(f"cannot add to {Path(folder) / HISTORY_FILE}: {error.strerror}") from error


def load_history(folder: str | Path) -> list[PastRun]:
    """Load the history of a folder, oldest first; empty if it has none. A line that is damaged is passed over."""
    try:
        lines = (Path(folder) / HISTORY_FILE).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise OptionError(f"cannot read {Path(folder) / HISTORY_FILE}: {error.strerror}") from error
    return list(_runs(lines))


def _runs(lines: Iterable[str]) -> Iterable[PastRun]:
    for line in lines:
        try:
            run = from_json(line.encode())
        except ValueError:
            continue  # a run that was killed while it wrote
        if isinstance(run, dict) and run.get("format") == _RUN_FORMAT and not misfit_of(run, _RUN_SHAPE):
            yield cast("PastRun", run)


def _median(suite: SuiteDocument, group: str, name: str) -> float | None:
    measured = (
        cast("Mapping[str, Any]", each["call"]["metrics"])
        for each in suite["calls"]
        if each["call"]["metrics"] and not was_interrupted(each["call"])
    )
    known = [entry[name] for metrics in measured for entry in metrics[group] if entry[name] is not None]
    return median(known) if known else None


def _read(file: Path) -> dict[str, Any]:  # Any: a JSON object
    try:
        content = from_json(file.read_bytes())
    except OSError as error:
        raise OptionError(f"no run in {file.parent}: cannot read {file.name} ({error.strerror})") from error
    except ValueError as error:
        raise OptionError(f"{file} is damaged: {error}") from error
    if not isinstance(content, dict):
        raise OptionError(f"{file} is damaged: it holds no JSON object")
    return content


def _refuse_damaged(file: Path, content: dict[str, Any], name: str) -> None:  # Any: JSON
    if wrong := misfit(content, name):
        raise OptionError(f"{file} is damaged: {wrong}")
