"""``voiceharness matrix``."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import pytest

from tests.report.disks import fill_up
from voiceharness.matrix import Column, probe_adapter
from voiceharness.report.artefacts import load_document

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.conftest import Cli

OUT = "voiceharness-matrix"

_ENTRY = '{"adapter": "in_process", "options": [], "source": "", "agent": "", "clock": "", "trouble": "", "cells": [4]}'
DAMAGED = [
    '{"format": "voiceharness-matrix/1"}',
    '{"format": "voiceharness-matrix/1", "about": {}, "adapters": 4}',
    '{"format": "voiceharness-matrix/1", "about": {}, "adapters": [4]}',
    f'{{"format": "voiceharness-matrix/1", "about": {{}}, "adapters": [{_ENTRY}]}}',
    "[" * 100_000,
]
"""What begins like a matrix and is none."""


def test_one_cell_is_probed_and_saved_in_every_form_with_its_calls(cli: Cli) -> None:
    ended = cli("matrix", "--only", "in_process:interruption")
    assert ended.code == 0
    assert "  interruption             yes   yes   shown" in ended.out
    folder = cli.folder / OUT
    assert {"matrix.json", "matrix.md", "matrix.html"} < {path.name for path in folder.iterdir()}
    assert load_document(folder / "in-process-interruption-2")["scenario"] == "interruption, over in_process"


def test_another_cell_joins_what_was_probed_before(cli: Cli) -> None:
    cli("matrix", "--only", "in_process:silence")
    document = cli("matrix", "--only", "in_process:interruption", "--only", "in_process:hangup:user", "--json").json
    (entry,) = document["adapters"]
    assert [cell["capability"] for cell in entry["cells"]] == ["interruption", "silence", "hangup:user"]


def test_what_has_changed_since_an_earlier_matrix_is_told(cli: Cli) -> None:
    cli("matrix", "--only", "in_process:silence")
    earlier = str(cli.folder / OUT / "matrix.json")
    same = cli("matrix", "--only", "in_process:silence", "--diff", earlier)
    assert "0 changes since" in same.out
    (cli.folder / "earlier.json").write_text(
        (cli.folder / OUT / "matrix.json").read_text().replace("demonstrated", "failed")
    )
    changed = cli("matrix", "--only", "in_process:silence", "--diff", "earlier.json", "--json")
    assert changed.json["changes"] == ["in_process:silence: FAILED -> shown"]


def test_a_false_declaration_ends_with_code_1(cli: Cli) -> None:
    ended = cli("matrix", "--only", "boastful:interruption")
    assert ended.code == 1
    assert "  interruption             yes   yes   FAILED" in ended.out


def test_the_users_own_agent_is_served_when_it_is_named(cli: Cli) -> None:
    (cli.folder / "mine.py").write_text(
        "from voiceharness.doubles import TurnTakingAgent\nfrom voiceharness.matrix.sound import spoken\n\n\n"
        "def agent():\n    return TurnTakingAgent([spoken(1.0)], greeting=spoken(1.0))\n"
    )
    chosen = ("--only", "in_process:direction:dial", "--only", "in_process:marks")
    document = cli("matrix", *chosen, "--agent", "mine:agent", "--json").json
    (entry,) = document["adapters"]
    assert entry["agent"] == "the user's agent"
    assert [cell["verdict"] for cell in entry["cells"]] == ["demonstrated", "not_testable_here"]


def test_an_adapter_that_serves_nobody_says_so_and_is_probed_by_its_options(cli: Cli) -> None:
    unprobed = cli("matrix", "--only", "turns:direction:dial")
    assert unprobed.code == 4
    assert "it serves no agent, so only one of yours can be probed: give its answer with --set" in unprobed.out
    assert '"by_class": true' in (cli.folder / OUT / "matrix.json").read_text()
    (cli.folder / "answering.py").write_text("def answer(heard):\n    return heard\n")
    probed = cli("matrix", "--only", "turns:virtual_time", "--set", "answer=answering:answer")
    assert probed.code == 0
    assert "answered by the user's agent" in probed.out


def test_the_attacks_on_agents_are_rows_of_an_adapter_that_has_them(cli: Cli) -> None:
    ended = cli("matrix", "--only", "twilio:audit:forged_call", "--only", "twilio:silence")
    assert ended.code == 0
    assert "  audit:forged_call        -     -     shown              refused: stream of a call" in ended.out
    assert "'audit:forged_call' is no capability" in cli("matrix", "--only", "in_process:audit:forged_call").err


def test_a_broken_audit_is_told_and_breaks_nothing(cli: Cli) -> None:
    ended = cli("matrix", "--only", "boastful:silence")
    assert ended.code == 0
    assert (
        "the agents of boastful are not audited: audit 'boastful' of vh-adapters-for-tests 1.0 is no Audit" in ended.err
    )


def test_a_broken_package_is_a_column_that_names_it(cli: Cli) -> None:
    ended = cli("matrix", "--only", "missing:silence")
    assert ended.code == 4
    assert "missing (vh-adapters-for-tests 1.0), not probed" in ended.out
    assert "cannot be loaded" in ended.out


def test_the_options_that_were_chosen_are_told_without_secrets(cli: Cli) -> None:
    chosen = ("--set", "user=+15550100007", "--set", "codecs=PCMU")
    ended = cli("matrix", "--only", "sip:call_control:reject", "--virtual", *chosen)
    assert "+15550100007" not in ended.out
    assert ended.out.startswith("sip codecs=PCMU user=[secret] (")


def test_settings_are_for_one_adapter(cli: Cli) -> None:
    ended = cli("matrix", "--set", "rate=16000")
    assert ended.code == 2
    assert "choose it with --adapter" in ended.err


def test_an_unknown_capability_or_adapter_is_an_error_that_lists_what_there_is(cli: Cli) -> None:
    unknown = cli("matrix", "--only", "in_process:telepathy")
    assert unknown.code == 2
    assert "'telepathy' is no capability; there are: direction:dial, " in unknown.err
    assert cli("matrix", "--adapter", "pigeon").code == 2
    assert "leave --adapter out" in cli("matrix", "--adapter", "sip", "--only", "in_process:silence").err


def test_no_adapter_of_that_name_is_told_from_one_that_is_broken(cli: Cli) -> None:
    assert "there is no adapter 'pigeon'" in cli("matrix", "--only", "pigeon:silence").err


def test_a_folder_that_cannot_be_written_is_refused_before_the_first_call(cli: Cli) -> None:
    ended = cli("matrix", "--only", "in_process:silence", "--out", "greeting.yaml/out")
    assert ended.code == 2
    assert "cannot write greeting.yaml/out/matrix.json: Not a directory" in ended.err
    assert "[1/1]" not in ended.err


@pytest.mark.parametrize("content", ["", "[]", "{}", *DAMAGED])
def test_an_earlier_matrix_that_cannot_be_used_is_refused_before_the_first_call(content: str, cli: Cli) -> None:
    (cli.folder / OUT).mkdir()
    (cli.folder / OUT / "matrix.json").write_text(content)
    for options in ((), ("--diff", f"{OUT}/matrix.json", "--out", "other")):
        ended = cli("matrix", "--only", "in_process:silence", *options)
        assert ended.code == 2
        assert "matrix.json" in ended.err
        assert "[1/1]" not in ended.err


@pytest.mark.parametrize("full", ["recording.wav", "matrix.json"])
def test_what_was_shown_is_told_and_written_as_far_as_the_disk_takes_it(
    full: str, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_up(monkeypatch, lambda path: path.name == full)
    ended = cli("matrix", "--only", "in_process:silence")
    assert ended.code == 2
    assert "1 adapter, 1 cell: 1 shown, 0 FAILED" in ended.out
    assert "No space left on device" in ended.err
    assert (cli.folder / OUT / "matrix.html").read_text("utf-8").endswith("</html>\n")


def test_an_interruption_keeps_what_was_probed_and_what_an_earlier_matrix_has(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = ("--only", "in_process:silence", "--only", "boastful:interruption")
    cli("matrix", *cells)
    with monkeypatch.context() as patched:
        patched.setattr("voiceharness.cli.matrix.probe_adapter", interrupted_after(1))
        ended = cli("matrix", *cells, "--json")
    assert ended.code == 130
    assert "interrupted; what was probed: in_process" in ended.err
    assert [entry["adapter"] for entry in ended.json["adapters"]] == ["in_process", "boastful"]


def test_an_interruption_before_anything_was_probed_leaves_an_earlier_matrix_as_it_was(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("matrix", "--only", "in_process:silence")
    before = (cli.folder / OUT / "matrix.json").read_bytes()
    monkeypatch.setattr("voiceharness.cli.matrix.probe_adapter", interrupted_after(0))
    assert cli("matrix", "--only", "in_process:silence").code == 130
    assert (cli.folder / OUT / "matrix.json").read_bytes() == before


def interrupted_after(count: int) -> Callable[..., Column]:
    """Probe so many adapters, and stop as SIGTERM does."""
    probed: list[Column] = []

    def probe(*arguments: Any, **options: Any) -> Column:  # Any: as of probe_adapter
        if len(probed) == count:
            signal.raise_signal(signal.SIGTERM)
        probed.append(probe_adapter(*arguments, **options))
        return probed[-1]

    return probe
