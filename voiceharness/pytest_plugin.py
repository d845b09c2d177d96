"""The pytest plugin: scenarios as tests."""

from __future__ import annotations

__all__: list[str] = []
