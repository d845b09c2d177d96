"""What is learned from pjsua2's log: the SIP messages, faults in received RTP, and the last words before an abort."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import pjsua2 as pj

from voiceharness_adapters.sip.trace import redact

if TYPE_CHECKING:
    from voiceharness_adapters.sip.channel import Channel

__all__ = ["LogTap"]

_WARNING: Final = 2
_SIP_MESSAGE: Final = re.compile(
    r"(?P<way>TX|RX) \d+ bytes [^\n]*? (?:to|from) (?P<protocol>\w+) (?P<peer>\S+):\r?\n(?P<text>.*?)\s*--end msg--",
    re.DOTALL,
)
_STREAM: Final = re.compile(r"strm(0x[0-9a-f]+)\s+\.*(?P<text>[^\n]*)")
_RTP_FAULTS: Final = (
    ("rtp_payload_type", re.compile(r"Bad RTP pt (\d+) \(expecting (\d+)\)")),
    ("rtp_source_changed", re.compile(r"Changed RTP peer SSRC (-?\d+) \(previously (-?\d+)\)")),
    ("rtp_address_changed", re.compile(r"Remote RTP address switched to (?!predicted)\S+")),
    ("rtp_sequence_jump", re.compile(r"Jitter buffer reset")),
)
_DETAILS: Final = {"rtp_sequence_jump": "the sequence numbers jumped, and the stream was taken up anew"}


class LogTap(pj.LogWriter):
    """Passes on what the owner needs of the log. Called from several threads; nothing here may raise.

    ``calls`` maps the address of a media stream, as it stands in the log, to its call. The same fault is told once per
    call: some come with every packet.
    """

    def __init__(self, channel: Channel) -> None:
        super().__init__()
        self.calls: dict[str, int] = {}
        self._channel = channel
        self._told: set[tuple[int, str, str]] = set()

    def write(self, entry: pj.LogEntry) -> None:
        """Take one entry."""
        try:
            self._take(entry.level, entry.msg)
        except Exception as error:  # nothing may leave a callback
            self._channel.tell("log", text=repr(error))

    def _take(self, level: int, text: str) -> None:
        if found := _SIP_MESSAGE.search(text):
            way = "sent" if found["way"] == "TX" else "received"
            peer = f"{found['protocol']} {found['peer']}"
            self._channel.tell("message", way=way, peer=peer, text=redact(found["text"].replace("\r\n", "\n")))
        elif found := _STREAM.search(text):
            self._take_stream(found[1], found["text"])
        if level <= _WARNING:
            self._channel.tell("log", text=redact(text.strip()))

    def _take_stream(self, stream: str, text: str) -> None:
        call = self.calls.get(stream)
        for kind, pattern in _RTP_FAULTS:
            found = pattern.search(text)
            if call is None or found is None or (call, kind, found[0]) in self._told:
                continue
            self._told.add((call, kind, found[0]))
            self._channel.tell("rtp_fault", call=call, kind=kind, detail=_DETAILS.get(kind, found[0]))
