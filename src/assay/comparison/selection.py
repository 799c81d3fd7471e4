"""Choosing the best of many flatters it: by how much, and what is left of its score.

The best of N configurations on a set of queries is partly the best, and partly the one that these queries
happened to suit. Two figures, both from resampled queries, paired over configurations (so that configurations
that succeed and fail together count as the few that they are):

- **Expected**: queries are drawn with replacement, the best configuration on the draw is chosen, and it is
  scored on the queries that the draw left out; the mean over draws. It is what this way of choosing gives on
  queries that it has not seen. It errs, if at all, to the careful side: a draw holds 63 % of the queries.
- **If alike**: every configuration's mean is taken away first, so that all are equally good, and the best
  draw of each round still stands above 0. It is how far chance alone lifts the best of so many.
"""

from __future__ import annotations

from math import fsum

import numpy as np
from numpy.typing import NDArray

from assay.model.sweep import Shrinkage

Floats = NDArray[np.float64]
_SAME = 9
"""Digits within which two means are the same: rounding must not choose the winner."""
_AT_ONCE = 1 << 22
"""Counts held in memory at once."""


def selection_shrinkage(scores: Floats, *, seed: int = 0, draws: int = 2000) -> Shrinkage | None:
    """Return what is left of the best configuration's score when it is not judged where it was chosen.

    None below two configurations or two queries with a value in all of them.

    Args:
        scores: one row a configuration, one column a query; NaN where a query has no value. Higher is better.
        seed: of the resampling.
        draws: resamples.

    Raises:
        ValueError: ``draws`` is below 1.

    Source: the expected score is BBC (bootstrap bias correction): Tsamardinos, Greasidou and Borboudakis,
    Bootstrapping the out-of-sample predictions for efficient and accurate cross-validation, Machine Learning
    107 (2018). The chance of the best of many: White, A Reality Check for Data Snooping, Econometrica 68
    (2000).

    >>> rng = np.random.default_rng(0)
    >>> alike = (rng.random((20, 100)) < 0.5).astype(float)
    >>> found = selection_shrinkage(alike)
    >>> found.best > 0.55, found.expected < found.best
    (True, True)
    """
    if draws < 1:
        raise ValueError(f"draws must be at least 1, not {draws}")
    held = scores[:, ~np.isnan(scores).any(axis=0)] if len(scores) else scores
    configurations, queries = held.shape if held.ndim == 2 else (0, 0)
    if configurations < 2 or queries < 2:
        return None
    means: Floats = np.asarray(held.mean(axis=1), np.float64)
    best = int(means.round(_SAME).argmax())
    rng = np.random.default_rng(seed)
    outside: list[float] = []
    lifted: list[float] = []
    step = max(1, _AT_ONCE // queries)
    for start in range(0, draws, step):
        counts = rng.multinomial(queries, np.full(queries, 1.0 / queries), size=min(step, draws - start))
        inside: Floats = np.asarray(counts @ held.T / queries, np.float64)
        chosen = inside.round(_SAME).argmax(axis=1)
        left = (counts == 0).astype(np.float64)
        unseen = left.sum(axis=1)
        told = unseen > 0  # a draw of every query leaves nothing to score on
        totals = (left @ held.T)[np.arange(len(chosen)), chosen]
        outside += (totals[told] / unseen[told]).tolist()
        lifted += (inside - means).max(axis=1).tolist()
    expected = fsum(outside) / len(outside) if outside else float(means[best])
    top = fsum(held[best].tolist()) / queries
    return Shrinkage(
        configurations=configurations,
        queries=queries,
        best=top,
        expected=expected,
        shrinkage=top - expected,
        if_alike=fsum(lifted) / len(lifted),
        draws=draws,
        seed=seed,
    )
