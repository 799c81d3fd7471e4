"""The shared cases of metrics and averages, with the values that stand in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.measures.batch import score
from assay.measures.single import score_list
from assay.measures.spec import parse_measure
from assay.model.scores import ScoreTable
from measures.ranked_lists import ListAndGrades, columns_of
from shared_data import load_cases, needs_shared, value_of

pytestmark = needs_shared


def case(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    row = load_cases()[name]
    return row["input"], row["expected"]


def table_of(queries: dict[str, ListAndGrades], *spellings: str, **columns: list[str]) -> ScoreTable:
    judged = columns_of(list(queries.values()))
    return ScoreTable(
        query_ids=tuple(queries),
        values=score(judged, [parse_measure(spelling) for spelling in spellings]),
        groups={name: tuple(values) for name, values in columns.items()},
    )


def binary(ranked: list[str], relevant: list[str]) -> ListAndGrades:
    return ListAndGrades(ranked, dict.fromkeys(relevant, 1.0))


def test_m01_k_larger_than_the_list():
    given, wanted = case("M01")
    for spelling in ("precision@10", "recall@10", "hit@10", "rr@10"):
        value = score_list(given["ranked"], given["relevant"], spelling)
        assert value == pytest.approx(value_of(wanted[spelling]))


def test_m03_the_ideal_and_the_total_come_from_the_golden_set():
    given, wanted = case("M03")
    for spelling in ("ndcg@4", "recall@4", "hit@4"):
        assert score_list(given["ranked"], given["grades"], spelling) == pytest.approx(
            value_of(wanted[spelling]), abs=1e-15
        )


def test_m04_a_query_without_relevant_items_leaves_the_mean_and_is_counted():
    given, wanted = case("M04")
    queries = {name: binary(query["ranked"], query["relevant"]) for name, query in given["queries"].items()}
    table = table_of(queries, "recall@1")
    average = table.average("recall@1")
    assert average.mean == value_of(wanted["recall@1"])
    assert average.n == wanted["queries_scored"]
    assert average.undefined == len(wanted["queries_excluded"])
    for name, value in wanted["per_query"].items():
        assert table.value("recall@1", name) == value_of(value)


def test_m05_an_empty_result_scores_zero_in_every_measure():
    given, wanted = case("M05")
    queries = {name: binary(query["ranked"], query["relevant"]) for name, query in given["queries"].items()}
    spellings = ("recall@5", "mrr@5", "ndcg@5", "precision@5")
    table = table_of(queries, *spellings)
    for spelling in spellings:
        average = table.average(spelling)
        assert average.mean == pytest.approx(value_of(wanted[spelling]))
        assert average.n == wanted["queries_scored"]


@pytest.mark.parametrize("run", ["r1", "r2", "r3"])
def test_m06_a_repeat_keeps_its_slot_and_earns_nothing(run: str):
    given, wanted = case("M06")
    ranked, k = given["runs"][run]["ranked"], given["runs"][run]["k"]
    for name in ("recall", "precision", "ndcg"):
        value = score_list(ranked, given["relevant"], f"{name}@{k}")
        assert value == pytest.approx(value_of(wanted[run][name]))


@pytest.mark.parametrize("run", ["r1", "r2"])
def test_m07_a_repeat_in_the_golden_list_folds(run: str):
    given, wanted = case("M07")
    for spelling in ("recall@5", "ndcg@5"):
        value = score_list(given["runs"][run], given["relevant"], spelling)
        assert value == pytest.approx(value_of(wanted[run][spelling]), abs=1e-15)


@pytest.mark.parametrize(("gain", "name"), [("linear", "linear"), ("exp", "exponential")])
def test_m09_both_gains_use_one_formula_on_both_sides(gain: str, name: str):
    given, wanted = case("M09")
    value = score_list(given["ranked"], given["grades"], f"nDCG(gain={gain})@3")
    assert value == pytest.approx(value_of(wanted["ndcg@3"][name]), abs=1e-15)


def test_m10_grades_of_zero_and_below_earn_nothing():
    given, wanted = case("M10")
    for spelling in ("ndcg@2", "precision@2", "recall@2"):
        value = score_list(given["ranked"], given["grades"], spelling)
        assert value == pytest.approx(value_of(wanted[spelling]))
    second = given["second_query"]
    assert score_list(second["ranked"], second["grades"], "ndcg@2") is wanted["second_query"]


@pytest.mark.parametrize("run", ["r1", "r2"])
def test_m11_the_reciprocal_rank_is_cut_and_of_the_first_hit(run: str):
    given, wanted = case("M11")
    query = given["runs"][run]
    for spelling in ("rr@5", "rr@10"):
        value = score_list(query["ranked"], query["relevant"], spelling)
        assert value == pytest.approx(value_of(wanted[run][spelling]))


def test_q01_labelled_queries_that_the_run_lacks_score_zero():
    given, wanted = case("Q01")
    queries = {
        name: binary(given["run"].get(name, []), relevant) for name, relevant in given["golden"].items()
    }
    average = table_of(queries, "mrr@10").average("mrr@10")
    assert average.mean == value_of(wanted["mrr@10"])
    assert average.n == wanted["queries_scored"]


def test_a01_the_mean_is_over_queries():
    given, wanted = case("A01")
    queries = {
        name: binary(
            [f"{name}-{place}" for place in range(query["found"])],
            [f"{name}-{place}" for place in range(query["relevant"])],
        )
        for name, query in given["queries"].items()
    }
    assert table_of(queries, "recall").average("recall").mean == value_of(wanted["macro_recall"])


def test_a02_means_by_kind_and_a_kind_without_queries():
    given, wanted = case("A02")
    rows = given["per_query_recall"]
    queries = {name: binary(["a"] if value == "1" else ["x"], ["a"]) for name, _, value in rows}
    table = table_of(queries, "recall@1", kind=[kind for _, kind, _ in rows])
    assert table.average("recall@1").mean == value_of(wanted["overall"])
    for kind in given["kinds_declared"]:
        average = table.average("recall@1", table.where("kind", kind))
        assert average.n == wanted[kind]["n"]
        assert average.mean == value_of(wanted[kind]["mean"])


def test_a03_every_query_is_a_ranking_of_its_own():
    given, wanted = case("A03")
    queries = {
        name: binary(sorted(query["scores"], key=lambda item: -query["scores"][item]), query["relevant"])
        for name, query in given.items()
    }
    table = table_of(queries, "ndcg")
    assert table.value("ndcg", "q1") == pytest.approx(value_of(wanted["ndcg_q1"]))
    assert table.value("ndcg", "q2") == value_of(wanted["ndcg_q2"])
    assert table.average("ndcg").mean == pytest.approx(value_of(wanted["mean_ndcg"]))


def test_d01_queries_that_cannot_be_won_score_zero_and_lower_the_ceiling():
    given, wanted = case("D01")
    n, lost = given["golden"], given["gold_not_indexed"] + given["anchor_gone_from_document"]
    hits = given["hits_among_the_other_8"]
    queries = {f"q{place}": binary(["a"] if place < hits else ["x"], ["a"]) for place in range(n)}
    table = table_of(queries, "recall@10")
    winnable = np.array([place < n - lost for place in range(n)])
    assert table.average("recall@10").mean == value_of(wanted["headline_recall"])
    assert table.average("recall@10", winnable).mean == value_of(wanted["recall_on_winnable"])
