"""Adapters and hosts are found in what is installed, without importing anything."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from voiceharness.clock import run_virtual
from voiceharness.doubles import SilentAgent
from voiceharness.errors import AdapterDefinitionError, MissingExtraError, UnknownAdapterError
from voiceharness.registry import HOSTS, Plugin, load_adapter, load_host, plugins
from voiceharness_adapters.in_process import InProcess, InProcessTurns

if TYPE_CHECKING:
    from pathlib import Path

__all__: list[str] = []

GROUP = "voiceharness.adapters"


def install(folder: Path, distribution: str, entries: dict[str, str], *, version: str = "1.0") -> None:
    """Put a distribution with entry points where Python looks for installed ones."""
    metadata = folder / f"{distribution}-{version}.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
    lines = [f"{name} = {target}" for name, target in entries.items()]
    (metadata / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *lines, ""]))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose distributions count as installed."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_our_own_adapters_come_by_the_door_of_everybody() -> None:
    assert load_adapter("in_process") is InProcess
    assert load_adapter("in_process_turns") is InProcessTurns
    names = {plugin.name: plugin.source.partition(" ")[0] for plugin in plugins()}
    assert names["in_process"] == names["in_process_turns"] == "voiceharness"


def test_our_own_hosts_too() -> None:
    agent = SilentAgent()

    async def main() -> None:
        async with load_host("in_process")(agent) as target:
            assert target["agent"] is agent

    run_virtual(main())
    assert "in_process" in {plugin.name for plugin in plugins(HOSTS)}


def test_listing_imports_nothing_so_what_is_broken_is_listed_too(site: Path) -> None:
    (site / "a_broken_module.py").write_text("raise RuntimeError('must not be imported')\n")
    install(site, "broken-package", {"broken": "a_broken_module:Adapter"})
    assert Plugin("broken", "a_broken_module:Adapter", "broken-package 1.0") in plugins()
    assert "a_broken_module" not in sys.modules


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("raise RuntimeError('no luck')", "RuntimeError: no luck"),
        ("import a_module_that_is_not_there", "ModuleNotFoundError"),
        ("def Adapter(:", "SyntaxError"),
        ("", "AttributeError"),
    ],
)
def test_a_broken_plug_in_is_reported_with_where_it_came_from(site: Path, code: str, why: str) -> None:
    module = f"broken_{abs(hash(code))}"
    (site / f"{module}.py").write_text(code)
    install(site, "broken-package", {"broken": f"{module}:Adapter"}, version="2.3")
    with pytest.raises(
        AdapterDefinitionError, match=r"adapter 'broken' of broken-package 2\.3 cannot be loaded"
    ) as caught:
        load_adapter("broken")
    assert why in str(caught.value)
    assert caught.value.__cause__ is not None


def test_a_missing_extra_of_an_adapter_stays_what_it_is(site: Path) -> None:
    code = "from voiceharness.errors import MissingExtraError\nraise MissingExtraError('no sound', extra='sound')\n"
    (site / "needs_an_extra.py").write_text(code)
    install(site, "some-package", {"loud": "needs_an_extra:Adapter"})
    with pytest.raises(MissingExtraError, match="no sound"):
        load_adapter("loud")


def test_what_is_no_adapter_is_not_taken_for_one(site: Path) -> None:
    install(site, "odd-package", {"odd": "json:loads"})
    with pytest.raises(AdapterDefinitionError, match=r"'odd' of odd-package 1\.0 is no adapter class: json:loads"):
        load_adapter("odd")


def test_a_name_that_two_packages_offer_is_an_error_that_names_both(site: Path) -> None:
    install(site, "their-package", {"in_process": "json:loads"})
    with pytest.raises(AdapterDefinitionError) as caught:
        load_adapter("in_process")
    assert "their-package 1.0 (json:loads)" in str(caught.value)
    assert "voiceharness " in str(caught.value)
    assert sum(plugin.name == "in_process" for plugin in plugins()) == 2


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(
        UnknownAdapterError, match=r"there is no adapter 'telex'; installed are: .*in_process, in_process_"
    ):
        load_adapter("telex")
    with pytest.raises(UnknownAdapterError, match=r"there is no host 'telex'; installed are: .*in_process"):
        load_host("telex")


def test_a_name_that_is_nearly_right_is_told_what_may_be_meant() -> None:
    with pytest.raises(UnknownAdapterError, match="there is no adapter 'in_proces'; did you mean 'in_process'"):
        load_adapter("in_proces")
