"""Passages to write questions from: spread over documents, sections and lengths; a seed decides."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from typing import Literal

import numpy as np

from assay.building.checks.anchors import count_words
from assay.building.checks.material import LONG_PARAGRAPH, PARAGRAPH_END
from assay.corpus.outline import Outline, blocks_between, outline_of, section_starts
from assay.model.documents import Document, chunk_id

FEWEST_WORDS = 20
"""Shorter stretches hold no fact worth a question, or are headings, links and captions."""
MOST_CHARS = 1_200
"""Characters up to which neighbouring blocks of one section are joined into one passage."""
Length = Literal["short", "middle", "long"]
_SHORT, _MIDDLE = 50, 120
_LINE = re.compile(r"(?:\r\n|[\r\n])")
_SENTENCES = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[A-Z0-9])|(?<=[。！？])")
_CODE = re.compile(r"\s*(?:```|~~~| {4}|\t|\{!|:::|///|<!--|!\[)")
_MOSTLY = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A stretch of one document, within one section, that questions can be written from."""

    doc_id: str
    start: int
    end: int
    text: str
    """The slice of the document."""
    path: tuple[str, ...] = ()
    """The headings that it stands under, outermost first; the document's title where there are none."""
    words: int
    """How many words it has."""

    @property
    def place(self) -> str:
        """Its identity: ``doc_id#start-end``."""
        return chunk_id(self.doc_id, self.start, self.end)

    @property
    def length(self) -> Length:
        """``short`` below 50 words, ``middle`` below 120, else ``long``."""
        return "short" if self.words < _SHORT else "middle" if self.words < _MIDDLE else "long"


def passages_of(document: Document) -> list[Passage]:
    r"""Return the passages of a document, in order; none overlaps another.

    Blocks of a section (paragraphs, lists, tables) are joined up to 1,200 characters, and longer ones are
    cut at their lines or sentences. Headings, fenced code, includes and what is below 20 words are left out.

    >>> text = "# Keys\n\n" + "Every key of the vault is rotated by its owner after ninety days. " * 3
    >>> [(one.path, one.start, one.words) for one in passages_of(Document(id="a.md", text=text))]
    [(('Keys',), 8, 39)]
    """
    outline = outline_of(document)
    found: list[Passage] = []
    for start, end in _sections(document, outline):
        for first, last in _joined(_pieces(document, outline, start, end)):
            passage = _passage(document, outline, first, last)
            if passage.words >= FEWEST_WORDS:
                found.append(passage)
    return found


def _passage(document: Document, outline: Outline, start: int, end: int) -> Passage:
    text = document.text[start:end]
    lead = len(text) - len(text.lstrip())
    start, text = start + lead, text.strip()
    path = outline.path_at(start) or ((document.title,) if document.title else ())
    return Passage(
        doc_id=document.id,
        start=start,
        end=start + len(text),
        text=text,
        path=path,
        words=count_words(text),
    )


def _sections(document: Document, outline: Outline) -> Iterator[tuple[int, int]]:
    edges = [outline.front_end, *section_starts(outline), len(document.text)]
    yield from ((start, end) for start, end in pairwise(edges) if start < end)


def _pieces(document: Document, outline: Outline, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the blocks of a section that are worth reading; a gap between two of them parts passages."""
    headings = {heading.start for heading in outline.headings}
    blocks = blocks_between(outline, start, end) if outline.blocks else list(_between(document, start, end))
    for first, last in blocks:
        text = document.text[first:last]
        if first not in headings and text.strip() and not _CODE.match(text):
            yield from _cut(document.text, first, last)


def _between(document: Document, start: int, end: int) -> Iterator[tuple[int, int]]:
    for match in PARAGRAPH_END.finditer(document.text, start, end):
        yield start, match.start()
        start = match.end()
    yield start, end


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut a block that is too long at its lines, and lines that are too long at their sentences."""
    if end - start <= MOST_CHARS:
        yield start, end
        return
    mark = _LINE if _LINE.search(text, start, end - 1) else _SENTENCES
    edges = [start, *(match.end() for match in mark.finditer(text, start, end)), end]
    for first, last in pairwise(edges):
        if last - first > MOST_CHARS and mark is _LINE:
            yield from _cut(text, first, last)
        elif first < last <= first + LONG_PARAGRAPH:
            yield first, last


def _joined(pieces: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    current: tuple[int, int] | None = None
    for start, end in pieces:
        if current is None:
            current = (start, end)
        elif end - current[0] <= MOST_CHARS and start - current[1] <= 2:
            current = (current[0], end)
        else:
            yield current
            current = (start, end)
    if current is not None:
        yield current


def pick_passages(
    passages: Sequence[Passage], count: int, rng: np.random.Generator, *, avoid: Sequence[str] = ()
) -> list[Passage]:
    """Return passages in the order in which they should be used; the first ``n`` are spread for every ``n``.

    The next passage comes from the document that has had fewest for the root of its size (so that a long
    document gets more, and not all), there from the section with fewest, and there from the length with
    fewest overall; chance, by the seed, decides between equals. Text that stands in several places is
    boilerplate and is left out.

    Args:
        passages: of the whole corpus.
        count: how many are wanted; fewer are returned where there are no more.
        rng: decides between equals.
        avoid: places (``doc_id#start-end``) that were used before.
    """
    pools = _pools(passages, set(avoid))
    order: list[_Pool] = [pools[at] for at in rng.permutation(len(pools)).tolist()]
    lengths: Counter[str] = Counter()
    picked: list[Passage] = []
    while len(picked) < count and order:
        pool = min(order, key=lambda one: (one.used + 0.5) / one.weight)
        passage = pool.take(lengths, rng)
        lengths[passage.length] += 1
        picked.append(passage)
        if not pool.left:
            order.remove(pool)
    return picked


class _Pool:
    """The passages of one document that are left."""

    def __init__(self, left: list[Passage]) -> None:
        self.left = left
        self.weight = sqrt(len(left))
        self.used = 0
        self.sections: Counter[tuple[str, ...]] = Counter()

    def take(self, lengths: Counter[str], rng: np.random.Generator) -> Passage:
        least = min(self.sections[one.path] for one in self.left)
        open_sections = [one for one in self.left if self.sections[one.path] == least]
        fewest = min(lengths[one.length] for one in open_sections)
        equals = [one for one in open_sections if lengths[one.length] == fewest]
        passage = equals[int(rng.integers(len(equals)))]
        self.left.remove(passage)
        self.sections[passage.path] += 1
        self.used += 1
        return passage


def _pools(passages: Sequence[Passage], avoid: set[str]) -> list[_Pool]:
    keys = [" ".join(one.text.casefold().split()) for one in passages]
    count = Counter(keys)
    left: dict[str, list[Passage]] = {}
    for key, one in zip(keys, passages, strict=True):
        if count[key] == 1 and one.place not in avoid and _is_prose(one.text):
            left.setdefault(one.doc_id, []).append(one)
    return [_Pool(left[doc_id]) for doc_id in sorted(left)]


def _is_prose(text: str) -> bool:
    """Return whether a text is mostly words, not links, code and tables of signs."""
    letters = sum(sign.isalpha() or sign.isspace() for sign in text)
    return letters >= _MOSTLY * len(text) and "://" not in text[: len(text) // 4]
