"""What baresip is told beside its account: lines of its own configuration, whose misspellings it ignores."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["extra_configuration", "free_port", "is_free", "own_address"]

EVERYWHERE: Final = "0.0.0.0"
_TRIES: Final = 20
_SOMEWHERE: Final = ("192.0.2.1", 9)  # an address of documentation (RFC 5737); nothing is sent there


def extra_configuration(options: Mapping[str, object], port: int, certificate: str) -> str:
    """Return where to listen, a jitter buffer that holds little, and certificates.

    ``certificate`` is a file with the endpoint's own and its key.
    """
    lines = [
        f"sip_listen {options['host']}:{port}",
        "audio_jitter_buffer_type fixed",
        "audio_jitter_buffer_ms 20-200",
        "dns_getaddrinfo yes",
    ]
    if certificate:
        lines.append(f"sip_certificate {certificate}")
    if options["tls_authorities"]:
        lines += [f"sip_cafile {options['tls_authorities']}", "sip_verify_server yes"]
    return "\n".join(lines) + "\n"


def own_address(host: str) -> str:
    """Return the address to be reached at: for a host that is every interface, that of the way out."""
    if host != EVERYWHERE:
        return host
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(_SOMEWHERE)
        except OSError:  # there is no way out
            return "127.0.0.1"
        address: str = probe.getsockname()[0]
        return address


def free_port(host: str) -> int:
    """Return a port that is free now: the stack cannot tell which one it took.

    After many that are not free it is the last of them, and the stack will say so.
    """
    for _ in range(_TRIES):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind((host, 0))
            port: int = probe.getsockname()[1]
        if is_free(host, port):
            break
    return port


def is_free(host: str, port: int) -> bool:
    """Say whether the stack can listen at a port by UDP and by TCP, and by TLS at the next one: it does all three."""
    wanted = ((socket.SOCK_DGRAM, port), (socket.SOCK_STREAM, port), (socket.SOCK_STREAM, port + 1))
    for kind, number in wanted:
        with socket.socket(socket.AF_INET, kind) as probe:
            try:
                probe.bind((host, number))
            except (OSError, OverflowError):
                return False
    return True
