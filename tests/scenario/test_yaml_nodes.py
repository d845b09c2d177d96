"""YAML as values with places."""

from __future__ import annotations

import pytest

from voiceharness.errors import ScenarioError
from voiceharness.scenario.place import Place
from voiceharness.scenario.yaml_nodes import MAX_BYTES, Entries, Items, Node, Scalar, parse_yaml

__all__: list[str] = []


def parsed(text: str) -> Node:
    return parse_yaml(text.encode(), "a.yaml")


def entry(node: Node, name: str) -> Node:
    assert isinstance(node, Entries)
    return node.entries[name].node


def error_of(data: str | bytes) -> ScenarioError:
    with pytest.raises(ScenarioError) as caught:
        parse_yaml(data.encode() if isinstance(data, str) else data, "a.yaml")
    return caught.value


@pytest.mark.parametrize(
    "text", ["012", "yes", "no", "on", "1_000", "12:30:45", "0x1F", "1e3", "2026-01-01", ".5", "+1"]
)
def test_a_scalar_stays_as_it_was_written(text: str) -> None:
    assert entry(parsed(f"key: {text}\n"), "key") == Scalar(text, True, Place("a.yaml", 1, 6))


@pytest.mark.parametrize("style", ["'012'", '"012"'])
def test_a_quoted_scalar_is_known_as_such(style: str) -> None:
    assert entry(parsed(f"key: {style}\n"), "key") == Scalar("012", False, Place("a.yaml", 1, 6))


@pytest.mark.parametrize(("text", "null"), [("", True), ("~", True), ("null", True), ("nil", False), ("'null'", False)])
def test_nothing_is_told_from_its_name_in_quotes(text: str, null: bool) -> None:
    assert entry(parsed(f"key: {text}\n"), "key").is_null is null


def test_every_value_knows_its_place() -> None:
    root = parsed("steps:\n  - say: hello\n  - [1,\n     {a: b}]\n")
    steps = entry(root, "steps")
    assert isinstance(steps, Items)
    first, second = steps.items
    assert (first.place.line, first.place.column) == (2, 5)
    assert isinstance(second, Items)
    assert [(each.place.line, each.place.column) for each in second] == [(3, 6), (4, 6)]


def test_a_byte_order_mark_and_windows_line_ends_are_read() -> None:
    root = parse_yaml(b"\xef\xbb\xbfname: x\r\nother: y\r\n", "a.yaml")
    assert entry(root, "other") == Scalar("y", True, Place("a.yaml", 2, 8))


def test_any_script_is_read() -> None:
    """Case B47."""
    text = "café €5 — ¿qué? 你好 😀 مرحبا"
    node = entry(parsed(f'say: "{text}"\n'), "say")
    assert isinstance(node, Scalar)
    assert node.text == text


def test_an_alias_stands_for_its_anchor() -> None:
    root = parsed("a: &greeting hello\nb: *greeting\n")
    assert entry(root, "b") == Scalar("hello", True, Place("a.yaml", 1, 4))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a.yaml:1:1: the file is empty"),
        ("# only a comment\n", "a.yaml:1:1: the file is empty"),
        ("a: b\na: c\n", "a.yaml:2:1: 'a' is given twice; first in line 1"),
        ("x:\n  - {a: 1, b: 2, a: 3}\n", "a.yaml:2:18: 'a' is given twice; first in line 2"),
        ("? [a]\n: b\n", "a.yaml:1:3: a key must be a word, not a list"),
        ("? ~\n: b\n", "a.yaml:1:3: a key must be a word, not nothing"),
        (
            "a: !!python/object:os.system x\n",
            "a.yaml:1:4: the tag tag:yaml.org,2002:python/object:os.system is not read",
        ),
        ("a: !include b.yaml\n", "a.yaml:1:4: the tag !include is not read here; write the value without it"),
        ("a: !!int 3\n", "a.yaml:1:4: the tag tag:yaml.org,2002:int is not read here"),
        ('a: "open\n', "a.yaml:2:1: cannot read this as YAML: found unexpected end of stream while scanning a quoted"),
        ("a: b: c\n", "a.yaml:1:5: cannot read this as YAML: mapping values are not allowed here"),
        ("a: [1\nb: 2\n", "a.yaml:2:2: cannot read this as YAML: expected ',' or ']', but got ':'"),
        ("a:\n\t- b\n", "a.yaml:2:1: cannot read this as YAML: found character '\\t' that cannot start any token"),
        ("a: 1\n---\nb: 2\n", "a.yaml:2:1: cannot read this as YAML: but found another document expected a single"),
        ("a: *b\n", "a.yaml:1:4: cannot read this as YAML: found undefined alias 'b'"),
        ("press: *\n", "a.yaml:1:9: cannot read this as YAML: expected alphabetic or numeric character"),
        ("a: &b [1, *b]\n", "a.yaml:1:11: *b stands inside what it stands for"),
        ("a: b\n  c: \x07\n", "a.yaml:2:6: the character '\\x07' cannot stand in YAML"),
    ],
)
def test_what_cannot_be_read_is_pointed_to(text: str, message: str) -> None:
    assert str(error_of(text)).startswith(message)


def test_what_is_no_utf_8_is_pointed_to() -> None:
    """Case B47."""
    assert str(error_of("a: ä\nb: ü".encode() + b"\xff")) == "a.yaml:2:5: the file is not UTF-8 (byte 0xff)"
    assert str(error_of(b"\xff\xfea\0")) == "a.yaml:1:1: the file is not UTF-8 (byte 0xff)"


def test_a_file_is_of_bounded_size() -> None:
    error = error_of(b"a" * (MAX_BYTES + 1))
    assert str(error) == "a.yaml:1:1: the file has more than 1000000 bytes"


def test_nesting_is_bounded() -> None:
    assert str(error_of("a: " + "[" * 10_000)) == "a.yaml:1:23: this is nested more than 20 deep"


def test_aliases_cannot_explode() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
    error = error_of("\n".join(lines))
    assert error.line == 5
    assert error.message == "the file has more than 50000 values, aliases counted in full"


def test_the_cause_is_kept() -> None:
    assert type(error_of("a: b: c").__cause__).__name__ == "ScannerError"
