"""Sound devices through PortAudio: list them, open them, and say in our own words why they could not be opened.

PortAudio is one library for the whole process. It is loaded at the first use; opening and closing go one after the
other, because it is not made for threads. PulseAudio learns from the environment which sink, source and server are
meant, so that is set for the moment of opening.

On ALSA, PortAudio cuts a buffer into four periods and wakes once in each. We ask for as many as there are blocks, so
that a buffer that rides out a busy moment still brings every block when it is due. A buffer that runs dry is expensive
there: PortAudio then has the bridge to PulseAudio build the stream anew, whose path is another one, and a stream that
runs dry while it is being built ends.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Literal

from voiceharness.clock import LoopClock
from voiceharness.errors import DeviceError, MissingExtraError
from voiceharness_adapters.sound_card.callback import Callback

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from voiceharness_adapters.sound_card.stream import Block, Opening

__all__ = ["Device", "PortAudio", "PortAudioStream", "listed_devices"]

Direction = Literal["input", "output"]

BLOCKS_PER_SECOND: Final = 100
PULSE_RATE: Final = 48000
"""What PulseAudio's devices run at; the ALSA bridge to them would name any rate, and resample."""

_PULSE: Final = "pulse"
_PREFIX: Final = "pulse:"
_VARIABLES: Final[Mapping[Direction, str]] = {"input": "PULSE_SOURCE", "output": "PULSE_SINK"}

_ADVICE: Final[Mapping[int, str]] = {
    -9985: "another program has it: close that, or choose another device",
    -9986: "it is of another host API than the other device: choose both from one",
    -9993: "input and output cannot be opened together: choose both from one host API",
    -9996: "choose one of those above by name or index",
    -9997: "leave out the rate, or give one that the device has",
    -9998: "choose a device with enough channels",
    -9999: "see that its sound server runs, and that this user may use the device (on Linux: the group audio)",
}
"""What to try, by PortAudio's error code."""


@dataclass(frozen=True, slots=True)
class Device:
    """One device as PortAudio lists it; ``rate`` is its own, in hertz."""

    index: int
    name: str
    host_api: str
    inputs: int
    outputs: int
    rate: int
    default_input: bool = False
    default_output: bool = False


class _Library:
    """PortAudio, loaded; ``lock`` is held while it opens, closes or lists."""

    def __init__(self, sounddevice: Any) -> None:  # Any: sounddevice has no types
        self.sounddevice = sounddevice
        self.lock = Lock()
        self.open_streams = 0

    def devices(self) -> tuple[Device, ...]:
        """List what PortAudio found when it was started."""
        apis = self.sounddevice.query_hostapis()
        defaults = tuple(self.sounddevice.default.device)
        return tuple(
            Device(
                index,
                row["name"],
                apis[row["hostapi"]]["name"],
                row["max_input_channels"],
                row["max_output_channels"],
                round(row["default_samplerate"]),
                default_input=index == defaults[0],
                default_output=index == defaults[1],
            )
            for index, row in enumerate(self.sounddevice.query_devices())
        )

    def cut_buffers_into(self, periods: int) -> None:
        """Choose how many periods a buffer of ALSA has from now on; where there is no ALSA, do nothing."""
        if sys.platform == "linux":
            ctypes.CDLL(self.sounddevice._libname).PaAlsa_SetNumPeriods(periods)

    def look_again(self) -> None:
        """Let PortAudio look for devices anew; it can only while no stream is open."""
        if not self.open_streams:
            self.sounddevice._terminate()
            self.sounddevice._initialize()


@cache
def _library() -> _Library:
    try:
        import sounddevice
    except ImportError as error:
        raise MissingExtraError("the adapter 'sound_card' needs sounddevice", extra="sound") from error
    except OSError as error:
        raise DeviceError(
            f"sound card: PortAudio could not be loaded ({error}); "
            "on Debian: apt-get install libportaudio2; elsewhere reinstall sounddevice, which brings it"
        ) from error
    return _Library(sounddevice)


def listed_devices(server: str = "") -> tuple[Device, ...]:
    """List the devices that PortAudio finds now."""
    with _environment({"PULSE_SERVER": server} if server else {}):
        library = _library()
        with library.lock:
            library.look_again()
            return library.devices()


