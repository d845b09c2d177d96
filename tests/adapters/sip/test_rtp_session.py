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
        "assert (rtp_session._BufferState.size.offset, rtp_session._BufferState.empty.offset) == (24, 56)"
    )
    assert ran.returncode == 0, ran.stderr


CALL_TO_ITSELF = """
class Leg(pj.Call):
    stream = None
    def onStreamCreated(self, prm):
        self.stream = int(getattr(prm.stream, "this", prm.stream))

class Account(pj.Account):
    def onIncomingCall(self, prm):
        legs.append(Leg(self, prm.callId))
        legs[-1].answer(answer)

legs, answer = [], pj.CallOpParam()
answer.statusCode = 200
config = pj.EpConfig()
config.uaConfig.threadCnt = 0
config.logConfig.consoleLevel = 0
endpoint.libInit(config)
where = pj.TransportConfig()
where.boundAddress = "127.0.0.1"
transport = endpoint.transportCreate(pj.PJSIP_TRANSPORT_UDP, where)
endpoint.libStart()
endpoint.audDevManager().setNullDev()
account, options = Account(), pj.AccountConfig()
address = endpoint.transportGetInfo(transport).localName
options.idUri = "sip:me@" + address
options.mediaConfig.transportConfig.boundAddress = "127.0.0.1"
account.create(options)
legs.append(Leg(account))
legs[0].makeCall("sip:me@" + address, pj.CallOpParam(True))
seen = set()
while len(seen) < 4:  # until both legs had their buffers in more than one state
    endpoint.libHandleEvents(5)
    for leg in legs:
        if leg.stream is None or not leg.hasMedia():
            continue
        packets, frames, empty = rtp_session.RtpSession.of(leg.stream).buffered()
        told = leg.getStreamStat(0)
        again = rtp_session.RtpSession.of(leg.stream).buffered()
        if again != (packets, frames, empty):
            continue  # something came in between
        assert (frames, empty) == (told.jbuf.size, told.jbuf.empty), (frames, empty, told.jbuf.size, told.jbuf.empty)
        assert 0 <= told.rtcp.rxStat.pkt - packets <= 2, (told.rtcp.rxStat.pkt, packets)
        if packets > 3:
            seen.add((legs.index(leg), frames))
"""


@pytest.mark.realtime
def test_what_is_read_is_what_the_library_tells_of_a_call() -> None:
    """The count of the packets leaves out the first two, by which a source proves itself (RFC 3550, A.1)."""
    ran = in_a_process(CALL_TO_ITSELF)
    assert ran.returncode == 0, ran.stderr
