"""The device's callback moves blocks, each at its own tick."""

from __future__ import annotations

from types import SimpleNamespace

from voiceharness_adapters.sound_card.callback import Callback

TIME = SimpleNamespace(inputBufferAdcTime=1.5)


def ticked(callback: Callback, *, overflow: bool = False, underflow: bool = False) -> bytes:
    """Run one tick and return what it played."""
    played = bytearray(4)
    callback(b"\x01\x02\x03\x04", played, 2, TIME, SimpleNamespace(input_overflow=overflow, output_underflow=underflow))
    return bytes(played)


def test_block_is_played_at_its_tick_and_silence_where_there_is_none() -> None:
    callback = Callback(4)
    callback.to_play.append((1, b"abcd"))
    assert [ticked(callback) for _ in range(3)] == [bytes(4), b"abcd", bytes(4)]
    assert [block.starved for block in callback.captured] == [True, False, True]


def test_block_that_comes_too_late_moves_nothing() -> None:
    callback = Callback(4)
    ticked(callback)
    callback.to_play += [(0, b"late"), (1, b"good")]
    assert ticked(callback) == b"good"


def test_what_the_driver_tells_is_kept_with_the_block() -> None:
    callback = Callback(4)
    ticked(callback, overflow=True, underflow=True)
    block = callback.captured[0]
    assert (block.pcm, block.captured_at, block.overflow, block.underflow) == (b"\x01\x02\x03\x04", 1.5, True, True)


def test_news_is_told_until_nobody_listens() -> None:
    callback, news = Callback(4), list[str]()
    callback.wake, callback.finish = (lambda: news.append("block")), (lambda: news.append("end"))
    ticked(callback)
    callback.finished()
    callback.silence_news()
    ticked(callback)
    callback.finished()
    assert news == ["block", "end"]
