"""Choose the way to an agent's server."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from voiceharness.clock import LoopClock
from voiceharness.errors import OptionError, VirtualTimeError

if TYPE_CHECKING:
    from voiceharness_adapters.twilio.door import Door

__all__ = ["make_door"]


def make_door(url: str, app: Any) -> Door:  # Any: ASGI applications have no type of their own
    """Return the way to a server: the application itself (or one that its class makes), else the network.

    Raises:
        OptionError: if the application is none.
        VirtualTimeError: if there is no application and time is virtual.
        MissingExtraError: if there is none and ``websockets`` is not installed.
    """
    if app is not None:
        if not callable(app):
            raise OptionError(f"app is an ASGI application (a callable), not {type(app).__name__}")
        from voiceharness_adapters.twilio.asgi_door import AsgiDoor

        application: Any = app() if inspect.isclass(app) else app
        return AsgiDoor(application)
    if LoopClock().virtual:
        raise VirtualTimeError(
            f"{url} is reached over the network, which virtual time cannot follow; run in real time, or give app"
        )
    from voiceharness_adapters.twilio.network_door import NetworkDoor

    return NetworkDoor()
