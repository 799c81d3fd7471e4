"""Single signs of text: how each folds, and where the edge of a word is."""

from __future__ import annotations

from functools import cache
from unicodedata import category, normalize

BLANK = 1
"""White space, line ends among it."""
WORD = 2
"""A letter, digit or underscore of a script that puts blanks between words."""
UNSPACED = 4
"""A letter of a script without blanks: there is an edge between any two."""
COMBINES = 8
"""Belongs to the sign before it: an accent, a vowel sign, the second and third part of a hangul syllable."""

_PLAIN = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u2035\u02bc\u00b4\uff07", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u2036\u301d\u301e\uff02", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2e3a\u2e3b\ufe58\ufe63\uff0d", "-"),
    "\u2025": "..",
    "\u2026": "...",
    "\u22ef": "...",
}
_INVISIBLE = (
    (0xAD, 0xAD),  # soft hyphen
    (0x34F, 0x34F),  # grapheme joiner
    (0x61C, 0x61C),  # Arabic letter mark
    (0x180B, 0x180E),  # Mongolian selectors
    (0x200B, 0x200F),  # zero-width blank, joiners, direction marks
    (0x202A, 0x202E),  # embeddings of direction
    (0x2060, 0x206F),  # word joiner, invisible operators, isolates
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFEFF, 0xFEFF),  # byte-order mark
    (0xE0000, 0xE01EF),  # tags, further selectors
)
_WITHOUT_BLANKS = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x0F00, 0x0FFF),  # Tibetan
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x1950, 0x19FF),  # Tai Le, New Tai Lue
    (0x1A20, 0x1AAF),  # Tai Tham
    (0x1B00, 0x1B7F),  # Balinese
    (0x2E80, 0x2FDF),  # radicals
    (0x3005, 0x3007),
    (0x3021, 0x303C),
    (0x3040, 0x312F),  # kana, bopomofo
    (0x31A0, 0x31FF),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xA000, 0xA4CF),  # Yi
    (0xA980, 0xA9FF),  # Javanese, more Burmese
    (0xAA60, 0xAADF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),  # halfwidth kana
    (0x1AFF0, 0x1B2FF),  # more kana, Nushu
    (0x20000, 0x3FFFF),  # Han
)
_TRAILING_JAMO = ((0x1160, 0x11FF), (0xD7B0, 0xD7FF))


@cache
def folded(sign: str) -> str:
    r"""Return what one sign counts as: no sign, one, or several (``…`` is three dots, ``ß`` is ``ss``).

    >>> folded("“"), folded("É"), folded("…"), folded("\u00ad")
    ('"', 'é', '...', '')
    """
    code = ord(sign)
    if _within(code, _INVISIBLE):
        return ""
    return _PLAIN.get(sign) or normalize("NFC", normalize("NFC", sign).casefold())


@cache
def folded_cluster(signs: str) -> str:
    """Return what a sign and its accents count as, composed wherever Unicode has a composed form."""
    return normalize("NFC", "".join(map(folded, normalize("NFC", signs))))


@cache
def traits(sign: str) -> int:
    r"""Return the traits of one folded sign as a sum of BLANK, WORD, UNSPACED and COMBINES.

    >>> traits("a") == WORD, traits("字") == UNSPACED, traits("-"), traits("\u0301") == COMBINES | WORD
    (True, True, 0, True)
    """
    code = ord(sign)
    if sign.isspace():
        return BLANK
    joins = category(sign)[0] == "M" or _within(code, _TRAILING_JAMO)
    if joins or sign == "_" or sign.isalnum():
        script = UNSPACED if _within(code, _WITHOUT_BLANKS) else WORD
        return script | COMBINES if joins else script
    return 0


def is_word_edge(text: str, at: int) -> bool:
    """Return whether a word may begin or end before position ``at`` of a folded text.

    There is no edge inside a word or a number (``1,112`` and ``3.5`` are numbers), nor between a sign and its
    accent; in scripts without blanks there is one between any two signs.

    >>> is_word_edge("112 days", 1), is_word_edge("1,112 days", 2), is_word_edge("第三天", 1)
    (False, False, True)
    """
    if not 0 < at < len(text):
        return True
    before, after = traits(text[at - 1]), traits(text[at])
    if after & COMBINES and not before & BLANK:
        return False
    if before & WORD and after & WORD:
        return False
    return not _inside_number(text, at)


def _inside_number(text: str, at: int) -> bool:
    if text[at] in ".," and at + 1 < len(text):
        return text[at - 1].isdigit() and text[at + 1].isdigit()
    return at > 1 and text[at - 1] in ".," and text[at].isdigit() and text[at - 2].isdigit()


def _within(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in ranges)
