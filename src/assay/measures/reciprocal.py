"""How deep the first relevant item stands: the reciprocal rank, whose mean is MRR."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.measures.columns import Columns, Floats
from assay.measures.family import Family, Measure
from assay.measures.ranked import Relevant, met_ranks, wanted


def reciprocal_rank(
    ranked: Sequence[str], relevant: Relevant, k: int | None = None, *, rel: float | None = None
) -> float | None:
    """Return 1 / rank of the first relevant item (ranks start at 1).

    Range 0 to 1, higher is better; 0.0 when no item within the first ``k`` is relevant.
    None, never 0, when nothing is relevant: there was nothing to find.

    Raises:
        InputError: ``k`` is below 1.

    Source: Voorhees, TREC-8 (1999).

    >>> reciprocal_rank(["d3", "d8", "d1"], {"d1"})
    0.3333333333333333
    """
    items = wanted(relevant, rel)
    ranks = met_ranks(ranked, items, k)
    if not items:
        return None
    return 1.0 / ranks[0] if ranks else 0.0


def _reciprocal_rank(columns: Columns, measure: Measure) -> Floats:
    rows = columns.relevant(measure.rel)
    starts = rows.starts()
    query, rank = rows.query[starts], rows.rank[starts]
    values = np.zeros(columns.n)
    values[query] = 1.0 / rank
    if measure.k is not None:
        values[query[rank > measure.k]] = 0.0
    return columns.defined(values, measure.rel)


RECIPROCAL_RANK = Family(
    name="RR",
    aliases=("MRR", "recip_rank", "reciprocal_rank"),
    description="1 / rank of the first relevant item; the mean over queries is MRR.",
    options=("rel",),
    ceiling="1 for every query that can be won at all",
    shared_ranks="the first rank that earned anything",
    source="Voorhees, TREC-8 (1999)",
    kernel=_reciprocal_rank,
    textbook=lambda ranked, relevant, measure: reciprocal_rank(ranked, relevant, measure.k, rel=measure.rel),
)
