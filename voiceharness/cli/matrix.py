"""``voiceharness matrix``: adapters as they declare themselves, and as calls have shown them."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from voiceharness.cli.codes import HARNESS_FAULT, INTERRUPTED
from voiceharness.cli.output import Progress, complain, tell, tell_json
from voiceharness.cli.speech_cache import cached_speech
from voiceharness.cli.stopping import stoppable
from voiceharness.errors import OptionError, VoiceHarnessError
from voiceharness.matrix import (
    PROBES,
    Column,
    Subject,
    audit_probes,
    differences,
    exit_code,
    load_matrix,
    matrix_document,
    probe_adapter,
    replaced,
    schema,
    troubled_column,
)
from voiceharness.matrix.page import html_page
from voiceharness.matrix.text import console_text, markdown_text
from voiceharness.registry import (
    AUDITS,
    DIALLERS,
    HOSTS,
    REQUIRED,
    create,
    load_adapter,
    load_agent,
    load_audit,
    load_host,
    options_of,
    plugins,
)
from voiceharness.registry.settings import parse_settings
from voiceharness.report.artefacts import save_call
from voiceharness.report.redaction import Redactor, secrets_in
from voiceharness.report.saved_shape import misfit_of
from voiceharness.report.serialization import json_bytes
from voiceharness.report.writable import refuse_unwritable, write_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from voiceharness.capabilities import AdapterCapabilities
    from voiceharness.matrix import MatrixDocument, Probe
    from voiceharness.scenario.result import CallResult

__all__ = ["MATRIX_FILE", "probe_adapters"]

MATRIX_FILE: Final = "matrix.json"
_FILES: Final = (MATRIX_FILE, "matrix.md", "matrix.html")


def probe_adapters(
    *,
    adapters: Sequence[str],
    agent: str | None,
    settings: Sequence[str],
    unserved: bool,
    only: Sequence[str],
    virtual: bool | None,
    out: Path,
    diff: Path | None,
    as_json: bool,
) -> int:
    """Probe adapters, save the matrix in every form, tell it, and return 1 if a declaration is false."""
    sys.path.insert(0, str(Path.cwd()))  # where the user's agent is, as with `python -m`
    earlier = None if diff is None else _loaded(diff)
    chosen = _chosen(adapters, only)
    if settings and len(chosen) != 1:
        raise OptionError("--set is for one adapter: choose it with --adapter")
    refuse_unwritable(out / name for name in _FILES)
    before = _loaded(out / MATRIX_FILE) if only and (out / MATRIX_FILE).exists() else None
    run = _Run(agent, unserved, settings, virtual, out, Progress(sum(map(len, chosen.values()))))
    columns, interrupted = run.columns(chosen)
    run.progress.clear()
    document = matrix_document(columns)
    if interrupted:
        complain(f"interrupted; what was probed: {', '.join(column.adapter for column in columns)}")
        before = _whole(out / MATRIX_FILE)  # an earlier matrix keeps what this one did not come to
    if before is not None:
        document = replaced(before, document)
    unwritten = [*run.unsaved, *_save(document, out)]
    in_part = bool(adapters or only) or interrupted
    changes = () if earlier is None else differences(earlier, document, in_part=in_part)
    if as_json:
        tell_json(document if earlier is None else {**document, "changes": [str(change) for change in changes]})
    else:
        tell(console_text(document))
        if earlier is not None:
            tell("\n".join(["", f"{len(changes)} change{'s' * (len(changes) != 1)} since {diff}:", *map(str, changes)]))
        complain(f"matrix.json, matrix.md, matrix.html and the evidence of every call: {out}")
    for error in unwritten:
        complain(f"OptionError: {error}")
    code = INTERRUPTED if interrupted else exit_code(document)
    return OptionError.exit_code if unwritten and code not in (HARNESS_FAULT, INTERRUPTED) else code


def _loaded(path: Path) -> MatrixDocument:
    """Load an earlier matrix before anything is probed: what is wrong with it is to be told at once."""
    document = load_matrix(path)
    if wrong := misfit_of(document, schema()):
        raise OptionError(f"{path} is damaged: {wrong}")
    return document


def _whole(path: Path) -> MatrixDocument | None:
    try:
        return _loaded(path)
    except OptionError:
        return None


def _chosen(adapters: Sequence[str], only: Sequence[str]) -> dict[str, tuple[Probe, ...]]:
    """Return which probes to make of which adapter; ``only`` names cells, as ``adapter:capability``."""
    if not only:
        names = adapters or dict.fromkeys(plugin.name for plugin in plugins())
        return {name: _probes_of(name) for name in names}
    if adapters:
        raise OptionError("--only names its adapters itself; leave --adapter out")
    wanted: dict[str, list[str]] = {}
    for cell in only:
        adapter, _, capability = cell.partition(":")
        wanted.setdefault(adapter, []).append(capability)
    return {adapter: tuple(_probe(adapter, name) for name in names) for adapter, names in wanted.items()}


def _probes_of(adapter: str) -> tuple[Probe, ...]:
    """Return all probes of an adapter: those of every adapter, and the attacks on its agents where there are any."""
    if adapter not in {plugin.name for plugin in plugins(AUDITS)}:
        return PROBES
    try:
        return (*PROBES, *audit_probes(load_audit(adapter)))
    except VoiceHarnessError as error:
        complain(f"the agents of {adapter} are not audited: {error}")
        return PROBES


def _probe(adapter: str, name: str) -> Probe:
    probes = _probes_of(adapter)
    found = next((probe for probe in probes if probe.name == name), None)
    if found is None:
        known = ", ".join(probe.name for probe in probes)
        raise OptionError(f"--only is ADAPTER:CAPABILITY, and {name!r} is no capability; there are: {known}")
    return found


@dataclass(frozen=True, slots=True)
class _Run:
    """Probes one adapter after the other."""

    agent: str | None
    unserved: bool
    settings: Sequence[str]
    virtual: bool | None
    out: Path
    progress: Progress
    unsaved: list[str] = field(default_factory=list)
    _made: dict[str, int] = field(default_factory=dict)

    def columns(self, chosen: Mapping[str, Sequence[Probe]]) -> tuple[list[Column], bool]:
        """Probe one adapter after the other, and tell whether that was interrupted after the first.

        Raises:
            KeyboardInterrupt: if it was before that; then there is nothing to tell.
        """
        columns: list[Column] = []
        try:
            with stoppable():
                for name, probes in chosen.items():
                    columns.append(self.column(name, probes))
        except KeyboardInterrupt:
            if not columns:
                raise
            return columns, True
        return columns, False

    def column(self, name: str, probes: Sequence[Probe]) -> Column:
        """Probe one adapter; one that cannot be used here is a column that says why."""
        return replace(self._probed(name, probes), options=tuple(sorted(map(_harmless, self.settings))))

    def _probed(self, name: str, probes: Sequence[Probe]) -> Column:
        source = ", ".join(plugin.source for plugin in plugins() if plugin.name == name)
        declares: AdapterCapabilities | None = None
        try:
            declares = load_adapter(name).capabilities
            subject = self._subject(name, source)
        except VoiceHarnessError as error:
            if not source:
                raise
            trouble = f"{type(error).__name__}: {error}"
            return troubled_column(name, trouble, source=source, declares=declares, probes=probes)
        secrets = secrets_in(subject.options)
        return probe_adapter(
            subject,
            probes=probes,
            virtual=self.virtual,
            keep=partial(self._keep, name, secrets),
            speech=cached_speech(),
            on_probe=lambda probe: self.progress.call(f"{name}:{probe.name}"),
        )

    def _subject(self, name: str, source: str) -> Subject:
        adapter, options = load_adapter(name), parse_settings(self.settings, name)
        known = options_of(adapter)
        hosted = name in {plugin.name for plugin in plugins(HOSTS)}
        missing = [option.name for option in known if option.default is REQUIRED and option.name not in options]
        served = hosted and not self.unserved
        if not served and missing:
            needs = ", ".join(missing)
            why = "it serves no agent, so only one of yours can be probed" if not hosted else "no agent is to be served"
            raise OptionError(f"{why}: give its {needs} with --set")
        return Subject(
            name=name,
            make=partial(create, name),
            declares=adapter.capabilities,
            capabilities_for=adapter.capabilities_for,
            options=options,
            host=load_host(name) if served else None,
            dialler=load_host(name, group=DIALLERS) if name in {plugin.name for plugin in plugins(DIALLERS)} else None,
            agent=None if self.agent is None else partial(load_agent, self.agent),
            takes_rate=any(option.name == "rate" for option in known),
            answers_only=adapter.answers_only,
            source=source,
        )

    def _keep(self, adapter: str, secrets: tuple[str, ...], capability: str, result: CallResult) -> str:
        cell = re.sub(r"[^a-z0-9]+", "-", f"{adapter} {capability}".lower()).strip("-")
        self._made[cell] = self._made.get(cell, 0) + 1
        run = f"{cell}-{self._made[cell]}"
        try:
            save_call(result, self.out / run, secrets=secrets)
        except OptionError as error:  # what the call has shown is not to be lost with its evidence
            self.unsaved.append(str(error))
        return run


def _harmless(setting: str) -> str:
    """Return a setting without what must not be written."""
    name, _, value = setting.partition("=")
    return f"{name}=[secret]" if secrets_in({name: value}) else Redactor.of(()).text(setting)


def _save(document: MatrixDocument, out: Path) -> Iterator[str]:
    """Write the matrix in every form, and tell what could not be written, and why."""
    contents = (json_bytes(document, depth=4), markdown_text(document).encode(), html_page(document).encode())
    for name, content in zip(_FILES, contents, strict=True):
        try:
            write_file(out / name, content)
        except OptionError as error:
            yield str(error)
