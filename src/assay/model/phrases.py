"""Finding a phrase where it stands: whole words, after both sides are normalised."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from assay.model.letters import is_word_edge
from assay.model.text import NormalText, normalise

_EDGE_MARKS = "*_`"
_NEEDS_CARE = re.compile(r"[*_`|]")
_SHORT = 500
"""Characters up to which a quote is remembered: anchors are looked for often, whole chunks once."""
_BROKEN = ("", "-", "- ")
"""What a hyphen at a line end may be on the other side: joined, kept, kept with a blank for the line end."""


@dataclass(frozen=True, kw_only=True)
class Phrase:
    """A quote, made ready to be looked for in many texts."""

    quote: str
    """As it was written."""
    readings: tuple[NormalText, ...]
    """Its normal forms, the plainest first; none when there is nothing but blanks and marks in it.

    A quote may begin inside a table's row or inside emphasis, which only its document can tell: then it has
    a reading for that too, which counts only where the ones before it are not found.
    """


def phrase(quote: str) -> Phrase:
    """Return a quote made ready to be looked for.

    >>> [reading.text for reading in phrase("Fee | 12 days").readings]
    ['fee | 12 days', 'fee 12 days']
    """
    return _remembered(quote) if len(quote) <= _SHORT else _read(quote)


def _read(quote: str) -> Phrase:
    readings = [normalise(quote)]
    if _NEEDS_CARE.search(quote):
        if "|" in quote:
            readings.append(normalise(quote, rows=True))
        bare = quote.strip().strip(_EDGE_MARKS)
        if bare != quote.strip():
            readings.append(normalise(bare))
    unlike: dict[str, NormalText] = {}
    for reading in readings:
        unlike.setdefault(reading.text, reading)
    return Phrase(quote=quote, readings=tuple(reading for text, reading in unlike.items() if text))


_remembered = lru_cache(maxsize=1 << 15)(_read)


def find(quote: str | Phrase, source: NormalText, *, whole_words: bool = True) -> list[tuple[int, int]]:
    r"""Return every place of a quote, as spans of the untouched source, in order, end exclusive.

    Args:
        quote: the phrase, as somebody typed or copied it.
        source: the normal form of the text to look in.
        whole_words: a place must begin and end at word edges ("12 days" is not in "112 days").

    Places may overlap ("ha ha" stands twice in "ha ha ha"). An empty list when the quote stands nowhere; an
    empty quote stands nowhere.

    >>> find("must be rotated", normalise("Keys must be\n    rotated often."))
    [(5, 24)]
    >>> find("12 days", normalise("valid for 112 days"))
    []
    """
    wanted = quote if isinstance(quote, Phrase) else phrase(quote)
    for reading in wanted.readings:
        spans = [
            source.to_source(start, end)
            for start, end in _places(reading, source)
            if (not whole_words or (is_word_edge(source.text, start) and is_word_edge(source.text, end)))
            and not source.splits_sign(start)
            and not source.splits_sign(end)
        ]
        if spans:
            return spans
    return []


def agrees(quote: str | Phrase, other: str) -> bool:
    r"""Return whether two texts are the same but for their presentation; an empty one agrees with none.

    >>> agrees("within 14 days", " Within  14\u00a0days"), agrees("within 14 days", "within 14 days.")
    (True, False)
    """
    wanted = quote if isinstance(quote, Phrase) else phrase(quote)
    for rows in (False, True) if "|" in other else (False,):
        source = normalise(other, rows=rows)
        if source.to_source(0, len(source.text)) in find(wanted, source, whole_words=False):
            return True
    bare = other.strip().strip(_EDGE_MARKS)
    return len(bare) < len(other.strip()) and agrees(wanted, bare)


def _places(reading: NormalText, source: NormalText) -> Iterator[tuple[int, int]]:
    if not (reading.line_hyphens or source.line_hyphens):
        found = _occurrences(reading.text, source.text)
        places = ((start, start + len(reading.text)) for start in found)
    else:
        places = _broken_places(reading, source)
    inner = [at for at in reading.borders if 0 < at < len(reading.text) - 1]
    if not inner:
        return iter(places)
    return (place for place in places if _same_borders(inner, reading, place, source))


def _same_borders(inner: list[int], reading: NormalText, place: tuple[int, int], source: NormalText) -> bool:
    """Return whether the borders that the quote has are borders in the source too."""
    length_agrees = place[1] - place[0] == len(reading.text)
    return not length_agrees or all(place[0] + at in source.borders for at in inner)


def _occurrences(wanted: str, text: str) -> Iterator[int]:
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + 1)


def _broken_places(reading: NormalText, source: NormalText) -> Iterator[tuple[int, int]]:
    """Yield the places where a word broken at a line end, on either side, is read joined or kept."""
    bones, wanted_at = reading.skeleton
    text, text_at = source.skeleton
    if not bones:
        yield from ((at, at + len(reading.text)) for at in _occurrences(reading.text, source.text))
        return
    lead, tail = reading.text[: int(wanted_at[0])], reading.text[int(wanted_at[-1]) + 1 :]
    for at in _occurrences(bones, text):
        here = text_at[at : at + len(bones)].tolist()
        start, end = here[0] - len(lead), here[-1] + 1 + len(tail)
        if (
            start >= 0
            and source.text[start : here[0]] == lead
            and source.text[here[-1] + 1 : end] == tail
            and _gaps_agree(reading, wanted_at.tolist(), source, here)
        ):
            yield start, end


def _gaps_agree(reading: NormalText, wanted: list[int], source: NormalText, here: list[int]) -> bool:
    for at in range(1, len(wanted)):
        if wanted[at] - wanted[at - 1] == 1 and here[at] - here[at - 1] == 1:
            continue
        asked = reading.text[wanted[at - 1] + 1 : wanted[at]]
        there = source.text[here[at - 1] + 1 : here[at]]
        if asked == there:
            continue
        broken_there = there == "-" and here[at - 1] + 1 in source.line_hyphens and asked in _BROKEN
        broken_here = asked == "-" and wanted[at - 1] + 1 in reading.line_hyphens and there in _BROKEN
        if not (broken_there or broken_here):
            return False
    return True