class PortAudio:
    """The devices of this computer."""

    def open(self, opening: Opening) -> PortAudioStream:
        """Open a pair of devices at the output's own rate, unless another is asked for."""
        server = {"PULSE_SERVER": opening.server} if opening.server else {}
        with _environment(server):  # PortAudio looks for devices when it is loaded
            library = _library()
        with library.lock:
            return self._opened(library, opening, server)

    def _opened(self, library: _Library, opening: Opening, server: Mapping[str, str]) -> PortAudioStream:
        meant = {**server, "PULSE_LATENCY_MSEC": str(opening.latency_ms)}
        source, chosen = _find(library, "input", opening.input, server)
        sink, also_chosen = _find(library, "output", opening.output, server)
        meant |= {**chosen, **also_chosen}
        rate = opening.rate or (PULSE_RATE if _is_pulse(sink) else sink.rate)
        block = rate // BLOCKS_PER_SECOND
        callback = Callback(2 * block)
        library.cut_buffers_into(1 + opening.latency_ms * BLOCKS_PER_SECOND // 1000)
        try:
            with _environment(meant):
                raw = library.sounddevice.RawStream(
                    device=(source.index, sink.index),
                    samplerate=rate,
                    blocksize=block,
                    channels=(opening.input_channels, 1),
                    dtype="int16",
                    latency=opening.latency_ms / 1000,
                    callback=callback,
                    finished_callback=callback.finished,
                )
        except library.sounddevice.PortAudioError as error:
            raise _translated(error, opening, rate, library.devices()) from error
        library.open_streams += 1
        return PortAudioStream(library, raw, callback, rate, opening.input_channels)


class PortAudioStream:
    """A stream of PortAudio."""

    def __init__(self, library: _Library, raw: Any, callback: Callback, rate: int, input_channels: int) -> None:
        # Any: sounddevice's own stream
        self.rate = rate
        self.block = rate // BLOCKS_PER_SECOND
        self.input_channels = input_channels
        self._library = library
        self._raw = raw
        self._callback = callback
        self._closed = False

    @property
    def next_tick(self) -> int:
        """The tick that the device will ask for next."""
        return self._callback.next_tick

    def start(self, on_block: Callable[[], None], on_end: Callable[[], None]) -> None:
        """Start the callback."""
        loop = asyncio.get_running_loop()
        self._callback.now_ns = LoopClock().now_ns
        self._callback.wake = lambda: loop.call_soon_threadsafe(on_block)
        self._callback.finish = lambda: loop.call_soon_threadsafe(on_end)
        try:
            self._raw.start()
        except self._library.sounddevice.PortAudioError as error:
            self._callback.silence_news()
            raise DeviceError(
                f"sound card: the stream did not start: {error.args[0]}; see that the device is still there"
            ) from error

    def take(self) -> Block | None:
        """Return the oldest block that was not taken yet."""
        return self._callback.captured.popleft() if self._callback.captured else None

    def put(self, tick: int, pcm: bytes) -> None:
        """Play a block at a tick to come."""
        self._callback.to_play.append((tick, pcm))

    def take_back(self) -> None:
        """Drop every block whose tick has not come yet."""
        self._callback.to_play.clear()

    def close(self) -> None:
        """Stop at once and release the devices."""
        with self._library.lock:
            if self._closed:
                return
            self._closed = True
            self._library.open_streams -= 1
            self._callback.silence_news()
            self._raw.abort(ignore_errors=True)
            self._raw.close(ignore_errors=True)


def _find(
    library: _Library, direction: Direction, name: str, server: Mapping[str, str]
) -> tuple[Device, Mapping[str, str]]:
    """Find a device by name, index or default, and the variables that choose within PulseAudio."""
    wanted, variables = name, dict[str, str]()
    if name.startswith(_PREFIX):
        wanted, variables = _PULSE, {_VARIABLES[direction]: name.removeprefix(_PREFIX)}
    device = _match(library.devices(), direction, wanted)
    if device is None:
        with _environment(server):
            library.look_again()
        device = _match(library.devices(), direction, wanted)
    if device is None:
        what = f"device {name!r}" if name else "default device"
        raise DeviceError(
            f"sound card: there is no {direction} {what}; there are: {_shown(library.devices(), direction)}; "
            f"{_hint(wanted)}"
        )
    return device, variables


def _match(devices: tuple[Device, ...], direction: Direction, name: str) -> Device | None:
    able = [device for device in devices if (device.inputs if direction == "input" else device.outputs)]
    if not name:
        return next((d for d in able if (d.default_input if direction == "input" else d.default_output)), None)
    if name.isdecimal():
        return next((device for device in able if device.index == int(name)), None)
    exact = [device for device in able if device.name == name]
    part = [device for device in able if name.casefold() in device.name.casefold()]
    return next(iter(exact or (part if len(part) == 1 else [])), None)


def _is_pulse(device: Device) -> bool:
    return device.name in (_PULSE, "default") and device.host_api == "ALSA"


def _shown(devices: tuple[Device, ...], direction: Direction) -> str:
    names = [f"{d.index} {d.name!r}" for d in devices if (d.inputs if direction == "input" else d.outputs)]
    return ", ".join(names) or "none"


def _hint(name: str) -> str:
    if name == _PULSE and sys.platform == "linux":
        return "PulseAudio is reached through ALSA: on Debian apt-get install libasound2-plugins, and see that it runs"
    return "see `voiceharness devices`, or make virtual cables with `voiceharness devices create-cables`"


def _translated(error: Exception, opening: Opening, rate: int, devices: tuple[Device, ...]) -> DeviceError:
    message, code = (*error.args, 0)[:2]
    advice = _ADVICE.get(code, "see `voiceharness devices`")
    return DeviceError(
        f"sound card: {opening.pair} could not be opened at {rate} Hz: {message}; there are inputs: "
        f"{_shown(devices, 'input')}; outputs: {_shown(devices, 'output')}; {advice}"
    )


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for a moment."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
