"""The FastAPI example: its own tests pass, in virtual time and over a socket."""

from __future__ import annotations

import importlib

import pytest

__all__: list[str] = []

pytestmark = pytest.mark.checkout


def example_test(name: str) -> None:
    pytest.importorskip("fastapi")
    getattr(importlib.import_module("examples.fastapi_agent.test_agent"), name)()


def test_in_virtual_time() -> None:
    example_test("test_in_virtual_time")


@pytest.mark.realtime
def test_over_a_socket() -> None:
    example_test("test_over_a_socket")
