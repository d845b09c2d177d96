"""Times of words: spread over audio where no engine gives them, and carried from spoken to written form."""

from __future__ import annotations

from dataclasses import replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from voiceharness.events import Word

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["is_word", "map_words", "spread_words"]


def is_word(token: str) -> bool:
    """Tell whether a token is spoken at all: a lone dash or bracket is not."""
    return any(character.isalnum() for character in token)


def spread_words(tokens: Sequence[str], start: float, end: float) -> tuple[Word, ...]:
    """Give each token a share of ``start``..``end`` (seconds) by its length in characters; all marked estimated."""
    tokens = [token for token in tokens if is_word(token)]
    weights = [len(token) + 1 for token in tokens]
    scale = (end - start) / max(1, sum(weights))
    words = []
    done = 0
    for token, weight in zip(tokens, weights, strict=True):
        # The share includes the gap after the word, so a word ends a little before the next one starts.
        words.append(Word(token, start + done * scale, start + (done + weight - 1) * scale, estimated=True))
        done += weight
    return tuple(words)


def map_words(written: Sequence[str], spoken: Sequence[Word]) -> tuple[Word, ...]:
    """Give the written words the times of the words that were spoken for them.

    "$45" was spoken as two words and gets the time of both. Written words that were not spoken are dropped. Where
    several written words stand against another number of spoken ones, who has which is a guess, marked estimated.
    """
    written = [token for token in written if is_word(token)]
    matcher = SequenceMatcher(None, written, [word.text for word in spoken], autojunk=False)
    words: list[Word] = []
    for _, i1, i2, j1, j2 in matcher.get_opcodes():
        words.extend(_map_block(written[i1:i2], spoken[j1:j2]))
        if i1 == i2 and words:  # spoken, never written: it belongs to the word before
            words[-1] = _join(words[-1].text, [words[-1], *spoken[j1:j2]])
    return tuple(words)


def _map_block(written: Sequence[str], spoken: Sequence[Word]) -> Sequence[Word]:
    """Share a block of spoken words among the written ones it stands for."""
    if not written or not spoken:
        return ()
    if len(written) > len(spoken):
        return spread_words(written, spoken[0].start, spoken[-1].end)
    if len(written) == len(spoken):
        return [replace(word, text=text) for text, word in zip(written, spoken, strict=True)]
    if len(written) == 1:
        return [_join(written[0], spoken)]
    return [replace(_join(text, part), estimated=True) for text, part in _shares(written, spoken)]


def _shares(written: Sequence[str], spoken: Sequence[Word]) -> Iterator[tuple[str, Sequence[Word]]]:
    """Give each written word its share of more spoken words: one for each digit and sign, at least one each."""
    weights = [max(1, sum(not sign.isalpha() and sign not in "(),.-:" for sign in token)) for token in written]
    taken = used = 0
    for index, (text, weight) in enumerate(zip(written, weights, strict=True)):
        used += weight
        left = len(written) - index - 1
        end = min(max(taken + 1, round(used * len(spoken) / sum(weights))), len(spoken) - left)
        yield text, spoken[taken:end]
        taken = end


def _join(text: str, parts: Sequence[Word]) -> Word:
    return Word(text, parts[0].start, parts[-1].end, any(part.estimated for part in parts))
