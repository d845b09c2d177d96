"""SIGTERM as an interrupt."""

from __future__ import annotations

import signal
import threading

import pytest

from voiceharness.cli.stopping import stoppable

__all__: list[str] = []


def test_sigterm_interrupts_and_is_as_before_afterwards() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), stoppable():
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize(("code", "becomes"), [(143, KeyboardInterrupt), (3, SystemExit)])
def test_only_the_end_that_sigterm_brought_is_an_interrupt(code: int, becomes: type[BaseException]) -> None:
    with pytest.raises(becomes), stoppable():
        raise SystemExit(code)


def test_in_another_thread_signals_are_left_alone() -> None:
    seen: list[object] = []

    def look() -> None:
        with stoppable():
            seen.append(signal.getsignal(signal.SIGTERM))

    before = signal.getsignal(signal.SIGTERM)
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [before]
