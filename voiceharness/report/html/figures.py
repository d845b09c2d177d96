"""Figures as a page writes them: under the names of the JSON document, with its values rounded for reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from voiceharness.report.html.markup import Markup, tag

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["NONE", "amount", "bar", "outcome_badge", "percentile", "play_button", "seconds"]

NONE: Final = "-"


def seconds(value: float | None) -> str:
    """Write a duration, to the millisecond."""
    return NONE if value is None else f"{value:.3f} s"


def amount(value: object) -> str:
    """Write a plain value: numbers to three decimals at most, lists by their length."""
    match value:
        case None:
            return NONE
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.3f}"
        case list():
            return str(len(value))
    return str(value)


def percentile(figure: Mapping[str, Any]) -> Markup | str:  # Any: a JSON object of a document
    """Write a percentile, or how many values it would need."""
    if figure["value"] is not None:
        return seconds(figure["value"])
    return tag("span", f"needs n {figure['needed']}", class_="quiet")


def bar(value: float, longest: float, tone: str = "") -> Markup:
    """Draw a bar whose length is to that of the longest as its value."""
    width = f"{100 * value / longest if longest > 0 else 0:.2f}"
    filled = tag("rect", width=width, height="10", class_=f"bar {tone}".strip())
    return tag("svg", filled, viewBox="0 0 100 10", preserveAspectRatio="none", class_="bars", aria_hidden="true")


def play_button(at: int, end: int | None, label: object, described: str) -> Markup:
    """Make a button that plays a stretch of the call, given in samples."""
    content = tag("span", "▶", class_="play", aria_hidden="true"), tag("span", label)
    return tag(
        "button", *content, type="button", class_="hear", data_at=at, data_end=end, aria_label=f"hear {described}"
    )


_TONES: Final[Mapping[str, str]] = {"passed": "good", "done": "good", "unsupported": "quiet", "skipped": "quiet"}


def outcome_badge(outcome: str, shown: Iterable[object] = ()) -> Markup:
    """Show an outcome, in colour and in words."""
    return tag("span", *(list(shown) or [outcome]), class_=f"badge {_TONES.get(outcome, 'bad')}")
