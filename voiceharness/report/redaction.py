"""Keeps phone numbers, credentials and memory addresses out of everything that is written to a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from voiceharness.measure.metrics import Json

__all__ = ["Redactor", "Secret", "secrets_in"]

_SHORTEST_SECRET: Final = 4

_PHONE_NUMBERS: Final = (
    re.compile(r"(?P<kept>)\+[1-9](?:[ ()-]{0,2}\d){6,14}(?!\d)"),
    re.compile(r"(?P<kept>)\+\d{1,3}(?:\.\d{2,4}){2,4}(?!\d)"),
    re.compile(r"(?P<kept>\b(?:sips?|tel):)\+?\d[\d().-]{4,}\d"),
)

_CREDENTIALS: Final = (
    re.compile(r"(?P<kept>\b(?:bearer|basic)\s+)[\w.~+/=-]{8,}", re.IGNORECASE),
    re.compile(r"(?P<kept>[?&;](?:\w*token|\w*key|secret|password|auth\w*|sig\w*)=)[^&;\s]+", re.IGNORECASE),
    re.compile(r"(?P<kept>://[^/\s:@]*:)[^/\s@]+(?=@)"),
    re.compile(r"(?P<kept>\b(?:AC|SK))[0-9a-f]{32}\b"),
    re.compile(r"(?P<kept>\bsk-)[\w-]{16,}"),
)

_ADDRESS: Final = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")

_SECRET_OPTION: Final = re.compile(
    r"token|secret|password|credential|auth|(?:^|_)(?:key|sid|pin|from|to|number|phone|identity|user|username)(?:$|_)"
)


class Secret(str):
    """A text that was taken from where secrets are kept; ``parts`` are what of it is secret.

    It shows itself to whom it is given as what it is, a text; its ``repr``, which errors quote, does not tell it.
    """

    __slots__ = ("parts",)
    parts: tuple[str, ...]

    def __new__(cls, text: str, parts: Iterable[str] = ()) -> Self:
        """Make one of a text that has secret parts."""
        made = super().__new__(cls, text)
        made.parts = tuple(parts)
        return made

    def __repr__(self) -> str:
        return "'[secret]'"


def secrets_in(options: Mapping[str, object]) -> tuple[str, ...]:
    """Return the values of those options whose names say that they are nobody else's business, and all secrets."""
    named = (value for name, value in options.items() if isinstance(value, str) and _SECRET_OPTION.search(name))
    return tuple(dict.fromkeys(str(secret) for secret in (*named, *_secret_parts(options))))


def _secret_parts(value: object) -> Iterator[str]:
    match value:
        case Secret():
            yield from value.parts
        case Mapping():
            for each in value.values():
                yield from _secret_parts(each)
        case list() | tuple():
            for each in value:
                yield from _secret_parts(each)


@dataclass(frozen=True, slots=True)
class Redactor:
    """Replaces phone numbers by their last two digits, and credentials by a mark.

    ``secrets`` are texts that are removed wherever they stand; those of fewer than four characters are left alone,
    because they would take harmless text with them.
    """

    secrets: tuple[str, ...] = ()

    @classmethod
    def of(cls, secrets: Iterable[str]) -> Redactor:
        """Make one for some secrets; the longest is looked for first."""
        usable = {secret for secret in secrets if len(secret) >= _SHORTEST_SECRET}
        return cls(tuple(sorted(usable, key=lambda secret: (-len(secret), secret))))

    def text(self, text: str) -> str:
        """Return a text without what must not be written."""
        for secret in self.secrets:
            text = text.replace(secret, "[secret]")
        for pattern in _CREDENTIALS:
            text = pattern.sub(r"\g<kept>[secret]", text)
        for pattern in _PHONE_NUMBERS:
            text = pattern.sub(_last_digits, text)
        return _ADDRESS.sub("0x…", text)  # differs from run to run, and says nothing

    def content(self, content: bytes) -> bytes:
        """Return a file's content without the secrets, if it is text in UTF-8; sound and the like stay as they are."""
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            return content
        for secret in self.secrets:
            text = text.replace(secret, "[secret]")
        return text.encode("utf-8")

    def plain(self, value: Json) -> Json:
        """Return a JSON value with all its texts redacted; names are kept."""
        match value:
            case str():
                return self.text(value)
            case list():
                return [self.plain(each) for each in value]
            case dict():
                return {name: self.plain(each) for name, each in value.items()}
        return value


def _last_digits(found: re.Match[str]) -> str:
    return f"{found['kept']}…{found[0][-2:]}"
