"""Rules about anchors: does each stand where it should, once, and whole in a chunk."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.building.checks.material import PARAGRAPH_END, Material, PlacedAnchor
from assay.building.closest import closest_place
from assay.model.checks import CheckFinding
from assay.model.errors import nearest
from assay.model.letters import UNSPACED, traits
from assay.model.notices import listed
from assay.model.phrases import find, phrase
from assay.model.text import normalise

FEWEST_WORDS, MOST_WORDS = 6, 20
"""Shorter phrases stand in several places by chance; longer ones are cut by chunkers and break with edits."""
_PIECE = re.compile(r"\S+")


def not_verbatim(material: Material) -> Iterator[CheckFinding]:
    """Say which anchors do not stand in their document, and what is most like them there."""
    for placed in material.anchors:
        document, quote = placed.document, placed.anchor.quote
        if document is None:
            known = nearest(placed.anchor.doc_id, [one.id for one in material.sources])
            fix = None if known is None else f"did you mean {known!r}?"
            text = f"there is no document {placed.anchor.doc_id!r}"
            yield material.about_anchor(placed, "error", "no-document", text, fix=fix)
        elif not phrase(quote).readings:
            fix = "quote 6 to 20 words of the document"
            yield material.about_anchor(placed, "error", "empty-anchor", "the quote is empty", fix=fix)
        elif placed.located.finding == "stale":
            normal = material.sources.normal(document)
            inside = find(quote, normal, whole_words=False)
            if inside:
                text = f"the quote stands in {document.id} only inside longer words or numbers"
                fix = f"quote whole words: {_around(document.text, *inside[0])!r}"
                yield material.about_anchor(placed, "error", "inside-a-word", text, fix=fix)
                continue
            close = closest_place(quote, document.text, normal)
            there = "no word of it" if close is None else str(close)
            text = f"the quote is not in {document.id} ({there})"
            fix = None if close is None else f"quote the source: {document.text[close.start : close.end]!r}"
            yield material.about_anchor(placed, "error", "not-verbatim", text, fix=fix)


def repaired_offsets(material: Material) -> Iterator[CheckFinding]:
    """Say which offsets do not hold the quote that they pin."""
    for placed in material.anchors:
        if placed.located.finding == "repaired":
            (place,) = placed.located.places
            text = f"offset {placed.anchor.start} does not hold the quote; the nearest place is {place.start}"
            fix = f"write start {place.start} and end {place.end}"
            yield material.about_anchor(placed, "warning", "wrong-offsets", text, fix=fix)


def case_differs(material: Material) -> Iterator[CheckFinding]:
    """Say which anchors are found only because letter case is folded: NONE the setting, none the word."""
    for placed in material.anchors:
        if placed.document is None or not placed.located.places:
            continue
        wanted = _one_blank(placed.anchor.quote)
        there = [placed.document.text[place.start : place.end] for place in placed.located.places]
        slices = {_one_blank(text) for text in there}
        if wanted not in slices and any(text.casefold() == wanted.casefold() for text in slices):
            text = f"the quote is found, but its letter case differs from the source: {there[0]!r}"
            fix = "write it as the source does"
            yield material.about_anchor(placed, "note", "case-differs", text, fix=fix)


def not_once(material: Material) -> Iterator[CheckFinding]:
    """Say which anchors stand more than once in their document, and pin none of the places."""
    for placed in material.anchors:
        count = len(placed.located.places)
        if count > 1 and placed.document is not None:
            text = f"anchor occurs {count} times in {placed.document.id}; each of them counts"
            fix = "quote more of the sentence, or pin one place with start and end"
            yield material.about_anchor(placed, "warning", "not-once", text, fix=fix)


def part_word_places(material: Material) -> Iterator[CheckFinding]:
    """Say which short anchors also stand inside longer words or numbers of their document."""
    for placed in material.anchors:
        quote = placed.anchor.quote
        if placed.document is None or placed.anchor.start is not None or count_words(quote) >= FEWEST_WORDS:
            continue
        normal = material.sources.normal(placed.document)
        whole = len(placed.located.places)
        part = len(find(quote, normal, whole_words=False)) - whole
        if whole and part:
            text = (
                f"anchor is short ({len(quote)} characters): {_counted(whole, 'whole-word place')}, "
                f"{_counted(part, 'part-word place')}"
            )
            fix = "quote more of the sentence"
            yield material.about_anchor(placed, "warning", "part-word-places", text, fix=fix)


def unusual_length(material: Material) -> Iterator[CheckFinding]:
    """Say which anchors are not 6 to 20 words long."""
    for placed in material.anchors:
        count = count_words(placed.anchor.quote)
        if count and not FEWEST_WORDS <= count <= MOST_WORDS:
            text = f"anchor has {_counted(count, 'word')}, not {FEWEST_WORDS} to {MOST_WORDS}"
            yield material.about_anchor(placed, "warning", "length", text)


def crossing_paragraphs(material: Material) -> Iterator[CheckFinding]:
    """Say which anchors run over the end of a paragraph, where chunkers like to cut."""
    for placed in material.anchors:
        for place in placed.located.places[:1]:
            assert placed.document is not None
            if PARAGRAPH_END.search(placed.document.text, place.start, place.end):
                text = "anchor runs over the end of a paragraph, where chunkers cut"
                fix = "quote one paragraph; use two anchors when both are needed"
                yield material.about_anchor(placed, "warning", "crosses-paragraphs", text, fix=fix)


def twins(material: Material) -> Iterator[CheckFinding]:
    """Say which anchors stand in other documents too: a hit there answers, and earns nothing."""
    for placed in material.anchors:
        if placed.anchor is not placed.item:
            continue
        for relevance in list(material.relevance.values())[:1]:
            places = relevance.by_query[placed.query.id].twins.get(placed.item.id, ())
            others = list(dict.fromkeys(place.doc_id for place in places))
            if others:
                text = (
                    f"the same phrase stands in {_counted(len(others), 'other document')}: {listed(others)}"
                )
                fix = "quote what only its document says, or add the others as alternatives"
                yield material.about_anchor(placed, "warning", "twins", text, fix=fix)


def not_whole(material: Material) -> Iterator[CheckFinding]:
    """Say which items are whole in no chunk: their recall could never reach 1.0."""
    first = {(placed.query.id, placed.item.id): placed for placed in reversed(material.anchors)}
    for at, (chunker, relevance) in enumerate(material.relevance.items()):
        for query in relevance.queries:
            for item, reason in query.lost.items():
                placed = first.get((query.query_id, item))
                if placed is None or reason == "stale label" or placed.document is None:
                    continue  # said by other rules
                severity = "error" if at == 0 else "warning"
                if reason == "not indexed":
                    text = f"no chunk of {chunker!r} comes from {placed.document.id}"
                    yield material.about_anchor(placed, severity, "not-indexed", text)
                    continue
                part = query.best_part.get(item, 0.0)
                text = f"anchor is whole in no chunk of {chunker!r} (the best holds {part:.0%} of it)"
                length = max((place.end - place.start for place in placed.located.places), default=1)
                fix = f"shorten the anchor, or let chunks overlap by {length - 1} characters or more"
                yield material.about_anchor(placed, severity, "not-whole", text, fix=fix)


def count_words(text: str) -> int:
    """Count words; in scripts without blanks two letters count as one.

    >>> count_words("must be rotated every 90 days"), count_words("在三天之内退款")
    (6, 4)
    """
    count = 0
    for piece in _PIECE.findall(normalise(text).text):
        unspaced = sum(traits(sign) & UNSPACED > 0 for sign in piece)
        spaced = any(traits(sign) and not traits(sign) & UNSPACED for sign in piece)
        count += (unspaced + 1) // 2 + spaced
    return count


def _one_blank(text: str) -> str:
    return " ".join(text.split())


def _around(text: str, start: int, end: int) -> str:
    """Return a span widened to the blanks around it."""
    while start > 0 and not text[start - 1].isspace():
        start -= 1
    while end < len(text) and not text[end].isspace():
        end += 1
    return text[start:end]


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


RULES = (
    not_verbatim,
    repaired_offsets,
    case_differs,
    not_once,
    part_word_places,
    unusual_length,
    crossing_paragraphs,
    twins,
    not_whole,
)
"""Every rule about anchors, in the order of their remarks."""

__all__ = ["RULES", "PlacedAnchor", "count_words"]
