"""Every block of every page is run, in order, in an empty folder, with no network but this machine.

On a page whose Python defines tests, they are run by pytest; elsewhere Python is executed as it comes, and what it
prints is compared with the block of text below it. Commands are typed into a shell, and their output compared. YAML is
a scenario, or a part of one.
"""

from __future__ import annotations

import os
import signal
import socket
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.docs.pages import Block, as_module, blocks, headings_of, links_of, names_of_tests, repeated
from tests.docs.running import Reader, differs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__: list[str] = []

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
FEW = 12
LOOPBACK = ("127.0.0.1", "::1", "localhost")
LAST_TEST = """

def test_the_page_was_read_to_its_end():
    pass  # what stands outside of tests ran when the page was imported
"""

pytestmark = pytest.mark.checkout

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse connections to other machines."""
    connect = socket.socket.connect

    def connect_here(self: socket.socket, address: Any) -> None:
        if isinstance(address, tuple) and address[0] not in LOOPBACK:
            raise AssertionError(f"a page of the documentation connects to {address[0]}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect_here)


@pytest.fixture
def reader(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Reader]:
    """Somebody in an empty folder, whose modules can be imported, and who ends what a page has left running."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield Reader("the page", tmp_path, tmp_path_factory.getbasetemp() / "speech")
    for file in tmp_path.glob("*.pid"):  # a page that failed did not come to the block that ends it
        with suppress(OSError, ValueError):  # it may be ending now
            os.kill(int(file.read_text()), signal.SIGTERM)


@every_page
@pytest.mark.usefixtures("no_network")
def test_a_page_does_what_it_says(page: Path, reader: Reader, pytester: pytest.Pytester) -> None:
    found = list(blocks(read(page)))
    module = as_module(found)
    tests = names_of_tests(module)
    if tests:
        run_tests(pytester, page, module, tests)
        found = [block for block in found if block.language != "python" or block.file is not None]
    os.chdir(reader.folder)
    reader.page = str(page.relative_to(ROOT))
    reader.read(found)


def run_tests(pytester: pytest.Pytester, page: Path, module: str, tests: list[str]) -> None:
    assert repeated(tests) == []
    pytester.makepyfile(**{f"test_{page.stem.replace('-', '_')}": module + LAST_TEST})
    result = pytester.runpytest_inprocess("-q", "-W", "error", "-p", "no:randomly", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=len(tests) + 1)


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for link in links_of(read(page)):
        path, _, heading = link.partition("#")
        target = page.parent / path if path else page
        if link.startswith("https://"):
            continue
        if not target.exists() or (heading and heading not in headings_of(read(target))):
            broken.append(link)
    assert broken == []


@every_page
def test_every_page_of_the_documentation_can_be_reached(page: Path) -> None:
    linked = {(each.parent / link.partition("#")[0]).resolve() for each in PAGES for link in links_of(read(each))}
    assert page.name == "README.md" or page in linked


def test_few_blocks_are_only_shown() -> None:
    shown = [(page.name, block.line) for page in PAGES for block in blocks(read(page)) if block.not_run]
    assert len(shown) <= FEW, shown


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
    lines = as_module(blocks(PAGE)).splitlines()
    assert {number: line for number, line in enumerate(lines, 1) if line} == {
        4: "a = 1",
        10: "def test_a():",
        11: "    assert a == 1",
    }


def test_a_block_without_an_end_is_refused() -> None:
    with pytest.raises(ValueError, match="not closed"):
        list(blocks("```python\na = 1\n"))


def test_a_comment_says_what_is_done_with_a_block() -> None:
    page = "<!-- file: a.py -->\n```python\na = 1\n```\n\n<!-- not run: it costs money -->\n\n```console\n$ pay\n```\n"
    saved, shown = blocks(page)
    assert (saved.file, saved.not_run) == ("a.py", None)
    assert (shown.file, shown.not_run) == (None, "it costs money")
    assert as_module([saved, shown]) == "\n"


def test_a_page_with_two_tests_of_one_name_is_refused() -> None:
    assert repeated(names_of_tests("def test_a(): ...\ndef test_b(): ...\ndef test_a(): ...\n")) == ["test_a"]


