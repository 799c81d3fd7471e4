from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.stats.agreement import Agreement, Scale, cohen_kappa, krippendorff_alpha
from shared_data import load_cases, needs_shared

_ = None


def kappa_of(first: list[Any], second: list[Any]) -> Agreement:
    return cohen_kappa(first, second, np.random.default_rng(0), draws=2_000)


def test_kappa_equals_scikit_learns():
    # sklearn.metrics.cohen_kappa_score of these two lists: 0.625
    first = [2, 0, 1, 1, 2, 0, 0, 1, 2, 2, 1, 0]
    second = [2, 0, 1, 2, 2, 0, 1, 1, 2, 1, 1, 0]
    result = kappa_of(first, second)
    assert result.kappa == 0.625
    assert result.interval is not None
    assert result.interval.low < 0.625 < result.interval.high


def test_kappa_without_items_is_undefined():
    result = kappa_of([], [])
    assert (result.n, result.agreement, result.kappa) == (0, None, None)
    assert result.why_undefined is not None


def test_labels_that_do_not_pair_are_refused():
    with pytest.raises(ValueError, match="2 labels stand against 1"):
        kappa_of([1, 0], [1])


labels = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=20)


@given(labels)
def test_kappa_is_symmetric_and_at_most_one(pairs: list[tuple[int, int]]):
    first, second = map(list, zip(*pairs, strict=True))
    forth, back = kappa_of(first, second), kappa_of(second, first)
    assert forth.kappa == back.kappa
    assert forth.kappa is None or forth.kappa <= 1.0
    if forth.interval is not None:
        assert np.isfinite([forth.interval.low, forth.interval.high]).all()


THREE = [
    [_, _, _, _, _, 3, 4, 1, 2, 1, 1, 3, 3, _, 3],
    [1, _, 2, 1, 3, 3, 4, 3, _, _, _, _, _, _, _],
    [_, _, 2, 1, 3, 4, 4, _, 2, 1, 1, 3, 3, _, 4],
]
FOUR = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
    [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
]


@pytest.mark.parametrize(
    ("table", "scale", "alpha"),
    [
        (THREE, "nominal", 0.691358024691358),
        (THREE, "ordinal", 0.8067214199413153),
        (THREE, "interval", 0.8108448928121059),
        (FOUR, "nominal", 0.743421052631579),  # 0.743, 0.815 and 0.849 in Krippendorff's own paper
        (FOUR, "ordinal", 0.8153875037548814),
        (FOUR, "interval", 0.8491071428571428),
    ],
)
def test_alpha_equals_the_krippendorff_packages(table: list[list[float | None]], scale: Scale, alpha: float):
    assert krippendorff_alpha(table, scale=scale) == pytest.approx(alpha, abs=1e-12)


def test_alpha_is_undefined_where_nothing_can_disagree():
    assert krippendorff_alpha([[1, 1], [1, 1]]) is None
    assert krippendorff_alpha([[1, None], [None, 2]]) is None
    assert krippendorff_alpha([]) is None


def test_full_agreement_has_alpha_one():
    assert krippendorff_alpha([[1, 2, 3], [1, 2, 3], [1, None, 3]]) == 1.0


def test_labellers_need_equally_many_places():
    with pytest.raises(ValueError, match="one label"):
        krippendorff_alpha([[1, 2], [1]])


@needs_shared
def test_case_j01_kappa_when_one_class_is_missing():
    case = load_cases()["J01"]
    for name, given_ in case["input"].items():
        expected = case["expected"][name]
        result = kappa_of(given_["human"], given_["judge"])
        assert result.agreement == expected["agreement"]["value"]
        assert result.expected == expected["expected_agreement"]["value"]
        kappa = expected["kappa"]
        assert result.kappa == (None if kappa is None else kappa["value"])
        assert result.why_undefined == expected.get("say")


@needs_shared
def test_case_j02_high_agreement_low_kappa():
    case = load_cases()["J02"]
    given_, expected = case["input"], case["expected"]
    people = [1] * given_["always_yes"]["human_yes"] + [0] * given_["always_yes"]["human_no"]
    always = kappa_of(people, [1] * len(people))
    assert (always.agreement, always.kappa) == (
        expected["always_yes"]["agreement"]["value"],
        expected["always_yes"]["kappa"]["value"],
    )
    table = given_["table"]
    cells = [
        (1, 1, table["yes_yes"]),
        (1, 0, table["human_yes_judge_no"]),
        (0, 1, table["human_no_judge_yes"]),
        (0, 0, table["no_no"]),
    ]
    first = [human for human, _judge, count in cells for _ in range(count)]
    second = [judge for _human, judge, count in cells for _ in range(count)]
    result = kappa_of(first, second)
    assert result.n == expected["table"]["n"]
    assert result.agreement == expected["table"]["agreement"]["value"]
    assert result.expected == expected["table"]["expected_agreement"]["value"]
    assert result.kappa == expected["table"]["kappa"]["value"]
    assert result.base_rate == 0.8
    assert result.interval is not None
