"""Which words were heard, and where."""

from __future__ import annotations

from voiceharness.events import Word, Words
from voiceharness.line.record import Arrival
from voiceharness.line.words import READING_PACE, WordTrack, spread


def words_of(*texts: str, item: str = "a") -> Words:
    return Words(item, tuple(Word(text, index * 0.5, index * 0.5 + 0.4) for index, text in enumerate(texts)))


def test_words_lie_where_their_items_audio_was_played() -> None:
    track = WordTrack(8000)
    track.add_words(words_of("one", "two"))
    placed = track.placed([Arrival(0, 1000, 8000, 8000, "a")])
    assert [(word.text, word.start, word.end) for word in placed] == [("one", 1000, 4200), ("two", 5000, 8200)]


def test_a_word_ends_with_the_last_sample_of_its_audio() -> None:
    """A word counts when all of it was heard, so its end is what is waited for."""
    track = WordTrack(8000)
    track.add_words(words_of("one", "two"))
    assert [word.end for word in track.placed([Arrival(0, 0, 8000, 8000, "a")])] == [3200, 7200]


def test_words_follow_the_pieces_of_their_item_over_gaps() -> None:
    track = WordTrack(8000)
    track.add_words(words_of("one", "two"))
    placed = track.placed(
        [Arrival(0, 0, 3600, 3600, "a"), Arrival(0, 3600, 800, 800, "b"), Arrival(0, 9000, 4400, 4400, "a")]
    )
    assert [(word.text, word.start) for word in placed] == [("one", 0), ("two", 9400)]


def test_a_flush_removes_the_words_it_cuts() -> None:
    track = WordTrack(8000)
    track.add_words(words_of("one", "two", "three"))
    placed = track.placed([Arrival(0, 0, 16000, 7000, "a")])
    assert [word.text for word in placed] == ["one"]


def test_words_without_audio_are_not_heard() -> None:
    track = WordTrack(8000)
    track.add_words(words_of("one"))
    assert track.placed([Arrival(0, 0, 8000, 8000, "other")]) == []


def test_text_without_times_is_spread_over_the_audio_and_marked() -> None:
    track = WordTrack(8000)
    track.add_words(Words("a", text="no "))
    track.add_words(Words("a", text="thanks"))
    track.complete("a")
    placed = track.placed([Arrival(0, 0, 8000, 8000, "a")])
    assert [(word.text, word.start, word.end, word.estimated) for word in placed] == [
        ("no", 0, 2000, True),
        ("thanks", 2000, 8000, True),
    ]


def test_spreading_no_text_gives_no_words() -> None:
    assert list(spread("  ", 1.0)) == []


def test_text_of_an_item_that_still_streams_does_not_run_ahead_of_its_audio() -> None:
    """Seventy letters came with the first 200 ms of audio: a pace of reading aloud leaves most of them for later."""
    track = WordTrack(8000)
    track.add_words(Words("a", text="seven letters " * 6))
    assert track.placed([Arrival(0, 0, 1600, 1600, "a")]) == []
    [first, *_] = track.placed([Arrival(0, 0, 8000, 8000, "a")])
    assert (first.text, first.end) == ("seven", round(5 / READING_PACE * 8000))
    track.complete("a")
    assert track.placed([Arrival(0, 0, 16000, 16000, "a")])[-1].end == 16000
