"""How a SIP endpoint is set up: addresses, account, transport, media."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, fields
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, Literal

from voiceharness.errors import MissingExtraError, OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Backend", "SipSettings", "Srtp", "Transport", "choose_backend", "codecs_of", "usual_codecs"]

Backend = Literal["pjsua2", "baresip"]
Transport = Literal["udp", "tcp", "tls"]
Srtp = Literal["off", "optional", "mandatory", "dtls"]

_PACKAGES: Final[Mapping[Backend, str]] = {"pjsua2": "pjsua2", "baresip": "baresip"}
_CODECS: Final = ("PCMU", "PCMA", "G722", "OPUS")
_RATES: Final[Mapping[str, int]] = {"PCMU": 8000, "PCMA": 8000, "G722": 16000, "OPUS": 48000}


@dataclass(frozen=True, slots=True)
class SipSettings:
    """One SIP endpoint.

    ``host`` and ``port`` are where it listens (port 0: any), ``public_address`` what it tells others when that differs.
    ``user`` is its own name. With a ``registrar`` (host or host:port) it registers there, as ``auth_user`` (default:
    ``user``) with ``password``, for ``expires`` seconds; requests go through ``proxy`` (host or host:port) if given.
    ``codecs`` are offered in this order. ``rate`` is the line rate in hertz, at which the media bridge runs too. With
    ``tls_authorities`` (a PEM file) the peer's certificate is verified.
    """

    host: str = "127.0.0.1"
    port: int = 0
    public_address: str = ""
    transport: Transport = "udp"
    user: str = "voiceharness"
    registrar: str = ""
    auth_user: str = ""
    password: str = field(default="", repr=False)
    expires: int = 300
    proxy: str = ""
    codecs: tuple[str, ...] = ("PCMU", "PCMA")
    rate: int = 8000
    srtp: Srtp = "off"
    tls_certificate: str = ""
    tls_key: str = field(default="", repr=False)
    tls_authorities: str = ""
    backend: Backend = "pjsua2"

    def __post_init__(self) -> None:
        if self.srtp == "dtls" and self.backend != "baresip":
            raise OptionError("sip: srtp 'dtls' needs the backend 'baresip'; pjsua2 has srtp by SDES: 'mandatory'")
        if "OPUS" in self.codecs and self.backend != "baresip":
            raise OptionError("sip: OPUS needs the backend 'baresip'; pjsua2 has PCMU, PCMA and G722")
        if self.public_address and self.backend == "baresip":
            raise OptionError("sip: public_address needs the backend 'pjsua2'; baresip tells the address it listens on")
        unlike = [codec for codec in self.codecs if _RATES[codec] != self.rate]
        if self.backend == "baresip" and unlike:
            raise OptionError(
                f"sip: {unlike[0]} carries {_RATES[unlike[0]]} Hz, and the backend baresip runs a line at its codec's "
                f"rate, not at {self.rate}"
            )
        if self.transport == "tls" and bool(self.tls_certificate) != bool(self.tls_key):
            raise OptionError("sip: a TLS certificate needs its key, and the key its certificate")
        if self.auth_user and not self.password:
            raise OptionError("sip: auth_user needs a password")

    @property
    def domain(self) -> str:
        """The domain of the account's address: the registrar's, without its port."""
        return self.registrar.rsplit(":", 1)[0] if self.registrar else ""

    def for_worker(self) -> dict[str, Any]:  # Any: what JSON can hold
        """Return what the worker is told. It holds the password: it goes through a private socket and no log."""
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        return {**own, "domain": self.domain, "rtp_port": 0}


def choose_backend(wanted: str) -> Backend:
    """Return the backend to use; ``auto`` takes pjsua2 where it is installed, else baresip.

    Raises:
        OptionError: there is no such backend.
        MissingExtraError: it is not installed.
    """
    if wanted == "auto":
        installed = [name for name, package in _PACKAGES.items() if find_spec(package)]
        if not installed:
            raise MissingExtraError("SIP needs a SIP library", extra="sip")
        return installed[0]
    if wanted not in _PACKAGES:
        raise OptionError(f"sip: no backend {wanted!r}; there are auto, {', '.join(_PACKAGES)}")
    backend: Backend = "pjsua2" if wanted == "pjsua2" else "baresip"
    if not find_spec(_PACKAGES[backend]):
        extra = "sip-baresip" if backend == "baresip" else "sip"
        here = f"Python {sys.version_info.major}.{sys.version_info.minor}"
        raise MissingExtraError(f"the SIP backend {backend} is not installed in this {here}", extra=extra)
    return backend


def usual_codecs(backend: Backend, rate: int) -> str:
    """Return the codecs that are offered on a line of this rate when none are asked for."""
    wide = {16000: "G722", 48000: "OPUS"} if backend == "baresip" else {}
    return wide.get(rate, "PCMU,PCMA")


def codecs_of(text: str, rate: int) -> tuple[str, ...]:
    """Return the codecs of a comma-separated list, in order.

    Raises:
        OptionError: if a codec is unknown, or carries a higher rate than the line.
    """
    names = tuple(name.strip().upper() for name in text.split(",") if name.strip())
    unknown = [name for name in names if name not in _CODECS]
    if unknown or not names:
        raise OptionError(f"sip: no codec {', '.join(unknown) or text!r}; there are {', '.join(_CODECS)}")
    beyond = [name for name in names if _RATES[name] > rate]
    if beyond:
        raise OptionError(f"sip: {beyond[0]} needs a line rate of {_RATES[beyond[0]]} Hz; this line runs at {rate}")
    return names
