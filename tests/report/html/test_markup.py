"""HTML as values."""

from __future__ import annotations

import json

from voiceharness.report.html.markup import Markup, data_block, joined, table, tag, text

__all__: list[str] = []


def test_text_is_escaped_once_and_markup_not_at_all() -> None:
    assert text("<b> & \"quoted\" 'too'") == "&lt;b&gt; &amp; &quot;quoted&quot; &#x27;too&#x27;"
    assert text(text("<")) == "&lt;"
    assert text(Markup("<b>")) == "<b>"


def test_what_no_page_can_hold_is_replaced() -> None:
    assert text("\ud800\x00") == "\ufffd\ufffd"


def test_attributes_are_escaped_renamed_and_left_out() -> None:
    written = tag("button", "x", class_='a"b', data_at=5, title=None, hidden=False, disabled=True)
    assert written == '<button class="a&quot;b" data-at="5" disabled>x</button>'


def test_an_element_may_have_an_attribute_called_name() -> None:
    assert tag("meta", name="viewport") == '<meta name="viewport">'


def test_nothing_between_parts_is_nothing() -> None:
    assert joined(["a", None, 1]) == "a1"


def test_tables_name_their_rows_and_columns() -> None:
    written = table("T", ["k", tag("th", "v", class_="x")], [["<a>", 1]])
    assert '<th scope="col">k</th><th class="x">v</th>' in written
    assert '<tr><th scope="row">&lt;a&gt;</th><td>1</td></tr>' in written


def test_no_value_ends_its_data_block() -> None:
    value = {"said": "</script><script>alert(1)</script><!--"}
    written = data_block("call", value)
    assert written.count("<") == 2
    assert json.loads(written[written.index(">") + 1 : written.rindex("<")]) == value
