"""``python -m voiceharness``."""

from __future__ import annotations

from voiceharness.cli import main

__all__: list[str] = []

main()
