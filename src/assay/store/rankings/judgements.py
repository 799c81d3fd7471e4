"""Judgements (qrels) in columns: which documents are how relevant to which query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assay.model.notices import Notice
from assay.model.relevance import Judged, JudgedRows
from assay.store.rankings.ids import Docs

_WIDEST_STEP = 2**16


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
        return np.bincount(self.query[self.grades <= 0], minlength=len(self.query_ids))

    @cached_property
    def negative(self) -> NDArray[np.int64]:
        """How many of them have a grade below 0: in TREC's files, pooled but not judged."""
        return np.bincount(self.query[self.grades < 0], minlength=len(self.query_ids))

    @cached_property
    def relevant(self) -> NDArray[np.int64]:
        """Relevant documents, a query."""
        return np.bincount(self.query[self.grades > 0], minlength=len(self.query_ids))

    @cached_property
    def ideal(self) -> JudgedRows:
        """The best imaginable lists: what is relevant, best first."""
        chosen = self.grades > 0
        query, grades = self.query[chosen], self.grades[chosen]
        order = _down_within(query, grades)
        query, grades = query[order], grades[order]
        starts = np.cumsum(self.relevant) - self.relevant
        rank = np.arange(1, len(query) + 1) - starts[query]
        return JudgedRows(query=query, rank=rank.astype(np.int32), grade=grades)

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


def _down_within(query: NDArray[np.int32], grades: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the order by query, then grade down. Queries are ascending already."""
    falls = (query[1:] > query[:-1]) | (grades[1:] <= grades[:-1])
    if falls.all():
        return np.arange(len(query))
    if len(grades) and grades.max() < _WIDEST_STEP and (grades == np.floor(grades)).all():
        # one sort of whole numbers instead of two of columns
        key = query.astype(np.int64) * _WIDEST_STEP + (_WIDEST_STEP - 1 - grades.astype(np.int64))
        return np.argsort(key, kind="stable")
    return np.lexsort((-grades, query))
