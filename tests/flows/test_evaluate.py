from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from assay.flows.evaluate import evaluate, load_evaluation
from assay.flows.project import load_project
from assay.matching import find_relevance
from assay.model.documents import Document
from assay.model.errors import InputError
from assay.model.golden import GoldenSet
from assay.model.relevance import Relevance
from assay.model.runs import ChunkTable
from assay.report.json import summary_json
from small_project import QUERIES, SETTINGS, make_project


def test_a_small_project_is_measured_by_hand(tmp_path: Path):
    summary = evaluate(load_project(make_project(tmp_path))).summary
    # Two labelled queries, each with one relevant chunk, both found first: recall 1, precision@2 1/2.
    assert summary.measures["recall@2"].mean == 1.0
    assert summary.measures["precision@2"].mean == 0.5
    assert summary.measures["precision@2"].ceiling == 0.5
    assert summary.measures["recall@2"].n == 2
    assert summary.measures["recall@2"].undefined == 1
    assert summary.counts["chunks"] == 6
    assert summary.counts["unanswerable"] == 1
    assert not summary.misses


def test_a_declared_kind_without_queries_has_n_0_and_no_number(tmp_path: Path):
    summary = evaluate(load_project(make_project(tmp_path))).summary
    assert list(summary.by_kind) == ["factual", "lexical", "table"]
    assert summary.by_kind["table"]["recall@2"].n == 0
    assert summary.by_kind["table"]["recall@2"].mean is None


def test_queries_without_an_answer_have_their_own_line(tmp_path: Path):
    surfaced = evaluate(load_project(make_project(tmp_path))).summary.unanswerable
    assert surfaced is not None
    assert surfaced.queries == 1
    assert len(surfaced.answerable_top_scores) == 2


def test_equal_inputs_give_equal_bytes_and_one_stored_run(tmp_path: Path):
    project = load_project(make_project(tmp_path))
    first, second = evaluate(project), evaluate(project)
    assert summary_json(first.summary) == summary_json(second.summary)
    assert first.run.id == second.run.id
    assert [path.name for path in (tmp_path / ".assay" / "runs").iterdir()] == [first.run.id]


@pytest.mark.parametrize("own", [False, True])
def test_anchors_are_looked_for_once_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, own: bool):
    matched: list[int] = []

    def counted(
        golden: GoldenSet, documents: Sequence[Document], chunks: ChunkTable, **more: bool
    ) -> Relevance:
        matched.append(len(chunks))
        return find_relevance(golden, documents, chunks, **more)

    def search(query: str, k: int) -> list[dict[str, str]]:
        return [{"document": "returns.md", "text": "Refunds reach the card within 14 days"}][:k]

    monkeypatch.setattr("assay.flows.evaluate.find_relevance", counted)
    made = evaluate(load_project(make_project(tmp_path)), retriever=search if own else None)
    assert matched == [len(made.run.chunks)]
    assert made.scores.value("recall@2", "q1") == 1.0


def test_a_stored_run_prints_the_same_page(tmp_path: Path):
    project = load_project(make_project(tmp_path))
    made = evaluate(project)
    assert summary_json(load_evaluation(project, "latest").summary) == summary_json(made.summary)


def test_a_stored_run_says_when_the_golden_set_has_changed_since(tmp_path: Path):
    evaluate(load_project(make_project(tmp_path)))
    make_project(tmp_path, queries=QUERIES[:2])
    notices = load_evaluation(load_project(tmp_path), "latest").notices
    assert "golden-changed" in [notice.code for notice in notices]


def test_the_json_has_the_names_that_stay(tmp_path: Path):
    page = json.loads(summary_json(evaluate(load_project(make_project(tmp_path))).summary))
    assert {"measures", "by_kind", "stages", "misses", "counts", "digests"} <= set(page)
    assert page["measures"]["recall@2"] == 1.0
    assert page["by_kind"]["lexical"]["recall@2"] == 1.0
    assert page["by_kind"]["table"] == {"n": 0} | dict.fromkeys(page["measures"])
    assert list(page["stages"]) == ["vector", "fulltext", "pool", "reranked", "diverse", "final"]


def test_a_kind_may_have_a_k_of_its_own(tmp_path: Path):
    settings = f"{SETTINGS}\n[measure]\nk_by_kind = {{ lexical = 1 }}\n"
    evaluation = evaluate(load_project(make_project(tmp_path, settings=settings)))
    # precision at 2 for the factual query: 1/2; at 1 for the lexical one: 1/1.
    assert evaluation.scores.value("precision@2", "q1") == 0.5
    assert evaluation.scores.value("precision@2", "q2") == 1.0


def test_an_anchor_that_the_chunker_cuts_is_unwinnable_and_scores_0_in_the_headline(tmp_path: Path):
    settings = SETTINGS.replace(
        "[chunker]\nmax_chars = 80", '[chunker]\nname = "characters"\nsize = 30\noverlap = 0'
    )
    summary = evaluate(load_project(make_project(tmp_path, settings=settings))).summary
    # Both anchors are longer than 30 characters: no chunk can hold them.
    assert summary.measures["recall@2"].mean == 0.0
    assert summary.measures["recall@2"].ceiling == 0.0
    assert summary.winnable["recall@2"].n == 0
    assert summary.counts["unwinnable"] == 2
    assert summary.unwinnable == {"q1": "cut by the chunker", "q2": "cut by the chunker"}
    assert [miss.lost_at for miss in summary.misses] == ["cut by the chunker", "cut by the chunker"]


def test_a_stale_label_and_a_missing_document_are_told_apart(tmp_path: Path):
    queries = [
        {
            "id": "s",
            "query": "a?",
            "anchors": [{"doc": "returns.md", "quote": "Refunds take a fortnight or so"}],
        },
        {
            "id": "n",
            "query": "b?",
            "anchors": [{"doc": "gone.md", "quote": "Anything that was there before"}],
        },
    ]
    summary = evaluate(load_project(make_project(tmp_path, queries=queries))).summary
    assert summary.unwinnable == {"s": "stale label", "n": "not indexed"}


def test_items_lost_at_the_stages_add_up_to_the_items(tmp_path: Path):
    settings = SETTINGS.replace("k = 2", "k = 1")
    summary = evaluate(load_project(make_project(tmp_path, settings=settings))).summary
    before = sum(
        miss.lost_at in {"not indexed", "stale label", "cut by the chunker"} for miss in summary.misses
    )
    assert summary.counts["items"] == summary.counts["found"] + before + sum(s.lost for s in summary.stages)


def test_nothing_is_stored_when_nobody_asked_for_it(tmp_path: Path):
    evaluate(load_project(make_project(tmp_path)), save=False)
    assert not (tmp_path / ".assay" / "runs").exists()


def test_a_missing_golden_file_says_what_to_do(tmp_path: Path):
    make_project(tmp_path)
    (tmp_path / "golden.jsonl").unlink()
    with pytest.raises(InputError, match=r"golden\.jsonl"):
        evaluate(load_project(tmp_path))
