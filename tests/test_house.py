"""What holds for the packages as a whole: what importing does, what every module states, how long it may be."""

from __future__ import annotations

import ast
import importlib
import json
import subprocess
import sys
import tomllib
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.import_probe import module_names

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__: list[str] = []

ROOT = Path(__file__).parents[1]
PACKAGES = {"voiceharness": ROOT / "voiceharness", "voiceharness_adapters": ROOT / "adapters" / "voiceharness_adapters"}
WORKERS = {"voiceharness_adapters.sip.pjsua2_worker": "pjsua2", "voiceharness_adapters.sip.baresip_worker": "baresip"}
MODULE_LINES = 500
FUNCTION_LINES = 50
CATCH_ALLS = {"base", "common", "helpers", "manager", "utils"}


@cache
def packaged() -> dict[Path, ast.Module]:
    """The modules that go into the wheel, parsed."""
    return parsed(*PACKAGES.values())


@cache
def everything() -> dict[Path, ast.Module]:
    """Those, the tests and the tools, parsed."""
    return packaged() | parsed(ROOT / "tests", ROOT / "tools")


def parsed(*folders: Path) -> dict[Path, ast.Module]:
    files = [file for folder in folders for file in sorted(folder.rglob("*.py"))]
    return {file.relative_to(ROOT): ast.parse(file.read_text(encoding="utf-8")) for file in files}


def python(*arguments: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-B", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module


def assigned(tree: ast.Module) -> set[str]:
    """Names a module assigns at its top level."""
    targets: list[ast.expr] = []
    for node in tree.body:
        if isinstance(node, ast.Assign):
            targets += node.targets
        elif isinstance(node, ast.AnnAssign):
            targets.append(node.target)
    return {target.id for target in targets if isinstance(target, ast.Name)}


@pytest.mark.parametrize("library", ["numpy", "scipy", "yaml"])
def test_importing_the_package_loads_no_heavy_library(library: str) -> None:
    assert python("-c", f"import sys, voiceharness; print({library!r} in sys.modules)").strip() == "False"


def test_importing_any_module_opens_starts_and_loads_nothing() -> None:
    probe = Path(__file__).with_name("import_probe.py")
    assert json.loads(python(str(probe), *PACKAGES)) == []


def can_run_here(module: str) -> bool:
    """A SIP worker needs its library, which not every Python has a wheel of."""
    needed = next((library for worker, library in WORKERS.items() if module.startswith(worker)), None)
    return needed is None or find_spec(needed) is not None


@pytest.mark.parametrize("package", PACKAGES)
def test_every_exported_name_exists_and_is_listed_once(package: str) -> None:
    for name in filter(can_run_here, module_names([package])):
        module = importlib.import_module(name)
        exported = getattr(module, "__all__", [])
        assert [missing for missing in exported if not hasattr(module, missing)] == [], name
        assert len(set(exported)) == len(exported), name


@pytest.mark.checkout
def test_every_module_has_a_docstring() -> None:
    assert [str(file) for file, tree in everything().items() if not ast.get_docstring(tree)] == []


@pytest.mark.checkout
def test_every_packaged_module_says_what_it_exports() -> None:
    modules = {file: tree for file, tree in packaged().items() if len(tree.body) > 1}  # more than a docstring
    assert [str(file) for file, tree in modules.items() if "__all__" not in assigned(tree)] == []


@pytest.mark.checkout
def test_no_module_is_longer_than_its_limit() -> None:
    lengths = {file: len((ROOT / file).read_text(encoding="utf-8").splitlines()) for file in everything()}
    assert {str(file): lines for file, lines in lengths.items() if lines > MODULE_LINES} == {}


@pytest.mark.checkout
def test_no_function_is_longer_than_its_limit() -> None:
    lengths = {
        f"{file}:{node.lineno} {node.name}": (node.end_lineno or node.lineno) - node.body[0].lineno + 1
        for file, tree in everything().items()
        for node in functions(tree)
    }
    assert {place: lines for place, lines in lengths.items() if lines > FUNCTION_LINES} == {}


@pytest.mark.checkout
def test_no_module_is_named_after_nothing_in_particular() -> None:
    assert [str(file) for file in packaged() if {file.stem, file.parent.name} & CATCH_ALLS] == []


@pytest.mark.checkout
def test_tools_and_tests_are_never_imported_by_the_packages() -> None:
    roots = {str(file): {name.partition(".")[0] for name in imported(tree)} for file, tree in packaged().items()}
    assert {file: names for file, names in roots.items() if names & {"tools", "tests"}} == {}


@pytest.mark.checkout
def test_every_module_of_the_core_has_a_layer() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = next(contract["layers"] for contract in settings["contracts"] if contract["id"] == "layers")
    known = {name.strip(" ()").removeprefix("voiceharness.") for layer in layers for name in layer.split("|")}
    present = {path.stem for path in PACKAGES["voiceharness"].iterdir() if path.suffix == ".py" or path.is_dir()}
    assert present - known - {"__init__", "__main__", "__pycache__"} == set()
