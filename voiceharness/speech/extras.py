"""Optional packages: found without importing them, and asked for by name when they are missing."""

from __future__ import annotations

from importlib.util import find_spec

from voiceharness.errors import MissingExtraError

__all__ = ["is_installed", "require_package"]


def is_installed(module: str) -> bool:
    """Tell whether a top-level module can be imported, without importing it."""
    return find_spec(module) is not None


def require_package(module: str, *, extra: str, what: str) -> None:
    """Raise MissingExtraError, with the install line of ``extra``, unless ``module`` is installed."""
    if not is_installed(module):
        raise MissingExtraError(f"{what} needs the package {module!r}, which is not installed", extra=extra)
