"""What the page for people of other tools says of them, asked of the tools that are installed."""

from __future__ import annotations

from typing import Any

import pytest

from assay import Scoring, average_precision, ndcg_at_k, precision_at_k, score_runs

QRELS = {"q1": {"d1": 1, "d2": 2}, "q2": {"d3": 1}}
RUN = {"q1": {"d2": 0.9, "d9": 0.8, "d1": 0.7}, "q2": {"d8": 0.6, "d3": 0.5}}


def ours(*measures: str) -> list[float | None]:
    card = score_runs([RUN], QRELS, Scoring(measures=measures))
    return [card.runs[0].means[name].mean for name in measures]


@pytest.mark.peer
@pytest.mark.filterwarnings("ignore:(?s).*unsafe cast")  # ranx, of its own compiled code
def test_ranx_says_the_same():
    ranx: Any = pytest.importorskip("ranx")
    theirs = ranx.evaluate(
        ranx.Qrels(QRELS),
        ranx.Run(RUN),
        ["ndcg@3", "ndcg_burges@3", "precision@3", "recall@3", "mrr@3", "map@3"],
    )
    found = ours("nDCG@3", "nDCG(gain=exp)@3", "P@3", "R@3", "RR@3", "AP@3")
    assert list(theirs.values()) == pytest.approx(found)


def test_the_numbers_that_ranx_gave_for_the_page_are_ours():
    found = ours("nDCG@3", "nDCG(gain=exp)@3", "P@3", "R@3", "RR@3", "AP@3")
    assert found == pytest.approx([0.7906, 0.7974, 0.5, 1.0, 0.75, 0.6667], abs=5e-5)


@pytest.mark.peer
def test_beir_says_the_same():
    evaluation: Any = pytest.importorskip("beir.retrieval.evaluation")
    ndcg, average, recall, precision = evaluation.EvaluateRetrieval.evaluate(QRELS, RUN, [3])
    theirs = [ndcg["NDCG@3"], average["MAP@3"], recall["Recall@3"], precision["P@3"]]
    assert theirs == pytest.approx(ours("nDCG@3", "AP@3", "R@3", "P@3"), abs=5e-6)


def llamaindex(name: str, ranked: list[str], relevant: list[str]) -> float:
    metrics: Any = pytest.importorskip("llama_index.core.evaluation.retrieval.metrics")
    return metrics.METRIC_REGISTRY[name]().compute(expected_ids=relevant, retrieved_ids=ranked).score


@pytest.mark.parametrize(
    ("theirs", "here"), [("mrr", "RR"), ("hit_rate", "hit"), ("recall", "recall"), ("ap", "AP")]
)
def test_llamaindex_says_the_same(theirs: str, here: str):
    (value,) = ours(here)
    both = [llamaindex(theirs, list(RUN[query]), list(QRELS[query])) for query in QRELS]
    assert sum(both) / 2 == pytest.approx(value)


def test_llamaindex_divides_precision_by_what_came_back():
    assert llamaindex("precision", ["d1", "x"], ["d1"]) == 0.5
    assert precision_at_k(["d1", "x"], {"d1"}, 10) == 0.1


def test_llamaindex_takes_the_ideal_over_all_that_is_relevant():
    relevant = [f"d{n}" for n in range(8)]
    assert llamaindex("ndcg", relevant[:5], relevant) < 1.0
    assert ndcg_at_k(relevant[:5], set(relevant), 5) == 1.0


def test_llamaindex_refuses_a_list_of_nothing():
    with pytest.raises(ValueError, match="must be provided"):
        llamaindex("recall", [], ["d1"])
    assert ours("R@3") == [1.0]


def test_context_precision_as_ragas_and_deepeval_write_it_never_sees_what_was_missed():
    # sum of precision@k at relevant ranks / relevant that came back: (1/2 + 2/4) / 2, for a set of three
    right = [0, 1, 0, 1]
    at = [sum(right[: rank + 1]) / (rank + 1) for rank, one in enumerate(right) if one]
    assert sum(at) / sum(right) == 0.5
    assert average_precision(["x", "a", "y", "b"], {"a", "b", "c"}) == pytest.approx(1 / 3)
