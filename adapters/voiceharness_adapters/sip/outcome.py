"""Why a call did not come up: refused by the peer, spoilt by it, given up, or never reached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from voiceharness.errors import CallRejectedError, ConnectError, RemoteProtocolError
from voiceharness_adapters.sip.trace import redact

if TYPE_CHECKING:
    from voiceharness_adapters.sip.call import CallEnd

__all__ = ["why_not_up"]

_CANCELLED: Final = 487


def why_not_up(end: CallEnd, *, target: str, final: tuple[int, str] | None) -> Exception:
    """Return the error for a call that ended before its media was up.

    ``target`` is the address that was dialled (empty: the agent dialled), ``final`` its final answer to the INVITE.
    """
    words = f"{end.code} {end.reason}".strip()
    if end.ours:
        return CallRejectedError(f"sip: the call was given up: {words}", code=end.code, reason=end.reason)
    if not target and end.code == _CANCELLED:
        return CallRejectedError(f"sip: the agent gave its call up: {words}", code=end.code, reason=end.reason)
    if not target:
        return ConnectError(f"sip: the agent's call ended before its media was up: {words}")
    if final is None:
        return ConnectError(f"sip: {redact(target)} could not be reached: {words}")
    code, reason = final
    if code // 100 == 2:
        return RemoteProtocolError(f"sip: the agent answered with a session that cannot be used: {words}")
    what = "redirects the call, which is not followed" if code // 100 == 3 else "refused the call"
    return CallRejectedError(f"sip: the agent {what}: {code} {reason}", code=code, reason=reason)
