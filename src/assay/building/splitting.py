"""A dev and a held-out part of a golden set that do not know each other.

Queries that are nearly the same, and queries whose answers stand in one document, go to the same part: else
what was tuned on one part would have seen the other. Such groups are dealt out whole, so that every kind has
its share in both parts as nearly as whole groups allow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.building.merging import merge_key
from assay.model.golden import Query
from assay.model.words import content_words

DEV, HELDOUT = "dev", "heldout"
_LEAST_WORDS = 5
"""Content words from which two questions that differ in one word are near-duplicates."""
_MOST_SWAPS = 4_000_000
"""Pairs of groups times kinds that are tried at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitKind:
    """One kind in both parts."""

    kind: str
    queries: int
    heldout: int

    @property
    def share(self) -> float:
        """Held-out queries among the kind's, 0 to 1."""
        return self.heldout / self.queries


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Which query is in which part, and how even that is."""

    parts: Mapping[str, str]
    """Query id -> ``dev`` or ``heldout``."""
    kinds: tuple[SplitKind, ...]
    groups: int
    """How many groups were dealt out."""
    largest: int
    """Queries of the largest group."""
    wanted: float
    """The share that was asked for."""
    seed: int
    kept: int = 0
    """Queries that had a part already, and keep it."""
    torn: tuple[tuple[str, ...], ...] = ()
    """Groups whose queries stand in both parts already, by query id: they were split before."""

    @property
    def share(self) -> float:
        """Held-out queries among all, 0 to 1."""
        return sum(part == HELDOUT for part in self.parts.values()) / max(1, len(self.parts))


def split_queries(
    queries: Sequence[Query], *, share: float = 0.3, seed: int = 0, fresh: bool = False
) -> Split:
    """Deal queries out to a dev and a held-out part.

    A query that has a part keeps it, with all that belong to it: a held-out query that was tuned on once is
    held out no more. The same queries, share and seed give the same parts.

    Args:
        queries: the set.
        share: of the held-out part, between 0 and 1.
        seed: decides between groups that fit equally well.
        fresh: deal all queries out anew, also those that have a part.

    Raises:
        ValueError: the share is not between 0 and 1.

    >>> asked = [Query(id=f"q{n}", text=f"What does E{n} mean?", kind="lexical") for n in range(10)]
    >>> split_queries(asked, share=0.3).share
    0.3
    """
    if not 0 < share < 1:
        raise ValueError(f"the held-out share {share:g} is not between 0 and 1")
    groups = query_groups(queries)
    kinds = list(dict.fromkeys(query.kind for query in queries))
    table = np.zeros((len(groups), len(kinds)), np.int64)
    fixed = np.full(len(groups), -1, np.int64)
    torn: list[tuple[str, ...]] = []
    for at, group in enumerate(groups):
        for member in group:
            table[at, kinds.index(queries[member].kind)] += 1
        had = {queries[member].split for member in group} - {None} if not fresh else set[str | None]()
        if len(had) > 1:
            torn.append(tuple(queries[member].id for member in group))
        if had:
            fixed[at] = int(HELDOUT in had and DEV not in had)
    held = _dealt(table, fixed, share, np.random.default_rng(seed))
    parts: dict[str, str] = {}
    for at, group in enumerate(groups):
        for member in group:
            own = None if fresh else queries[member].split
            parts[queries[member].id] = own or (HELDOUT if held[at] else DEV)
    ordered = {query.id: parts[query.id] for query in queries}
    return Split(
        parts=ordered,
        kinds=tuple(_counted(queries, ordered, kinds)),
        groups=len(groups),
        largest=max(map(len, groups), default=0),
        wanted=share,
        seed=seed,
        kept=0 if fresh else sum(query.split is not None for query in queries),
        torn=tuple(torn),
    )


def query_groups(queries: Sequence[Query]) -> list[list[int]]:
    """Return which queries belong together, as positions: near-duplicates and queries of one document.

    A multi-hop query joins its documents' groups into one.
    """
    parent = list(range(len(queries)))

    def root(at: int) -> int:
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    first: dict[object, int] = {}
    for at, query in enumerate(queries):
        for tie in _ties(query):
            other = first.setdefault(tie, at)
            one, two = sorted((root(at), root(other)))
            parent[two] = one
    groups: dict[int, list[int]] = {}
    for at in range(len(queries)):
        groups.setdefault(root(at), []).append(at)
    return list(groups.values())


def _ties(query: Query) -> Iterator[object]:
    """Yield what a query has in common with those that belong to it."""
    for anchor in query.anchors:
        for one in anchor.any_of:
            yield "document", one.doc_id
    for label in query.labels:
        doc_id, mark, span = label.rpartition("#")
        yield "document", doc_id if mark and span.replace("-", "").isdigit() else label
    yield "wording", merge_key(query.text)
    found = frozenset(content_words(query.text))
    if len(found) >= _LEAST_WORDS:
        yield "words", found
        for word in sorted(found):
            if word.isalpha():  # another number is another question
                yield "words", found - {word}


def _dealt(
    table: NDArray[np.int64], fixed: NDArray[np.int64], share: float, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Return which groups are held out: greedy by size, then moves and exchanges as long as they help."""
    held = fixed == 1
    wanted = share * table.sum(axis=0)
    cost = _Cost(table, wanted, share)
    order = rng.permutation(len(table))
    free = order[fixed[order] < 0]
    by_size = free[np.argsort(-table[free].sum(axis=1), kind="stable")]
    for group in by_size.tolist():
        now = table[held].sum(axis=0)
        held[group] = cost(now + table[group]) < cost(now)
    while _improved(table, held, free, cost):
        pass
    return held


