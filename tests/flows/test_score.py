"""From files to means: which queries count, what is left out and said, groups, ties, ceilings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.flows.score import Scoring, score_runs
from assay.model.errors import InputError
from assay.report.scorecard import notice_lines, scorecard_json, scorecard_text, tool_text
from shared_data import load_cases, needs_shared, value_of


def means(run: Any, qrels: Any, *measures: str, **settings: Any) -> dict[str, float | None]:
    card = score_runs([run], qrels, Scoring(measures=measures, **settings))
    return {name: average.mean for name, average in card.runs[0].means.items()}


def ranked(case: Any) -> dict[str, dict[str, float]]:
    """Give a list without scores falling ones, so that it is read as any run."""
    return {query: {doc: -float(rank) for rank, doc in enumerate(docs)} for query, docs in case.items()}


def judged(case: Any) -> dict[str, dict[str, int]]:
    return {query: dict.fromkeys(docs, 1) for query, docs in case.items()}


@needs_shared
def test_case_q01_a_labelled_query_that_the_run_lacks_scores_0_and_is_named() -> None:
    case = load_cases()["Q01"]
    card = score_runs(
        [ranked(case["input"]["run"])], judged(case["input"]["golden"]), Scoring(measures=["MRR@10"])
    )
    assert card.runs[0].means["MRR@10"].mean == value_of(case["expected"]["mrr@10"])
    assert card.runs[0].counts["queries"] == case["expected"]["queries_scored"]
    missing = next(notice for notice in card.runs[0].notices if notice.code == "missing-queries")
    assert list(missing.ids) == case["expected"]["missing_from_run"]


@needs_shared
def test_case_q02_extra_queries_are_left_out_and_no_overlap_is_an_error() -> None:
    case = load_cases()["Q02"]
    golden = judged(case["input"]["golden"])
    card = score_runs([ranked(case["input"]["run_extra"])], golden, Scoring(measures=["MRR@10"]))
    expected = case["expected"]["run_extra"]
    assert card.runs[0].means["MRR@10"].mean == value_of(expected["mrr@10"])
    extra = next(notice for notice in card.runs[0].notices if notice.code == "extra-queries")
    assert list(extra.ids) == expected["ignored_run_queries"]
    with pytest.raises(InputError) as error:
        score_runs([ranked(case["input"]["run_disjoint"])], golden)
    assert all(repr(name) in str(error.value) for name in case["expected"]["run_disjoint"]["message_names"])


@needs_shared
def test_case_m04_a_query_with_nothing_relevant_leaves_the_mean_and_is_counted() -> None:
    case = load_cases()["M04"]
    queries = case["input"]["queries"]
    qrels = {name: {**dict.fromkeys(query["relevant"], 1), "other": 0} for name, query in queries.items()}
    run = ranked({name: query["ranked"] for name, query in queries.items()})
    card = score_runs([run], qrels, Scoring(measures=["recall@1"]))
    average = card.runs[0].means["recall@1"]
    assert average.mean == value_of(case["expected"]["recall@1"])
    assert (average.n, average.undefined) == (2, 1)
    for name, value in case["expected"]["per_query"].items():
        assert card.runs[0].table.value("recall@1", name) == value_of(value)
    shown = json.loads(scorecard_json(card, per_query=True))
    assert shown["queries"]["q2"]["recall@1"] is None
    assert shown["undefined"]["recall@1"] == 1


@needs_shared
def test_case_m05_an_empty_list_scores_0() -> None:
    case = load_cases()["M05"]
    queries = case["input"]["queries"]
    run = {name: query["ranked"] for name, query in queries.items()}
    qrels = judged({name: query["relevant"] for name, query in queries.items()})
    found = means(run, qrels, "recall@5", "mrr@5", "ndcg@5", "precision@5")
    for name, value in found.items():
        assert value == pytest.approx(value_of(case["expected"][name]), abs=1e-15)


@needs_shared
def test_case_m08_equal_scores_keep_the_order_given_and_their_range_is_said() -> None:
    case = load_cases()["M08"]
    run = {"q": dict(case["input"]["rows_in_returned_order"])}
    qrels = judged({"q": case["input"]["relevant"]})
    card = score_runs([run], qrels, Scoring(measures=["RR@3", "nDCG@3"]))
    expected = case["expected"]
    assert card.runs[0].means["RR@3"].mean == value_of(expected["rr@3"])
    assert card.runs[0].means["nDCG@3"].mean == pytest.approx(value_of(expected["ndcg@3"]), abs=1e-15)
    spread = expected["range_over_tie_orders"]
    assert card.runs[0].tied["RR@3"] == (value_of(spread["rr_worst"]), value_of(spread["rr_best"]))
    notice = next(notice for notice in card.runs[0].notices if notice.code == "ties")
    assert notice.ids == ("q",)
    assert means(run, qrels, "RR@3", ties="trec") == {"RR@3": 1.0}


@needs_shared
def test_case_m10_negative_grades_earn_nothing_and_are_said() -> None:
    case = load_cases()["M10"]["input"]
    qrels = {"q1": case["grades"], "q2": case["second_query"]["grades"]}
    run = ranked({"q1": case["ranked"], "q2": case["second_query"]["ranked"]})
    card = score_runs([run], qrels, Scoring(measures=["ndcg@2", "precision@2", "recall@2"]))
    expected = load_cases()["M10"]["expected"]
    for name in card.measures:
        assert card.runs[0].table.value(name, "q1") == pytest.approx(value_of(expected[name]), abs=1e-15)
        assert card.runs[0].table.value(name, "q2") is None
    assert "negative-grades" in {notice.code for notice in card.notices}


@needs_shared
def test_case_a03_scores_of_different_queries_are_never_compared() -> None:
    case = load_cases()["A03"]
    run = {name: case["input"][name]["scores"] for name in ("q1", "q2")}
    qrels = judged({name: case["input"][name]["relevant"] for name in ("q1", "q2")})
    assert means(run, qrels, "nDCG")["nDCG"] == pytest.approx(
        value_of(case["expected"]["mean_ndcg"]), abs=1e-15
    )


@needs_shared
def test_case_a02_groups_stand_on_their_own_queries(tmp_path: Path) -> None:
    case = load_cases()["A02"]
    rows = case["input"]["per_query_recall"]
    queries = tmp_path / "queries.jsonl"
    queries.write_text("".join(json.dumps({"id": name, "kind": kind}) + "\n" for name, kind, _ in rows))
    qrels = {name: {"a": 1} for name, _, _ in rows}
    run = {name: {"a" if recall == "1" else "b": 1.0} for name, _, recall in rows}
    card = score_runs([run], qrels, Scoring(measures=["recall"], by=["kind"], queries=queries))
    values = json.loads(scorecard_json(card))
    assert values["measures"]["recall"] == value_of(case["expected"]["overall"])
    for kind in ("keyword", "conceptual"):
        expected = case["expected"][kind]
        assert values["by"]["kind"][kind] == {"n": expected["n"], "recall": value_of(expected["mean"])}


def test_the_mean_over_judged_queries_and_the_ceiling_by_hand() -> None:
    # q1: relevant a, b; the list x, a: recall 1/2, RR 1/2, P@2 1/2. q2 is missing: 0. q3 has no value.
    qrels = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}, "q3": {"d": 0}}
    card = score_runs([{"q1": {"x": 2.0, "a": 1.0}}], qrels, Scoring(measures=["R@2", "RR", "P@2"]))
    run = card.runs[0]
    assert {name: average.mean for name, average in run.means.items()} == {
        "R@2": 0.25,
        "RR": 0.25,
        "P@2": 0.25,
    }
    # at best P@2 is 1 for q1 and 1/2 for q2
    assert {name: average.ceiling for name, average in run.means.items()} == {
        "R@2": 1.0,
        "RR": 1.0,
        "P@2": 0.75,
    }
    assert run.counts == {
        "queries": 3, "answered": 1, "missing": 2, "extra": 0, "nothing_relevant": 1,
        "hits": 2, "judged": 1, "relevant": 3, "found": 1,
    }  # fmt: skip


def test_judged_only_closes_the_ranks_over_unjudged_documents() -> None:
    qrels = {"q": {"a": 1, "n": 0}}
    run = {"q": {"x": 9.0, "n": 8.0, "y": 7.0, "a": 6.0}}
    assert means(run, qrels, "RR", "SetP") == {"RR": 0.25, "SetP": 0.25}
    assert means(run, qrels, "RR", "SetP", judged_only=True) == {"RR": 0.5, "SetP": 0.5}


def test_repeats_are_an_error_until_they_are_folded(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text("q Q0 x 1 9 t\nq Q0 a 2 5 t\nq Q0 a 3 10 t\n")
    with pytest.raises(InputError, match="'a' stands twice for query 'q'"):
        score_runs([path], {"q": {"a": 1}})
    assert means(path, {"q": {"a": 1}}, "RR", duplicates="first") == {"RR": 0.5}
    assert means(path, {"q": {"a": 1}}, "RR", duplicates="best") == {"RR": 1.0}


def test_nan_scores_stand_last_and_are_said_and_infinite_ones_are_legal(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text("q Q0 a 3 nan t\nq Q0 b 2 -inf t\nq Q0 c 1 inf t\n")
    card = score_runs([path], {"q": {"a": 1}, "r": {"a": 1}}, Scoring(measures=["RR"]))
    assert card.runs[0].table.value("RR", "q") == pytest.approx(1 / 3)
    assert {notice.code for notice in card.runs[0].notices} == {"nan-scores", "missing-queries"}


def test_several_runs_give_one_table_and_a_list_in_json() -> None:
    card = score_runs([{"q": {"a": 1.0}}, {"q": {"b": 1.0}}], {"q": {"a": 1}}, Scoring(measures=["RR"]))
    assert [run["measures"]["RR"] for run in json.loads(scorecard_json(card))["runs"]] == [1.0, 0.0]
    assert scorecard_text(card).splitlines() == ["run      RR", "run  1.0000", "run  0.0000"]


def test_the_table_says_means_ceilings_and_groups() -> None:
    qrels = [
        {"query_id": "q", "doc_id": "a", "relevance": 1},
        {"query_id": "r", "doc_id": "b", "relevance": 0},
    ]
    card = score_runs([{"q": {"a": 1.0}}], qrels, Scoring(measures=["P@2", "RR"]))
    assert scorecard_text(card, per_query=True).splitlines() == [
        "run against judgements: 2 queries (1 missing from the run), 1 of 1 relevant found",
        "",
        "measure    mean  ceiling  queries  undefined",
        "P@2      0.5000   0.5000        1          1",
        "RR       1.0000   1.0000        1          1",
        "",
        "query     P@2      RR",
        "q      0.5000  1.0000",
        "r           -       -",
    ]
    assert notice_lines(card) == ["run: judged queries that are missing score 0: 1 (r)"]


def test_groups_come_from_a_column_of_the_judgements(tmp_path: Path) -> None:
    qrels = tmp_path / "qrels.csv"
    qrels.write_text("query,doc,grade,tenant\nq,a,1,north\nr,b,1,\n")
    card = score_runs([{"q": {"a": 1.0}, "r": {"a": 1.0}}], qrels, Scoring(measures=["RR"], by=["tenant"]))
    values = json.loads(scorecard_json(card))["by"]
    assert values == {"tenant": {"north": {"n": 1, "RR": 1.0}, "(none)": {"n": 1, "RR": 0.0}}}
    with pytest.raises(InputError, match="did you mean --by tenant"):
        score_runs([{"q": {"a": 1.0}}], qrels, Scoring(by=["tennant"]))
    with pytest.raises(InputError, match="give a file that says it"):
        score_runs([{"q": {"a": 1.0}}], {"q": {"a": 1}}, Scoring(by=["kind"]))


def test_all_unknown_measures_are_named_at_once() -> None:
    with pytest.raises(InputError) as error:
        score_runs([{"q": {"a": 1.0}}], {"q": {"a": 1}}, Scoring(measures=["nDGC@10", "RR", "recal@5"]))
    assert len(error.value.faults) == 2


def test_a_tool_leaves_missing_queries_out_and_prints_its_own_names() -> None:
    card = score_runs(
        [{"q": {"a": 1.0}}],
        {"q": {"a": 1}, "r": {"b": 1}},
        Scoring(measures=["R@5", "RR"], compat="trec_eval"),
    )
    assert (
        tool_text(card, decimals=4)
        == "recall_5              \tall\t1.0000\nrecip_rank            \tall\t1.0000\n"
    )
    with pytest.raises(InputError, match="did you mean trec_eval"):
        score_runs([{"q": {"a": 1.0}}], {"q": {"a": 1}}, Scoring(compat="trec_evall"))


def test_a_tool_that_reads_whole_grades_says_that_it_cuts_fractions() -> None:
    card = score_runs([{"q": {"a": 1.0}}], {"q": {"a": 0.5}}, Scoring(measures=["RR"], compat="trec_eval"))
    assert card.runs[0].means["RR"].mean == 0.0
    assert {notice.code for notice in card.notices} == {"fractional-grades"}


def test_equal_files_give_equal_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text("".join(f"q{n % 7} Q0 d{n} {n} {n % 5} t\n" for n in range(200)))
    qrels = {f"q{n}": {f"d{n * 11}": 1, f"d{n}": 2} for n in range(7)}
    texts = {scorecard_json(score_runs([path], qrels), per_query=True) for _ in range(3)}
    assert len(texts) == 1


@needs_shared
def test_case_m07_a_golden_list_is_a_set(tmp_path: Path) -> None:
    case = load_cases()["M07"]
    qrels = tmp_path / "golden.jsonl"
    qrels.write_text(json.dumps({"id": "q", "relevant": case["input"]["relevant"]}) + "\n")
    runs = [ranked({"q": docs}) for docs in case["input"]["runs"].values()]
    with pytest.raises(InputError, match="'A' stands twice for query 'q'"):
        score_runs(runs, qrels)
    scoring = Scoring(measures=["recall@5", "ndcg@5"], duplicates="first")
    card = score_runs(runs, qrels, scoring)
    assert "repeats-folded" in {notice.code for notice in card.notices}
    for name, run in zip(case["input"]["runs"], card.runs, strict=True):
        for measure, value in case["expected"][name].items():
            assert run.means[measure].mean == pytest.approx(value_of(value), abs=1e-15)
