from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assay.cli import run as run_command
from assay.flows.depths import rank_bins, rank_histogram, recall_curves
from assay.flows.evaluate import Evaluation, evaluate, evaluation_of
from assay.flows.misses import _evenly, excerpt
from assay.flows.project import load_project
from assay.flows.report import Wanted, report
from assay.model.errors import StoreError
from assay.model.report import RankBin
from small_project import QUERIES, SETTINGS, make_project

LOST = [
    *QUERIES,
    {
        "id": "q4",
        "query": "What does the code mean that the payment provider refused?",
        "kind": "factual",
        "anchors": [{"doc": "delivery.md", "quote": "tried again on the next working day"}],
    },
    {
        "id": "q5",
        "query": "Stale?",
        "kind": "lexical",
        "anchors": [{"doc": "errors.md", "quote": "not there at all"}],
    },
]


@pytest.fixture
def evaluation(tmp_path: Path) -> Evaluation:
    settings = SETTINGS.replace("k = 2", "k = 1")
    return evaluate(load_project(make_project(tmp_path, settings=settings, queries=LOST)))


def test_bins_have_an_edge_behind_k_and_hold_the_deepest_rank():
    # k = 7 lies between 3 and 10: 4 to 7 is its own bin.
    bins = rank_bins(7, 12)
    assert [(one.first, one.last) for one in bins] == [(1, 1), (2, 3), (4, 7), (8, 10), (11, 30)]
    assert [one.within_cut for one in bins] == [True, True, True, False, False]
    assert rank_bins(1, 1) == (RankBin(first=1, last=1, within_cut=True),)


def test_each_stage_counts_every_relevant_chunk_once(evaluation: Evaluation):
    ranks = rank_histogram(evaluation)
    # q1, q2 and q4 have one relevant chunk each; q3 has no answer and q5 no place.
    assert ranks.chunks == 3
    assert [sum(stage.counts) + stage.absent for stage in ranks.stages] == [3] * len(ranks.stages)
    final = ranks.stages[-1]
    # q1 and q2 are found first; q4 is not.
    assert final.counts[0] == 2
    assert final.absent == 1


def test_the_curves_pass_through_the_figures_of_the_summary(evaluation: Evaluation):
    curves, summary = recall_curves(evaluation), evaluation.summary
    for curve, stage in zip(curves.curves, summary.stages, strict=True):
        assert curve.recall[curve.ks.index(summary.k)] == stage.recall_at_k["overall"].mean
        assert curve.recall[-1] == stage.recall["overall"].mean
    assert curves.pool == "pool"
    assert curves.pool_recall == next(s for s in summary.stages if s.name == "pool").recall["overall"].mean


def test_no_ceiling_is_told_where_later_stages_hold_more_than_the_pool(evaluation: Evaluation):
    assert recall_curves(evaluation).pool == "pool"
    stages = tuple(
        replace(one, offsets=np.zeros_like(one.offsets), chunks=one.chunks[:0], scores=one.scores[:0])
        if one.name == "pool"
        else one
        for one in evaluation.run.stages
    )
    unbound = evaluation_of(evaluation.prepared, replace(evaluation.run, stages=stages))
    assert recall_curves(unbound).pool is None


def test_recall_never_falls_with_k_and_never_passes_the_limit(evaluation: Evaluation):
    curves = recall_curves(evaluation)
    limit = dict(curves.limit)
    for curve in curves.curves:
        values = [value for value in curve.recall if value is not None]
        assert values == sorted(values)
        assert all(value <= (limit[k] or 0) for k, value in zip(curve.ks, values, strict=True))


def test_misses_are_those_of_the_summary_with_their_evidence(evaluation: Evaluation):
    page = report(evaluation.project)
    assert [miss.query_id for miss in page.misses] == [miss.query_id for miss in page.summary.misses]
    lost, stale = page.misses
    (item,) = lost.items
    assert item.passage is not None
    start, end = item.passage.marks[0]
    assert item.passage.text[start:end] == "tried again on the next working day"
    assert len(lost.hits) == 1
    assert item.finding is not None
    (gone,) = stale.items
    assert gone.lost_at == "stale label"
    assert gone.stage is None
    assert gone.passage is None
    assert gone.quotes == ("not there at all",)


def test_an_anchor_that_no_chunk_holds_is_shown_in_its_document(tmp_path: Path):
    settings = SETTINGS.replace(
        "[chunker]\nmax_chars = 80", '[chunker]\nname = "characters"\nsize = 30\noverlap = 0'
    )
    evaluation = evaluate(load_project(make_project(tmp_path, settings=settings)))
    passage = report(evaluation.project).misses[0].items[0].passage
    assert passage is not None
    assert passage.chunk_id is None
    start, end = passage.marks[0]
    assert passage.text[start:end] == "Refunds reach the card within 14 days"


def test_passages_are_given_evenly_over_kinds_and_places():
    groups = [("a", "fusion")] * 4 + [("b", "reranker")] * 2
    # First of each group, then the second of each.
    assert _evenly(groups, 4) == {0, 4, 1, 5}  # pyright: ignore[reportArgumentType]
    assert _evenly(groups, 0) == set()  # pyright: ignore[reportArgumentType]


def test_a_report_without_passages_keeps_ranks_and_findings(evaluation: Evaluation):
    page = report(evaluation.project, None, Wanted(passages=0))
    assert page.shown == 0
    assert all(not miss.hits and miss.items[0].ranks and miss.items[0].finding for miss in page.misses)
    assert page.making.command.endswith("--passages 0")


def test_an_excerpt_keeps_the_mark_in_the_middle():
    text, marks = excerpt("x" * 100 + "gold" + "y" * 100, ((100, 104),), most=24)
    assert text == "… " + "x" * 10 + "gold" + "y" * 10 + " …"
    assert [text[start:end] for start, end in marks] == ["gold"]
    assert excerpt("short", ((0, 5),)) == ("short", ((0, 5),))


def test_an_excerpt_of_a_mark_longer_than_the_room_begins_with_it():
    text, marks = excerpt("a" * 5 + "g" * 50 + "b" * 5, ((5, 55),), most=20)
    assert text == "… " + "g" * 20 + " …"
    assert marks == ((2, 22),)


def test_the_place_that_lost_most_is_named(evaluation: Evaluation):
    page = report(evaluation.project)
    assert page.most_lost is not None
    # One item each: the earlier place is named.
    assert page.most_lost == ("stale label", 1)


def test_a_run_is_made_where_none_is_stored(tmp_path: Path):
    project = load_project(make_project(tmp_path))
    page = report(project)
    assert page.summary.run_id
    assert page.making.versions["assay"]


def test_an_unknown_baseline_is_told(evaluation: Evaluation):
    with pytest.raises(StoreError, match="there is no run"):
        report(evaluation.project, None, Wanted(baseline="nothing"))


def test_the_command_writes_html_beside_the_settings_and_prints_the_others(
    evaluation: Evaluation, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert run_command(["report", "--project", str(tmp_path)]) == 0
    path = tmp_path / "assay-report.html"
    assert capsys.readouterr().out == f"{path}\n"
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    for form, start in (("md", "<!-- assay -->"), ("json", "{"), ("junit", "<?xml")):
        assert run_command(["report", "-p", str(tmp_path), "--format", form]) == 0
        assert capsys.readouterr().out.startswith(start)
    out = tmp_path / "deep" / "r.md"
    assert run_command(["report", "-p", str(tmp_path), "--format", "md", "-o", str(out)]) == 0
    assert out.is_file()
