"""Real SIP programs of other makers, run headless on loopback for one test."""

from __future__ import annotations

import asyncio
import shutil
import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from voiceharness.clock import LoopClock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

__all__ = ["baresip", "certificate", "free_port", "kamailio", "needs", "sipp"]

READY_TIMEOUT = 5.0
QUIET = asyncio.subprocess.DEVNULL


def needs(program: str) -> None:
    """Skip a test whose program is not there."""
    if shutil.which(program, path="/usr/local/bin:/usr/bin:/bin:/usr/sbin") is None:
        pytest.skip(f"not installed: {program}")


def free_port(kind: socket.SocketKind = socket.SOCK_DGRAM) -> int:
    """Return a port that is free, with a free one after it."""
    while True:
        with socket.socket(socket.AF_INET, kind) as first, socket.socket(socket.AF_INET, kind) as second:
            first.bind(("127.0.0.1", 0))
            port: int = first.getsockname()[1]
            try:
                second.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port


@asynccontextmanager
async def running(*command: str, cwd: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a program while the block lasts; it is killed at its end."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=cwd,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def is_bound(port: int) -> None:
    """Wait until somebody has taken a UDP port."""
    async with asyncio.timeout(READY_TIMEOUT):
        while True:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
                try:
                    probe.bind(("127.0.0.1", port))
                except OSError:
                    return
            await LoopClock().sleep(0.02)


async def listens(port: int) -> None:
    """Wait until something listens on a TCP port."""
    async with asyncio.timeout(READY_TIMEOUT):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except ConnectionRefusedError:
                await LoopClock().sleep(0.02)
                continue
            writer.close()
            await writer.wait_closed()
            return


@asynccontextmanager
async def sipp(folder: Path, *arguments: str) -> AsyncIterator[str]:
    """Run SIPp as an agent; yields its address."""
    needs("sipp")
    port, media, control = free_port(), free_port(), free_port()
    command = ("sipp", "-i", "127.0.0.1", "-p", str(port), "-mi", "127.0.0.1", "-mp", str(media))
    control_arguments = ("-ci", "127.0.0.1", "-cp", str(control), "-nostdin")
    async with running(*command, *control_arguments, *arguments, cwd=folder):
        await is_bound(port)
        yield f"sip:sipp@127.0.0.1:{port}"


BARESIP = """sip_listen 127.0.0.1:{port}
net_interface 127.0.0.1
audio_source aufile,{folder}/agent.wav
audio_player aubridge,sink
audio_alert aubridge,alert
rtp_ports {media}-{last_media}
module_path /usr/lib/baresip/modules
module g711.so
module g722.so
module aufile.so
module aubridge.so
module sndfile.so
module uuid.so
module srtp.so
module_tmp account.so
module_app menu.so
snd_path {folder}
"""


@asynccontextmanager
async def baresip(folder: Path, *, codec: str = "PCMU/8000/1") -> AsyncIterator[str]:
    """Run baresip as an agent that answers, plays ``agent.wav`` and records what it hears; yields its address."""
    needs("baresip")
    port, media = free_port(), free_port()
    (folder / "config").write_text(BARESIP.format(port=port, folder=folder, media=media, last_media=media + 100))
    account = f"<sip:agent@127.0.0.1:{port}>;regint=0;answermode=auto;audio_codecs={codec};ptime=20"
    (folder / "accounts").write_text(account + "\n")
    (folder / "contacts").write_text("")
    async with running("baresip", "-f", str(folder), cwd=folder):
        await listens(port)
        yield f"sip:agent@127.0.0.1:{port}"


KAMAILIO = """#!KAMAILIO
children=2
tcp_children=2
log_stderror=yes
debug=0
enable_tls={tls}
listen=udp:127.0.0.1:{port}
listen=tcp:127.0.0.1:{port}
{listen_tls}
loadmodule "sl.so"
loadmodule "tm.so"
loadmodule "rr.so"
loadmodule "pv.so"
loadmodule "maxfwd.so"
loadmodule "siputils.so"
loadmodule "textops.so"
loadmodule "usrloc.so"
loadmodule "registrar.so"
loadmodule "auth.so"
loadmodule "xlog.so"
{load_tls}
modparam("usrloc", "db_mode", 0)
{tls_parameters}
request_route {{
    if (!mf_process_maxfwd_header("10")) {{ exit; }}
    if (is_method("OPTIONS") && uri==myself && $rU==$null) {{ sl_send_reply("200", "OK"); exit; }}
    if (has_totag()) {{ if (loose_route()) {{ t_relay(); }} else {{ t_relay(); }} exit; }}
    if (is_method("CANCEL")) {{ t_relay(); exit; }}
    if (is_method("REGISTER")) {{
        if (!pv_www_authenticate("voicetest", "secret-$au", "0")) {{ www_challenge("voicetest", "0"); exit; }}
        save("location");
        exit;
    }}
    if (is_method("INVITE")) {{
        if (!pv_proxy_authenticate("voicetest", "secret-$au", "0")) {{ proxy_challenge("voicetest", "0"); exit; }}
        consume_credentials();
        record_route();
    }}
    if (!lookup("location")) {{ sl_send_reply("404", "Not Found"); exit; }}
    t_relay();
}}
"""


@asynccontextmanager
async def kamailio(folder: Path, *, tls: tuple[Path, Path] | None = None) -> AsyncIterator[tuple[int, int]]:
    """Run kamailio as a registrar and proxy that wants the password ``secret-`` and the user's name.

    Yields its port for UDP and TCP, and its port for TLS (0: none).
    """
    needs("kamailio")
    port = free_port()
    tls_port = free_port(socket.SOCK_STREAM) if tls else 0
    config = KAMAILIO.format(
        port=port,
        tls="yes" if tls else "no",
        listen_tls=f"listen=tls:127.0.0.1:{tls_port}" if tls else "",
        load_tls='loadmodule "tls.so"' if tls else "",
        tls_parameters=_tls_parameters(*tls) if tls else "",
    )
    (folder / "kamailio.cfg").write_text(config)
    (folder / "run").mkdir()
    command = ("kamailio", "-f", str(folder / "kamailio.cfg"), "-P", str(folder / "kamailio.pid"))
    process = await asyncio.create_subprocess_exec(
        *command,
        *("-DD", "-E", "-m", "64", "-M", "8", "-Y", str(folder / "run")),
        stdout=QUIET,
        stderr=QUIET,
        env={"PATH": "/usr/sbin:/usr/bin:/bin"},
    )
    try:
        await listens(port)
        yield port, tls_port
    finally:
        if process.returncode is None:
            process.terminate()  # the first process ends its children
        await process.wait()


def _tls_parameters(certificate: Path, key: Path) -> str:
    return "\n".join(
        f'modparam("tls", "{name}", "{value}")'
        for name, value in (("certificate", certificate), ("private_key", key), ("tls_method", "TLSv1+"))
    )


async def certificate(folder: Path) -> tuple[Path, Path]:
    """Make a self-signed certificate for 127.0.0.1; returns it and its key."""
    needs("openssl")
    cert, key = folder / "cert.pem", folder / "key.pem"
    subject = ("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2")
    command = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(cert))
    process = await asyncio.create_subprocess_exec(*command, *subject, stderr=QUIET)
    assert await process.wait() == 0
    return cert, key
