"""Precision where it matters, averaged over the relevant items: AP, and infAP for sampled judgements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.measures.columns import Columns, Floats, ratio
from assay.measures.family import Family, Measure
from assay.measures.ranked import Relevant, grades_of, met, met_ranks, wanted

_EPSILON = 0.00001
"""The smoothing of trec_eval's infAP."""


def average_precision(
    ranked: Sequence[str],
    relevant: Relevant,
    k: int | None = None,
    *,
    capped: bool = False,
    rel: float | None = None,
) -> float | None:
    """Return the mean, over all relevant items, of the precision at the rank of each (0 when not found).

    Range 0 to 1, higher is better; its mean over queries is MAP. With ``k``, items deeper than ``k``
    count as not found; ``capped`` divides by min(k, relevant) instead of by relevant. None when nothing
    is relevant.

    Raises:
        InputError: ``k`` is below 1.

    Source: Harman, TREC (1993); Buckley and Voorhees, SIGIR (2000).

    >>> average_precision(["d1", "x", "d2"], {"d1", "d2"})
    0.8333333333333333
    """
    items = wanted(relevant, rel)
    total = 0.0
    for found, rank in enumerate(met_ranks(ranked, items, k), start=1):
        total += found / rank
    if not items:
        return None
    return total / (min(k, len(items)) if capped and k is not None else len(items))


def inferred_ap(ranked: Sequence[str], relevant: Relevant, *, rel: float | None = None) -> float | None:
    """Return average precision inferred from a sample of judgements.

    The precision at a relevant item is estimated from the judged items above it alone. A grade below 0
    means, as in TREC's files, pooled but not judged. Range 0 to 1, higher is better. None when nothing
    is relevant.

    Source: Yilmaz and Aslam, CIKM (2006), with the smoothing of trec_eval.

    >>> inferred_ap(["d1", "x", "d2"], {"d1": 1, "x": 0, "d2": 1})
    0.8333...
    """
    grades = grades_of(relevant)
    items = wanted(relevant, rel)
    total = 0.0
    found = nonrelevant = unjudged = 0
    least = 0.0 if rel is None else rel
    for rank, grade in met(ranked, grades):
        if grade < 0:
            unjudged += 1
        elif grade > 0 and grade >= least:
            above = found + nonrelevant + unjudged
            share = (found + _EPSILON) / (found + nonrelevant + 2 * _EPSILON)
            total += 1.0 if rank == 1 else 1.0 / rank + (above / rank) * share
            found += 1
        else:
            nonrelevant += 1
    return min(1.0, total / len(items)) if items else None


def _average_precision(columns: Columns, measure: Measure) -> Floats:
    rows = columns.relevant(measure.rel)
    earned = rows.running(rows.first_of_rank())
    precision = earned / rows.rank
    total = columns.total(measure.rel)
    if measure.k is not None:
        precision = np.where(rows.rank <= measure.k, precision, 0.0)
        if measure.capped:
            total = columns.total(measure.rel, measure.k)
    return np.minimum(1.0, ratio(columns.sum(rows, precision), total))


def _inferred_ap(columns: Columns, measure: Measure) -> Floats:
    rows = columns.met
    least = 0.0 if measure.rel is None else measure.rel
    relevant = (rows.grade > 0) & (rows.grade >= least)
    unjudged = rows.grade < 0
    found = rows.running(relevant) - 1
    nonrelevant = rows.running(~relevant & ~unjudged)
    above = found + nonrelevant + rows.running(unjudged)
    share = (found + _EPSILON) / (found + nonrelevant + 2 * _EPSILON)
    terms = 1.0 / rows.rank + (above / rows.rank) * share
    terms = np.where(rows.rank == 1, 1.0, terms)
    total = columns.sum(rows, np.where(relevant, terms, 0.0))
    return np.minimum(1.0, ratio(total, columns.total(measure.rel)))


AVERAGE_PRECISION = Family(
    name="AP",
    aliases=("MAP", "map_cut", "average_precision"),
    description="Mean over all relevant items of the precision at the rank of each; its mean is MAP.",
    options=("rel", "capped"),
    ceiling="k / relevant where more than k items are relevant (unless capped), less what no list can hold",
    shared_ranks="the precision at a rank is of ranks that earned; it counts once for each item found there",
    source="Harman, TREC (1993); Buckley and Voorhees, SIGIR (2000)",
    kernel=_average_precision,
    textbook=lambda ranked, relevant, measure: average_precision(
        ranked, relevant, measure.k, capped=measure.capped, rel=measure.rel
    ),
)

INFERRED_AP = Family(
    name="infAP",
    aliases=("inferred_ap",),
    description="Average precision from a sample of judgements; grades below 0 are pooled, unjudged.",
    cut="none",
    options=("rel",),
    ceiling="1, less what no list can hold",
    shared_ranks="each item is a row of its own; never above 1",
    source="Yilmaz and Aslam, CIKM (2006)",
    kernel=_inferred_ap,
    textbook=lambda ranked, relevant, measure: inferred_ap(ranked, relevant, rel=measure.rel),
)
