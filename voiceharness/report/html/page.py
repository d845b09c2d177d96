"""What all pages share: one file, nothing from elsewhere, and a policy under which only our own script runs."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from importlib.resources import files
from typing import TYPE_CHECKING

from voiceharness.report.html.markup import Markup, tag

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["page"]

_SCHEME_BUTTON = tag("button", "Light or dark", type="button", id="scheme", class_="ghost")


def page(title: str, *content: object, navigation: object = None, scripts: Iterable[str] = ()) -> str:
    """Write a page with the packaged style and scripts inside. The browser is told to load and run nothing else."""
    script = "\n".join(_asset(name) for name in ("scheme.js", *scripts))
    style = _asset("page.css")
    policy = (
        f"default-src 'none'; img-src data:; media-src data: blob: file: 'self'; "
        f"script-src {_digest(script)}; style-src {_digest(style)}; base-uri 'none'; form-action 'none'"
    )
    head = (
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("link", rel="icon", href="data:,"),
        tag("style", Markup(style)),
    )
    top = tag("nav", tag("span", "voiceharness", class_="brand"), navigation, _SCHEME_BUTTON, class_="top")
    body = tag("body", top, tag("main", *content), tag("script", Markup(script)))
    return f"<!doctype html>\n{tag('html', tag('head', *head), body, lang='en')}\n"


def _asset(name: str) -> str:
    return files("voiceharness.report.html").joinpath("assets", name).read_text(encoding="utf-8")


def _digest(content: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"
