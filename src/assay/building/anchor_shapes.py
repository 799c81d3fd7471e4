"""From a phrase that somebody offers to an anchor that will last: verbatim, 6 to 20 words, once, whole.

What is changed is only where the phrase begins and ends; its text is always the document's own.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from assay.building.anchors import accept_anchor
from assay.building.checks.anchors import FEWEST_WORDS, MOST_WORDS, count_words
from assay.building.checks.material import PARAGRAPH_END
from assay.building.closest import closest_place
from assay.building.passages import Passage
from assay.matching import Sources
from assay.model.documents import Chunk, Document
from assay.model.golden import Anchor
from assay.model.letters import UNSPACED, traits
from assay.model.notices import listed
from assay.model.phrases import find, phrase
from assay.model.text import normalise
from assay.model.words import content_words

Span = tuple[int, int]
_PIECE = re.compile(r"\S+")
_MOST_TWINS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapedAnchor:
    """An anchor, or the reason why there is none."""

    anchor: Anchor | None
    """Without an id; with offsets only where its text stands more than once."""
    span: Span | None = None
    """Where it stands in its document."""
    notes: tuple[str, ...] = ()
    """What was changed, and what is worth knowing."""
    why: str | None = None
    """Why it was refused: the reason, and the place that is most like the phrase."""


class AnchorShaper:
    """Makes anchors over one corpus.

    Args:
        documents: the corpus.
        chunks: how the project cuts it: an anchor that no chunk holds whole could never be found. Without
            chunks nothing is asked of that.

    Raises:
        InputError: two documents have one id.
    """

    def __init__(self, documents: Sequence[Document], chunks: Sequence[Chunk] = ()) -> None:
        self._sources = Sources(documents)
        self._cuts: dict[str, list[Span]] = {}
        for chunk in chunks:
            self._cuts.setdefault(chunk.doc_id, []).append((chunk.start, chunk.end))
        self._asked = bool(chunks)

    def shape(self, passage: Passage, quote: str, *, about: Collection[str] = ()) -> ShapedAnchor:
        """Return the anchor that a phrase of a passage makes.

        A phrase that is too short, stands twice in its document or in another one is widened within its
        paragraph; one that is too long is narrowed to the words that hold most of the fact.

        Args:
            passage: where the phrase was taken from.
            quote: the phrase as it was offered.
            about: stemmed content words of the fact, to narrow a long phrase.
        """
        document = self._sources.document(passage.doc_id)
        assert document is not None, "a passage is cut from the same corpus"
        taken = accept_anchor(passage.text, quote)
        if taken.span is None:
            return ShapedAnchor(anchor=None, why=_refusal(taken.why or "refused", quote, passage))
        notes = [f"repaired to the source's own text: {taken.text!r}"] if taken.status == "repaired" else []
        span = (passage.start + taken.span[0], passage.start + taken.span[1])
        words = _Words(document.text, self._limits(document, passage, span, about))
        if words.total < FEWEST_WORDS:
            return ShapedAnchor(anchor=None, why=f"its paragraph has only {words.total} words")
        shaped = self._sized(words, span, about)
        before, after = count_words(document.text[slice(*span)]), count_words(document.text[slice(*shaped)])
        if document.text[slice(*shaped)] == quote:
            notes.clear()  # the marks around it were only cut off in between
        if after < before:
            notes.append("narrowed to 20 words of one paragraph")
        elif after > before:
            notes.append("widened to 6 words")
        return self._settled(document, words, shaped, notes)

    def _limits(self, document: Document, passage: Passage, span: Span, about: Collection[str]) -> Span:
        """Return the stretch that the anchor may take: one paragraph, as far as one chunk holds it.

        Of the paragraphs that a phrase runs over, it is the one with most words of the fact.
        """
        text = document.text
        touched = [one for one in _paragraphs(text, passage) if _overlap(one, span)]
        facts = frozenset(about)

        def held(one: Span) -> tuple[int, int]:
            begin, end = max(one[0], span[0]), min(one[1], span[1])
            return len(facts.intersection(content_words(text[begin:end]))), end - begin

        start, end = max(touched, key=held)
        if not self._asked:
            return start, end
        cuts = self._cuts.get(document.id, [])
        whole = [(max(start, cut[0]), min(end, cut[1])) for cut in cuts if cut[0] < end and start < cut[1]]
        if not whole:
            return start, start
        return max(whole, key=lambda cut: (_overlap(cut, span), cut[1] - cut[0], -cut[0]))

    def _sized(self, words: _Words, span: Span, about: Collection[str]) -> Span:
        first, last = words.covering(span)
        if words.limits_hold(span) and FEWEST_WORDS <= count_words(words.text(*span)) <= MOST_WORDS:
            return span
        if words.count(first, last) > MOST_WORDS:
            return words.span(*_densest(words, first, last, about))
        for grown in words.growing(first, last):
            if words.count(*grown) >= FEWEST_WORDS:
                return words.span(*grown)
        return words.span(first, last)

    def _settled(self, document: Document, words: _Words, span: Span, notes: list[str]) -> ShapedAnchor:
        """Widen until the text stands once in the corpus, or at least once in its document."""
        normal = self._sources.normal(document)
        once: tuple[Span, list[str]] | None = None
        grown = (words.span(*some) for some in words.growing(*words.covering(span)))
        for place in chain([span], grown):
            text = document.text[slice(*place)]
            if count_words(text) > MOST_WORDS:
                break
            if len(find(text, normal)) != 1:
                continue
            twins = self._twins(text, document)
            if once is None or not twins:
                once = (place, twins)
            if not twins:
                break
        if once is None:
            count = len(find(document.text[slice(*span)], normal))
            return ShapedAnchor(anchor=None, why=f"stands {count} times in {document.id}, also when widened")
        place, twins = once
        if place != span:
            notes.append("widened until it stands once")
        if twins:
            notes.append(f"the same phrase stands in {listed(twins)}")
        text = document.text[slice(*place)]
        if not FEWEST_WORDS <= count_words(text) <= MOST_WORDS:
            return ShapedAnchor(anchor=None, why=f"has {count_words(text)} words, not 6 to 20")
        anchor = Anchor(id="", doc_id=document.id, quote=text)
        return ShapedAnchor(anchor=anchor, span=place, notes=tuple(notes))

    def _twins(self, text: str, home: Document) -> list[str]:
        plainest = phrase(text).readings[0].text
        found: list[str] = []
        for document in self._sources:
            if document is not home and plainest in self._sources.normal(document).text:
                found.append(document.id)
                if len(found) == _MOST_TWINS:
                    break
        return found


class _Words:
    """The words of a stretch of a document, by position."""

    def __init__(self, document: str, limits: Span) -> None:
        self._document = document
        self._spans = list(_tokens(document, *limits))
        self._starts = [start for start, _ in self._spans]
        self._ends = [end for _, end in self._spans]

    @property
    def total(self) -> int:
        return self.count(0, len(self._spans)) if self._spans else 0

    def limits_hold(self, span: Span) -> bool:
        """Return whether a span lies within the stretch."""
        return self._starts[0] <= span[0] and span[1] <= self._ends[-1]

    def covering(self, span: Span) -> tuple[int, int]:
        """Return the words that a span touches, as positions, end exclusive; at least one."""
        first = min(bisect_right(self._ends, span[0]), len(self._spans) - 1)
        return first, max(first + 1, bisect_left(self._starts, span[1]))

    def span(self, first: int, last: int) -> Span:
        return self._starts[first], self._ends[last - 1]

    def text(self, start: int, end: int) -> str:
        return self._document[start:end]

    def count(self, first: int, last: int) -> int:
        return count_words(self._document[slice(*self.span(first, last))])

    def stems(self, at: int) -> list[str]:
        return content_words(self._document[slice(*self._spans[at])])

    def growing(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Yield the words, then one word more each time, to the right and to the left in turn."""
        yield first, last
        right = True
        while first > 0 or last < len(self._spans):
            if (right and last < len(self._spans)) or first == 0:
                last += 1
            else:
                first -= 1
            right = not right
            yield first, last


