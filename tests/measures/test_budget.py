from __future__ import annotations

import numpy as np
import pytest

from assay.measures.batch import score
from assay.measures.budget import cut_lists, hits_within
from assay.measures.spec import parse_measure
from assay.model.errors import InputError
from measures.ranked_lists import ListAndGrades, columns_of


def test_a_list_is_filled_from_the_top_and_stops_at_the_first_hit_that_does_not_fit():
    # q0: 300 + 300 + 300 fit into 1000, the fourth does not; q1: the first is too long; q2: empty
    offsets = np.array([0, 4, 6, 6])
    tokens = np.array([300, 300, 300, 300, 1001, 5])
    assert hits_within(offsets, tokens, 1000).tolist() == [3, 0, 0]


def test_a_hit_that_fills_the_budget_exactly_fits():
    assert hits_within(np.array([0, 2]), np.array([600, 400]), 1000).tolist() == [2]


def test_recall_within_a_budget_counts_only_what_fits():
    judged = columns_of(
        [
            ListAndGrades(["a", "x", "b"], {"a": 1.0, "b": 1.0}),
            ListAndGrades(["x", "a"], {"a": 1.0}),
        ]
    )
    lengths = hits_within(np.array([0, 3, 5]), np.array([400, 400, 400, 100, 100]), 1000)
    cut = cut_lists(judged, lengths)
    assert score(cut, [parse_measure("recall")])["recall"].tolist() == [0.5, 1.0]
    assert cut.retrieved.tolist() == [2, 2]


def test_a_budget_below_one_token_is_refused():
    with pytest.raises(InputError, match="at least 1 token"):
        hits_within(np.array([0, 1]), np.array([1]), 0)


def test_a_negative_length_is_refused():
    with pytest.raises(InputError, match="must have 0 tokens or more, not -1"):
        hits_within(np.array([0, 1]), np.array([-1]), 10)
