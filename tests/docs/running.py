"""Runs the blocks of a page in one folder, in order, as a reader would, and compares what they print."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sysconfig
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from voiceharness.scenario.yaml_file import parse_scenarios
from voiceharness.suite.suite_file import parse_suite_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from tests.docs.pages import Block

__all__ = ["Reader", "differs"]

SHOWN: Final = ("", "text", "toml", "ini", "json")
PROGRESS: Final = re.compile(r"^\[\d+/\d+\] .*\n", re.MULTILINE)  # a terminal writes over it
ANYTHING: Final = re.compile(r"(?<!\.)\.\.\.(?!\.)")
DECIMAL: Final = re.compile(r"\d+\.\d+")
TOLERANCE: Final = 0.05


@dataclass(slots=True)
class Reader:
    """Somebody who types a page into an empty folder; ``cache`` keeps speech for all pages."""

    page: str
    folder: Path
    cache: Path
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})  # Any: the page's variables
    printed: str | None = None
    saved: dict[str, Block] = field(default_factory=dict)

    def read(self, page_blocks: Iterable[Block]) -> None:
        """Run every block."""
        for block in page_blocks:
            self._use_saved(block)
            if block.file is not None:
                self._save(block)
            elif block.not_run is None:
                self._run(block)
        assert not self.saved, f"{self.page}: saved, and not used by any later block: {', '.join(self.saved)}"

    def _use_saved(self, block: Block) -> None:
        used = [name for name in self.saved if name in block.text or re.search(rf"\b{_stem(name)}\b", block.text)]
        used += [name for name in self.saved if re.search(r"\$ (pytest|voiceharness run \.)", block.text)]
        for name in used:
            self.saved.pop(name, None)

    def _save(self, block: Block) -> None:
        path = self.folder / str(block.file)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")
        self.saved[path.name] = block

    def _run(self, block: Block) -> None:
        where = f"{self.page}:{block.line}"
        printed, self.printed = self.printed, None
        match block.language:
            case "python":
                self.printed = self._execute(block)
            case "console":
                self._type(block, where)
            case "yaml" if block.text.startswith("suite:"):
                parse_suite_file(block.text, str(self.folder / where))
            case "yaml":
                parse_scenarios(_whole(block.text), file=where, folder=str(self.folder))
            case "text" if block.follows and printed is not None:
                assert not differs(block.text, printed), f"{where} shows this, but printed was:\n{printed}"
            case language:
                assert language in SHOWN, f"{where}: nobody knows how to run {language!r}; there is console for shells"

    def _execute(self, block: Block) -> str:
        out = io.StringIO()
        code = compile("\n" * (block.line - 1) + block.text, self.page, "exec")
        with redirect_stdout(out):
            exec(code, self.names)
        return out.getvalue()

    def _type(self, block: Block, where: str) -> None:
        status = 0
        for command, shown in _commands(block.text):
            done = subprocess.run(
                ["bash", "-c", f"(exit {status}); {command}"],
                cwd=self.folder,
                env=self._environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            printed = PROGRESS.sub("", done.stdout)
            if shown:
                assert not differs(shown, printed), f"{where}: $ {command}\nprinted:\n{printed}"
            asked = "$ echo $?" in block.text.partition(command)[2]
            assert done.returncode == 0 or asked, f"{where}: $ {command}\nended with {done.returncode}:\n{done.stdout}"
            status = done.returncode

    def _environment(self) -> Mapping[str, str]:
        kept = {name: os.environ[name] for name in ("LANG", "TMPDIR") if name in os.environ}
        path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])
        ours = {"PATH": path, "HOME": str(self.folder), "XDG_CACHE_HOME": str(self.cache)}
        told = {"COLUMNS": "100", "NO_COLOR": "1", "PYTHONUTF8": "1", "PYTEST_ADDOPTS": "-p no:randomly -p no:xdist"}
        return {**kept, **ours, **told}


def differs(shown: str, printed: str) -> bool:
    """Compare output: ``...`` stands for anything, and decimals may be a little off, as another machine's are."""
    match = re.fullmatch(_pattern(shown.rstrip("\n")), printed.rstrip("\n") + "\n")
    if match is None:
        return True
    wanted = [float(number) for number in DECIMAL.findall(shown)]
    found = [float(number) for number in match.groups()]
    return any(abs(one - other) > TOLERANCE * max(1.0, one) for one, other in zip(wanted, found, strict=True))


def _pattern(shown: str) -> str:
    lines = []
    for line in shown.splitlines():
        if line.strip() == "...":
            lines.append(r"(?:.*\n)*?")
            continue
        parts = (DECIMAL.sub("<number>", part) for part in ANYTHING.split(line))
        escaped = ".*".join(re.escape(part).replace("<number>", r"(\d+\.\d+)") for part in parts)
        lines.append(escaped + "\n")
    return "".join(lines)


def _commands(text: str) -> Iterator[tuple[str, str]]:
    """Split a session into commands and what is shown below each; a backslash goes on with the next line."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        length = next(index for index, line in enumerate(lines, start=1) if not line.endswith("\\"))
        yield "\n".join(lines[:length]), "\n".join(lines[length:])


def _whole(text: str) -> str:
    """Complete a fragment of a scenario."""
    if re.search(r"^(- |scenarios:|name:)", text, re.MULTILINE) and not text.startswith(("steps:", "line:", "limits:")):
        return text
    steps = "" if re.search(r"^steps:", text, re.MULTILINE) else "steps: [hear]\n"
    return f"name: example\n{text}{steps}"


def _stem(name: str) -> str:
    return re.escape(name.partition(".")[0])
