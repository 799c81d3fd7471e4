"""Judgements (qrels) in columns: which documents are how relevant to which query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assay.model.notices import Notice
from assay.model.relevance import Judged, JudgedRows
from assay.store.rankings.ids import Docs, Keys

_MOST_STEPS = 8
"""Whole grades up to this one are counted instead of sorted."""


@dataclass(frozen=True, kw_only=True)
class Judgements:
    """All judgements of a set; rows of one query stand together, queries in the order of the file."""

    name: str
    """The file, or what the caller calls it."""
    query_ids: tuple[str, ...]
    query: NDArray[np.int32]
    """Position of the query of each row; ascending."""
    docs: Docs
    grades: NDArray[np.float64]
    groups: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict[str, tuple[str | None, ...]])
    """Other columns of the file that have one value a query (``kind``, ``language``)."""
    notices: tuple[Notice, ...] = ()
    _stored: dict[type[Docs], tuple[Docs, Keys]] = field(
        init=False, default_factory=dict[type[Docs], tuple[Docs, Keys]], compare=False, repr=False
    )

    def __len__(self) -> int:
        return len(self.query)

    @cached_property
    def position(self) -> Mapping[str, int]:
        """Query id -> position."""
        return {query: place for place, query in enumerate(self.query_ids)}

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Rows of query ``i`` are ``offsets[i]:offsets[i + 1]``."""
        return np.searchsorted(self.query, np.arange(len(self.query_ids) + 1)).astype(np.int64)

    @cached_property
    def nonrelevant(self) -> NDArray[np.int64]:
        """Judged documents with grade 0 or below, a query."""
        return np.diff(self.offsets) - self.relevant

    @cached_property
    def negative(self) -> NDArray[np.int64]:
        """How many of them have a grade below 0: in TREC's files, pooled but not judged."""
        return self._count(self.grades < 0)

    @cached_property
    def relevant(self) -> NDArray[np.int64]:
        """Relevant documents, a query."""
        return self._count(self.grades > 0)

    @cached_property
    def ideal(self) -> JudgedRows:
        """The best imaginable lists: what is relevant, best first."""
        relevant = self.relevant
        query = np.repeat(np.arange(len(relevant), dtype=np.int32), relevant)
        starts = np.repeat(np.cumsum(relevant) - relevant, relevant)
        rank = (np.arange(1, len(query) + 1) - starts).astype(np.int32)
        chosen = np.flatnonzero(self.grades > 0)
        return JudgedRows(
            query=query, rank=rank, grade=_down_within(query, self.grades[chosen], len(relevant))
        )

    def _count(self, rows: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return how many rows of a mask each query has."""
        return np.diff(np.concatenate(([0], np.cumsum(rows)))[self.offsets])

    def stored_like(self, docs: Docs) -> tuple[Docs, Keys]:
        """Return the documents, stored as a run's are, and their keys; made once for each kind of run."""
        kind = type(docs)
        if kind not in self._stored:
            mine = docs.like(self.docs)
            self._stored[kind] = mine, mine.keys()
        return self._stored[kind]

    def best_lists(self) -> Judged:
        """Return the judged rows of a run that finds all that is relevant, best first, and nothing else."""
        return Judged(
            query_ids=self.query_ids,
            found=self.ideal,
            ideal=self.ideal,
            retrieved=self.relevant,
            nonrelevant=self.nonrelevant,
            negative=self.negative,
        )


def _down_within(query: NDArray[np.int32], grades: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Return the grades of each query down. Queries are ascending already, grades above 0."""
    if not len(grades):
        return grades
    highest = float(grades.max())
    if highest <= _MOST_STEPS and (grades == np.floor(grades)).all():
        # of a few steps nothing has to be sorted: how many rows of each a query has says all
        steps = np.arange(int(highest), 0, -1)
        place = query * np.int64(len(steps)) + (len(steps) - grades.astype(np.int64))
        return np.repeat(np.tile(steps.astype(np.float64), n), np.bincount(place, minlength=n * len(steps)))
    return grades[np.lexsort((-grades, query))]
