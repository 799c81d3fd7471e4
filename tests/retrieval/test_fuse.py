from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.model.errors import InputError
from assay.retrieval.stages.fuse import (
    FuseStage,
    min_max_fusion,
    reciprocal_rank_fusion,
    repeats,
    scaled,
)
from assay.retrieval.stages.lists import Lists, Watch, lists_of
from shared_data import load_cases, needs_shared, value_of

NOTHING = Watch.of({}, [], {})


def lists(*rows: list[int], scores: list[list[float]] | None = None) -> Lists:
    given_scores = scores or [[float(-place) for place in range(len(row))] for row in rows]
    return lists_of(
        [(np.array(row, np.int32), np.array(own)) for row, own in zip(rows, given_scores, strict=True)]
    )


def floats(expected: dict[str, Any]) -> dict[str, float]:
    return {name: value_of(value) for name, value in expected.items()}


def test_an_item_in_both_lists_beats_the_top_of_one():
    # 1/63 + 1/63 = 0.0317 against 1/61 = 0.0164.
    fused = reciprocal_rank_fusion({"dense": ["P", "q", "R"], "sparse": ["s", "t", "R"]})
    assert list(fused) == ["R", "P", "s", "q", "t"]
    assert fused["R"] == 1 / 63 + 1 / 63


def test_a_repeated_item_counts_once_at_its_best_rank():
    fused = reciprocal_rank_fusion({"one": ["a", "b", "b", "b"], "two": ["a"]})
    assert fused == {"a": 1 / 61 + 1 / 61, "b": 1 / 62}
    assert repeats(["a", "b", "b", "b"]) == 2


def test_weights_multiply_and_do_not_replace_the_constant():
    fused = reciprocal_rank_fusion({"L1": ["a", "b"], "L2": ["c", "a"]}, weights={"L1": 4, "L2": 1})
    assert fused == {"a": 4 / 61 + 1 / 62, "b": 4 / 62, "c": 1 / 61}
    assert list(fused) == ["a", "b", "c"]


def test_a_weight_for_no_list_is_an_error():
    with pytest.raises(InputError, match="'lexical', which is no list"):
        reciprocal_rank_fusion({"dense": ["a"]}, weights={"lexical": 2.0})


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([0.4, 0.9, 0.65], [0.0, 1.0, 0.5]),
        ([7.2], [1.0]),
        ([5.0, 5.0], [1.0, 1.0]),
        ([np.inf, 2.0, 1.0, -np.inf], [1.0, 1.0, 0.0, 0.0]),
        ([np.nan, 2.0, 1.0], [0.0, 1.0, 0.0]),
        ([1.7e308, -1.7e308], [1.0, 0.0]),
        ([], []),
    ],
)
def test_min_max_is_finite_whatever_the_scores(scores: list[float], expected: list[float]):
    assert scaled(np.array(scores), np.zeros(len(scores), np.int64)).tolist() == pytest.approx(expected)


def test_min_max_scales_each_query_on_its_own():
    both = scaled(np.array([1.0, 3.0, 10.0, 20.0]), np.array([0, 0, 1, 1]))
    assert both.tolist() == [0.0, 1.0, 0.0, 1.0]


def test_the_stage_fuses_all_queries_and_cuts_the_pool():
    stage = FuseStage(name="rrf", weights={"vector": 1.0, "fulltext": 1.0}, pool=2)
    pool = stage.run({"vector": lists([0, 1, 2], [4]), "fulltext": lists([3, 4, 2], [])}, NOTHING)
    assert pool.offsets.tolist() == [0, 2, 3]
    assert pool.chunks.tolist() == [2, 0, 4]
    assert pool.scores.tolist() == [1 / 63 + 1 / 63, 1 / 61, 1 / 61]


def test_the_fused_rank_of_a_watched_chunk_is_known_below_the_pool():
    watch = Watch.of({"q": ["c1", "c2"]}, ["q"], {"c1": 1, "c2": 2})
    stage = FuseStage(name="rrf", weights={"vector": 1.0}, pool=2)
    pool = stage.run({"vector": lists([5, 2, 4, 1])}, watch)
    assert pool.chunks.tolist() == [5, 2]
    # c2 stands inside the pool; c1 is fourth.
    assert list(zip(pool.deep_query, pool.deep_chunk, pool.deep_rank, strict=True)) == [(0, 1, 4)]


def test_a_query_fails_only_when_all_its_lists_failed():
    vector = lists([], []).with_errors({0: "no vector", 1: "no vector"})
    fulltext = lists([3], []).with_errors({1: "no index"})
    stage = FuseStage(name="rrf", weights={"vector": 1.0, "fulltext": 1.0}, pool=5)
    pool = stage.run({"vector": vector, "fulltext": fulltext}, NOTHING)
    assert pool.chunks.tolist() == [3]
    assert pool.errors == {1: "vector: no vector; fulltext: no index"}