class _Cost:
    """How far held-out counts are from what is wanted: squares over expected counts, by kind and in all."""

    def __init__(self, table: NDArray[np.int64], wanted: NDArray[np.float64], share: float) -> None:
        self._wanted = wanted
        self._scale = np.maximum(wanted, 1.0)
        self._total = share * float(table.sum())

    def __call__(self, counts: NDArray[np.int64]) -> float:
        return float(self.many(counts[None, :])[0])

    def many(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        by_kind = ((counts - self._wanted) ** 2 / self._scale).sum(axis=-1)
        overall = (counts.sum(axis=-1) - self._total) ** 2 / max(1.0, self._total)
        return by_kind + overall


def _improved(
    table: NDArray[np.int64], held: NDArray[np.bool_], free: NDArray[np.int64], cost: _Cost
) -> bool:
    """Make the best single move or exchange; return whether there was one that helps."""
    now = table[held].sum(axis=0)
    best = cost(now) - 1e-9
    change: list[int] = []
    if len(free):
        moved = now + np.where(held[free], -1, 1)[:, None] * table[free]
        costs = cost.many(moved)
        at = int(costs.argmin())
        if costs[at] < best:
            best, change = float(costs[at]), [int(free[at])]
    inside, outside = free[held[free]], free[~held[free]]
    if 0 < len(inside) * len(outside) * table.shape[1] <= _MOST_SWAPS:
        costs = cost.many(now - table[inside][:, None, :] + table[outside][None, :, :])
        at = int(costs.argmin())
        if costs.flat[at] < best:
            row, column = divmod(at, len(outside))
            change = [int(inside[row]), int(outside[column])]
    held[change] = ~held[change]
    return bool(change)


def _counted(queries: Sequence[Query], parts: Mapping[str, str], kinds: Sequence[str]) -> Iterator[SplitKind]:
    total = Counter(query.kind for query in queries)
    heldout = Counter(query.kind for query in queries if parts[query.id] == HELDOUT)
    yield from (SplitKind(kind=kind, queries=total[kind], heldout=heldout[kind]) for kind in kinds)
