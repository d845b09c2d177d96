"""Choose scenarios by their tags and names."""

from __future__ import annotations

from collections.abc import Sequence  # noqa: TC003 (read at run time to describe the fields)
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, ClassVar, Final

from voiceharness.errors import OptionError
from voiceharness.scenario.fields import Text, check_fields, keep_tuples

if TYPE_CHECKING:
    from collections.abc import Iterable

    from voiceharness.scenario.scenario import Scenario
    from voiceharness.suite.finding import Case

__all__ = ["EVERYTHING", "Selection", "select"]


@dataclass(frozen=True, slots=True)
class Selection:
    """Which scenarios to take: those with any of ``tags``, with none of ``without_tags``, with one of ``names``.

    Empty: that is not asked. In a name ``*`` and ``?`` stand for anything.
    """

    tags: Sequence[Text] = ()
    without_tags: Sequence[Text] = ()
    names: Sequence[Text] = ()

    kind: ClassVar[str] = "select"

    def __post_init__(self) -> None:
        keep_tuples(self, self.kind)
        check_fields(self, self.kind)

    def takes(self, scenario: Scenario) -> bool:
        """Say whether a scenario is among them."""
        tags = frozenset(scenario.tags)
        return (
            (not self.tags or not tags.isdisjoint(self.tags))
            and tags.isdisjoint(self.without_tags)
            and (not self.names or any(fnmatchcase(scenario.name, name) for name in self.names))
        )


EVERYTHING: Final = Selection()

_MOST_LISTED: Final = 20


def select(cases: Iterable[Case], *selections: Selection) -> list[Case]:
    """Return the cases that all selections take.

    Raises:
        OptionError: if there is none left of some.
    """
    given = list(cases)
    taken = [case for case in given if all(selection.takes(case.scenario) for selection in selections)]
    if given and not taken:
        asked = [what for what in ("tags", "names") if any(_asked(selection, what) for selection in selections)]
        there = "; ".join(f"{what} are {_listed(given, what)}" for what in asked)
        raise OptionError(f"none of {len(given)} scenarios has the {' and '.join(asked)} that are asked for; {there}")
    return taken


def _asked(selection: Selection, what: str) -> bool:
    return bool(selection.names if what == "names" else (*selection.tags, *selection.without_tags))


def _listed(cases: Iterable[Case], what: str) -> str:
    """List what there is to choose from, the first of many."""
    found = {text for case in cases for text in ((case.scenario.name,) if what == "names" else case.scenario.tags)}
    more = f" and {len(found) - _MOST_LISTED} more" if len(found) > _MOST_LISTED else ""
    return f"{', '.join(sorted(found)[:_MOST_LISTED])}{more}" if found else "nowhere given"
