"""How much of what is shown is relevant: precision, R-precision, F1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.measures.columns import Columns, Floats, ratio
from assay.measures.family import Family, Measure
from assay.measures.ranked import Relevant, check_k, met_ranks, top, wanted
from assay.measures.recall import recall_at_k


def precision_at_k(
    ranked: Sequence[str], relevant: Relevant, k: int, *, rel: float | None = None
) -> float | None:
    """Return the share of the first ``k`` places that hold a relevant item.

    Divides by ``k``, however short the list: an empty place is a miss. Range 0 to 1, higher is better;
    with one relevant item, precision@10 cannot exceed 0.1. None when nothing is relevant.

    Raises:
        InputError: ``k`` is below 1.

    Source: Kent et al., American Documentation (1955).

    >>> precision_at_k(["d3", "d1"], {"d1", "d2"}, 4)
    0.25
    """
    check_k(k)
    items = wanted(relevant, rel)
    found = len(met_ranks(ranked, items, k))
    return found / k if items else None


def set_precision(ranked: Sequence[str], relevant: Relevant, *, rel: float | None = None) -> float | None:
    """Return the share of all that was retrieved that is relevant; 0.0 for an empty list.

    Range 0 to 1, higher is better. None when nothing is relevant.

    Source: Kent et al., American Documentation (1955).

    >>> set_precision(["d3", "d1"], {"d1", "d2"})
    0.5
    """
    items = wanted(relevant, rel)
    found = len(met_ranks(ranked, items))
    if not items:
        return None
    return found / len(ranked) if ranked else 0.0


def r_precision(ranked: Sequence[str], relevant: Relevant, *, rel: float | None = None) -> float | None:
    """Return the precision at the rank that equals the number of relevant items.

    Precision and recall are the same number there. Range 0 to 1, higher is better. None when nothing
    is relevant.

    Source: Voorhees and Harman, TREC (2005), "R-Precision".

    >>> r_precision(["d1", "d3", "d2"], {"d1", "d2"})
    0.5
    """
    items = wanted(relevant, rel)
    top(ranked, None)
    return len(met_ranks(ranked, items, len(items))) / len(items) if items else None


def f1_at_k(ranked: Sequence[str], relevant: Relevant, k: int, *, rel: float | None = None) -> float | None:
    """Return the harmonic mean of precision@k and recall@k of one query.

    The F1 of a run is the mean of these, not the F1 of two means. Range 0 to 1, higher is better; 0.0
    when nothing relevant was found. None when nothing is relevant.

    Raises:
        InputError: ``k`` is below 1.

    Source: van Rijsbergen, Information Retrieval (1979).

    >>> f1_at_k(["d1", "d3"], {"d1"}, 2)
    0.6666666666666666
    """
    precision = precision_at_k(ranked, relevant, k, rel=rel)
    recall = recall_at_k(ranked, relevant, k, rel=rel)
    if precision is None or recall is None:
        return None
    return _f(precision, recall, 1.0)


def set_f(
    ranked: Sequence[str], relevant: Relevant, *, beta: float = 1.0, rel: float | None = None
) -> float | None:
    """Return the weighted harmonic mean of precision and recall of the whole list.

    ``beta`` above 1 weighs recall more. Range 0 to 1, higher is better. None when nothing is relevant.

    Source: van Rijsbergen, Information Retrieval (1979).

    >>> set_f(["d1", "d3"], {"d1"})
    0.6666666666666666
    """
    precision = set_precision(ranked, relevant, rel=rel)
    recall = recall_at_k(ranked, relevant, None, rel=rel)
    if precision is None or recall is None:
        return None
    return _f(precision, recall, beta)


def _f(precision: float, recall: float, beta: float) -> float:
    if precision + recall == 0.0:
        return 0.0
    square = beta * beta
    return min(1.0, (1.0 + square) * precision * recall / (square * precision + recall))


def _f_columns(precision: Floats, recall: Floats, beta: float) -> Floats:
    square = beta * beta
    values = np.zeros(len(precision))
    np.divide(
        (1.0 + square) * precision * recall,
        square * precision + recall,
        out=values,
        where=~(precision + recall == 0.0),
    )
    return np.minimum(1.0, values)


def _precision(columns: Columns, measure: Measure) -> Floats:
    k = measure.k or 1
    return columns.defined(columns.earned(measure.rel, measure.k) / k, measure.rel)


def _set_precision(columns: Columns, measure: Measure) -> Floats:
    share = columns.earned(measure.rel, None) / np.maximum(columns.retrieved, 1)
    return columns.defined(share, measure.rel)


def _r_precision(columns: Columns, measure: Measure) -> Floats:
    total = columns.total(measure.rel)
    rows = columns.relevant(measure.rel)
    within = rows.query[rows.rank <= total[rows.query]]
    return ratio(np.bincount(within, minlength=columns.n), total)


def _f1(columns: Columns, measure: Measure) -> Floats:
    recall = ratio(columns.found(measure.rel, measure.k), columns.total(measure.rel))
    return _f_columns(_precision(columns, measure), recall, 1.0)


def _set_f(columns: Columns, measure: Measure) -> Floats:
    recall = ratio(columns.found(measure.rel, None), columns.total(measure.rel))
    return _f_columns(_set_precision(columns, measure), recall, measure.beta)


_RANKS = "counts the ranks that earned something, so that one hit with two anchors is one useful place"

PRECISION = Family(
    name="precision",
    aliases=("P", "prec"),
    description="Share of the first k places that hold something relevant; divides by k, always.",
    cut="needed",
    options=("rel",),
    ceiling="relevant / k where fewer than k items are relevant: 0.1 at k = 10 with one relevant item",
    shared_ranks=_RANKS,
    source="Kent et al., American Documentation (1955)",
    kernel=_precision,
    textbook=lambda ranked, relevant, measure: precision_at_k(
        ranked, relevant, measure.k or 1, rel=measure.rel
    ),
)

SET_PRECISION = Family(
    name="SetP",
    aliases=("set_P", "set_precision"),
    description="Share of all that was retrieved that is relevant; 0 for an empty list.",
    cut="none",
    options=("rel",),
    ceiling="1 for every query that can be won at all",
    shared_ranks=_RANKS,
    source="Kent et al., American Documentation (1955)",
    kernel=_set_precision,
    textbook=lambda ranked, relevant, measure: set_precision(ranked, relevant, rel=measure.rel),
)

R_PRECISION = Family(
    name="Rprec",
    aliases=("R-precision", "r_precision"),
    description="Precision at the rank that equals the number of relevant items.",
    cut="none",
    options=("rel",),
    ceiling="1, less what no list can hold",
    shared_ranks="counts items within the first R ranks, over R items",
    source="Voorhees and Harman, TREC (2005)",
    kernel=_r_precision,
    textbook=lambda ranked, relevant, measure: r_precision(ranked, relevant, rel=measure.rel),
)

F1 = Family(
    name="F1",
    description="Harmonic mean of precision@k and recall@k of each query.",
    cut="needed",
    options=("rel",),
    ceiling="2 found / (k + relevant) with all places or all items used: below 1 unless relevant equals k",
    shared_ranks="precision of ranks, recall of items",
    source="van Rijsbergen, Information Retrieval (1979)",
    kernel=_f1,
    textbook=lambda ranked, relevant, measure: f1_at_k(ranked, relevant, measure.k or 1, rel=measure.rel),
)

SET_F = Family(
    name="SetF",
    aliases=("set_F",),
    description="Weighted harmonic mean of the precision and recall of the whole list.",
    cut="none",
    options=("rel", "beta"),
    ceiling="1, less what no list can hold",
    shared_ranks="precision of ranks, recall of items",
    source="van Rijsbergen, Information Retrieval (1979)",
    kernel=_set_f,
    textbook=lambda ranked, relevant, measure: set_f(ranked, relevant, beta=measure.beta, rel=measure.rel),
)
