"""Graded gain, discounted by rank: DCG, its ideal, and nDCG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from assay.measures.columns import Columns, Floats, Rows, ratio
from assay.measures.family import Family, Measure
from assay.measures.gains import Gain, check_gain, divisor, divisors, gain_of, gains_of
from assay.measures.ranked import Relevant, check_k, grades_of, met, wanted
from assay.model.errors import InputError


def dcg_at_k(
    ranked: Sequence[str], relevant: Relevant, k: int | None, *, gain: Gain = "linear"
) -> float | None:
    """Return the discounted cumulative gain: the sum of gain / log2(rank + 1) over the first ``k``.

    Range 0 upwards, higher is better; it has no upper bound and cannot be compared between queries.
    Grades of 0 and below earn nothing. None when nothing is relevant.

    Args:
        ranked: ids, best first; a repeat keeps its slot and earns nothing.
        relevant: a set of ids (each earns 1), or id -> grade. Repeats fold.
        k: the cut; None takes the whole list.
        gain: ``linear`` (the grade itself) or ``exp`` (2^grade - 1).

    Raises:
        InputError: ``k`` is below 1, or the gain has no such name.

    Source: Järvelin and Kekäläinen, TOIS (2002).

    >>> round(dcg_at_k(["x", "y", "d1", "z", "d2"], {"d1", "d2", "d3"}, 5), 4)
    0.8869
    """
    check_gain(gain)
    total = 0.0
    for rank, grade in met(ranked, grades_of(relevant), k):
        total += gain_of(grade, gain) / divisor(rank)
    return total if wanted(relevant) else None


def ideal_dcg(n: int) -> float:
    """Return the DCG of ``n`` relevant items of grade 1 at the first ``n`` ranks.

    The most that DCG@k can be when min(k, relevant) is ``n``. To divide by ``ideal_dcg(k)`` although
    fewer than ``k`` items are relevant is the usual mistake: nDCG could then never reach 1.
    0.0 for ``n`` = 0.

    Raises:
        InputError: ``n`` is negative, or no whole number.

    Source: Järvelin and Kekäläinen, TOIS (2002).

    >>> round(ideal_dcg(3), 4), round(ideal_dcg(5), 4)
    (2.1309, 2.9485)
    """
    if not isinstance(cast("object", n), int) or n < 0:
        raise InputError(f"n must be a whole number of at least 0, not {n!r}")
    total = 0.0
    for rank in range(1, n + 1):
        total += 1.0 / divisor(rank)
    return total


def ideal_dcg_at_k(relevant: Relevant, k: int | None, *, gain: Gain = "linear") -> float:
    """Return the DCG of the best list: all the grades above 0, highest first, over the first ``k`` ranks.

    It looks at the golden set alone, never at what was returned. 0.0 when nothing is relevant.

    Raises:
        InputError: ``k`` is below 1, or the gain has no such name.

    Source: Järvelin and Kekäläinen, TOIS (2002).

    >>> ideal_dcg_at_k({"a": 3, "b": 1, "c": 0}, 1)
    3.0
    """
    check_gain(gain)
    if k is not None:
        check_k(k)
    grades = sorted((grade for grade in grades_of(relevant).values() if grade > 0), reverse=True)
    total = 0.0
    for rank, grade in enumerate(grades[:k], start=1):
        total += gain_of(grade, gain) / divisor(rank)
    return total


def ndcg_at_k(
    ranked: Sequence[str], relevant: Relevant, k: int | None, *, gain: Gain = "linear"
) -> float | None:
    """Return DCG@k divided by the DCG@k of the best list that the golden set allows.

    Range 0 to 1, higher is better; 1.0 when the first min(k, relevant) places hold the best items in
    order. The ideal is over min(k, relevant) items of the golden set, never over ``k`` and never over
    what was returned. None, never 0, when nothing is relevant.

    Raises:
        InputError: ``k`` is below 1, or the gain has no such name.

    Source: Järvelin and Kekäläinen, TOIS (2002).

    >>> ndcg_at_k(["d1", "x"], {"d1"}, 10)
    1.0
    """
    dcg = dcg_at_k(ranked, relevant, k, gain=gain)
    ideal = ideal_dcg_at_k(relevant, k, gain=gain)
    return None if dcg is None else min(1.0, dcg / ideal)


def _sum_of_gains(columns: Columns, rows: Rows, gain: Gain) -> Floats:
    if not len(rows):
        return np.zeros(columns.n)
    table = divisors(int(rows.rank.max()))
    return columns.sum(rows, gains_of(rows.grade, gain) / table[rows.rank])


def _dcg(columns: Columns, measure: Measure) -> Floats:
    return columns.defined(_sum_of_gains(columns, columns.relevant(k=measure.k), measure.gain))


def _ndcg(columns: Columns, measure: Measure) -> Floats:
    dcg = _sum_of_gains(columns, columns.relevant(k=measure.k), measure.gain)
    ideal = columns.of_ideal(
        ("gains", measure.gain, measure.k),
        lambda: _sum_of_gains(columns, columns.ideal_rows(measure.k), measure.gain),
    )
    return np.minimum(1.0, ratio(dcg, ideal))


DCG = Family(
    name="DCG",
    description="Sum of gain / log2(rank + 1) over the first k; unbounded, not comparable between queries.",
    options=("gain",),
    high=None,
    ceiling="the DCG of the relevant items that can be found, highest grade first",
    shared_ranks="every item found earns its gain at the rank of the hit",
    source="Järvelin and Kekäläinen, TOIS (2002)",
    kernel=_dcg,
    textbook=lambda ranked, relevant, measure: dcg_at_k(ranked, relevant, measure.k, gain=measure.gain),
)

NDCG = Family(
    name="nDCG",
    aliases=("ndcg_cut",),
    description="DCG@k divided by the DCG@k of the best list: over min(k, relevant) items of the golden set.",
    options=("gain",),
    ceiling="1, less what no list can hold",
    shared_ranks="every item found earns its gain at the rank of the hit; the ideal may share ranks too",
    source="Järvelin and Kekäläinen, TOIS (2002)",
    kernel=_ndcg,
    textbook=lambda ranked, relevant, measure: ndcg_at_k(ranked, relevant, measure.k, gain=measure.gain),
)
