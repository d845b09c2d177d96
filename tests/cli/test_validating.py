"""``voiceharness validate``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

HOLD = "name: hold\nsteps:\n  - line: hold\n"
BAD = "name: bad\nsteps:\n  - shout: hello\n"


def test_a_good_file_is_told_with_what_it_needs(cli: Cli) -> None:
    ended = cli("validate", "greeting.yaml")
    assert (ended.code, ended.out) == (0, "ok: greeting (in_process; needs direction:dial)\n")


def test_every_error_of_every_file_is_told_with_its_place(cli: Cli) -> None:
    cli.write("bad.yaml", BAD)
    cli.write("worse.yaml", "name: [\n")
    ended = cli("validate", ".")
    assert ended.code == 2
    assert "bad.yaml:3:" in ended.out
    assert "worse.yaml:" in ended.out
    assert "ok: greeting" in ended.out


def test_what_the_adapter_lacks_is_told(cli: Cli) -> None:
    cli.write("hold.yaml", HOLD)
    ended = cli("validate", "hold.yaml", "--json")
    assert ended.code == 4
    (entry,) = ended.json["scenarios"]
    assert entry["missing"] == ["call_control:hold"]
    assert entry["requires"] == ["direction:dial", "call_control:hold"]
    assert cli("validate", "hold.yaml").out == "unsupported: hold: in_process lacks call_control:hold\n"


def test_nothing_is_called(cli: Cli) -> None:
    cli("validate", "greeting.yaml")
    assert not (cli.folder / "voiceharness-out").exists()