@pytest.mark.usefixtures("no_network")
def test_other_machines_cannot_be_reached() -> None:
    with socket.socket() as own, pytest.raises(AssertionError, match=r"connects to 192\.0\.2\.1"):
        own.connect(("192.0.2.1", 80))


def test_links_and_headings_are_found_outside_of_code() -> None:
    page = "# A page: one\n\n[here](#a-page-one), [`there`](there.md#x)\n\n```text\n# no heading\n[no](link)\n```\n"
    assert links_of(page) == ["#a-page-one", "there.md#x"]
    assert headings_of(page) == {"a-page-one"}


def run_page(pytester: pytest.Pytester, text: str) -> Callable[..., None]:
    pytester.makepyfile(test_page=as_module(blocks(text)) + LAST_TEST)
    return pytester.runpytest_inprocess("-q", "-p", "no:randomly").assert_outcomes


def test_a_page_whose_code_fails_fails(pytester: pytest.Pytester) -> None:
    run_page(pytester, "```python\nassert 1 == 2\n```\n")(errors=1)
    run_page(pytester, "```python\ndef test_one():\n    assert 1 == 2\n```\n")(failed=1, passed=1)


# Somebody who types it


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("took 1.50 s\n", "took 1.52 s\n"),
        ("6 passed in ...\n", "6 passed in 0.33s\n"),
        ("first\n...\nlast\n", "first\na\nb\nlast\n"),
        ("first\n...\n", "first\n"),
        ("...... [100%]\n", "...... [100%]\n"),
    ],
)
def test_output_that_is_as_good_as_what_is_shown(shown: str, printed: str) -> None:
    assert not differs(shown, printed)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("took 1.50 s\n", "took 1.70 s\n"),
        ("first\n...\nlast\n", "first\na\n"),
        ("...... [100%]\n", "..F... [100%]\n"),
        ("passed\n", "passed\nfailed\n"),
    ],
)
def test_output_that_is_not(shown: str, printed: str) -> None:
    assert differs(shown, printed)


def test_what_python_prints_must_be_what_stands_below_it(reader: Reader) -> None:
    reader.read([Block("python", "a = 1\nprint(a)\n", 1), Block("text", "1\n", 5, follows=True)])
    with pytest.raises(AssertionError, match="the page:5 shows this"):
        reader.read([Block("python", "print(a + 1)\n", 1), Block("text", "1\n", 5, follows=True)])


def test_commands_are_typed_in_the_folder_of_the_saved_files(reader: Reader) -> None:
    reader.read(
        [Block("text", "some words\n", 1, file="notes.txt"), Block("console", "$ cat notes.txt\nsome words\n", 4)]
    )


@pytest.mark.parametrize(
    ("session", "message"),
    [("$ false\n", "ended with 1"), ("$ echo one\ntwo\n", "printed:\none"), ("$ false\n$ echo $?\n0\n", "printed:\n1")],
)
def test_a_command_that_does_something_else_fails(reader: Reader, session: str, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        reader.read([Block("console", session, 1)])


def test_a_command_may_fail_where_its_exit_code_is_shown(reader: Reader) -> None:
    reader.read([Block("console", "$ (exit 3)\n$ echo $?\n3\n", 1)])


def test_a_saved_file_must_be_used(reader: Reader) -> None:
    with pytest.raises(AssertionError, match=r"any later block: a\.yaml"):
        reader.read([Block("yaml", "name: a\n", 1, file="a.yaml")])


def test_scenarios_and_parts_of_them_must_be_right(reader: Reader) -> None:
    reader.read([Block("yaml", "steps:\n- say: Hello.\n", 1), Block("yaml", "line: {noise: 20dB}\n", 1)])
    with pytest.raises(Exception, match=r"the page:7:3:3: there is no step 'sya'"):
        reader.read([Block("yaml", "steps:\n- sya: Hello.\n", 7)])


def test_a_language_that_nobody_can_run_is_refused(reader: Reader) -> None:
    with pytest.raises(AssertionError, match="'bash'; there is console"):
        reader.read([Block("bash", "ls\n", 1)])
