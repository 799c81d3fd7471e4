"""How much of what is shown anybody has judged: the trust that a score deserves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.measures.columns import Columns, Floats
from assay.measures.family import Family, Measure
from assay.measures.ranked import Relevant, grades_of, met, top


def judged_at_k(ranked: Sequence[str], judged: Relevant, k: int | None) -> float | None:
    """Return the share of the first ``k`` hits that have a judgement, whatever its grade.

    Divides by the hits that are there, min(k, length): an empty place is not an unjudged hit. Range 0 to
    1, higher is better. None when the list is empty, or the query has no judgement at all.

    Raises:
        InputError: ``k`` is below 1.

    Source: Buckley and Voorhees, SIGIR (2004), on incomplete judgements; Judged@k of ir-measures.

    >>> judged_at_k(["d1", "x", "n"], {"d1": 1, "n": 0}, 2)
    0.5
    """
    grades = grades_of(judged)
    shown = top(ranked, k)
    return len(met(ranked, grades, k)) / len(shown) if grades and shown else None


def _judged(columns: Columns, measure: Measure) -> Floats:
    rows = columns.met
    rows = rows.where(rows.first_of_rank()).within(measure.k)
    shown = columns.retrieved if measure.k is None else np.minimum(columns.retrieved, measure.k)
    share = np.bincount(rows.query, minlength=columns.n) / np.maximum(shown, 1)
    return np.where((shown > 0) & columns.labelled, share, np.nan)


JUDGED = Family(
    name="judged",
    description="Share of the first k hits that have a judgement: how far the other numbers can be trusted.",
    undefined="the list is empty, or the query has no judgement",
    ceiling="1: a list of judged items alone",
    shared_ranks="counts ranks",
    source="Buckley and Voorhees, SIGIR (2004)",
    kernel=_judged,
    textbook=lambda ranked, relevant, measure: judged_at_k(ranked, relevant, measure.k),
)
