"""The kernel: measures of many ranked lists at once, equal to the textbook functions to the bit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from assay.measures.columns import Columns, Floats
from assay.measures.family import Measure
from assay.model.relevance import Judged, JudgedRows


def score(judged: Judged, measures: Sequence[Measure]) -> dict[str, Floats]:
    """Return each measure's value for every query, by the measure's spelling.

    One array a measure, one value a query in the order of ``judged.query_ids``; NaN means undefined
    (nothing relevant), never 0. A query that the run lacks has no rows and scores 0. The values equal
    the textbook functions (``ndcg_at_k`` and so on) to the bit.

    Raises:
        InputError: rows are not sorted by query and rank.

    >>> from assay.measures.spec import parse_measure
    >>> rows = JudgedRows(query=np.array([0], np.int32), rank=np.array([3], np.int32), grade=np.ones(1))
    >>> best = JudgedRows(query=np.array([0], np.int32), rank=np.array([1], np.int32), grade=np.ones(1))
    >>> judged = Judged(query_ids=("q1",), found=rows, ideal=best, retrieved=np.array([10]))
    >>> score(judged, [parse_measure("RR"), parse_measure("R@2")])
    {'RR': array([0.33333333]), 'R@2': array([0.])}
    """
    columns = Columns(judged)
    return {str(measure): measure.family.kernel(columns, measure) for measure in measures}


def ceilings(judged: Judged, measures: Sequence[Measure]) -> dict[str, Floats]:
    """Return, in the shape of ``score``, what the best list that the set allows would have scored.

    The best list holds every item that can be found at all, best first, and nothing else; it is held
    against the same ideal, so that items that no list can hold (lost anchors) and a k above the number
    of relevant items lower the ceiling. In the anchor unit, where one hit may earn several items, the
    measures that count ranks (precision, F1, RBP) get an upper bound: each item at a rank of its own.

    Raises:
        InputError: rows are not sorted by query and rank.
    """
    best = judged.ideal if judged.best is None else judged.best
    best = _positive(best)
    counts = np.bincount(best.query, minlength=len(judged.query_ids)).astype(np.int64)
    columns = Columns(replace(judged, found=best, retrieved=counts), spread=True)
    return {str(measure): measure.family.kernel(columns, measure) for measure in measures}


def _positive(rows: JudgedRows) -> JudgedRows:
    mask: NDArray[np.bool_] = rows.grade > 0
    return (
        rows
        if mask.all()
        else JudgedRows(query=rows.query[mask], rank=rows.rank[mask], grade=rows.grade[mask])
    )
