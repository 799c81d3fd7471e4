"""Scores against other tools on made runs: ties, missing queries, negative grades, nothing relevant."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.flows.score import Scoring, score_runs
from shared_data import DATASETS, needs_shared

pytestmark = pytest.mark.peer

NAMES = {
    "nDCG": "ndcg", "nDCG@5": "ndcg_cut_5", "AP": "map", "AP@3": "map_cut_3", "RR": "recip_rank",
    "P@5": "P_5", "R@5": "recall_5", "hit@2": "success_2", "Rprec": "Rprec", "bpref": "bpref",
    "SetP": "set_P", "SetR": "set_recall", "SetF": "set_F", "infAP": "infAP",
    "R(capped=true)@3": "relative_P_3",
}  # fmt: skip

DOCS = [f"d{number}" for number in range(12)] + ["ä1", "D1", "d"]
QUERIES = ["q1", "q2", "q3"]
# few values, so that scores tie; two that differ in 64 bits and are equal in 32
SCORES = st.sampled_from([0.0, 1.0, 1.00000001, 2.5, -3.0, 1e-300, 1e300]) | st.floats(-5, 5, width=32)


@st.composite
def files(draw: st.DrawFn) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Make judgements and a run; some judged queries are not in the run."""
    qrels: dict[str, dict[str, int]] = {}
    for query in draw(st.lists(st.sampled_from(QUERIES), min_size=1, max_size=3, unique=True)):
        docs = draw(st.lists(st.sampled_from(DOCS), min_size=1, max_size=len(DOCS), unique=True))
        qrels[query] = {doc: draw(st.integers(-1, 3)) for doc in docs}
        # pytrec_eval never ends where all grades of a query are negative
        qrels[query][docs[0]] = abs(qrels[query][docs[0]])
    first = next(iter(qrels))
    answered = draw(st.lists(st.sampled_from([*QUERIES, "q9"]), max_size=3, unique=True))
    run: dict[str, dict[str, float]] = {}
    for query in dict.fromkeys([first, *answered]):
        docs = draw(st.lists(st.sampled_from(DOCS), min_size=1, max_size=len(DOCS), unique=True))
        run[query] = {doc: draw(SCORES) for doc in docs}
    return qrels, run


@settings(max_examples=2000)
@given(files())
def test_pytrec_eval_s_values_are_ours_to_1e_12(
    made: tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]],
) -> None:
    pytrec_eval: Any = pytest.importorskip("pytrec_eval")
    qrels, run = made
    measures = {name.rpartition("_")[0] + "." + name.rpartition("_")[2] if name[-1].isdigit() else name
                for name in NAMES.values()}  # fmt: skip
    theirs = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
    card = score_runs([run], qrels, Scoring(measures=list(NAMES), compat="pytrec_eval"))
    for measure, name in NAMES.items():
        for query in qrels:
            value = card.runs[0].table.value(measure, query)
            if query not in run:
                assert value is None
            else:
                assert value == pytest.approx(theirs[query][name], abs=1e-12), (measure, query)
        mean = card.runs[0].means[measure].mean
        expected = math.fsum(values[name] for values in theirs.values()) / len(theirs)
        assert mean == pytest.approx(expected, abs=1e-12)


@settings(max_examples=60)
@given(files())
def test_ir_measures_means_are_ours(
    made: tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]],
) -> None:
    ir_measures: Any = pytest.importorskip("ir_measures")
    qrels, run = made
    names = ["AP", "AP@3", "nDCG@5", "nDCG", "RR", "RR@3", "P@5", "R@5", "Success@2", "Rprec", "Bpref",
             "SetP", "SetR", "Judged@4", "AP(rel=2)", "P(rel=2)@5"]  # fmt: skip
    theirs = ir_measures.calc_aggregate([ir_measures.parse_measure(name) for name in names], qrels, run)
    card = score_runs([run], qrels, Scoring(measures=names, compat="ir_measures"))
    ours = {str(ir_measures.parse_measure(name)): card.runs[0].means[name].mean for name in names}
    assert ours == pytest.approx({str(measure): value for measure, value in theirs.items()}, abs=1e-12)


@needs_shared
def test_ir_measures_toy_sets_give_the_same_means() -> None:
    ir_measures: Any = pytest.importorskip("ir_measures")
    folder = DATASETS / "trec" / "ir_measures_tests"
    names = ["AP", "nDCG@10", "nDCG", "RR", "RR@10", "P@10", "R@100", "Success@5", "Rprec", "Judged@10",
             "AP(rel=2)", "infAP"]  # fmt: skip
    for name in ("compat", "cwl"):
        qrels = list(ir_measures.read_trec_qrels(str(folder / f"{name}.qrels")))
        run = list(ir_measures.read_trec_run(str(folder / f"{name}.run")))
        theirs = ir_measures.calc_aggregate([ir_measures.parse_measure(text) for text in names], qrels, run)
        card = score_runs(
            [folder / f"{name}.run"],
            folder / f"{name}.qrels",
            Scoring(measures=names, compat="ir_measures"),
        )
        for text in names:
            value = theirs[ir_measures.parse_measure(text)]
            assert card.runs[0].means[text].mean == pytest.approx(value, abs=1e-12), (name, text)


def test_iterables_of_ir_measures_and_ir_datasets_are_read() -> None:
    ir_measures: Any = pytest.importorskip("ir_measures")
    qrels = [ir_measures.Qrel("q1", "d1", 1), ir_measures.Qrel("q1", "d2", 0)]
    run = (ir_measures.ScoredDoc("q1", doc, score) for doc, score in [("d2", 0.9), ("d1", 0.4)])
    card = score_runs([run], qrels, Scoring(measures=["RR"]))
    assert card.runs[0].means["RR"].mean == 0.5


@pytest.mark.filterwarnings("ignore:.*unsafe cast")  # numba, compiling ranx anew
def test_ranx_s_figures_are_ours() -> None:
    ranx: Any = pytest.importorskip("ranx")
    qrels = {"q1": {"d1": 1, "d2": 0, "d3": 2, "d4": -1}, "q2": {"x": 0}, "q3": {"y": 1}}
    run = {"q1": {"d4": 3.0, "d1": 2.0, "d2": 1.0, "zz": 0.5}, "q2": {"x": 1.0}, "q9": {"x": 1.0}}
    names = ["map", "ndcg", "ndcg@10", "mrr", "precision@5", "recall@5", "hit_rate@1", "f1@5", "r-precision",
             "dcg@10", "ndcg_burges@10"]  # fmt: skip
    theirs = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), names, make_comparable=True)
    ours = [
        "AP",
        "nDCG",
        "nDCG@10",
        "RR",
        "P@5",
        "R@5",
        "hit@1",
        "F1@5",
        "Rprec",
        "DCG@10",
        "nDCG(gain=exp)@10",
    ]
    card = score_runs([run], qrels, Scoring(measures=ours, compat="ranx"))
    assert list(card.printed.values()) == names
    for measure, name in card.printed.items():
        assert card.runs[0].means[measure].mean == pytest.approx(theirs[name], abs=1e-12), name
