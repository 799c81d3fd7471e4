"""Relevant before judged non-relevant: bpref, which leaves unjudged items out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.measures.columns import Columns, Floats, ratio
from assay.measures.family import Family, Measure
from assay.measures.ranked import Relevant, grades_of, met, wanted


def bpref(ranked: Sequence[str], relevant: Relevant, *, rel: float | None = None) -> float | None:
    """Return the share of preferences (relevant over judged non-relevant) that the list keeps.

    Each relevant item that was found earns 1 - min(n, R) / min(N, R): n judged non-relevant items above
    it, N in all, R relevant. Unjudged items do not count; a grade below 0 means, as in TREC's files,
    pooled but not judged. Range 0 to 1, higher is better. None when nothing is relevant.

    Source: Buckley and Voorhees, SIGIR (2004), in the form of trec_eval.

    >>> bpref(["n", "d1"], {"d1": 1, "d2": 1, "n": 0, "m": 0})
    0.25
    """
    grades = grades_of(relevant)
    items = wanted(relevant, rel)
    least = 0.0 if rel is None else rel
    judged = sum(grade >= 0 for grade in grades.values())
    worst = min(judged - len(items), len(items))
    total = 0.0
    above = 0
    for _, grade in met(ranked, grades):
        if grade < 0:
            continue
        if grade == 0 or grade < least:
            above += 1
        elif above == 0:
            total += 1.0
        else:
            total += 1.0 - min(above, len(items)) / worst
    return total / len(items) if items else None


def _bpref(columns: Columns, measure: Measure) -> Floats:
    rows = columns.met
    least = 0.0 if measure.rel is None else measure.rel
    relevant = (rows.grade > 0) & (rows.grade >= least)
    total = columns.total(measure.rel)
    worst = np.minimum(columns.nonrelevant(measure.rel), total)[rows.query]
    above = np.minimum(rows.running(~relevant & ~(rows.grade < 0)), total[rows.query])
    terms = 1.0 - above / np.maximum(worst, 1)
    return ratio(columns.sum(rows, np.where(relevant, terms, 0.0)), total)


BPREF = Family(
    name="bpref",
    description="Share of the preferences (relevant over judged non-relevant) that the list keeps.",
    cut="none",
    options=("rel",),
    ceiling="1, less what no list can hold",
    shared_ranks="each item is a row of its own",
    source="Buckley and Voorhees, SIGIR (2004)",
    kernel=_bpref,
    textbook=lambda ranked, relevant, measure: bpref(ranked, relevant, rel=measure.rel),
)
