"""``voiceharness run`` with many calls: side by side, again and again, with pages; and what is made of them."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import GREETING, Cli

__all__: list[str] = []

AGENTS = "tests.cli.agents"
ANSWERING = ("--agent", f"{AGENTS}:answering")


def named(cli: Cli, *names: str) -> None:
    (cli.folder / "greeting.yaml").unlink(missing_ok=True)
    for name in names:
        cli.write(f"{name}.yaml", GREETING.replace("name: greeting", f"name: {name}"))


def test_calls_side_by_side_are_the_same_as_one_after_the_other(cli: Cli) -> None:
    named(cli, "a", "b", "c")
    alone = cli("run", ".", *ANSWERING, "--out", "alone", "--json")
    beside = cli("run", ".", *ANSWERING, "--out", "beside", "--json", "--jobs", "2")
    fresh = cli("run", ".", *ANSWERING, "--out", "fresh", "--json", "--fresh")
    calls = [[each["call"] for each in ended.json["calls"]] for ended in (alone, beside, fresh)]
    assert [call["scenario"] for call in calls[0]] == ["a", "b", "c"]
    assert calls[0] == calls[1] == calls[2]
    assert alone.code == beside.code == fresh.code == 0


def test_an_adapter_of_an_installed_package_is_found_by_every_process(cli: Cli) -> None:
    named(cli, "a", "b")
    ended = cli("run", ".", "--adapter", "unreachable", "--agent", f"{AGENTS}:silent", "--jobs", "2", "--json")
    assert ended.json["counts"] == {"not_called": 2}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--engine", "ray://host"), "OptionError: there is no engine 'ray://host'; there are dask://HOST:PORT"),
        (("--engine", "dask://host", "--jobs", "2"), "decides how many calls go on at a time"),
    ],
)
def test_an_engine_that_cannot_be_used_is_refused_before_the_first_call(
    options: tuple[str, ...], message: str, cli: Cli
) -> None:
    ended = cli("run", "greeting.yaml", *ANSWERING, *options)
    assert ended.code == 2
    assert message in ended.err
    assert not list(cli.folder.rglob("result.json"))


def test_repeated_calls_are_summed_up(cli: Cli) -> None:
    ended = cli("run", "greeting.yaml", *ANSWERING, "--repeat", "3")
    assert "greeting (in_process): 3 of 3 passed (95 % interval 0.44 to 1.00)" in ended.out
    suite = json.loads((cli.folder / "voiceharness-out" / "suite.json").read_text("utf-8"))
    assert [each["n"] for each in suite["repeats"]] == [3]
    assert len(list((cli.folder / "voiceharness-out").glob("*-greeting"))) == 3


@pytest.mark.parametrize(("pages", "written"), [("all", 2), ("failed", 1), ("none", 0)])
def test_pages_are_written_of_the_calls_that_are_asked_for(pages: str, written: int, cli: Cli) -> None:
    for agent, out in (("answering", "out"), ("silent", "other")):
        cli("run", "greeting.yaml", "--agent", f"{AGENTS}:{agent}", "--out", out, "--pages", pages)
    assert len(list(cli.folder.rglob("call.html"))) == written
    assert len(list(cli.folder.rglob("index.html"))) == (0 if pages == "none" else 2)


def test_the_second_run_into_a_folder_shows_a_trend(cli: Cli) -> None:
    page = cli.folder / "voiceharness-out" / "index.html"
    for trend in (False, True):
        cli("run", "greeting.yaml", *ANSWERING)
        assert ('id="trend"' in page.read_text("utf-8")) == trend


def test_pages_can_be_written_later(cli: Cli) -> None:
    cli("run", "greeting.yaml", *ANSWERING, "--pages", "none")
    ended = cli("report", "voiceharness-out")
    assert ended.code == 0
    assert ended.out.strip().endswith("index.html")
    assert len(list(cli.folder.rglob("call.html"))) == 1


def test_a_run_is_compared_with_an_earlier_one(cli: Cli) -> None:
    for out in ("base", "new"):
        cli("run", "greeting.yaml", *ANSWERING, "--out", out)
    cli("run", "greeting.yaml", *ANSWERING, "--out", "other", "--seed", "99")
    assert cli("compare", "base", "new").code == 0
    refused = cli("compare", "base", "other")
    assert refused.code == 2
    assert "not comparable: seed: 0 and 99" in refused.out
    assert cli("compare", "base", "new", "--json", "--tolerance", "stop_latency=20%").json["exit_code"] == 0
