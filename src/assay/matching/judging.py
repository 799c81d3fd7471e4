"""A run's lists meet the relevance: judged ranks, in any of the three units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.matching.ideals import best_placing
from assay.model.golden import GoldenSet, Query
from assay.model.ids import id_key as identity
from assay.model.relevance import Judged, JudgedRows, QueryRelevance, Relevance, Unit
from assay.model.runs import ChunkTable, Run, StageTable

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenLists:
    """A stage's lists in the order of the golden set; queries that the run lacks have empty ones."""

    offsets: Ints
    """The hits of query i are ``chunks[offsets[i]:offsets[i + 1]]``, best first."""
    chunks: NDArray[np.int32]
    """Positions in the run's chunk table."""
    answered: NDArray[np.bool_]
    """Whether the run has the query at all."""


def golden_lists(stage: StageTable, run: Run, golden: GoldenSet) -> GoldenLists:
    """Return a stage's lists in the order of the golden set; queries that the set lacks are left out."""
    position = run.query_position
    rows = np.array([position.get(query.id, -1) for query in golden.queries], np.int64)
    answered = rows >= 0
    if len(rows) == len(run.query_ids) and np.array_equal(rows, np.arange(len(rows))):
        return GoldenLists(offsets=stage.offsets, chunks=stage.chunks, answered=answered)
    lengths = np.where(answered, np.diff(stage.offsets, append=stage.offsets[-1:])[rows], 0)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    shift = np.where(answered, stage.offsets[rows], 0) - offsets[:-1]
    where = np.arange(int(offsets[-1])) + np.repeat(shift, lengths)
    return GoldenLists(offsets=offsets, chunks=stage.chunks[where], answered=answered)


def judge(stage: StageTable, run: Run, relevance: Relevance, golden: GoldenSet, unit: Unit) -> Judged:
    """Return what a stage's lists met, as the measures want it: ranks and grades, no text.

    - ``chunk``: relevant items are chunks; the ids of one place are one chunk. Each lost item is one
      relevant chunk that no list can hold.
    - ``anchor``: relevant items are anchors; the first hit that covers one earns it. A hit that covers two
      new ones makes two rows at its rank. The ideal places the gains as well as any set of the chunks could.
    - ``document``: the first hit of a relevant document earns it. Documents that are alternatives to each
      other are one item.

    An item repeated in a list has a row at its first rank only. Lost items are in ``ideal``, not in
    ``best``. Queries stand in the order of the golden set; those that the run lacks are not ``answered``.
    """
    lists = golden_lists(stage, run, golden)
    by_query = relevance.by_query
    empty = QueryRelevance(query_id="")
    items = _UNITS[unit](run.chunks)
    for query in golden.queries:
        items.add(query, by_query.get(query.id, empty))
    keys = items.keys()
    found = _met(lists, lists.chunks if keys is None else keys[lists.chunks], items)
    return Judged(
        query_ids=tuple(query.id for query in golden.queries),
        found=found,
        ideal=_rows(items.ideal),
        best=_rows(items.best),
        retrieved=np.diff(lists.offsets),
        nonrelevant=np.array(items.nonrelevant, np.int64),
        answered=lists.answered,
    )


class _Items:
    """What can be earned, a query: (query, key of the hit, item, grade) rows, and the best lists."""

    def __init__(self, chunks: ChunkTable) -> None:
        self.chunks = chunks
        self.rows: list[tuple[int, int, int, float]] = []
        self.ideal: list[list[list[float]]] = []
        self.best: list[list[list[float]]] = []
        self.nonrelevant: list[int] = []
        self._items = 0

    def add(self, query: Query, relevance: QueryRelevance) -> None:
        """Add the items of the next query."""
        raise NotImplementedError

    def keys(self) -> NDArray[np.int64] | None:
        """Return the key of each chunk of the table; None: its position."""
        return None

    def item(self, keys: Iterable[int], grade: float) -> None:
        """Add one item of the query that is being added."""
        self.rows += [(len(self.nonrelevant), key, self._items, grade) for key in keys]
        self._items += 1

    def lists(self, placed: list[list[float]], best: list[list[float]], grades: Iterable[float]) -> None:
        """End a query: its ideal and its best list, and the grades of all its items."""
        self.ideal.append(placed)
        self.best.append(best)
        self.nonrelevant.append(sum(grade <= 0 for grade in grades))


