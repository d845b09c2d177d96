"""The PEM files of a TLS endpoint: looked at before a library gets them, which would not say what is wrong."""

from __future__ import annotations

import ssl
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from voiceharness.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from voiceharness_adapters.sip.settings import SipSettings

__all__ = ["check_certificates", "with_its_key"]


def check_certificates(settings: SipSettings) -> None:
    """See that the files of an endpoint can be used.

    Raises:
        OptionError: if one cannot be read, is no such file, or the key is not that of the certificate.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        if settings.tls_certificate:
            context.load_cert_chain(settings.tls_certificate, settings.tls_key, password=_no_password)
    except (OSError, ValueError) as error:  # an SSLError is an OSError
        raise OptionError(f"sip: the certificate {settings.tls_certificate} and its key: {error}") from error
    try:
        if settings.tls_authorities:
            context.load_verify_locations(settings.tls_authorities)
    except (OSError, ValueError) as error:
        raise OptionError(f"sip: tls_authorities {settings.tls_authorities}: {error}") from error


def _no_password() -> bytes:
    """Open a key that is encrypted: neither library could, and nobody is to be asked on a terminal."""
    return b""


@contextmanager
def with_its_key(certificate: str, key: str) -> Iterator[str]:
    """Put a certificate and its key into one file, which only its owner can read; it is there for a moment.

    Yields its path; empty: there is no certificate.
    """
    if not certificate:
        yield ""
        return
    with tempfile.NamedTemporaryFile(suffix=".pem") as both:
        for path in (key, certificate):
            both.write(Path(path).read_bytes() + b"\n")
        both.flush()
        yield both.name
