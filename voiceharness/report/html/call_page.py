"""The page of a call: one file that shows, tells and plays it."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from voiceharness.errors import OptionError
from voiceharness.report.artefacts import (
    MANIFEST,
    PAGE,
    RECORDING,
    TIMELINE,
    add_to_manifest,
    load_call,
    load_document,
)
from voiceharness.report.html.markup import Markup, data_block, joined, tag
from voiceharness.report.html.moments import Moment, Row, find_moments, whole_call_impairments
from voiceharness.report.html.page import page
from voiceharness.report.html.pictures import envelope, loudest, spectrogram_png
from voiceharness.report.html.sections import (
    environment_section,
    expectations_section,
    findings_section,
    latencies_section,
    measures_section,
    moments_section,
    section,
    steps_section,
    verdict_header,
)
from voiceharness.report.html.sound import Sound, page_sound
from voiceharness.report.replacing import replace_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from voiceharness.events import Party
    from voiceharness.line.record import CallRecord
    from voiceharness.report.document import CallDocument

__all__ = ["call_page", "write_call_page"]

_SCRIPTS: Final = ("pictures.js", "rows.js", "sound.js", "call.js")


def write_call_page(folder: str | Path, *, suite_page: str | None = None) -> Path:
    """Write the page of a saved call beside its evidence, and return its path.

    It is made of what was saved, so what was kept out of the evidence is not in it. ``suite_page`` is where a link
    back leads.

    Raises:
        OptionError: if there is no saved call, or the page cannot be written.
        AudioError: if its recording cannot be used.
    """
    home = Path(folder)
    document = load_document(home)
    record = load_call(home) if (home / TIMELINE).exists() else None
    sound = None if record is None else page_sound(record)
    files = sorted(file.name for file in home.iterdir() if file.is_file() and file.name not in (MANIFEST, PAGE))
    try:
        content = call_page(document, record, sound, files=files, suite_page=suite_page)
        replace_file(home / PAGE, content.encode())
        add_to_manifest(home, PAGE)
    except OSError as error:
        raise OptionError(f"cannot write {home / PAGE}: {error.strerror}") from error
    return home / PAGE


def call_page(
    call: CallDocument,
    record: CallRecord | None,
    sound: Sound | None,
    *,
    files: Iterable[str] = (),
    suite_page: str | None = None,
) -> str:
    """Make the page of a call; without a record, of one that was never answered. ``files`` lie beside it."""
    heard = record is not None and len(record.user) > 0
    moments = find_moments(call, record) if record is not None else []
    parts = [tag("header", verdict_header(call), class_="verdict")]
    if record is not None and heard:
        parts.append(_timeline(record, moments, sound or Sound(RECORDING, embedded=False)))
    parts += [
        findings_section(call),
        expectations_section(call),
        latencies_section(call),
        steps_section(call),
    ]
    if record is not None and heard:
        parts.append(moments_section(moments, record.rate))
    environment = environment_section(call, whole_call_impairments(record) if record is not None else ())
    parts += [tag("div", measures_section(call), environment, class_="pair"), _files(files)]
    back = None if suite_page is None else tag("a", "all calls", href=suite_page)
    title = f"{call['outcome']}: {call['scenario']}"
    return page(title, *parts, navigation=back, scripts=_SCRIPTS if heard else ())


def _files(names: Iterable[str]) -> Markup:
    links = (tag("li", tag("a", name, href=quote(name))) for name in names)
    return section("Evidence beside this page", tag("ul", *links), name="files")


# The time line


def _timeline(record: CallRecord, moments: Sequence[Moment], sound: Sound) -> Markup:
    sheet = tag(
        "div",
        tag("canvas", id="ruler", aria_hidden="true"),
        _row("events", "Events", moments),
        _row("line", "What was done to the line", moments),
        _lane("user", record),
        _row("user", "What the user said", moments),
        _row("latencies", "Latencies", moments),
        _lane("agent", record),
        _row("agent", "What the agent said", moments),
        _row("words", "Words of the agent", moments),
        _row("findings", "Findings", moments),
        _row("steps", "Steps", moments),
        tag("div", id="cursor", aria_hidden="true"),
        id="sheet",
    )
    return section(
        "Listen",
        _player(record, sound),
        tag("div", sheet, id="scroller", tabindex="0", role="group", aria_label="Time line of the call"),
        tag("output", "Choose a mark on the time line to hear it.", id="chosen", aria_live="polite"),
        _keys(),
        data_block("call", _data(record)),
        name="listen",
    )


def _player(record: CallRecord, sound: Sound) -> Markup:
    position = tag(
        "input", type="range", id="position", min="0", max=f"{record.duration:.3f}", step="0.01", value="0",
        aria_label="Position in the call",
    )  # fmt: skip
    note = None
    if not sound.embedded:
        link = tag("a", RECORDING, href=RECORDING)
        note = tag(
            "p", "The sound is not in this page: it plays ", link, " beside it. To have it inside, install ",
            tag("code", "voiceharness[report]"), ".", class_="quiet",
        )  # fmt: skip
    buttons = tag(
        "div",
        tag("button", "Play", type="button", id="play", class_="primary", aria_keyshortcuts="Space"),
        tag("output", f"0.00 / {record.duration:.2f} s", id="time"),
        position,
        _select("speed", "Speed", [("0.5", "0.5x"), ("1", "1x"), ("1.5", "1.5x"), ("2", "2x")], "1"),
        _select("tracks", "Hear", [("both", "both"), ("user", "user"), ("agent", "agent")], "both"),
        _zoom(),
        class_="player",
    )
    return joined([tag("audio", id="sound", src=sound.source, preload="auto"), buttons, note])


def _zoom() -> Markup:
    buttons = (("closer", "+", "Zoom in"), ("wider", "-", "Zoom out"), ("fit", "Fit", "Fit the whole call"))
    return tag(
        "span",
        *(
            tag("button", sign, type="button", id=name, class_="ghost", aria_label=label)
            for name, sign, label in buttons
        ),
        class_="zoom",
        role="group",
        aria_label="Zoom",
    )


def _select(name: str, label: str, choices: Iterable[tuple[str, str]], chosen: str) -> Markup:
    options = (tag("option", shown, value=value, selected=value == chosen) for value, shown in choices)
    return tag("label", label, " ", tag("select", *options, id=name), class_="choice")


def _lane(party: Party, record: CallRecord) -> Markup:
    seconds = f"{record.duration:.1f} seconds"
    described = f"Waveform and spectrogram of the {party}, {seconds}; click to go there"
    return tag(
        "div",
        tag("span", party, class_=f"name {party}"),
        tag("canvas", role="img", aria_label=described),
        class_="lane",
        data_party=party,
    )


def _row(row: Row, label: str, moments: Iterable[Moment]) -> Markup | None:
    chosen = [_mark(moment) for moment in moments if moment.row == row]
    if not chosen:
        return None
    return tag("div", *chosen, class_=f"row {row}", role="group", aria_label=label)


def _mark(moment: Moment) -> Markup:
    return tag(
        "button",
        moment.label,
        type="button",
        class_=f"mark {moment.tone}".strip(),
        data_at=moment.at,
        data_end=moment.end,
        data_kind=moment.kind,
        title=moment.detail or moment.label,
    )


def _keys() -> Markup:
    keys = (
        ("Space", "play, pause"),
        ("← →", "one second back, on; with Shift five"),
        ("n p", "next, previous mark"),
        ("+ -", "zoom; 0 fits the call"),
    )
    shown = (tag("div", tag("dt", tag("kbd", key)), tag("dd", does)) for key, does in keys)
    return tag("details", tag("summary", "Keys"), tag("dl", *shown, class_="keys"))


def _data(record: CallRecord) -> dict[str, object]:
    peak = loudest(record.user, record.agent)
    tracks = {"user": record.user, "agent": record.agent}
    return {
        "rate": record.rate,
        "samples": len(record.user),
        "envelopes": {party: _base64(envelope(track, record.rate, peak)) for party, track in tracks.items()},
        "spectrograms": {party: _base64(spectrogram_png(track, record.rate)) for party, track in tracks.items()},
    }


def _base64(data: bytes) -> str:
    return b64encode(data).decode()