class _ChunkItems(_Items):
    def add(self, query: Query, relevance: QueryRelevance) -> None:  # noqa: ARG002 - as the other units
        grades = dict(relevance.chunk_grades)
        for chunk, items in relevance.covers.items():
            if chunk not in grades:  # another id of the same place
                grades[chunk] = max(relevance.anchor_grades[item] for item in items)
        places: dict[tuple[str, int, int], tuple[list[int], list[float]]] = {}
        for chunk, grade in grades.items():
            row = self.chunks.position.get(chunk)
            if row is not None:
                rows, worth = places.setdefault(self._place(row), ([], []))
                rows.append(row)
                worth.append(grade)
        for rows, worth in places.values():
            self.item(rows, max(worth))
        known = [grade for grade in relevance.chunk_grades.values() if grade > 0]
        unmet = [[grade] for grade in known + _open(relevance)]
        best = sorted(unmet, reverse=True)
        ideal = sorted(unmet + [[grade] for grade in _lost(relevance)], reverse=True)
        self.lists(ideal, best, relevance.chunk_grades.values())

    def _place(self, row: int) -> tuple[str, int, int]:
        start = int(self.chunks.starts[row])
        if start < 0:
            return self.chunks.ids[row], -1, -1
        return identity(self.chunks.doc_ids[row]), start, int(self.chunks.ends[row])


class _AnchorItems(_Items):
    def add(self, query: Query, relevance: QueryRelevance) -> None:  # noqa: ARG002 - as the other units
        rows: dict[str, list[int]] = {item: [] for item in relevance.anchor_grades}
        for chunk, items in relevance.covers.items():
            row = self.chunks.position.get(chunk)
            if row is not None:
                for item in items:
                    rows[item].append(row)
        for item, grade in relevance.anchor_grades.items():
            self.item(rows[item], grade)
        covered = list(relevance.covers.values())
        best = best_placing(relevance.anchor_grades, covered, _open(relevance))
        ideal = best
        if relevance.lost:
            ideal = best_placing(relevance.anchor_grades, covered, _open(relevance) + _lost(relevance))
        self.lists(ideal, best, relevance.anchor_grades.values())


class _DocumentItems(_Items):
    def __init__(self, chunks: ChunkTable) -> None:
        super().__init__(chunks)
        self._code: dict[str, int] = {}

    def add(self, query: Query, relevance: QueryRelevance) -> None:
        grades, lost = _document_sets(query, relevance)
        for documents, grade in grades.items():
            codes = (self._code.setdefault(document, len(self._code)) for document in sorted(documents))
            self.item(codes, grade)
        earnable = {documents: grade for documents, grade in grades.items() if documents not in lost}
        every = sorted(frozenset[str]().union(*earnable))
        coverers = [[some for some in earnable if document in some] for document in every]
        best = best_placing(earnable, coverers)
        ideal = best_placing(earnable, coverers, [grades[documents] for documents in lost]) if lost else best
        self.lists(ideal, best, grades.values())

    def keys(self) -> NDArray[np.int64]:
        code = {name: at for name, at in self._code.items() if name}  # two absent names are no match
        return np.fromiter(
            (code.get(identity(name), -1) for name in self.chunks.doc_ids), np.int64, len(self.chunks)
        )


_UNITS: Mapping[Unit, type[_Items]] = {
    "chunk": _ChunkItems,
    "anchor": _AnchorItems,
    "document": _DocumentItems,
}


