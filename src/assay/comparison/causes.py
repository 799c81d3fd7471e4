"""Which queries pulled a figure away from its gate, the worst first."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from assay.comparison.measured import Measured
from assay.model.gates import Cause
from assay.model.scores import ScoreTable
from assay.stats.signs import DUST

Wanted = Literal["more", "less"]


def find_causes(measured: Measured, wanted: Wanted, baseline: ScoreTable | None) -> tuple[Cause, ...]:
    """Return the queries that kept a figure from being higher (``more`` was wanted) or lower (``less``).

    More: those below the best that their labels allow, and those that no retriever can win (a stale label
    is a cause as well). Less: those above 0. What moved since the baseline comes first, by how far; then by
    how much is missing.
    """
    scores = measured.scores
    best = measured.table.ceilings.get(measured.spelling)
    never = _unwinnable(measured)
    if wanted == "more":
        top = np.maximum(1.0, scores)
        missing = (top if best is None else np.where(never, top, best)) - scores
    else:
        missing = scores
    before = _before(measured, baseline)
    causes = [
        (
            _moved(before.get(query), score, wanted),
            short,
            Cause(
                query_id=query,
                value=score,
                before=before.get(query),
                error=measured.failed.get(query),
                unwinnable=hopeless,
            ),
        )
        for query, score, short, hopeless in zip(
            measured.table.query_ids, scores.tolist(), missing.tolist(), never.tolist(), strict=True
        )
        if short > DUST
    ]
    causes.sort(key=lambda cause: (-cause[0], -cause[1], cause[2].query_id))
    return tuple(cause for _, _, cause in causes)


def find_moved(measured: Measured, baseline: ScoreTable, wanted: Wanted) -> tuple[Cause, ...]:
    """Return only the queries that moved the wrong way since the baseline, the furthest first."""
    before = _before(measured, baseline)
    moved = [
        Cause(
            query_id=query,
            value=score,
            before=before[query],
            error=measured.failed.get(query),
            unwinnable=hopeless,
        )
        for query, score, hopeless in zip(
            measured.table.query_ids, measured.scores.tolist(), _unwinnable(measured).tolist(), strict=True
        )
        if query in before and _moved(before[query], score, wanted) > DUST
    ]
    moved.sort(key=lambda cause: (-_moved(cause.before, cause.value, wanted), cause.query_id))
    return tuple(moved)


def _unwinnable(measured: Measured) -> NDArray[np.bool_]:
    known = measured.table.unwinnable
    return np.zeros(len(measured.table.query_ids), dtype=np.bool_) if known is None else known


def _before(measured: Measured, baseline: ScoreTable | None) -> dict[str, float]:
    if baseline is None or measured.spelling not in baseline.values:
        return {}
    scores = baseline.values[measured.spelling]
    return {
        query: score
        for query, score in zip(baseline.query_ids, scores.tolist(), strict=True)
        if score == score  # noqa: PLR0124 - NaN is the only value unlike itself
    }


def _moved(before: float | None, now: float, wanted: Wanted) -> float:
    """How far a query moved the wrong way; 0 when it did not, or nothing is known of before."""
    if before is None:
        return 0.0
    return max(0.0, before - now if wanted == "more" else now - before)
