"""A reader who goes down the list and may stop: RBP with its residual, and ERR."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.measures.columns import Columns, Floats, Rows
from assay.measures.family import Family, Measure
from assay.measures.gains import gain_of, gains_of, powers
from assay.measures.ranked import Relevant, grades_of, met, met_ranks, wanted
from assay.model.errors import InputError


def rank_biased_precision(
    ranked: Sequence[str],
    relevant: Relevant,
    k: int | None = None,
    *,
    p: float = 0.8,
    rel: float | None = None,
) -> float | None:
    """Return the rate at which a reader who goes on with probability ``p`` meets relevant items.

    The sum of (1 - p) p^(rank - 1) over the ranks of relevant items. Range 0 to 1, higher is better; 1
    would need an endless list of relevant items. None when nothing is relevant.

    Raises:
        InputError: ``k`` is below 1, or ``p`` is not between 0 and 1.

    Source: Moffat and Zobel, TOIS (2008).

    >>> rank_biased_precision(["x", "d1"], {"d1"}, p=0.5)
    0.25
    """
    check_persistence(p)
    items = wanted(relevant, rel)
    total = 0.0
    for rank in met_ranks(ranked, items, k):
        total += p ** (rank - 1)
    return (1.0 - p) * total if items else None


def rbp_residual(
    ranked: Sequence[str], judged: Relevant, k: int | None = None, *, p: float = 0.8
) -> float | None:
    """Return how much higher RBP could be if all that is unjudged were relevant.

    One minus the weight of the ranks whose items are judged; the unseen tail below the list counts as
    unjudged. Range 0 to 1, lower is better. None when nothing is relevant.

    Raises:
        InputError: ``k`` is below 1, or ``p`` is not between 0 and 1.

    Source: Moffat and Zobel, TOIS (2008).

    >>> rbp_residual(["x", "d1"], {"d1"}, p=0.5)
    0.75
    """
    check_persistence(p)
    known = 0.0
    for rank, _ in met(ranked, grades_of(judged), k):
        known += p ** (rank - 1)
    return 1.0 - (1.0 - p) * known if wanted(judged) else None


def expected_reciprocal_rank(
    ranked: Sequence[str], relevant: Relevant, k: int | None = None, *, max_grade: float = 4.0
) -> float | None:
    """Return the expected 1 / rank at which a reader is satisfied and stops.

    An item of grade g satisfies with probability (2^g - 1) / 2^max_grade, and ``max_grade`` belongs to
    the scale, not to the query: with grades 0 and 1 on the usual scale to 4, ERR stays below 1/16; say
    ``max_grade=1`` there. Grades above the scale count as its top. Range 0 to 1, higher is better. None
    when nothing is relevant.

    Raises:
        InputError: ``k`` is below 1, or ``max_grade`` is not above 0.

    Source: Chapelle et al., CIKM (2009).

    >>> expected_reciprocal_rank(["x", "d1"], {"d1": 1}, max_grade=1)
    0.25
    """
    check_scale(max_grade)
    scale = gain_of(max_grade, "exp") + 1.0
    total = 0.0
    reached = 1.0
    for rank, grade in met(ranked, grades_of(relevant), k):
        stops = gain_of(min(grade, max_grade), "exp") / scale
        total += reached * stops / rank
        reached *= 1.0 - stops
    return total if wanted(relevant) else None


def check_persistence(p: float) -> None:
    """Refuse a persistence outside 0 to 1.

    Raises:
        InputError: it is not between 0 and 1.
    """
    if not 0.0 < p < 1.0:
        raise InputError(f"p must be between 0 and 1, not {p}")


def check_scale(max_grade: float) -> None:
    """Refuse a scale without a grade above 0.

    Raises:
        InputError: the highest grade is not above 0.
    """
    if not max_grade > 0:
        raise InputError(f"max must be above 0, not {max_grade}")


def _weight(columns: Columns, rows: Rows, measure: Measure) -> Floats:
    rows = rows.within(measure.k)
    if not len(rows):
        return np.zeros(columns.n)
    return columns.sum(rows, powers(measure.p, int(rows.rank.max()))[rows.rank])


def _rbp(columns: Columns, measure: Measure) -> Floats:
    rows = columns.earning(measure.rel)
    return columns.defined((1.0 - measure.p) * _weight(columns, rows, measure), measure.rel)


def _rbp_residual(columns: Columns, measure: Measure) -> Floats:
    rows = columns.met
    rows = rows.where(rows.first_of_rank())
    return columns.defined(1.0 - (1.0 - measure.p) * _weight(columns, rows, measure))


def _err(columns: Columns, measure: Measure) -> Floats:
    rows = columns.relevant(k=measure.k)
    scale = gain_of(measure.max_grade, "exp") + 1.0
    stops = gains_of(np.minimum(rows.grade, measure.max_grade), "exp") / scale
    total = np.zeros(columns.n)
    reached = np.ones(columns.n)
    at = rows.starts()
    last = np.append(at[1:], len(rows))
    while len(at):  # the j-th relevant item of every query at once
        query = rows.query[at]
        total[query] += reached[query] * stops[at] / rows.rank[at]
        reached[query] *= 1.0 - stops[at]
        more = at + 1 < last
        at, last = at[more] + 1, last[more]
    return columns.defined(total)


RBP = Family(
    name="RBP",
    aliases=("rank_biased_precision",),
    description="Rate at which a reader who goes on with probability p meets relevant items.",
    options=("p", "rel"),
    ceiling="1 - p^n with n relevant items that can be found: always below 1",
    shared_ranks="each rank that earned counts once",
    source="Moffat and Zobel, TOIS (2008)",
    kernel=_rbp,
    textbook=lambda ranked, relevant, measure: rank_biased_precision(
        ranked, relevant, measure.k, p=measure.p, rel=measure.rel
    ),
)

RBP_RESIDUAL = Family(
    name="RBPresidual",
    aliases=("rbp_resid", "rbp_residual"),
    description="How much higher RBP could be if everything unjudged were relevant.",
    options=("p",),
    better="lower",
    ceiling="p^n with a list of the n relevant items alone",
    shared_ranks="counts ranks",
    source="Moffat and Zobel, TOIS (2008)",
    kernel=_rbp_residual,
    textbook=lambda ranked, relevant, measure: rbp_residual(ranked, relevant, measure.k, p=measure.p),
)

ERR = Family(
    name="ERR",
    aliases=("expected_reciprocal_rank",),
    description="Expected 1 / rank at which a reader is satisfied, on a scale of grades up to max.",
    options=("max",),
    ceiling="below 1 by the scale: a single item of grade g earns at most (2^g - 1) / 2^max",
    shared_ranks="items of one rank satisfy one after the other",
    source="Chapelle et al., CIKM (2009)",
    kernel=_err,
    textbook=lambda ranked, relevant, measure: expected_reciprocal_rank(
        ranked, relevant, measure.k, max_grade=measure.max_grade
    ),
)
