from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.measures.batch import score
from assay.measures.single import score_list
from assay.measures.spec import FAMILIES, parse_measure
from measures.ranked_lists import ListAndGrades, columns_of, lists_and_grades

SPELLINGS = [
    "nDCG@3", "nDCG", "nDCG(gain=exp)@5", "DCG@4", "DCG(gain=exp)", "recall@3", "recall",
    "recall(capped=true)@2", "recall(rel=2)@5", "precision@4", "precision(rel=1.5)@2", "hit@2",
    "hit(rel=2)", "complete@5", "RR", "RR@3", "RR(rel=2)@6", "AP", "AP@4", "AP(capped=true)@3",
    "AP(rel=2,capped=true)@5", "Rprec", "Rprec(rel=2)", "F1@3", "F1(rel=2)@6", "bpref", "bpref(rel=2)",
    "judged@3", "judged", "RBP(p=0.8)", "RBP(p=0.5,rel=2)@4", "RBPresidual(p=0.9)@5", "ERR@4",
    "ERR(max=5)", "infAP", "infAP(rel=2)", "SetP", "SetP(rel=2)", "SetR", "SetF", "SetF(beta=2,rel=2)",
]  # fmt: skip


def test_every_family_is_among_the_spellings_held_against_the_textbook():
    assert {parse_measure(spelling).family for spelling in SPELLINGS} == set(FAMILIES)


@pytest.mark.parametrize("spelling", SPELLINGS)
@given(queries=st.lists(lists_and_grades(), max_size=6))
@settings(max_examples=30, deadline=None)
def test_the_kernel_equals_the_textbook_to_the_bit(spelling: str, queries: list[ListAndGrades]):
    measure = parse_measure(spelling)
    batch = score(columns_of(queries), [measure])[spelling]
    assert batch.dtype == np.float64
    single = [score_list(query.ranked, query.grades, measure) for query in queries]
    assert [None if math.isnan(value) else value for value in batch.tolist()] == single