def _paragraphs(text: str, passage: Passage) -> Iterator[Span]:
    start = passage.start
    for match in PARAGRAPH_END.finditer(text, passage.start, passage.end):
        yield start, match.start()
        start = match.end()
    yield start, passage.end


def _tokens(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the words of a stretch; in scripts without blanks every sign is one."""
    for match in _PIECE.finditer(text, start, end):
        piece = match[0]
        if piece.isascii() or not any(traits(sign) & UNSPACED for sign in piece):
            yield match.span()
            continue
        yield from ((match.start() + at, match.start() + at + 1) for at in range(len(piece)))


def _densest(words: _Words, first: int, last: int, about: Collection[str]) -> tuple[int, int]:
    """Return the first window of at most 20 words that holds most words of the fact."""
    wanted = frozenset(about)
    held = [sum(stem in wanted for stem in words.stems(at)) for at in range(first, last)]
    best, best_held = (first, first + 1), -1
    for begin in range(first, last):
        end = begin
        while end < last and words.count(begin, end + 1) <= MOST_WORDS:
            end += 1
        if words.count(begin, max(end, begin + 1)) < FEWEST_WORDS:
            break
        total = sum(held[begin - first : end - first])
        if total > best_held:
            best, best_held = (begin, end), total
    return best


def _overlap(one: Span, other: Span) -> int:
    return max(0, min(one[1], other[1]) - max(one[0], other[0]))


def _refusal(why: str, quote: str, passage: Passage) -> str:
    """Return the reason with the place that is most like the phrase, for whoever quotes again."""
    if why == "empty":
        return "anchor is empty"
    close = closest_place(quote, passage.text, normalise(passage.text))
    said = f"anchor is not verbatim ({why})"
    if close is None:
        return said
    return f"{said}; closest: {passage.text[close.start : close.end]!r}, {int(close.alike * 100)} % alike"
