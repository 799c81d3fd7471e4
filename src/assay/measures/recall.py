"""How much of what is relevant the list holds: recall, complete, and hit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.measures.columns import Columns, Floats, ratio
from assay.measures.family import Family, Measure
from assay.measures.ranked import Relevant, met_ranks, wanted


def recall_at_k(
    ranked: Sequence[str],
    relevant: Relevant,
    k: int | None,
    *,
    capped: bool = False,
    rel: float | None = None,
) -> float | None:
    """Return the share of the relevant items that stand in the first ``k``.

    Range 0 to 1, higher is better. ``capped`` divides by min(k, relevant), so that a short cut can
    reach 1.0. None, never 0, when nothing is relevant: there was nothing to find.

    Args:
        ranked: ids, best first; a repeat keeps its slot and earns nothing.
        relevant: a set of ids, or id -> grade (above 0 is relevant). Repeats fold.
        k: the cut; None takes the whole list.
        capped: divide by what ``k`` places can hold.
        rel: the least grade that counts as relevant.

    Raises:
        InputError: ``k`` is below 1.

    Source: Kent et al., American Documentation (1955).

    >>> recall_at_k(["d3", "d8", "d1"], {"d1", "d2"}, 3)
    0.5
    """
    items = wanted(relevant, rel)
    found = len(met_ranks(ranked, items, k))
    if not items:
        return None
    return found / (min(k, len(items)) if capped and k is not None else len(items))


def hit_rate_at_k(
    ranked: Sequence[str], relevant: Relevant, k: int | None, *, rel: float | None = None
) -> float | None:
    """Return 1.0 when any relevant item stands in the first ``k``, else 0.0.

    Its mean over queries is the hit rate (also called success). It is not recall: with two relevant
    items and one found, hit is 1 and recall 1/2. None when nothing is relevant.

    Raises:
        InputError: ``k`` is below 1.

    Source: Craswell and Hawking, TREC Web Track (2004), as "success at n".

    >>> hit_rate_at_k(["d3", "d8", "d1"], {"d1", "d2"}, 3)
    1.0
    """
    items = wanted(relevant, rel)
    found = met_ranks(ranked, items, k)
    return float(bool(found)) if items else None


def complete_at_k(
    ranked: Sequence[str], relevant: Relevant, k: int | None, *, rel: float | None = None
) -> float | None:
    """Return 1.0 when every relevant item stands in the first ``k``, else 0.0.

    For questions that need all of their evidence (multi-hop). None when nothing is relevant.

    Raises:
        InputError: ``k`` is below 1.

    Source: Xiong et al., Multi-hop dense retrieval, ICLR (2021), as "both passages retrieved".

    >>> complete_at_k(["d3", "d2", "d1"], {"d1", "d2"}, 2), complete_at_k(["d2", "d1"], {"d1", "d2"}, 2)
    (0.0, 1.0)
    """
    items = wanted(relevant, rel)
    found = len(met_ranks(ranked, items, k))
    return float(found == len(items)) if items else None


def _recall(columns: Columns, measure: Measure) -> Floats:
    found = columns.found(measure.rel, measure.k)
    if measure.capped and measure.k is not None:
        return np.minimum(1.0, ratio(found, columns.total(measure.rel, measure.k)))
    return ratio(found, columns.total(measure.rel))


def _hit(columns: Columns, measure: Measure) -> Floats:
    return columns.defined((columns.found(measure.rel, measure.k) > 0).astype(np.float64), measure.rel)


def _complete(columns: Columns, measure: Measure) -> Floats:
    total = columns.total(measure.rel)
    return columns.defined((columns.found(measure.rel, measure.k) >= total).astype(np.float64), measure.rel)


RECALL = Family(
    name="recall",
    aliases=("R",),
    description="Share of the relevant items that stand in the first k.",
    options=("rel", "capped"),
    ceiling="k / relevant where more than k items are relevant (unless capped), less what no list can hold",
    shared_ranks="counts items: a hit that covers two anchors finds both",
    source="Kent et al., American Documentation (1955)",
    kernel=_recall,
    textbook=lambda ranked, relevant, measure: recall_at_k(
        ranked, relevant, measure.k, capped=measure.capped, rel=measure.rel
    ),
)

SET_RECALL = Family(
    name="SetR",
    aliases=("set_recall", "set_R"),
    description="Share of the relevant items that the whole list holds, at any rank.",
    cut="none",
    options=("rel",),
    ceiling="1, less what no list can hold",
    shared_ranks="counts items",
    source="Kent et al., American Documentation (1955)",
    kernel=_recall,
    textbook=lambda ranked, relevant, measure: recall_at_k(ranked, relevant, None, rel=measure.rel),
)

HIT = Family(
    name="hit",
    aliases=("Success", "hit_rate", "hits"),
    description="1 when any relevant item stands in the first k; the mean is the hit rate, not recall.",
    options=("rel",),
    ceiling="1 for every query that can be won at all",
    shared_ranks="any item found",
    source="Craswell and Hawking, TREC Web Track (2004)",
    kernel=_hit,
    textbook=lambda ranked, relevant, measure: hit_rate_at_k(ranked, relevant, measure.k, rel=measure.rel),
)

COMPLETE = Family(
    name="complete",
    description="1 when every item that the query needs stands in the first k.",
    options=("rel",),
    ceiling="0 for a query that needs more than k items, or one that no list can hold",
    shared_ranks="counts items: one hit may bring several",
    source="Xiong et al., ICLR (2021)",
    kernel=_complete,
    textbook=lambda ranked, relevant, measure: complete_at_k(ranked, relevant, measure.k, rel=measure.rel),
)
