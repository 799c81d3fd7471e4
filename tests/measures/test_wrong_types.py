"""What is not of the right sort is told by its argument, and not by a line inside of the package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay import ideal_dcg, ndcg_at_k, parse_measure, recall_at_k
from assay.model.errors import InputError


def wrong(value: object) -> Any:
    """Return a value of a sort that no type checker would let pass."""
    return value


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: recall_at_k(wrong(7), {"d1"}, 5), "ranked must be a list of ids, not 7"),
        (lambda: recall_at_k(["d1"], wrong(None), 5), "relevant must be ids, or ids with grades, not None"),
        (
            lambda: ndcg_at_k(["d1"], {"d1": wrong("high"), "d2": 1}, 5),
            "a grade must be a finite number, not: 'd1' has 'high'",
        ),
        (
            lambda: ndcg_at_k(["d1"], {"d1": float("nan")}, 5),
            "a grade must be a finite number, not: 'd1' has nan",
        ),
        (lambda: recall_at_k(["d1"], {"d1"}, wrong("5")), "k must be a whole number, not '5'"),
        (lambda: ideal_dcg(wrong(2.5)), "n must be a whole number of at least 0, not 2.5"),
        (lambda: parse_measure(wrong(10)), "a measure should be text, as in 'nDCG@10', not 10"),
    ],
)
def test_a_wrong_argument_is_named_with_its_value(call: Callable[[], Any], told: str):
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value) == told
