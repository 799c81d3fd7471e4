"""The place in a document that is most like a phrase which is not there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np

from assay.model.text import NormalText, normalise

_TOKEN = re.compile(r"\S+")
_CANDIDATES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Closest:
    """A place that is like the phrase, and how much."""

    start: int
    """In code points of the document."""
    end: int
    line: int
    """Line of the document where it begins, from 1."""
    alike: float
    """0 to 1: the share of signs that stand in both in the same order."""

    def __str__(self) -> str:
        return f"closest: {int(self.alike * 100)} % alike, line {self.line}"


def closest_place(quote: str, document: str, normal: NormalText) -> Closest | None:
    r"""Return the place that is most like a quote; None when the document shares no word with it.

    Windows of as many words as the quote are ranked by the words that they share with it, and the best few
    are compared sign by sign.

    Args:
        quote: a phrase that does not stand in the document.
        document: the document's text.
        normal: its normal form.

    >>> text = "Refunds take\n14 working days."
    >>> str(closest_place("take 14 days", text, normalise(text)))
    'closest: 72 % alike, line 1'
    """
    wanted = normalise(quote).text
    asked = wanted.split()
    tokens = list(_TOKEN.finditer(normal.text))
    if not asked or not tokens:
        return None
    width = min(len(asked), len(tokens))
    words = {word.strip(".,;:!?\"'()") for word in asked}
    shared = np.cumsum([0, *(match[0].strip(".,;:!?\"'()") in words for match in tokens)])
    held = shared[width:] - shared[:-width]
    if not held.max():
        return None
    best: tuple[float, int, int] | None = None
    windows: list[int] = np.argsort(-held, kind="stable")[:_CANDIDATES].tolist()
    for at in windows:
        for first, last in ((at, at + width - 1), (at, at + width), (at - 1, at + width - 1)):
            if first < 0 or last >= len(tokens):
                continue
            start, end = int(tokens[first].start()), int(tokens[last].end())
            alike = SequenceMatcher(None, wanted, normal.text[start:end], autojunk=False).ratio()
            if best is None or alike > best[0]:
                best = (alike, start, end)
    assert best is not None
    start, end = normal.to_source(best[1], best[2])
    return Closest(start=start, end=end, line=line_of(document, start), alike=best[0])


def line_of(document: str, at: int) -> int:
    r"""Return the number of the line that holds a position, from 1; CR LF is one line end.

    >>> line_of("one\r\ntwo", 5)
    2
    """
    before = document[:at]
    return 1 + before.count("\n") + before.count("\r") - before.count("\r\n")
