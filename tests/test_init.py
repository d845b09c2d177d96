"""The front door of the package."""

from __future__ import annotations

import pytest

import voiceharness


@pytest.mark.parametrize("name", voiceharness.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(voiceharness, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        voiceharness.nothing  # noqa: B018 (the access is the test)


def test_the_names_are_listed() -> None:
    assert dir(voiceharness) == sorted(voiceharness.__all__)
