"""From a stretch that somebody dragged over to an anchor: verbatim, 6 to 20 words, once in its document."""

from __future__ import annotations

from dataclasses import dataclass

from assay.building.anchor_shapes import AnchorShaper
from assay.building.checks.anchors import FEWEST_WORDS, MOST_WORDS, count_words
from assay.building.passages import Passage
from assay.model.documents import Document
from assay.model.letters import UNSPACED, traits
from assay.model.phrases import find
from assay.model.text import NormalText, normalise
from assay.report.html.visible import shown

Span = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One thing that an anchor must be, and whether it is."""

    name: str
    """``verbatim``, ``words`` or ``unique``."""
    holds: bool
    text: str
    """What is so, for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A stretch of a document, and whether it can be an anchor."""

    quote: str
    span: Span
    """Where it stands in its document."""
    facts: tuple[Fact, ...]
    better: Span | None = None
    """Where it cannot: a stretch around it that can."""

    @property
    def holds(self) -> bool:
        return all(fact.holds for fact in self.facts)


def code_points(text: str, start: int, end: int) -> Span:
    r"""Return the span of a text that a span of its shown form stands for.

    Args:
        text: the text.
        start: where the span begins in ``shown(text)``, in UTF-16 units, as scripts count.
        end: where it ends.

    A sign that is spelled out is taken whole.

    >>> code_points("a\x07b \U0001f600 gold", 14, 18)
    (6, 10)
    >>> code_points("a\x07b", 3, 4)
    (1, 2)
    """
    first, last, reached = len(text), len(text), 0
    found_first = found_last = False
    for at, sign in enumerate(text):
        if reached >= end and not found_last:
            last, found_last = at, True
            break
        size = (
            0 if sign == "\r" and text[at + 1 : at + 2] == "\n" else len(shown(sign).encode("utf-16-le")) // 2
        )
        reached += size
        if not found_first and reached > start:
            first, found_first = at, True
    return min(first, last), last


def whole_words(text: str, span: Span) -> Span:
    """Return a span without blanks at its ends and with the words whole that it cuts.

    >>> whole_words("Refunds reach the card.", (3, 12))
    (0, 13)
    """
    start, end = span
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start == end:
        return start, end
    while start > 0 and _inside(text, start):
        start -= 1
    while end < len(text) and _inside(text, end):
        end += 1
    return start, end


def offer_of(document: Document, passage: Span, chosen: Span, shaper: AnchorShaper) -> Offer:
    """Say whether a stretch of a document can be an anchor, and which one around it can where it cannot.

    Args:
        document: the document.
        passage: the part of it that is shown.
        chosen: the stretch, in the document.
        shaper: makes anchors over the corpus.
    """
    start, end = whole_words(document.text, chosen)
    quote = document.text[start:end]
    words = count_words(quote)
    normal = normalise(document.text)
    times = len(find(quote, normal)) if words else 0
    facts = (
        Fact(name="verbatim", holds=times > 0, text="verbatim" if times else "not a phrase of the document"),
        _length(words),
        _unique(times, document),
    )
    offer = Offer(quote=quote, span=(start, end), facts=facts)
    if offer.holds or not words:
        return offer
    around = Passage(
        doc_id=document.id,
        start=passage[0],
        end=passage[1],
        text=document.text[slice(*passage)],
        words=0,
    )
    shaped = shaper.shape(around, quote)
    better = shaped.span if shaped.anchor is not None and _fits(document, shaped.span, normal) else None
    return Offer(quote=quote, span=(start, end), facts=facts, better=better)


def _fits(document: Document, span: Span | None, normal: NormalText) -> bool:
    if span is None:
        return False
    text = document.text[slice(*span)]
    return FEWEST_WORDS <= count_words(text) <= MOST_WORDS and len(find(text, normal)) == 1


def _length(words: int) -> Fact:
    told = "1 word" if words == 1 else f"{words} words"
    if words < FEWEST_WORDS:
        told += f", {FEWEST_WORDS} at least"
    elif words > MOST_WORDS:
        told += f", {MOST_WORDS} at most"
    return Fact(name="words", holds=FEWEST_WORDS <= words <= MOST_WORDS, text=told)


def _unique(times: int, document: Document) -> Fact:
    told = f"once in {document.id}" if times == 1 else f"{times} times in {document.id}"
    return Fact(name="unique", holds=times == 1, text=told)


def _inside(text: str, at: int) -> bool:
    """Whether a word runs over a place; in scripts without blanks every sign is one."""
    before, after = text[at - 1], text[at]
    if not (before.isalnum() and after.isalnum()):
        return False
    return not (traits(before) & UNSPACED or traits(after) & UNSPACED)
