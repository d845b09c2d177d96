"""One user for each device: a lock on a file, so that no device is opened twice by accident.

The operating system drops the lock when its process ends, however that ends.
"""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from voiceharness.errors import DeviceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["locked_devices"]


@contextmanager
def locked_devices(names: Iterable[str], *, folder: Path | None = None) -> Iterator[None]:
    """Hold the locks of some devices.

    Raises:
        DeviceError: if one of them is held already, by this process or another; then none is held.
    """
    folder = folder or Path(tempfile.gettempdir()) / f"voiceharness-devices-{_owner()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    with ExitStack() as held:
        for name in sorted(set(names)):
            held.enter_context(_locked(name, folder / f"{sha256(name.encode()).hexdigest()[:16]}.lock"))
        yield


@contextmanager
def _locked(name: str, path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            _take(descriptor)
        except OSError as error:
            raise DeviceError(
                f"sound card: {name} is in use by process {_holder(descriptor)}; "
                "end that call, or choose another device or pair of cables"
            ) from error
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, f"{os.getpid():<20}".encode())
        yield
    finally:
        os.close(descriptor)


def _holder(descriptor: int) -> str:
    os.lseek(descriptor, 0, os.SEEK_SET)
    return os.read(descriptor, 20).decode(errors="replace").strip() or "unknown"


if sys.platform == "win32":

    def _owner() -> str:
        return os.environ.get("USERNAME", "user")

    def _take(descriptor: int) -> None:
        import msvcrt

        os.lseek(descriptor, 1 << 20, os.SEEK_SET)  # beyond what is written, which others may read
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:

    def _owner() -> str:
        return str(os.getuid())

    def _take(descriptor: int) -> None:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
