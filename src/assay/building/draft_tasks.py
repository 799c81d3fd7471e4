"""What is asked of whom: passages dealt out to kinds of question, in an order that a seed decides."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assay.building.facts import identifiers_in
from assay.building.passages import Passage, passages_of, pick_passages
from assay.building.rarity import Rarity
from assay.model.documents import Document
from assay.model.words import content_words, words

FACTUAL, LEXICAL, CONCEPTUAL, MULTI_HOP = "factual", "lexical", "conceptual", "multi-hop"
KINDS = (FACTUAL, LEXICAL, CONCEPTUAL, MULTI_HOP)
"""``factual``: asks for a fact of one passage. ``lexical``: by an identifier or rare term that stands in it
verbatim. ``conceptual``: in none of its content words. ``multi-hop``: two passages are needed."""
_MOST_SHARING = 40
"""A word that more passages have links none of them."""
_TOO_ALIKE = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftTask:
    """One question to be written."""

    kind: str
    passages: tuple[Passage, ...]
    """One; two for a multi-hop question."""
    terms: tuple[str, ...] = ()
    """For a lexical question: identifiers and rare terms of the passage; for a multi-hop question: what links
    its passages."""

    @property
    def key(self) -> str:
        """What it is, in one line: the kind and the places."""
        return f"{self.kind} {' '.join(passage.place for passage in self.passages)}"


class TaskSource:
    """Deals out each passage once, in the order of ``pick_passages``.

    Args:
        documents: the corpus.
        rarity: its rare words.
        rng: decides the order.
        avoid: places that were used before.
        reserve: how many passages are made ready; None: all there are.
    """

    def __init__(
        self,
        documents: Sequence[Document],
        rarity: Rarity,
        rng: np.random.Generator,
        *,
        avoid: Sequence[str] = (),
        reserve: int | None = None,
    ) -> None:
        every = [passage for document in documents for passage in passages_of(document)]
        self._left = pick_passages(every, len(every) if reserve is None else reserve, rng, avoid=avoid)
        self._rarity = rarity
        self._links = _Links(every, rarity)

    def next(self, kind: str) -> DraftTask | None:
        """Return the next task of a kind; None when no passage that is left is fit for it."""
        for at, passage in enumerate(self._left):
            task = self._task(kind, passage)
            if task is not None:
                del self._left[at]
                return task
        return None

    def _task(self, kind: str, passage: Passage) -> DraftTask | None:
        if kind == LEXICAL:
            terms = rare_terms(passage, self._rarity)
            return DraftTask(kind=kind, passages=(passage,), terms=tuple(terms)) if terms else None
        if kind == MULTI_HOP:
            found = self._links.partner(passage)
            if found is None:
                return None
            other, shared = found
            return DraftTask(kind=kind, passages=(passage, other), terms=shared)
        return DraftTask(kind=kind, passages=(passage,))


def rare_terms(passage: Passage, rarity: Rarity, *, most: int = 5) -> list[str]:
    """Return identifiers and rare words as a passage writes them; identifiers first."""
    named = [
        name for name in identifiers_in(passage.text) if any(rarity.is_rare(word) for word in words(name))
    ]
    rest = [
        word for word in rarity.rarest(words(passage.text), most) if len(word) > 3 and word in passage.text
    ]
    return list(dict.fromkeys([*named, *rest]))[:most]


class _Links:
    """Which passages speak of the same rare things."""

    def __init__(self, passages: Sequence[Passage], rarity: Rarity) -> None:
        self._passages = passages
        self._weights = {stem: rarity.weight(stem) for one in passages for stem in content_words(one.text)}
        self._stems = [frozenset(content_words(one.text)) for one in passages]
        self._holding: dict[str, list[int]] = defaultdict(list)
        for at, stems in enumerate(self._stems):
            for stem in sorted(stems):
                self._holding[stem].append(at)

    def partner(self, passage: Passage) -> tuple[Passage, tuple[str, ...]] | None:
        """Return the passage of another section that shares most, and what; None where none shares two."""
        own = frozenset(content_words(passage.text))
        shared: dict[int, list[str]] = defaultdict(list)
        for stem in sorted(own):
            holding = self._holding.get(stem, [])
            if len(holding) <= _MOST_SHARING:
                for at in holding:
                    shared[at].append(stem)
        best: tuple[float, int] | None = None
        for at, stems in sorted(shared.items()):
            other = self._passages[at]
            same = other.doc_id == passage.doc_id and other.path == passage.path
            if len(stems) < 2 or same or _alike(own, self._stems[at]) > _TOO_ALIKE:
                continue
            score = sum(self._weights[stem] for stem in stems)
            if best is None or score > best[0]:
                best = (score, at)
        if best is None:
            return None
        stems = sorted(shared[best[1]], key=lambda stem: (-self._weights[stem], stem))
        return self._passages[best[1]], tuple(stems[:5])


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(1, len(one | other))


def share_out(count: int, shares: Mapping[str, float]) -> dict[str, int]:
    """Split a number of queries over kinds: whole numbers that add up, nearest to the shares.

    Each gets the whole part of its share; what is left goes to the largest remainders, in the order given.

    Raises:
        ValueError: no share is positive, or one is negative.

    Source: Hamilton's method of largest remainders.

    >>> share_out(10, {"factual": 1, "lexical": 1, "conceptual": 1})
    {'factual': 4, 'lexical': 3, 'conceptual': 3}
    """
    total = sum(shares.values())
    if total <= 0 or min(shares.values()) < 0:
        raise ValueError(f"shares {dict(shares)} cannot be dealt out")
    exact = {kind: count * share / total for kind, share in shares.items()}
    dealt = {kind: int(value) for kind, value in exact.items()}
    order = sorted(exact, key=lambda kind: dealt[kind] - exact[kind])
    for kind in order[: count - sum(dealt.values())]:
        dealt[kind] += 1
    return dealt
