"""Words: what search, checks and diagnosis mean by a word.

A word is a run of letters and digits, casefolded. Runs joined by ``_``, ``-``, ``.``, ``'`` or a thousands
comma are one word; what is joined, or mixes letters with digits or camel case, stays searchable **whole and
in parts** (parts of one sign are left out):

=================  =====================================
``E1207``          ``e1207``, ``1207``
``max_chars``      ``max_chars``, ``max``, ``chars``
``foo-bar``        ``foo-bar``, ``foo``, ``bar``
``HTTPServer``     ``httpserver``, ``http``, ``server``
``guide.md``       ``guide.md``, ``guide``, ``md``
``1,000``          ``1000``
``parser's``       ``parser``
=================  =====================================

Scripts without blanks (Chinese, Japanese, Thai, Lao, Khmer, Burmese) become overlapping pairs of signs.
Accents stay; Unicode is composed; soft hyphens and zero-width signs are removed.

The stemmer is Snowball's English one. Identifiers and numbers are never stemmed, so that ``E1207s`` is not
``E1207``; words of other languages go through it mostly unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import chain
from typing import TypeVar, cast
from unicodedata import normalize

_STOPPED = """
a about above after again against all also am an and any are aren't as at be because been before being
below between both but by can can't cannot could couldn't did didn't do does doesn't doing don't down
during each either few for from further had hadn't has hasn't have haven't having he he'd he'll her here
hers herself him himself his how however i i'd i'll i'm i've if in into is isn't it it'd it'll its
itself just let may me might more most much must my myself neither no nor not of off on once only or other
ought our ours ourselves out over own same shall she she'd she'll should shouldn't so some such than that
that'd the their theirs them themselves then there these they they'd they'll they're they've this those
through to too under until up upon us very was wasn't we we'd we'll we're we've were weren't what when
where whether which while who whom whose why will with within without won't would wouldn't yet you you'd
you'll you're you've your yours yourself yourselves
"""
STOP_WORDS = frozenset(_STOPPED.split())
"""English words that carry no content: search, checks and diagnosis leave them out of content words."""

_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u0900-\u0963"
    "\u0980-\u0df3\u0f71-\u0f84\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
)
"""Vowel signs and accents that ``\\w`` leaves out, although they stand inside words."""
_WHOLE = (
    "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts written without blanks."""

_LETTER = rf"[^\W_{_WHOLE}]|[{_MARKS}]"
_JOINED = re.compile(rf"[{_WHOLE}]+|(?:{_LETTER})+(?:(?:[-_.'’]|,(?=\d{{3}}(?!\d)))(?:{_LETTER})+)*")
_ASCII = re.compile(r"[A-Za-z0-9]+(?:(?:[-_.']|,(?=\d{3}(?!\d)))[A-Za-z0-9]+)*")
_UNSPACED = re.compile(rf"[{_WHOLE}]+\Z")
_IGNORED = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+\Z")
_SPLIT = re.compile(r"[-_.'’,]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d])(?=\d)|(?<=\d)(?=[^\W\d])")
_MOST_CACHED = 1_000_000
V = TypeVar("V")


def words(text: str) -> list[str]:
    """Return the words of a text in their order, casefolded; identifiers whole, then in parts.

    An empty list when the text holds no letter and no digit.

    >>> words("Set max_chars to 1,200 for error E1207.")
    ['set', 'max_chars', 'max', 'chars', 'to', '1200', 'for', 'error', 'e1207', '1207']
    >>> words("向量检索")
    ['向量', '量检', '检索']
    """
    return list(chain.from_iterable(map(_WORDS_OF.__getitem__, _found(text))))


def content_words(text: str) -> list[str]:
    """Return the words that carry content: no stop words, stemmed.

    >>> content_words("How are the chunks embedded in max_chars?")
    ['chunk', 'embed', 'max_chars', 'max', 'char']
    """
    return list(chain.from_iterable(map(_CONTENT_OF.__getitem__, _found(text))))


def stem(word: str) -> str:
    """Return the stem of a casefolded word: ``retrieving`` and ``retrieval`` meet in ``retriev``.

    Words with a digit or a joint (``e1207``, ``max_chars``) are returned unchanged.

    Source: Porter, Snowball (2001), the English stemmer.

    >>> stem("retrieving"), stem("retrieval"), stem("e1207")
    ('retriev', 'retriev', 'e1207')
    """
    return _STEMS[word]


def analyser(*, stemming: bool, stop_words: bool) -> Callable[[str], list[str]]:
    """Return the function that turns a text into the terms of an index.

    Args:
        stemming: whether words are stemmed.
        stop_words: whether stop words are left out.

    >>> analyser(stemming=False, stop_words=True)("the chunks")
    ['chunks']
    """
    if stemming and stop_words:
        return content_words
    if stop_words:
        return lambda text: [word for word in words(text) if word not in STOP_WORDS]
    if stemming:
        return lambda text: list(map(_STEMS.__getitem__, words(text)))
    return words


def _found(text: str) -> list[str]:
    if text.isascii():
        return _ASCII.findall(text)
    return _JOINED.findall(_IGNORED.sub("", normalize("NFC", text)))


class _Cached(dict[str, V]):
    """A dictionary that makes what it lacks, and starts again when it has grown too large."""

    def __init__(self, make: Callable[[str], V]) -> None:
        super().__init__()
        self.make = make

    def __missing__(self, key: str) -> V:
        if len(self) >= _MOST_CACHED:
            self.clear()
        made = self[key] = self.make(key)
        return made


def _expanded(found: str) -> tuple[str, ...]:
    """Return a run of signs as words: whole, then its parts."""
    if found.isalpha() and found.islower() and found.isascii():
        return (found,)
    if _UNSPACED.match(found):
        return tuple(found[at : at + 2] for at in range(len(found) - 1)) or (found,)
    if _THOUSANDS.match(found):
        return (found.replace(",", ""),)
    found = found.replace("’", "'").removesuffix("'s").removesuffix("'S")
    whole = found.casefold()
    if whole in STOP_WORDS:
        return (whole,)
    parts = [
        part.casefold()
        for piece in _SPLIT.split(found)
        for part in (piece, *_pieces(piece))
        if len(part) > 1 and part.casefold() != whole
    ]
    return tuple(dict.fromkeys([whole, *parts]))


def _pieces(word: str) -> list[str]:
    pieces = _CAMEL.split(word)
    return pieces if len(pieces) > 1 else []


def _content(found: str) -> tuple[str, ...]:
    return tuple(_STEMS[word] for word in _WORDS_OF[found] if word not in STOP_WORDS)


def _stemmed(word: str) -> str:
    return _snowball()(word) if word.replace("'", "").isalpha() else word


@cache
def _snowball() -> Callable[[str], str]:
    import snowballstemmer  # noqa: PLC0415 - `import assay` stays light

    return cast("Callable[[str], str]", snowballstemmer.stemmer("english").stemWord)


_STEMS = _Cached(_stemmed)
_WORDS_OF = _Cached(_expanded)
_CONTENT_OF = _Cached(_content)
