"""Assay's numbers against trec_eval's printed ones, pytrec_eval's and ir-measures' own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.measures.batch import score
from assay.measures.single import score_list
from assay.measures.spec import parse_measure, parse_measures
from measures.ranked_lists import ListAndGrades, columns_of
from measures.trec_rankings import aligned, read_qrels, read_run, trec_order
from shared_data import DATASETS, needs_shared

TREC_EVAL = DATASETS / "trec" / "trec_eval_test"
IR_MEASURES = DATASETS / "trec" / "ir_measures_tests"

CUTS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
OF_TREC_EVAL = {
    "map": "AP",
    "Rprec": "Rprec",
    "bpref": "bpref",
    "recip_rank": "RR",
    "infAP": "infAP",
    "ndcg": "nDCG",
    "set_P": "SetP",
    "set_recall": "SetR",
    "set_F": "SetF",
    "success_1": "hit@1",
    "success_5": "hit@5",
    "success_10": "hit@10",
    **{f"P_{k}": f"precision@{k}" for k in CUTS},
    **{f"recall_{k}": f"recall@{k}" for k in CUTS},
    **{f"ndcg_cut_{k}": f"nDCG@{k}" for k in CUTS},
    **{f"map_cut_{k}": f"AP@{k}" for k in CUTS},
}


def printed(name: str) -> Iterator[tuple[str, str, str]]:
    for line in (TREC_EVAL / name).read_text(encoding="utf-8").splitlines():
        measure, query, value = line.split()
        if measure in OF_TREC_EVAL:
            yield measure, query, value


def with_rel(spelling: str, rel: int) -> str:
    name, at, k = spelling.partition("@")
    return spelling if name == "nDCG" else f"{name}(rel={rel}){at}{k}"


@needs_shared
@pytest.mark.parametrize(
    ("qrels", "output", "rel"),
    [("qrels.test", "out.test.aq", None), ("qrels.rel_level", "out.test.aql", 2)],
)
def test_trec_evals_own_test_folder_to_the_printed_digit(qrels: str, output: str, rel: int | None):
    queries = aligned(read_qrels(TREC_EVAL / qrels), read_run(TREC_EVAL / "results.test"))
    spellings = {
        measure: spelling if rel is None else with_rel(spelling, rel)
        for measure, spelling in OF_TREC_EVAL.items()
    }
    values = score(columns_of(list(queries.values())), parse_measures(spellings.values()))
    place = {query: at for at, query in enumerate(queries)}
    rows = list(printed(output))
    assert len(rows) == 4 * len(OF_TREC_EVAL)  # three queries and their mean
    wrong: list[tuple[Any, ...]] = []
    for measure, query, value in rows:
        column = values[spellings[measure]]
        ours = column.mean() if query == "all" else column[place[query]]
        if f"{ours:.4f}" != value:
            wrong.append((measure, query, value, ours))
    assert not wrong


@needs_shared
def test_the_rbp_of_trec_eval_has_persistence_0_9():
    queries = aligned(read_qrels(TREC_EVAL / "qrels.test"), read_run(TREC_EVAL / "results.test"))
    shown = {
        query: score_list(made.ranked, made.grades, "RBP(p=0.9)") or 0.0 for query, made in queries.items()
    }
    assert {query: f"{value:.4f}" for query, value in shown.items()} == {
        "301": "0.1861",
        "302": "0.7628",
        "303": "0.0212",
    }


OF_PYTREC_EVAL = {name: spelling for name, spelling in OF_TREC_EVAL.items() if name != "set_F"}
ITEMS = [f"d{place}" for place in range(8)] + ["D1", "é", "z0"]


@st.composite
def scored_lists(draw: st.DrawFn) -> tuple[dict[str, int], dict[str, float]]:
    """Grades of any sign, and scores with ties."""
    grades = draw(st.dictionaries(st.sampled_from(ITEMS), st.integers(-2, 4), min_size=1, max_size=9))
    scores = draw(
        st.dictionaries(st.sampled_from(ITEMS), st.sampled_from([0.5, 1.0, 1.5, 2.0, 7.25]), max_size=11)
    )
    return grades, scores


@given(made=st.lists(scored_lists(), min_size=1, max_size=4), absent=st.integers(0, 3))
@settings(max_examples=2000, deadline=None)
def test_pytrec_eval_on_made_runs_with_ties_negative_grades_and_missing_queries(
    made: list[tuple[dict[str, int], dict[str, float]]], absent: int
):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels = {f"q{place}": grades for place, (grades, _) in enumerate(made)}
    run = {f"q{place}": scores for place, (_, scores) in enumerate(made) if place != absent}
    # pytrec_eval crashes on a query whose grades are all negative, and now and then on one with an empty
    # list; here the one is undefined like any other, and the other scores 0
    judged = {query: grades for query, grades in qrels.items() if max(grades.values()) >= 0}
    listed = {query: scores for query, scores in run.items() if scores}
    families = {"map", "Rprec", "bpref", "recip_rank", "infAP", "ndcg", "set_P", "set_recall"}
    families |= {"success", "P", "recall", "ndcg_cut", "map_cut"}
    theirs = pytrec_eval.RelevanceEvaluator(judged, families).evaluate(listed)
    queries = [
        ListAndGrades(trec_order(run.get(query, {})), {item: float(grade) for item, grade in grades.items()})
        for query, grades in qrels.items()
    ]
    ours = score(columns_of(queries), parse_measures(OF_PYTREC_EVAL.values()))
    for place, query in enumerate(qrels):
        undefined = not any(grade > 0 for grade in qrels[query].values())
        for name in OF_PYTREC_EVAL:
            value = ours[OF_PYTREC_EVAL[name]][place]
            if undefined:
                assert value != value  # noqa: PLR0124 - NaN, where pytrec_eval says 0
            elif run.get(query):
                assert value == pytest.approx(theirs[query][name], abs=1e-12), (name, query)
            else:
                assert value == 0.0, (name, query)  # pytrec_eval leaves the query out


OF_IR_MEASURES = [
    "nDCG@10", "nDCG@1000", "nDCG", "R@10", "R(rel=2)@100", "P@10", "P(rel=2)@10", "RR", "RR@10",
    "RR(rel=3)@10", "AP", "AP@100", "AP(rel=2)", "Rprec", "Rprec(rel=2)", "Bpref", "Bpref(rel=2)",
    "Judged@10", "Success@1", "Success(rel=3)@5", "SetP", "SetP(rel=2)", "SetR", "SetF",
    "infAP", "infAP(rel=2)",
]  # fmt: skip


@needs_shared
@pytest.mark.parametrize("spelling", OF_IR_MEASURES)
@pytest.mark.parametrize("toy", ["compat", "cwl"])
def test_ir_measures_on_its_own_toy_sets(toy: str, spelling: str):
    ir_measures = pytest.importorskip("ir_measures")
    qrels = list(ir_measures.read_trec_qrels(str(IR_MEASURES / f"{toy}.qrels")))
    run = list(ir_measures.read_trec_run(str(IR_MEASURES / f"{toy}.run")))
    queries = aligned(read_qrels(IR_MEASURES / f"{toy}.qrels"), read_run(IR_MEASURES / f"{toy}.run"))
    theirs = {
        row.query_id: row.value
        for row in ir_measures.iter_calc([ir_measures.parse_measure(spelling)], qrels, run)
    }
    assert set(theirs) == set(queries)
    for query, made in queries.items():
        ours = score_list(made.ranked, made.grades, spelling)
        # where no item reaches rel, ir-measures says 0 and Assay says undefined
        assert (ours or 0.0) == pytest.approx(theirs[query], abs=1e-12), query


@needs_shared
@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval, inside ir-measures, is a Perl script")
@pytest.mark.parametrize("spelling", ["ERR@20", "ERR@5", "nDCG(dcg='exp-log2')@20", "nDCG(dcg='exp-log2')@5"])
def test_gdeval_on_graded_judgements_to_its_five_digits(spelling: str):
    ir_measures = pytest.importorskip("ir_measures")
    qrels = [
        row for row in ir_measures.read_trec_qrels(str(TREC_EVAL / "qrels.rel_level")) if row.relevance >= 0
    ]
    run = list(ir_measures.read_trec_run(str(TREC_EVAL / "results.test")))
    queries = aligned(read_qrels(TREC_EVAL / "qrels.rel_level"), read_run(TREC_EVAL / "results.test"))
    measure = parse_measure(spelling)
    for row in ir_measures.iter_calc([ir_measures.parse_measure(spelling)], qrels, run):
        made = queries[row.query_id]
        assert score_list(made.ranked, made.grades, measure) == pytest.approx(row.value, abs=5.1e-6)
