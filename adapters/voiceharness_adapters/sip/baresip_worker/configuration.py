"""What baresip is told beside its account: lines of its own configuration, whose misspellings it ignores."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["extra_configuration", "free_port", "own_address"]

EVERYWHERE: Final = "0.0.0.0"
_SOMEWHERE: Final = ("192.0.2.1", 9)  # an address of documentation (RFC 5737); nothing is sent there


def extra_configuration(options: Mapping[str, object], port: int) -> str:
    """Return where to listen, a jitter buffer that holds little, and certificates."""
    lines = [
        f"sip_listen {options['host']}:{port}",
        "audio_jitter_buffer_type fixed",
        "audio_jitter_buffer_ms 20-200",
    ]
    if options["tls_certificate"]:
        lines.append(f"sip_certificate {options['tls_certificate']}")
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
    """Return a port that is free now: the stack cannot tell which one it took."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
        return port
