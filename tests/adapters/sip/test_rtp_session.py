"""What pjsua2 knows of a stream's packets: whom it is asked of, and when it is not."""

from __future__ import annotations

import subprocess
import sys

import pytest

__all__: list[str] = []

pytestmark = pytest.mark.skipif(sys.version_info >= (3, 13), reason="pjsua2 has no wheel for this Python")

NO_STREAM = 1
"""An address at which there is nothing: to read there ends the process."""


def in_a_process(script: str) -> subprocess.CompletedProcess[str]:
    """Run it in a process of its own, as the library must be."""
    begin = (
        "import os, pjsua2 as pj\n"
        "from voiceharness_adapters.sip.pjsua2_worker import rtp_clock, rtp_session\n"
        "endpoint = pj.Endpoint()\n"
        "endpoint.libCreate()\n"
    )
    end = "\nendpoint.libDestroy(3)\nos._exit(0)"
    return subprocess.run([sys.executable, "-c", begin + script + end], capture_output=True, text=True, check=False)


def test_the_library_at_hand_is_the_one_that_was_checked() -> None:
    assert in_a_process("assert rtp_session.is_checked()").returncode == 0


def test_a_library_of_another_version_is_never_asked() -> None:
    ran = in_a_process(
        "rtp_session.CHECKED_VERSION = '2.16'\n"
        f"assert rtp_session.RtpSession.of({NO_STREAM}) is None\n"
        "clock = rtp_clock.RtpClock()\n"
        f"clock.follow({NO_STREAM})\n"
        "clock.skip(5)"
    )
    assert ran.returncode == 0, ran.stderr


def test_a_stream_that_has_gone_is_not_touched() -> None:
    ran = in_a_process(
        f"clock = rtp_clock.RtpClock()\nclock.follow({NO_STREAM})\nclock.leave({NO_STREAM})\nclock.skip(5)"
    )
    assert ran.returncode == 0, ran.stderr


def test_another_stream_that_goes_does_not_stop_it() -> None:
    """The new leg of a call that was referred elsewhere sends on when the old one has gone."""
    ran = in_a_process(
        f"clock = rtp_clock.RtpClock()\nclock.follow({NO_STREAM})\nclock.leave(2)\nassert clock._stream == {NO_STREAM}"
    )
    assert ran.returncode == 0, ran.stderr


def test_the_structures_have_the_layout_that_was_measured() -> None:
    """Offsets at which calls of known packets had their source, count and timestamps."""
    ran = in_a_process(
        "rtp, rtcp = rtp_session._Rtp, rtp_session._Rtcp\n"
        "assert (rtp.peer_ssrc.offset, rtp.received.offset) == (0x2C, 0x30)\n"
        "assert (rtcp.rtp_last_ts.offset, rtcp.clock_rate.offset, rtcp.received.offset) == (124, 128, 140)\n"
        "assert (rtp_session._BufferState.size.offset, rtp_session._BufferState.empty.offset) == (20, 52)"
    )
    assert ran.returncode == 0, ran.stderr
