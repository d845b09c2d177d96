"""What a report should say of a call's devices, and why its figures may not be believed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from voiceharness_adapters.sound_card.health import path_doubts

if TYPE_CHECKING:
    from voiceharness_adapters.sound_card.health import DeviceHealth
    from voiceharness_adapters.sound_card.media import UserMedia

__all__ = ["describe", "doubts_of"]

SPOKEN: Final = 1.0
"""Seconds of the user's speech in which its own sound must have been found."""

LOUDEST_REST_DB: Final = -50.0
"""Level of an echo's rest, re full scale, that may still pass for silence."""


def describe(
    media: UserMedia, health: DeviceHealth, *, known: float | None, known_from: str
) -> dict[str, str | int | float | bool | None]:
    """Return the facts as plain values; ``known`` is the path's delay known before the call, in seconds."""
    path, found = media.path, media.found_delay
    delay = known if found is None else found
    facts: dict[str, str | int | float | bool | None] = {
        "path_ms": None if delay is None else round(delay * 1000, 2),
        "path_from": known_from if found is None else "the user's own words",
        "input_drift_ppm": None if path.drift_ppm is None else round(path.drift_ppm, 1),
        "slips": "; ".join(
            f"{slip.seconds * 1000:+.2f} ms at {media.call_seconds(slip.position):.2f} s" for slip in path.slips
        ),
        "device_faults": health.summary(),
    }
    if media.echo is not None and media.echo.echo_db is not None and media.echo.left_db is not None:
        facts |= {"echo_db": round(media.echo.echo_db, 1), "echo_left_db": round(media.echo.left_db, 1)}
    return facts


def doubts_of(media: UserMedia, health: DeviceHealth, *, known: float | None) -> tuple[str, ...]:
    """Return every reason not to trust the call."""
    reasons = [*health.doubts(), *path_doubts(media.path)]
    if known is None and not media.path.finds and media.spoken > SPOKEN:
        reasons.append(
            "how long the sound path takes is unknown, so latencies include it: run `voiceharness devices test` "
            "without the agent, or give delay_ms"
        )
    left = None if media.echo is None else media.echo.left_db
    if left is not None and left > LOUDEST_REST_DB:
        reasons.append(
            f"the microphone hears the user, and {left:.0f} dB of it are left: verdicts on overlap cannot be believed; "
            "turn the speaker down, or use a headset or virtual cables"
        )
    return tuple(reasons)
