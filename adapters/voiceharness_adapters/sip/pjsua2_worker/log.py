"""What is learned from pjsua2's log: the SIP messages, faults in received RTP, and the last words before an abort."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

import pjsua2 as pj

from voiceharness_adapters.sip.trace import redact

if TYPE_CHECKING:
    from voiceharness_adapters.sip.channel import Channel

__all__ = ["LogTap"]

_WARNING: Final = 2
_SIP_MESSAGE: Final = re.compile(
    r"(?P<way>TX|RX) \d+ bytes [^\n]*? (?:to|from) (?P<protocol>\w+) (?P<peer>\S+):\r?\n"
    r"(?P<text>.*?)\s*(?P<end>--end msg--|\Z)",
    re.DOTALL,
)
_STREAM: Final = re.compile(r"strm(0x[0-9a-f]+)\s+\.*(?P<text>[^\n]*)")
_STATUS: Final = re.compile(r"RTP status: .*outorder=(?P<outorder>-?\d+), .*restart=(?P<restart>-?\d+)")
_PAYLOAD_TYPE: Final = re.compile(r"Bad RTP pt (\d+) \(expecting (\d+)\)")


class LogTap(pj.LogWriter):
    """Passes on what the owner needs of the log. Called from several threads; nothing here may raise.

    ``calls`` maps the address of a media stream, as it stands in the log, to its call; ``reordered`` counts the packets
    of a call that came out of order. The same fault is told once per call: some come with every packet.
    """

    def __init__(self, channel: Channel) -> None:
        super().__init__()
        self.calls: dict[str, int] = {}
        self.reordered: Counter[int] = Counter()
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
            cut = "" if found["end"] else "\n[cut short by the library]"
            self._channel.tell("message", way=way, peer=peer, text=redact(found["text"].replace("\r\n", "\n")) + cut)
        elif found := _STREAM.search(text):
            self._take_stream(found[1], found["text"])
        if level <= _WARNING:
            self._channel.tell("log", text=redact(text.strip()))

    def _take_stream(self, stream: str, text: str) -> None:
        call = self.calls.get(stream)
        if call is None:
            return
        if found := _PAYLOAD_TYPE.search(text):
            self._tell(call, "rtp_payload_type", f"received payload type {found[1]}, negotiated {found[2]}")
        elif found := _STATUS.search(text):
            if int(found["restart"]):
                self._tell(call, "rtp_sequence_jump", "the sequence numbers jumped")
            elif int(found["outorder"]):
                self.reordered[call] += 1

    def _tell(self, call: int, kind: str, detail: str) -> None:
        if (call, kind, detail) not in self._told:
            self._told.add((call, kind, detail))
            self._channel.tell("rtp_fault", call=call, kind=kind, detail=detail)

    def forget(self, call: int) -> None:
        """Forget a call that has ended."""
        self.calls = {stream: number for stream, number in self.calls.items() if number != call}
        self._told = {told for told in self._told if told[0] != call}
        self.reordered.pop(call, None)
