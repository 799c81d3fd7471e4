"""Each row of docs/differences.md against the tool itself, where it is installed."""

from __future__ import annotations

from typing import Any

import pytest

from assay.flows.score import Scoring, score_runs

pytestmark = pytest.mark.peer


def ours(run: Any, qrels: Any, measure: str, tool: str | None = None, **settings: Any) -> float | None:
    card = score_runs([run], qrels, Scoring(measures=[measure], compat=tool, **settings))
    return card.runs[0].means[measure].mean


def pytrec(run: Any, qrels: Any, name: str) -> float:
    package: Any = pytest.importorskip("pytrec_eval")
    values = package.RelevanceEvaluator(qrels, {name}).evaluate(run)
    return sum(one[name] for one in values.values()) / len(values)


def ir(run: Any, qrels: Any, name: str) -> float:
    package: Any = pytest.importorskip("ir_measures")
    return next(iter(package.calc_aggregate([package.parse_measure(name)], qrels, run).values()))


MEANS_QRELS = {"q1": {"d1": 1}, "q2": {"d2": 1}, "q3": {"d3": 0}}
MEANS_RUN = {"q1": {"d9": 3.0, "d1": 2.0}, "q3": {"d3": 1.0}}


def test_rows_1_and_2_which_queries_a_mean_is_over() -> None:
    assert ours(MEANS_RUN, MEANS_QRELS, "RR") == (1 / 2 + 0) / 2  # q1, q2
    assert ours(MEANS_RUN, MEANS_QRELS, "RR", "pytrec_eval") == (1 / 2 + 0) / 2  # q1, q3
    assert pytrec(MEANS_RUN, MEANS_QRELS, "recip_rank") == 0.25
    assert ours(MEANS_RUN, MEANS_QRELS, "RR", "ir_measures") == (1 / 2) / 3
    assert ir(MEANS_RUN, MEANS_QRELS, "RR") == pytest.approx(1 / 6)


def test_row_3_equal_scores() -> None:
    run, qrels = {"q1": dict.fromkeys(["d1", "d2", "d3", "d4"], 1.0)}, {"q1": {"d2": 1}}
    assert ours(run, qrels, "RR") == 1 / 2  # as given
    assert ours(run, qrels, "RR", ties="trec") == 1 / 3  # d4, d3, d2
    assert ours(run, qrels, "RR", "pytrec_eval") == pytrec(run, qrels, "recip_rank") == 1 / 3
    assert ours(run, qrels, "RR@10", "ir_measures") == ir(run, qrels, "RR@10") == 1 / 2  # d1, d2
    assert ours(run, qrels, "RR", "ir_measures") == ir(run, qrels, "RR") == 1 / 3


def test_row_4_scores_that_differ_beyond_32_bits() -> None:
    run, qrels = {"q1": {"d2": 1.00000001, "d3": 1.0}}, {"q1": {"d2": 1}}
    assert ours(run, qrels, "RR") == ours(run, qrels, "RR", "trec_eval") == 1.0
    for tool in ("trec_eval-9", "pytrec_eval"):
        assert ours(run, qrels, "RR", tool) == 1 / 2
    assert pytrec(run, qrels, "recip_rank") == 1 / 2
    assert ours(run, qrels, "RR", "ir_measures") == ir(run, qrels, "RR") == 1 / 2
    assert ours(run, qrels, "RR@5", "ir_measures") == ir(run, qrels, "RR@5") == 1.0


def test_row_6_and_10_beir_by_its_published_code() -> None:
    # BEIR: takes documents named like the query out; MRR over all judged queries, recall over those in both
    run, qrels = {"q1": {"q1": 9.0, "d2": 8.0}}, {"q1": {"d2": 1}, "q2": {"d3": 1}}
    assert ours(run, qrels, "MRR@10", "beir") == (1 + 0) / 2
    assert ours(run, qrels, "recall@10", "beir") == 1.0
    beir: Any = pytest.importorskip("beir.retrieval.evaluation")
    _, _, recall, _ = beir.EvaluateRetrieval.evaluate(qrels, {"q1": dict(run["q1"])}, [10])
    assert recall["Recall@10"] == 1.0


def test_row_8_the_last_of_two_rows_wins_elsewhere() -> None:
    ir_measures: Any = pytest.importorskip("ir_measures")
    rows = [ir_measures.ScoredDoc("q1", doc, score) for doc, score in [("d1", 9.0), ("d2", 5.0), ("d1", 1.0)]]
    assert ir(rows, {"q1": {"d1": 1}}, "RR") == 1 / 2
    with pytest.raises(Exception, match="stands twice"):
        ours(rows, {"q1": {"d1": 1}}, "RR")
    assert ours(rows, {"q1": {"d1": 1}}, "RR", duplicates="first") == 1.0


@pytest.mark.filterwarnings("ignore:(?s).*unsafe cast")  # ranx, of its own compiled code
def test_row_13_short_lists_of_equal_scores_stand_as_given_in_ranx() -> None:
    ranx: Any = pytest.importorskip("ranx")
    run, qrels = {"q1": dict.fromkeys(["d3", "d1", "d2"], 1.0)}, {"q1": {"d1": 1}}
    assert ours(run, qrels, "RR", "ranx") == ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), "mrr") == 1 / 2
