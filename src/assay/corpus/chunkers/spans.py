"""Places in a text: trimming, paragraphs, sentences, and packing neighbours into chunks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

Span = tuple[int, int]
"""First code point, and one past the last."""

# CR LF is one line end: possessive, so that it is never read as two.
_PARAGRAPH_BREAK = re.compile(r"(?>\r\n|\r|\n)(?:[^\S\r\n]*+(?>\r\n|\r|\n))+")
_ENDS_NONE = ("[A-HJ-Z]", r"e\.g", r"i\.e", "cf", "vs", "[DMS]r", "Mrs", "Prof", "Fig")
_ABBREVIATIONS = "".join(rf"(?<!\b{abbreviation})" for abbreviation in _ENDS_NONE)
_SENTENCE_END = re.compile(
    # Latin, Cyrillic, Greek: a blank must follow. A run of marks is read once, from its beginning: else a row
    # of dots would be read again from each of them.
    rf"(?<![.!?…])(?:{_ABBREVIATIONS}\.|[!?…])[.!?…]*+[\"'”’»)\]]*+(?=\s)"
    r"|[。！？｡]+[」』”’）]*"  # Chinese and Japanese: none does
    r"|[।॥؟۔](?=\s)"  # Hindi, Arabic, Urdu
    r"|(?>\r\n|\r|\n)(?:[^\S\r\n]*+(?>\r\n|\r|\n))+"  # a blank line ends a sentence as well
)
_EDGE = re.compile(r"\s+")


def trim(text: str, start: int, end: int) -> Span:
    """Return the span without the white space at its edges; an empty span when there is nothing else.

    >>> trim("  Alpha. ", 0, 9)
    (2, 8)
    """
    piece = text[start:end]
    left = piece.lstrip()
    start += len(piece) - len(left)
    return start, start + len(left.rstrip())


def paragraphs(text: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
    r"""Yield the paragraphs of a part of the text, trimmed; blank lines part them (LF, CR LF or CR).

    >>> list(paragraphs("One.\r\n\r\nTwo,\r\ntoo."))
    [(0, 4), (8, 18)]
    """
    end = len(text) if end is None else end
    for found in _PARAGRAPH_BREAK.finditer(text, start, end):
        yield from _whole(text, start, found.start())
        start = found.end()
    yield from _whole(text, start, end)


def sentences(text: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """Yield the sentences of a part of the text, trimmed; all that is not white space is in one of them.

    A rule, not a model: a full stop, question or exclamation mark before a blank, the full stops of East
    Asian scripts, and blank lines. The commonest English abbreviations and initials end none.

    >>> text = "Dr. Ada left. Who came?"
    >>> [text[a:b] for a, b in sentences(text)]
    ['Dr. Ada left.', 'Who came?']
    """
    end = len(text) if end is None else end
    for found in _SENTENCE_END.finditer(text, start, end):
        yield from _whole(text, start, found.end())
        start = found.end()
    yield from _whole(text, start, end)


def divide(text: str, start: int, end: int, limit: int) -> Iterator[Span]:
    """Yield pieces of at most ``limit`` characters: cut after a sentence, else at a blank, else hard.

    >>> list(divide("One two. Three four.", 0, 20, 12))
    [(0, 8), (9, 20)]
    """
    while end - start > limit:
        place = _best_cut(text, start, start + limit)
        yield from _whole(text, start, place)
        start = place
        while start < end and text[start].isspace():
            start += 1
    yield from _whole(text, start, end)


def pack(
    text: str, pieces: Iterable[Span], limit: int, overlap: int, most: int | None = None
) -> Iterator[Span]:
    """Yield spans of neighbouring pieces, up to ``limit`` characters and ``most`` pieces each.

    A span begins up to ``overlap`` characters before its first new piece, at the beginning of a word, as
    far as the limit allows. A piece that is longer than the limit stands alone.
    """
    current: Span | None = None
    count = 0
    for start, end in pieces:
        if current is None:
            current, count = (start, end), 1
        elif end - current[0] <= limit and (most is None or count < most):
            current, count = (current[0], end), count + 1
        else:
            yield current
            earliest = max(current[1] - overlap, end - limit, current[0] + 1)
            current, count = (_word_start(text, earliest, current[1], start), end), 1
    if current is not None:
        yield current


def merged(spans: Iterable[Span]) -> Iterator[Span]:
    """Yield spans in order, without those that lie wholly in the one before."""
    last: Span | None = None
    for span in spans:
        if last is None or span[1] > last[1] or span[0] < last[0]:
            yield span
            last = span


def _word_start(text: str, earliest: int, end: int, otherwise: int) -> int:
    """Return the first beginning of a word in [earliest, end), else ``otherwise``."""
    if earliest >= end:
        return otherwise
    place = earliest
    if place and not text[place - 1].isspace():  # inside a word: go to the next one
        edge = _EDGE.search(text, place, end)
        if edge is None:
            return otherwise
        place = edge.end()
    while place < end and text[place].isspace():
        place += 1
    return place if place < end else otherwise


def _best_cut(text: str, start: int, latest: int) -> int:
    """Return where to cut within (start, latest]: the last sentence end or blank of the second half."""
    middle = start + (latest - start) // 2
    ends = [
        found.end() for found in _SENTENCE_END.finditer(text, middle, latest + 1) if found.end() <= latest
    ]
    if ends:
        return ends[-1]
    for place in range(latest, start, -1):
        if text[place].isspace():
            return place
    return latest


def _whole(text: str, start: int, end: int) -> Iterator[Span]:
    span = trim(text, start, end)
    if span[0] < span[1]:
        yield span
