"""Every Python block of every page is executed, in order, in an empty folder, with no network but this machine."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.docs.pages import as_module, links_of, names_of_tests, repeated

if TYPE_CHECKING:
    from collections.abc import Callable

__all__: list[str] = []

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(DOCS.glob("*.md"))
LOOPBACK = ("127.0.0.1", "::1", "localhost")
LAST_TEST = """

def test_the_page_was_read_to_its_end():
    pass  # what stands outside of tests ran when the page was imported
"""

pytestmark = pytest.mark.checkout


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse connections to other machines."""
    connect = socket.socket.connect

    def connect_here(self: socket.socket, address: Any) -> None:
        if isinstance(address, tuple) and address[0] not in LOOPBACK:
            raise AssertionError(f"a page of the documentation connects to {address[0]}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect_here)


def test_there_are_pages() -> None:
    assert PAGES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
@pytest.mark.usefixtures("no_network")
def test_a_page_does_what_it_says(page: Path, pytester: pytest.Pytester) -> None:
    module = as_module(page.read_text(encoding="utf-8"))
    tests = names_of_tests(module)
    assert repeated(tests) == []
    name = f"test_{page.stem.replace('-', '_')}"
    pytester.makepyfile(**{name: module + LAST_TEST})
    result = pytester.runpytest_inprocess("-q", "-W", "error", "-p", "no:randomly", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=len(tests) + 1)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_within_a_page_lead_somewhere(page: Path) -> None:
    links, headings = links_of(page.read_text(encoding="utf-8"))
    assert links - headings == set()


# The reader of pages itself

PAGE = """\
Some words.

```python
a = 1
```

- an indented block

  ```python
  def test_a():
      assert a == 1
  ```

````markdown
```python
not = executed
```
````
"""


def test_blocks_of_python_stay_on_their_lines_and_others_are_left_out() -> None:
    lines = as_module(PAGE).splitlines()
    assert {number: line for number, line in enumerate(lines, 1) if line} == {
        4: "a = 1",
        10: "def test_a():",
        11: "    assert a == 1",
    }


def test_a_block_without_an_end_is_refused() -> None:
    with pytest.raises(ValueError, match="not closed"):
        as_module("```python\na = 1\n")


def test_a_page_with_two_tests_of_one_name_is_refused() -> None:
    assert repeated(names_of_tests("def test_a(): ...\ndef test_b(): ...\ndef test_a(): ...\n")) == ["test_a"]


@pytest.mark.usefixtures("no_network")
def test_other_machines_cannot_be_reached() -> None:
    with socket.socket() as own, pytest.raises(AssertionError, match=r"connects to 192\.0\.2\.1"):
        own.connect(("192.0.2.1", 80))


def test_places_within_a_page_are_found() -> None:
    page = "# A page: one\n\n[here](#a-page-one), [there](#nowhere)"
    assert links_of(page) == ({"a-page-one", "nowhere"}, {"a-page-one"})


def run_page(pytester: pytest.Pytester, text: str) -> Callable[..., None]:
    pytester.makepyfile(test_page=as_module(text) + LAST_TEST)
    return pytester.runpytest_inprocess("-q", "-p", "no:randomly").assert_outcomes


def test_a_page_whose_code_fails_fails(pytester: pytest.Pytester) -> None:
    run_page(pytester, "```python\nassert 1 == 2\n```\n")(errors=1)
    run_page(pytester, "```python\ndef test_one():\n    assert 1 == 2\n```\n")(failed=1, passed=1)
