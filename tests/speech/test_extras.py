"""Optional packages."""

from __future__ import annotations

import pytest

from voiceharness.errors import MissingExtraError
from voiceharness.speech.extras import is_installed, require_package

__all__: list[str] = []


def test_installed_packages_are_found() -> None:
    assert is_installed("numpy")
    assert not is_installed("no_such_package_at_all")
    require_package("numpy", extra="speech", what="a test")


def test_missing_package_is_told_with_who_needs_it() -> None:
    with pytest.raises(MissingExtraError, match="the parrot needs the package 'no_such_package_at_all'") as raised:
        require_package("no_such_package_at_all", extra="speech", what="the parrot")
    assert raised.value.extra == "speech"