def _lost(relevance: QueryRelevance) -> list[float]:
    """Return the grades of the items that no chunk can earn."""
    return [grade for item in relevance.lost if (grade := relevance.anchor_grades[item]) > 0]


def _open(relevance: QueryRelevance) -> list[float]:
    """Return the grades of the items that no known chunk covers, though one of an unknown index may."""
    covered = {item for items in relevance.covers.values() for item in items}
    return [
        grade
        for item, grade in relevance.anchor_grades.items()
        if grade > 0 and item not in covered and item not in relevance.lost
    ]


def _document_sets(
    query: Query, relevance: QueryRelevance
) -> tuple[dict[frozenset[str], float], list[frozenset[str]]]:
    """Return the sets of documents, any one of which serves, with grades; and those that are not indexed."""
    grades: dict[frozenset[str], float] = {}
    indexed: set[frozenset[str]] = set()
    named: set[str] = set()
    for item in query.anchors:
        documents = frozenset(identity(anchor.doc_id) for anchor in item.any_of)
        named |= documents
        grades[documents] = max(item.grade, grades.get(documents, item.grade))
        if relevance.lost.get(item.id) != "not indexed":
            indexed.add(documents)
    lost_ids = {identity(item) for item, why in relevance.lost.items() if why == "not indexed"}
    for name, grade in relevance.document_grades.items():
        document = frozenset([identity(name)])
        if document in grades or not document <= named:
            grades[document] = max(grade, grades.get(document, grade))
            if not document & lost_ids and not document <= named:
                indexed.add(document)
    # A set that holds another one whole is served whenever the smaller one is.
    kept = {
        documents: grade
        for documents, grade in grades.items()
        if not any(other < documents and grades[other] > 0 for other in grades)
    }
    return kept, [documents for documents in kept if documents not in indexed]


def _met(lists: GoldenLists, keys: NDArray[np.int64] | NDArray[np.int32], items: _Items) -> JudgedRows:
    """Return the first hit that earns each item."""
    if not items.rows or not len(keys):
        return JudgedRows.empty()
    query, key, item, grade = (np.array(column) for column in zip(*items.rows, strict=True))
    width = int(key.max()) + 1
    wanted = np.zeros(max(width, int(keys.max()) + 1) + 1, np.bool_)
    wanted[key] = True
    hits = np.flatnonzero(wanted[keys])  # key -1, an unknown document, reads the last place, which is False
    hit_query = np.searchsorted(lists.offsets, hits, side="right") - 1
    order = np.argsort(query * width + key, kind="stable")
    pairs = (query * width + key)[order]
    codes = hit_query * width + keys[hits]
    low, high = np.searchsorted(pairs, codes, side="left"), np.searchsorted(pairs, codes, side="right")
    counts = high - low
    hit = np.repeat(np.arange(len(hits)), counts)
    pair = order[np.arange(len(hit)) - np.repeat(np.cumsum(counts) - counts, counts) + low[hit]]
    _, first = np.unique(item[pair], return_index=True)
    hit, pair = hit[first], pair[first]
    rank = hits[hit] - lists.offsets[hit_query[hit]] + 1
    by_rank = np.lexsort((-grade[pair], rank, query[pair]))
    return JudgedRows(
        query=query[pair][by_rank].astype(np.int32),
        rank=rank[by_rank].astype(np.int32),
        grade=grade[pair][by_rank].astype(np.float64),
    )


def _rows(placed: Sequence[list[list[float]]]) -> JudgedRows:
    rows = [
        (query, rank, grade)
        for query, ranks in enumerate(placed)
        for rank, grades in enumerate(ranks, start=1)
        for grade in grades
    ]
    if not rows:
        return JudgedRows.empty()
    query, rank, grade = zip(*rows, strict=True)
    return JudgedRows(
        query=np.array(query, np.int32), rank=np.array(rank, np.int32), grade=np.array(grade, np.float64)
    )
