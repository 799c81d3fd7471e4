"""Assay measures retrieval for language models, shows where it fails and proves what mends it.

The names below are loaded when they are first used, so that ``import assay`` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from assay._version import __version__

if TYPE_CHECKING:
    from assay.flows.score import Scoring, score_runs
    from assay.measures.single import (
        average_precision,
        dcg_at_k,
        f1_at_k,
        hit_rate_at_k,
        ideal_dcg,
        ndcg_at_k,
        precision_at_k,
        r_precision,
        recall_at_k,
        reciprocal_rank,
    )

_HOMES = {
    "Scoring": "assay.flows.score",
    "average_precision": "assay.measures.single",
    "dcg_at_k": "assay.measures.single",
    "f1_at_k": "assay.measures.single",
    "hit_rate_at_k": "assay.measures.single",
    "ideal_dcg": "assay.measures.single",
    "ndcg_at_k": "assay.measures.single",
    "precision_at_k": "assay.measures.single",
    "r_precision": "assay.measures.single",
    "recall_at_k": "assay.measures.single",
    "reciprocal_rank": "assay.measures.single",
    "score_runs": "assay.flows.score",
}

__all__ = [
    "Scoring",
    "__version__",
    "average_precision",
    "dcg_at_k",
    "f1_at_k",
    "hit_rate_at_k",
    "ideal_dcg",
    "ndcg_at_k",
    "precision_at_k",
    "r_precision",
    "recall_at_k",
    "reciprocal_rank",
    "score_runs",
]

_MODULES = {"spark": "assay.flows.spark"}
"""Rooms that are public as a whole: ``assay.spark.score(run_df, qrels_df, measures)``."""


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public name
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name not in _HOMES:
        message = f"module 'assay' has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