def test_a_list_of_weight_0_adds_rows_but_never_above_others():
    # c may follow with score 0, but never outrank b (case F03).
    stage = FuseStage(name="rrf", weights={"vector": 1.0, "fulltext": 0.0}, pool=5)
    pool = stage.run({"vector": lists([0, 1]), "fulltext": lists([2, 0])}, NOTHING)
    assert pool.chunks.tolist() == [0, 1, 2]
    assert pool.scores.tolist() == [1 / 61, 1 / 62, 0.0]


ranked = st.lists(st.integers(0, 12), max_size=10)


@given(
    st.lists(st.tuples(ranked, ranked), min_size=1, max_size=5),
    st.floats(0.1, 4.0),
    st.floats(0.1, 4.0),
    st.integers(0, 100),
)
def test_the_stage_equals_the_textbook_on_every_query(
    queries: list[tuple[list[int], list[int]]], left: float, right: float, k: int
):
    weights = {"vector": left, "fulltext": right}
    stage = FuseStage(name="rrf", k_rrf=k, weights=weights, pool=100)
    pool = stage.run(
        {
            "vector": lists(*(vector for vector, _ in queries)),
            "fulltext": lists(*(fulltext for _, fulltext in queries)),
        },
        NOTHING,
    )
    for query, (vector, fulltext) in enumerate(queries):
        expected = reciprocal_rank_fusion({"vector": vector, "fulltext": fulltext}, weights=weights, k=k)
        rows = pool.of(query)
        assert pool.chunks[rows].tolist() == list(expected)
        assert pool.scores[rows].tolist() == list(expected.values())


@given(st.lists(st.tuples(st.integers(0, 9), st.floats(-5, 5)), max_size=8, unique_by=lambda pair: pair[0]))
def test_min_max_in_columns_equals_the_one_list_form(pairs: list[tuple[int, float]]):
    pairs = sorted(pairs, key=lambda pair: -pair[1])
    chunks, scores = [chunk for chunk, _ in pairs], [score for _, score in pairs]
    stage = FuseStage(name="minmax", weights={"vector": 2.0}, pool=100)
    pool = stage.run({"vector": lists(chunks, scores=[scores])}, NOTHING)
    expected = min_max_fusion({"vector": dict(pairs)}, weights={"vector": 2.0})
    assert dict(zip(pool.chunks.tolist(), pool.scores.tolist(), strict=True)) == expected


@needs_shared
def test_case_f01_items_missing_from_one_list():
    case = load_cases()["F01"]
    fused = reciprocal_rank_fusion(case["input"]["lists"], k=case["input"]["k_rrf"])
    assert list(fused) == case["expected"]["order"]
    assert fused == pytest.approx(floats(case["expected"]["scores"]))


@needs_shared
def test_case_f02_an_item_repeated_inside_one_list():
    case = load_cases()["F02"]
    fused = reciprocal_rank_fusion(case["input"]["lists"], k=case["input"]["k_rrf"])
    assert list(fused) == case["expected"]["order"]
    assert fused == pytest.approx(floats(case["expected"]["scores"]))
    assert f"l1 repeats b {repeats(case['input']['lists']['l1'])} times" == case["expected"]["warning"]


@needs_shared
@pytest.mark.parametrize("weights", ["[1,0]", "[4,1]"])
def test_case_f03_weights(weights: str):
    case = load_cases()["F03"]
    first, second = (float(weight) for weight in weights.strip("[]").split(","))
    fused = reciprocal_rank_fusion(
        case["input"]["lists"], weights={"L1": first, "L2": second}, k=case["input"]["k_rrf"]
    )
    expected = case["expected"][weights]
    assert fused == pytest.approx(floats(expected["scores"]))
    assert list(fused)[: len(expected["order"])] == expected["order"]


@needs_shared
def test_case_f04_min_max():
    case = load_cases()["F04"]
    given_lists = {
        name: {item: float(score) for item, score in case["input"][name].items()}
        for name in ("bm25", "vector", "equal", "distance_lower_is_better")
    }
    first, second = (float(weight) for weight in case["input"]["weights"])
    weights = {"bm25": first, "vector": second}
    both = {name: given_lists[name] for name in ("bm25", "vector")}
    fused = min_max_fusion(both, weights=weights)
    assert fused == pytest.approx(floats(case["expected"]["fused"]))
    assert list(fused) == case["expected"]["order"]
    for name, expected in case["expected"]["normalised"].items():
        assert min_max_fusion({name: given_lists[name]}) == pytest.approx(floats(expected))
    assert min_max_fusion({"equal": given_lists["equal"]}) == floats(case["expected"]["equal"])
    turned = {"far": given_lists["distance_lower_is_better"]}
    assert min_max_fusion(turned, distances=frozenset({"far"})) == floats(case["expected"]["distance"])
    assert all(np.isfinite(list(fused.values())))


@needs_shared
def test_case_f06_mean_reciprocal_rank_divides_by_all_lists():
    case = load_cases()["F06"]
    given_lists = {str(place): items for place, items in enumerate(case["input"]["lists"])}
    share = dict.fromkeys(given_lists, 1 / len(given_lists))
    fused = reciprocal_rank_fusion(given_lists, weights=share, k=0)
    assert fused == floats(case["expected"]["scores"])
    assert next(iter(fused)) == case["expected"]["first"]
