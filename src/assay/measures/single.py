"""The textbook functions: one ranked list at a time.

Each is defined in the file of its family, beside its kernel; ``score_list`` computes any measure by name.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.measures.average import average_precision, inferred_ap
from assay.measures.cascade import expected_reciprocal_rank, rank_biased_precision, rbp_residual
from assay.measures.cumulative import dcg_at_k, ideal_dcg, ideal_dcg_at_k, ndcg_at_k
from assay.measures.family import Measure
from assay.measures.judgement import judged_at_k
from assay.measures.precision import f1_at_k, precision_at_k, r_precision, set_f, set_precision
from assay.measures.preference import bpref
from assay.measures.ranked import Relevant
from assay.measures.recall import complete_at_k, hit_rate_at_k, recall_at_k
from assay.measures.reciprocal import reciprocal_rank
from assay.measures.spec import parse_measure

__all__ = [
    "average_precision",
    "bpref",
    "complete_at_k",
    "dcg_at_k",
    "expected_reciprocal_rank",
    "f1_at_k",
    "hit_rate_at_k",
    "ideal_dcg",
    "ideal_dcg_at_k",
    "inferred_ap",
    "judged_at_k",
    "ndcg_at_k",
    "precision_at_k",
    "r_precision",
    "rank_biased_precision",
    "rbp_residual",
    "recall_at_k",
    "reciprocal_rank",
    "score_list",
    "set_f",
    "set_precision",
]


def score_list(ranked: Sequence[str], relevant: Relevant, measure: Measure | str) -> float | None:
    """Return any measure of one ranked list, named as the field writes it; None when it is undefined.

    Range and direction are the measure's own.

    Raises:
        InputError: the measure is unknown, or the list or the grades are malformed.

    >>> score_list(["d3", "d1"], {"d1": 2}, "nDCG@10")
    0.6309297535714575
    """
    asked = parse_measure(measure) if isinstance(measure, str) else measure
    return asked.family.textbook(ranked, relevant, asked)
