"""The agent's web server as the carrier asks it: for documents, and for files to be played."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode, urljoin

from voiceharness.errors import CallRejectedError, RemoteProtocolError, UnsupportedCapabilityError
from voiceharness.protocols.media_streams.twiml import Verb, parse_twiml
from voiceharness_adapters.twilio.identity import WEBHOOK_AGENT
from voiceharness_adapters.twilio.urls import WEBHOOK_SCHEMES, why_no_url

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voiceharness_adapters.twilio.door import Door, HttpAnswer
    from voiceharness_adapters.twilio.identity import CallIdentity

__all__ = ["AgentServer", "Document", "joined"]

NO_FIELDS: Final[Mapping[str, str]] = MappingProxyType({})
MAX_REDIRECTS: Final = 10
FOLLOWED_BY_GET: Final = frozenset({301, 302, 303})
FOLLOWED: Final = FOLLOWED_BY_GET | {307, 308}
READ_AS_TWIML: Final = frozenset({"text/xml", "application/xml", "text/html"})


@dataclass(frozen=True, slots=True)
class Document:
    """What a webhook answered. ``url``: where it was found in the end, which is where its URLs are meant from."""

    url: str
    verbs: tuple[Verb, ...]


class AgentServer:
    """One agent's web server, for one call. HTTP redirects are followed, as the carrier does."""

    def __init__(self, door: Door, identity: CallIdentity) -> None:
        self._door = door
        self._identity = identity

    async def document(self, url: str, status: str, fields: Mapping[str, str] = NO_FIELDS) -> Document:
        """Post to a webhook, and read the TwiML that it answers.

        Raises:
            CallRejectedError: if the answer's status is not 2xx.
            RemoteProtocolError: if it is not TwiML, or does not say that it is.
            UnsupportedCapabilityError: if a carrier would speak or play it, or if it uses what is not played here.
        """
        url, answer = await self._asked("POST", url, {**self._identity.form(status), **fields})
        if not 200 <= answer.status < 300:
            raise CallRejectedError(f"the webhook {url} answered HTTP {answer.status}", code=answer.status)
        if not answer.body.strip():
            return Document(url, ())
        _see_that_it_is_twiml(url, answer)
        return Document(url, parse_twiml(answer.body))

    async def file(self, url: str) -> HttpAnswer:
        """Get a file that is to be played.

        Raises:
            CallRejectedError: if the answer's status is not 200.
        """
        _, answer = await self._asked("GET", url, {})
        if answer.status != 200:
            raise CallRejectedError(f"the file {url} to be played answered HTTP {answer.status}", code=answer.status)
        return answer

    async def _asked(self, method: str, url: str, form: Mapping[str, str]) -> tuple[str, HttpAnswer]:
        """Send a request, go on where its answer leads, and return what was answered in the end, and where."""
        first = url
        for _ in range(MAX_REDIRECTS + 1):
            answer = await self._once(method, url, form)
            if answer.status not in FOLLOWED or not answer.location:
                return url, answer
            url = joined(url, answer.location)
            if answer.status in FOLLOWED_BY_GET:
                method = "GET"
        raise RemoteProtocolError(f"{first} was answered by more than {MAX_REDIRECTS} HTTP redirects in a row")

    async def _once(self, method: str, url: str, form: Mapping[str, str]) -> HttpAnswer:
        if method == "GET":
            return await self._door.request("GET", url, [WEBHOOK_AGENT, *self._identity.signature(url)], b"")
        return await self._door.request("POST", url, self._identity.headers(url, form), urlencode(form).encode("ascii"))


def _see_that_it_is_twiml(url: str, answer: HttpAnswer) -> None:
    media_type = answer.media_type
    if media_type == "text/plain" or media_type.startswith("audio/"):
        raise UnsupportedCapabilityError(
            adapter="twilio",
            capability=f"a webhook's answer of {media_type}",
            alternative="answer with TwiML, text/xml",
        )
    if media_type not in READ_AS_TWIML:
        told = f"says that it is {media_type!r}" if media_type else "has no content type"
        raise RemoteProtocolError(
            f"the webhook's answer cannot be used: that of {url} {told}; a carrier reads TwiML as text/xml"
        )


def joined(base: str, url: str) -> str:
    """Return the URL that a document at ``base`` means.

    Raises:
        RemoteProtocolError: if nobody can be asked there.
    """
    if any(each.isspace() or not each.isprintable() for each in url):
        raise RemoteProtocolError(f"{url[:80]!r} is no URL: it has spaces, or what cannot be printed")
    try:
        meant = urljoin(base, url) if url else base
    except ValueError as error:
        raise RemoteProtocolError(f"{url[:80]!r} is no URL: {error}") from error
    if wrong := why_no_url(meant, WEBHOOK_SCHEMES):
        raise RemoteProtocolError(f"{url[:80]!r} is no URL: it {wrong}")
    return meant
