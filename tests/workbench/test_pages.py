"""Drafts, misses, comparison, query, judges, overview and long work, through the pages."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.flows.evaluate import evaluate
from assay.flows.judge_report import report_judge
from assay.model.errors import InputError
from assay.model.judges import JudgeRecord
from assay.model.labels import Judgement
from assay.store.findings import load_decisions
from assay.store.judges import save_judge
from assay.workbench.bench import Workbench
from assay.workbench.jobs import Jobs, Progress
from pooled_project import draft_of, make_pooled_project, pool_of
from visitor import Visitor, row_id

# Drafts


def decision(number: int = 1, **changes: Any) -> dict[str, Any]:
    query = draft_of(number).query
    return {
        "id": row_id(),
        "edit": row_id(),
        "draft": draft_of(number).id,
        "verdict": "accepted",
        "text": query.text,
        "kind": query.kind,
        "quotes": [one.quote for one in query.anchors],
        "why": "",
    } | changes


def test_a_draft_is_shown_with_its_passage_and_its_anchor_marked(ada: Visitor):
    text = ada.get("/drafts").text
    assert "What lies in the cellar of station 1?" in text
    assert "<mark>Station 1 keeps 17 barrels of oil in the cellar</mark>" in text
    assert "worded by a rule" in text


def test_an_accepted_draft_enters_the_set_with_the_name_of_who_looked(ada: Visitor, bench: Workbench):
    answer = ada.post("/drafts/decide", decision())
    assert answer.json()["next"] == f"/drafts?draft={draft_of(2).id}"
    (query,) = bench.labels.queries()
    assert (query.id, query.provenance.verified_by) == ("d1", "ada")
    (held,) = bench.labels.decisions()
    assert (held.verdict, held.by) == ("accepted", "ada")


def test_an_edited_draft_enters_as_it_was_edited(ada: Visitor, bench: Workbench):
    changed = decision(
        text="Where is the oil kept?",
        kind="lexical",
        quotes=["barrels of oil in the cellar under the northern stair"],
    )
    assert ada.post("/drafts/decide", changed).status_code == 200
    (query,) = bench.labels.queries()
    assert (query.text, query.kind) == ("Where is the oil kept?", "lexical")
    # One word wider than it was written: other stations keep theirs in the same place.
    assert query.anchors[0].quote == "17 barrels of oil in the cellar under the northern stair."
    assert bench.labels.decisions()[0].verdict == "edited"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"text": "  "}, "the question is empty"),
        ({"quotes": ["words that stand in no document at all"]}, "anchor 1: anchor is not verbatim"),
        ({"quotes": []}, "one phrase for each anchor"),
        ({"verdict": "perhaps"}, "accepted or refused"),
        ({"draft": "0" * 32}, "there is no draft"),
        ({"text": "x" * 4001}, "at most 4000"),
    ],
)
def test_what_cannot_enter_the_set_is_told_why(
    ada: Visitor, bench: Workbench, changes: dict[str, Any], told: str
):
    answer = ada.post("/drafts/decide", decision(**changes))
    assert answer.status_code == 400
    assert told in answer.json()["error"]
    assert bench.labels.queries() == ()
    assert len(bench.labels.drafts(undecided=True)) == 2


def test_a_refused_draft_enters_nothing_and_says_why(ada: Visitor, bench: Workbench):
    ada.post("/drafts/decide", decision(verdict="refused", why="too easy"))
    assert bench.labels.queries() == ()
    assert bench.labels.decisions()[0].why == "too easy"


def test_of_two_people_the_second_is_told_of_the_first(ada: Visitor, bob: Visitor, bench: Workbench):
    first = decision(verdict="refused")
    assert ada.post("/drafts/decide", first).status_code == 200
    assert ada.post("/drafts/decide", first).status_code == 200  # sent again: kept once
    late = bob.post("/drafts/decide", decision())
    assert late.status_code == 409
    assert late.json()["error"] == "ada has refused this draft meanwhile"
    assert len(bench.labels.decisions()) == 1
    assert bench.labels.queries() == ()


def test_a_decision_is_taken_back_with_what_it_brought(ada: Visitor, bob: Visitor, bench: Workbench):
    sent = decision()
    ada.post("/drafts/decide", sent)
    body = {
        "id": row_id(),
        "edit_undo": row_id(),
        "undoes": sent["id"],
        "edit": sent["edit"],
        "draft": sent["draft"],
    }
    assert bob.post("/drafts/undo", body).status_code == 400
    assert ada.post("/drafts/undo", body).json()["next"] == f"/drafts?draft={sent['draft']}"
    assert bench.labels.queries() == ()
    assert len(bench.labels.drafts(undecided=True)) == 2


def test_a_phrase_is_checked_while_it_is_written(ada: Visitor):
    body = {"draft": draft_of(1).id, "number": 0, "quote": "Boats may land at station 1 on 3 days"}
    assert ada.post("/drafts/check", body).json()["holds"] is True
    assert ada.post("/drafts/check", body | {"quote": "not in there"}).json()["holds"] is False
    assert ada.post("/drafts/check", body | {"number": 7}).status_code == 400


def test_when_all_drafts_are_decided_the_page_says_so(ada: Visitor):
    for number in (1, 2):
        ada.post("/drafts/decide", decision(number, verdict="refused"))
    assert "No draft waits" in ada.get("/drafts").text


# Misses


@pytest.fixture
def missing(tmp_path: Path) -> Iterator[Workbench]:
    """A project at k = 1 whose queries ask for the station by number, so that some are missed."""
    folder = make_pooled_project(tmp_path / "missing", queries=4)
    golden = folder / "golden.jsonl"
    rows = [json.loads(line) for line in golden.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row["query"] = "When may ships come to the rock?"
        row["anchors"][0]["quote"] = "is lit at " + str(int(row["id"][1:]) + 4) + " in the evening, and never"
    golden.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    made = Workbench(folder)
    evaluate(made.project)
    yield made
    made.close()


def opened(visitor: Visitor, path: str = "/misses") -> dict[str, str]:
    text = visitor.get(path).text
    found = re.search(r'data-run="(\w+)" data-miss="(\w+)" data-seen="([^"]*)"', text)
    assert found is not None
    return {"run": found[1], "miss": found[2], "seen": found[3]}


def test_a_miss_is_shown_with_its_ranks_and_evidence(missing: Workbench):
    text = Visitor(missing, name="ada").get("/misses").text
    assert "lost here" not in text  # that is the style's word
    assert 'class="ladder"' in text
    assert "is lit at" in text
    assert "What the prompt got" in text


def test_a_kind_is_confirmed_and_kept_beside_the_golden_set(missing: Workbench):
    ada = Visitor(missing, name="ada")
    at = opened(ada)
    answer = ada.post("/misses/decide", at | {"kind": "vocabulary-gap", "note": "no word in common"})
    assert answer.status_code == 200
    assert answer.json()["next"] != f"/misses?run={at['run']}&miss={at['miss']}"
    (held,) = load_decisions(missing.project.golden_path.with_name("findings.jsonl"))
    assert (held.kind, held.by, held.note) == ("vocabulary-gap", "ada", "no word in common")
    assert "by ada" in ada.get(f"/misses?run={at['run']}&miss={at['miss']}").text


def test_a_kind_that_does_not_exist_is_refused(missing: Workbench):
    ada = Visitor(missing, name="ada")
    assert ada.post("/misses/decide", opened(ada) | {"kind": "bad-luck"}).status_code == 400
    assert ada.post("/misses/decide", opened(ada) | {"kind": None, "miss": "0" * 24}).status_code == 400


def test_what_somebody_else_said_meanwhile_is_not_overwritten_unseen(missing: Workbench):
    ada, bob = Visitor(missing, name="ada"), Visitor(missing, name="bob")
    at = opened(ada)
    ada.post("/misses/decide", at | {"kind": "ranking"})
    late = bob.post("/misses/decide", at | {"kind": None})
    assert late.status_code == 409
    assert "ranking (ada)" in late.json()["error"]
    seen = opened(bob, f"/misses?run={at['run']}&miss={at['miss']}")
    assert bob.post("/misses/decide", seen | {"kind": None}).status_code == 200
    assert ada.post("/misses/undo", at).status_code == 409


def test_a_decision_on_a_miss_is_taken_back(missing: Workbench):
    ada = Visitor(missing, name="ada")
    at = opened(ada)
    ada.post("/misses/decide", at | {"kind": "ranking"})
    assert ada.post("/misses/undo", at).json()["next"].endswith(at["miss"])
    assert load_decisions(missing.project.golden_path.with_name("findings.jsonl")) == ()
    assert ada.post("/misses/undo", at).status_code == 200


def test_a_decision_of_the_terminal_is_seen_by_the_page(missing: Workbench):
    ada = Visitor(missing, name="ada")
    at = opened(ada)
    ada.post("/misses/decide", at | {"kind": "ranking"})
    path = missing.project.golden_path.with_name("findings.jsonl")
    path.write_text(path.read_text(encoding="utf-8").replace('"ada"', '"grace"'), encoding="utf-8")
    assert "by grace" in ada.get(f"/misses?run={at['run']}&miss={at['miss']}").text


# Comparison, query, judges, overview


def test_two_runs_stand_side_by_side_with_the_queries_that_moved(missing: Workbench):
    evaluate(missing.project.with_settings({"chunker.max_chars": 60}))
    text = Visitor(missing).get("/compare").text
    assert "Queries that moved" in text
    assert text.count("<h3>Base</h3>") == text.count("<h3>Candidate</h3>")


def test_two_runs_without_a_measure_in_common_are_told_so_beside_the_choice(missing: Workbench):
    evaluate(missing.project.with_settings({"k": 3}))
    text = Visitor(missing).get("/compare").text
    assert "no measure" in text
    assert '<select id="base"' in text


def test_one_run_is_no_comparison(ada: Visitor):
    assert "One run is no comparison" in ada.get("/compare").text


def test_a_run_that_is_not_there_is_told(ada: Visitor, missing: Workbench):
    assert ada.get("/misses?run=nothing").status_code == 503
    evaluate(missing.project.with_settings({"pipeline.pool": 2}))
    assert Visitor(missing).get("/compare?split=nothing").status_code == 400


def test_a_query_is_laid_open_stage_by_stage_with_its_arithmetic(ada: Visitor):
    text = ada.get("/query?id=g2").text
    assert "When is the lamp of station 2 lit?" in text
    for stage in ("vector", "fulltext", "final"):
        assert f'<span class="query">{stage}</span>' in text
    assert 'class="arithmetic"' in text
    assert ada.get("/query?id=nothing").status_code == 400


def test_agreement_is_told_between_people(ada: Visitor, bob: Visitor):
    # Agreed on 2 of 4 places: one says 0 0 1 1, the other 0 1 0 1, so kappa is 0.
    for visitor, grades in ((ada, [0, 0, 1, 1]), (bob, [0, 1, 0, 1])):
        for number, value in enumerate(grades, start=1):
            body = {"id": row_id(), "pool": "pool-1", "number": number, "grade": value, "elapsed_ms": 1}
            visitor.post("/label/judge", body)
    text = ada.get("/judges").text
    assert re.search(r"ada</th>.*bob.*<td>4</td><td>0.500</td><td>0.500</td><td>0.000</td>", text, re.DOTALL)


def test_a_judge_is_held_against_people_as_its_report_does(ada: Visitor, bench: Workbench):
    # Of 40 places people call every second one relevant; the judge says yes to all.
    for by, origin in (("ada", "person"), ("m/1", "judge")):
        rows = [
            Judgement(
                query_id=f"q{at:03}",
                doc_id="station-01.md",
                start=at,
                end=at + 5,
                grade=1.0 if origin == "judge" or at % 2 else 0.0,
                by=by,
                origin="judge" if origin == "judge" else "person",
                model="m" if origin == "judge" else None,
            )
            for at in range(40)
        ]
        bench.labels.add_judgements(rows)
    text = ada.get("/judges").text
    row = re.search(
        r'<tr class="all"><th scope="row">all</th><td>(\d+)</td><td>(.*?)</td><td>(.*?)</td>', text
    )
    assert row is not None
    expected = report_judge(bench.project, judge="m/1").figures[0]
    assert int(row[1]) == expected.n > 0
    assert row[2].startswith("1.000 ")
    assert row[3].startswith("0.000 ")


def test_a_judges_licence_is_shown_with_the_bounds_it_rests_on(ada: Visitor, bench: Workbench):
    # 38 of 40 and 48 of 50, exact 95 % intervals: from 0.831 and 0.863.
    record = JudgeRecord(
        judge="m/1",
        model="m",
        positives=40,
        true_positives=38,
        negatives=50,
        true_negatives=48,
        labels="",
        looks=1,
        by="ada",
        at="2026-05-01",
    )
    save_judge(bench.project.golden_path.with_name("judges.jsonl"), record)
    text = ada.get("/judges").text
    assert "<strong>yes</strong>" in text
    assert "(0.831 to 0.994)" in text
    assert "(0.863 to 0.995)" in text


def test_candidates_are_gathered_from_the_page(template: Path, tmp_path: Path):
    folder = shutil.copytree(template, tmp_path / "fresh")
    for file in folder.glob("labels.db*"):
        file.unlink()
    bench = Workbench(folder)
    ada = Visitor(bench, name="ada")
    assert "Nothing waits for a label" in ada.get("/label").text
    place = ada.post("/work", {"what": "pool"}).headers["location"]
    assert wait_for(ada, place)[-1]["link"] == "/label"
    assert "When is the lamp of station 1 lit?" in ada.get("/label?q=g1").text
    assert "ranks" not in ada.get("/label?q=g1").text
    bench.close()


def test_one_pooling_can_be_labelled_alone(ada: Visitor, bench: Workbench):
    second = replace(pool_of(1), id="later", name="the deciding ones", candidates=pool_of(1).candidates[:1])
    bench.labels.add_pools([second])
    assert "0 of 1 graded" in ada.get("/label?q=q01").text
    assert "0 of 4 graded" in ada.get("/label?q=q01&pooling=first+pooling").text
    assert "of 1 queries done" in ada.get("/label?pooling=the+deciding+ones").text


def test_the_overview_says_what_waits(ada: Visitor):
    text = ada.get("/").text
    assert re.search(r'href="/label">4<', text)
    assert re.search(r'href="/drafts">2<', text)
    assert "recall@1" in text
    assert "not checked since it changed" in text


# Long work


def wait_for(visitor: Visitor, place: str) -> list[dict[str, Any]]:
    with visitor.client.stream("GET", f"{place}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        return [json.loads(line[6:]) for line in stream.iter_lines() if line.startswith("data: ")]


def test_a_run_that_is_started_from_the_page_tells_how_far_it_is(ada: Visitor, bench: Workbench):
    place = ada.post("/work", {"what": "run"}).headers["location"]
    assert "assay run" in ada.get(place).text
    told = wait_for(ada, place)
    assert told[-1]["state"] == "done"
    assert told[-1]["link"] == f"/misses?run={bench.runs()[0].id}"


def test_the_check_fills_the_overview(ada: Visitor):
    place = ada.post("/work", {"what": "check"}).headers["location"]
    assert wait_for(ada, place)[-1]["link"] == "/"
    assert "not checked since it changed" not in ada.get("/").text


def test_labels_beside_the_documents_do_not_make_the_check_old(folder: Path):
    settings = folder / "assay.toml"
    text = settings.read_text(encoding="utf-8").replace(
        'path = "docs"', 'path = "."\ninclude = ["docs/*.md"]'
    )
    settings.write_text(text, encoding="utf-8")
    bench = Workbench(folder)
    ada = Visitor(bench, name="ada")
    assert bench.check() is not None
    body = {"id": row_id(), "pool": "pool-1", "number": 1, "grade": 1, "elapsed_ms": 1}
    assert ada.post("/label/judge", body).status_code == 200
    assert bench.check(wait=False) is not None
    (folder / "docs" / "station-09.md").write_text("A new page of the book.\n", encoding="utf-8")
    assert bench.check(wait=False) is None
    bench.close()


def test_work_that_failed_is_told_on_the_overview(ada: Visitor, bench: Workbench):
    bench.project.golden_path.write_text("not json\n", encoding="utf-8")
    place = ada.post("/work", {"what": "check"}).headers["location"]
    told = wait_for(ada, place)[-1]
    assert told["state"] == "failed"
    assert "golden.jsonl:1" in told["error"]
    assert "golden.jsonl:1" in ada.get(place).text


def test_only_known_work_is_started(ada: Visitor):
    assert ada.post("/work", {"what": "rm -rf /"}).status_code == 400
    assert ada.get("/work/nothing").status_code == 404
    assert ada.get("/work/nothing/events").status_code == 404


def test_work_that_fails_says_why_and_one_of_a_name_runs_at_a_time():
    jobs = Jobs()
    go = [False]

    def slow(tell: Progress) -> str:
        tell("waiting", 1, 2)
        while not go[0]:
            time.sleep(0.005)
        raise InputError("the documents are gone")

    first = jobs.start("slow", slow)
    assert jobs.start("slow", slow).id == first.id
    assert [job.id for job in jobs.running()] == [first.id]
    go[0] = True
    until = time.monotonic() + 10
    while jobs.running() and time.monotonic() < until:
        time.sleep(0.005)
    held = jobs.get(first.id)
    assert held is not None
    assert (held.state, held.error) == ("failed", "the documents are gone")
    assert jobs.start("slow", slow).id != first.id
