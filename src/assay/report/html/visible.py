"""Documents are other people's: what cannot be seen, or changes how the rest is seen, is made visible."""

from __future__ import annotations

import re

_HIDDEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, but for tab and line end
    "\xad\u061c\u180e\u200b\u200e\u200f"  # soft hyphen, direction marks, zero-width blank
    "\u2028-\u202e\u2060-\u206f\ufeff"  # separators, embeddings and overrides of direction, isolates
    "\ud800-\udfff\ufff9-\ufffb"  # halves of signs, annotations
    "\U000e0000-\U000e007f"  # tags: letters that nobody sees and models read
    "]"
)
_LINE_END = re.compile("\r\n?")


def shown(text: str) -> str:
    r"""Return a text in which every sign that hides, or turns the others round, is spelled out.

    Joiners (U+200C, U+200D) stay: Persian, Indic scripts and emoji are written with them. The result of a
    text is the results of its parts, put together, unless a line end is cut in two.

    >>> shown("a\x00b \u202egnp.exe")
    'a⟨U+0000⟩b ⟨U+202E⟩gnp.exe'
    """
    return _HIDDEN.sub(_spelled, _LINE_END.sub("\n", text))


def _spelled(match: re.Match[str]) -> str:
    return f"⟨U+{ord(match[0]):04X}⟩"


def shown_marks(text: str, marks: tuple[tuple[int, int], ...]) -> list[list[int]]:
    r"""Return where spans of a text stand in its shown form, in UTF-16 units, as scripts count.

    >>> shown_marks("\U0001f600 gold", ((2, 6),))
    [[3, 7]]
    """
    return [[_units(text[:start]), _units(text[:end])] for start, end in marks]


def _units(text: str) -> int:
    return len(shown(text).encode("utf-16-le")) // 2


def pieces(text: str, marks: tuple[tuple[int, int], ...]) -> list[tuple[str, bool]]:
    """Cut a text at its marks: (piece, whether it is marked), in order; empty pieces are left out.

    >>> pieces("all the gold", ((8, 12),))
    [('all the ', False), ('gold', True)]
    """
    cut: list[tuple[str, bool]] = []
    at = 0
    for start, end in marks:
        cut += [(text[at:start], False), (text[start:end], True)]
        at = end
    return [piece for piece in (*cut, (text[at:], False)) if piece[0]]
