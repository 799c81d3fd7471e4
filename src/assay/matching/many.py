"""Looking for many phrases in many texts at once.

Searching each phrase in each text takes phrases x characters. Here each text is read once: a fingerprint of
the signs from every position on is looked up among the fingerprints of the phrases' beginnings, and only
where one meets is the phrase itself looked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from assay.model.phrases import Phrase, find
from assay.model.text import NormalText

Prints = NDArray[np.uint64]

_BASE = np.uint64(0x9E3779B97F4A7C15 | 1)
_LONGEST = 32
_FILTER_BITS = 22
"""Half a megabyte a length: one stretch in 400 passes among 10,000 phrases, and is compared in vain."""
_LEFT_OUT = np.array([ord(sign) for sign in " \n-|"], np.uint32)
"""Signs that two readings of one phrase may differ in."""


class ManyPhrases:
    """Phrases, made ready to be looked for together.

    Args:
        phrases: any number of them; their positions are their names.
    """

    def __init__(self, phrases: Sequence[Phrase]) -> None:
        self._phrases = phrases
        self._lengths: dict[int, dict[int, list[int]]] = {}
        self._always: set[int] = set()
        for place, wanted in enumerate(phrases):
            for reading in wanted.readings:
                bones = _bones(reading)
                if not len(bones):
                    self._always.add(place)
                    continue
                length = min(_LONGEST, 1 << (len(bones).bit_length() - 1))
                print_ = int(_prints(bones[:length], length)[length][0])
                phrases_of = self._lengths.setdefault(length, {}).setdefault(print_, [])
                if place not in phrases_of:
                    phrases_of.append(place)
        self._sorted = {
            length: np.array(sorted(prints), np.uint64) for length, prints in self._lengths.items()
        }
        self._filters = {length: _filter(prints) for length, prints in self._sorted.items()}

    def found_in(self, text: NormalText) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        """Yield each phrase that stands in the text, by its position, with its spans in the source."""
        bones = _bones(text)
        candidates = set(self._always)
        for length, prints in _prints(bones, max(self._lengths, default=0)).items():
            if length not in self._lengths:
                continue
            likely = prints[_passes(self._filters[length], prints)]
            known = self._sorted[length]
            place = np.minimum(np.searchsorted(known, likely), len(known) - 1)
            for print_ in set(likely[known[place] == likely].tolist()):
                candidates.update(self._lengths[length][print_])
        for place in sorted(candidates):
            spans = find(self._phrases[place], text)
            if spans:
                yield place, spans


def _bones(text: NormalText) -> NDArray[np.uint32]:
    codes = np.frombuffer(text.text.encode("utf-32-le", "surrogatepass"), np.uint32)
    left_out = codes == _LEFT_OUT[0]
    for sign in _LEFT_OUT[1:]:
        left_out |= codes == sign
    return codes[~left_out]


def _prints(bones: NDArray[np.uint32], longest: int) -> dict[int, Prints]:
    """Return the fingerprints of all stretches of 1, 2, 4, ... signs, by length."""
    prints = (bones.astype(np.uint64) + np.uint64(1)) * _BASE
    result: dict[int, Prints] = {}
    length, power = 1, _BASE
    while length <= min(longest, len(bones)):
        result[length] = prints
        count = max(0, len(prints) - length)
        prints = prints[:count] * power + prints[length : length + count]
        power = np.uint64(int(power) * int(power) & 0xFFFFFFFFFFFFFFFF)
        length *= 2
    return result


def _filter(prints: Prints) -> NDArray[np.uint8]:
    """Return a table of bits, set where a fingerprint's first bits lead."""
    table = np.zeros(1 << _FILTER_BITS, np.bool_)
    table[(prints >> np.uint64(64 - _FILTER_BITS)).astype(np.intp)] = True
    return np.packbits(table, bitorder="little")


def _passes(table: NDArray[np.uint8], prints: Prints) -> NDArray[np.bool_]:
    place = (prints >> np.uint64(64 - _FILTER_BITS)).astype(np.uint32)
    return (table[place >> np.uint32(3)] >> (place & np.uint32(7)).astype(np.uint8)) & np.uint8(1) > 0
