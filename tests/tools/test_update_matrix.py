"""The matrix in docs/ is made, not written, and says what calls in virtual time show."""

from __future__ import annotations

import pytest

from tools.update_matrix import PAGE, SAVED, main, page_of
from voiceharness.matrix import exit_code, load_matrix

__all__: list[str] = []

pytestmark = pytest.mark.checkout


def test_the_page_is_that_of_the_saved_matrix() -> None:
    assert PAGE.read_text(encoding="utf-8") == page_of(load_matrix(SAVED))


def test_no_declaration_of_ours_is_false() -> None:
    assert exit_code(load_matrix(SAVED)) == 0


@pytest.mark.parametrize("adapter", ["in_process", "realtime", "twilio"])
def test_what_is_saved_is_what_calls_show(adapter: str) -> None:
    assert main(["--check", "--only", adapter]) == 0
