"""Labelling through the pages: what is kept, what is shown to whom, what two people see of each other."""

from __future__ import annotations

import html
import json
import re
import shutil
from typing import Any

import pytest

from assay.flows.golden_exchange import export_golden
from assay.workbench.bench import Workbench
from pooled_project import REPEATED, document, pool_of, sentences
from visitor import Visitor, row_id


def grade(visitor: Visitor, number: int, value: float | None, **more: Any) -> Any:
    body = {"id": row_id(), "pool": "pool-1", "number": number, "grade": value, "elapsed_ms": 1200, **more}
    return visitor.post("/label/judge", body)


def states(visitor: Visitor, pool: str = "pool-1") -> list[dict[str, Any]]:
    return visitor.get(f"/label/state?pool={pool}").json()["states"]


def choose(
    visitor: Visitor, number: int, text: str, *, path: str = "/label/anchor/check", **more: Any
) -> Any:
    """Drag over a text of a candidate."""
    passage = pool_of(1).candidates[number - 1].text
    start = passage.index(text)
    body = {"pool": "pool-1", "number": number, "start": start, "end": start + len(text), **more}
    return visitor.post(path, body)


def test_a_query_is_shown_with_its_candidates_in_the_order_of_the_pool(ada: Visitor):
    text = ada.get("/label?q=q01").text
    assert "How much oil does station 1 keep?" in text
    shown = re.findall(r'<p class="reading" dir="auto">(.*?)</p>', text, re.DOTALL)
    assert [html.unescape(one) for one in shown] == [one.text for one in pool_of(1).candidates]


def test_who_found_a_candidate_and_at_which_rank_is_not_in_the_page(ada: Visitor):
    text = ada.get("/label?q=q01").text
    assert "secret-retriever" not in text
    assert "rank" not in text.lower()


def test_a_grade_is_an_appended_row_that_says_what_was_shown(ada: Visitor, bench: Workbench):
    answer = grade(ada, 2, 3)
    assert answer.status_code == 200
    (row,) = bench.labels.judgements()
    assert answer.json()["saved"] == row.id
    assert (row.query_id, row.grade, row.by, row.origin) == ("q01", 3.0, "ada", "person")
    assert row.shown == sentences(1)[1]
    assert document(1)[row.start : row.end] == row.shown
    assert (row.pool_id, row.elapsed_ms) == ("pool-1", 1200.0)


def test_a_grade_that_is_sent_twice_is_kept_once(ada: Visitor, bench: Workbench):
    body = {"id": row_id(), "pool": "pool-1", "number": 1, "grade": 1, "elapsed_ms": 9}
    assert [ada.post("/label/judge", body).status_code for _ in range(2)] == [200, 200]
    assert len(bench.labels.judgements()) == 1


def test_a_second_grade_counts_and_undo_brings_the_first_back(ada: Visitor, bench: Workbench):
    grade(ada, 1, 1)
    second = grade(ada, 1, 3).json()["saved"]
    assert states(ada)[0]["mine"] == 3.0
    undone = ada.post("/label/undo", {"id": row_id(), "undoes": second, "pool": "pool-1", "number": 1})
    assert undone.json()["state"]["mine"] == 1.0
    assert len(bench.labels.judgements()) == 3


def test_an_undo_that_is_sent_twice_is_kept_once(ada: Visitor, bench: Workbench):
    given = grade(ada, 1, 1).json()["saved"]
    body = {"id": row_id(), "undoes": given, "pool": "pool-1", "number": 1}
    assert [ada.post("/label/undo", body).status_code for _ in range(2)] == [200, 200]
    assert len(bench.labels.judgements()) == 2
    assert states(ada)[0] == {}


def test_nobody_takes_back_what_another_said(ada: Visitor, bob: Visitor):
    given = grade(ada, 1, 1).json()["saved"]
    answer = bob.post("/label/undo", {"id": row_id(), "undoes": given, "pool": "pool-1", "number": 1})
    assert answer.status_code == 400
    assert states(ada)[0]["mine"] == 1.0


def test_a_candidate_can_be_left_open(ada: Visitor):
    grade(ada, 1, None)
    assert states(ada)[0]["mine"] is None
    assert '"mine": null' in html.unescape(ada.get("/label?q=q01").text)


def test_others_grades_are_hidden_until_one_has_given_ones_own(ada: Visitor, bob: Visitor):
    grade(ada, 1, 3)
    assert states(bob) == [{}, {}, {}, {}]
    assert "ada" not in html.unescape(bob.get("/label?q=q01").text)
    grade(bob, 1, 3)
    assert states(bob)[0]["others"] == {"ada": 3.0}
    assert states(bob)[0]["conflict"] is False


def test_a_disagreement_is_shown_to_both_and_can_be_settled(ada: Visitor, bob: Visitor):
    grade(ada, 1, 3)
    grade(bob, 1, 0)
    assert [states(one)[0]["conflict"] for one in (ada, bob)] == [True, True]
    assert "q01" in ada.get("/judges").text
    answer = bob.post("/label/settle", {"id": row_id(), "pool": "pool-1", "number": 1, "grade": 2})
    assert answer.json()["state"]["settled"] == {"by": "bob", "grade": 2.0}
    assert [states(one)[0]["conflict"] for one in (ada, bob)] == [False, False]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"grade": 4}, "grade"),
        ({"grade": -1}, "grade"),
        ({"grade": "2"}, "grade"),
        ({"number": 0}, "no candidate 0"),
        ({"number": 5}, "no candidate 5"),
        ({"number": True}, "number"),
        ({"number": "1"}, "number"),
        ({"pool": "nothing"}, "no pool"),
        ({"pool": ["pool-1"]}, "pool"),
        ({"id": "1"}, "32 hex digits"),
        ({"id": "../../etc/passwd/etc/passwd/etc/pa"}, "32 hex digits"),
        ({"elapsed_ms": -3}, "elapsed_ms"),
        ({"why": "x" * 2001}, "at most 2000"),
    ],
)
def test_what_no_page_sends_is_refused(ada: Visitor, bench: Workbench, change: dict[str, Any], told: str):
    body = {"id": row_id(), "pool": "pool-1", "number": 1, "grade": 1, "elapsed_ms": 1} | change
    answer = ada.post("/label/judge", body)
    assert answer.status_code == 400
    assert told in answer.json()["error"]
    assert bench.labels.judgements() == ()


def test_the_first_query_with_something_left_is_shown(ada: Visitor, bob: Visitor):
    for number in range(1, 5):
        grade(ada, number, 0)
    assert "station 2 keep?</h1>" in ada.get("/label").text
    assert "station 1 keep?</h1>" in bob.get("/label").text
    assert "<strong>1</strong> of 4 queries done" in ada.get("/label").text


def test_a_query_can_be_said_to_have_no_answer_and_that_can_be_taken_back(ada: Visitor, bench: Workbench):
    said = ada.post("/label/answerless", {"id": row_id(), "pool": "pool-1", "value": True})
    assert said.json()["answerless"] is True
    again = ada.post("/label/answerless", {"id": row_id(), "pool": "pool-1", "value": True})
    assert again.json()["answerless"] is True
    assert len(bench.labels.decisions(subject="q01")) == 1
    assert "no answer" in ada.get("/label?q=q01").text
    back = ada.post("/label/answerless", {"id": row_id(), "pool": "pool-1", "value": False})
    assert back.json()["answerless"] is False


def test_a_query_that_was_not_pooled_is_a_mistake_that_is_told(ada: Visitor):
    answer = ada.get("/label?q=%3Cb%3E")
    assert answer.status_code == 400
    assert "no candidates were pooled for query &#39;&lt;b&gt;&#39;" in answer.text


# Anchors


def test_a_good_stretch_holds_in_all_three(ada: Visitor):
    said = choose(ada, 2, "keeps 17 barrels of oil in the cellar").json()
    assert said["holds"] is True
    assert said["quote"] == "keeps 17 barrels of oil in the cellar"
    assert [fact["text"] for fact in said["facts"]] == ["verbatim", "8 words", "once in station-01.md"]


def test_a_cut_word_is_made_whole(ada: Visitor):
    said = choose(ada, 2, "eps 17 barrels of oil in the cell").json()
    assert said["quote"] == "keeps 17 barrels of oil in the cellar"
    passage = pool_of(1).candidates[1].text
    start = passage.index("keeps")
    assert said["span"] == [start, start + len(said["quote"])]


def test_a_short_stretch_is_told_and_a_fitting_one_is_offered(ada: Visitor):
    said = choose(ada, 2, "17 barrels of oil").json()
    assert said["holds"] is False
    assert [fact["holds"] for fact in said["facts"]] == [True, False, True]
    start, end = said["better"]
    assert len(pool_of(1).candidates[1].text[start:end].split()) == 6


def test_a_stretch_that_stands_twice_is_told(ada: Visitor):
    said = choose(ada, 3, REPEATED).json()
    assert said["holds"] is False
    assert said["facts"][2] == {"name": "unique", "holds": False, "text": "2 times in station-01.md"}


@pytest.mark.parametrize(("start", "end"), [(5, 5), (9, 5), (-1, 5), ("0", 5)])
def test_no_stretch_is_refused(ada: Visitor, start: Any, end: Any):
    body = {"pool": "pool-1", "number": 2, "start": start, "end": end}
    assert ada.post("/label/anchor/check", body).status_code == 400


def test_an_anchor_enters_the_set_with_the_query_it_belongs_to(ada: Visitor, bench: Workbench):
    phrase = "keeps 17 barrels of oil in the cellar"
    said = choose(ada, 2, phrase, path="/label/anchor", id=row_id()).json()
    assert said["anchors"] == [{"id": "a1", "doc": "station-01.md", "quote": phrase}]
    assert [phrase, True] in said["pieces"]
    queries = {query.id: query for query in bench.labels.queries()}
    # The golden file's own queries came in first, so that an export keeps them.
    assert set(queries) == {"g1", "g2", "g3", "g4", "q01"}
    assert queries["q01"].anchors[0].quote == phrase
    assert queries["q01"].text == "How much oil does station 1 keep?"
    assert f"<mark>{phrase}</mark>" in ada.get("/label?q=q01").text
    exported = export_golden(bench.project, by="ada")
    assert exported.queries == 5
    assert phrase in bench.project.golden_path.read_text(encoding="utf-8")


def test_an_anchor_that_is_sent_twice_is_made_once(ada: Visitor, bench: Workbench):
    row = row_id()
    for _ in range(2):
        phrase = "keeps 17 barrels of oil in the cellar"
        assert choose(ada, 2, phrase, path="/label/anchor", id=row).status_code == 200
    (query,) = [one for one in bench.labels.queries() if one.id == "q01"]
    assert len(query.anchors) == 1


def test_what_cannot_be_an_anchor_is_not_made_one(ada: Visitor, bench: Workbench):
    answer = choose(ada, 2, "of oil", path="/label/anchor", id=row_id())
    assert answer.status_code == 400
    assert answer.json()["error"] == "2 words, 6 at least\n  fix: mark other words"
    assert bench.labels.edits() == ()


def test_an_anchor_can_be_taken_back_by_who_made_it(ada: Visitor, bob: Visitor, bench: Workbench):
    row = row_id()
    choose(ada, 2, "keeps 17 barrels of oil in the cellar", path="/label/anchor", id=row)
    body = {"id": row_id(), "undoes": row, "pool": "pool-1", "number": 2}
    assert bob.post("/label/anchor/undo", body).status_code == 400
    assert ada.post("/label/anchor/undo", body).json()["anchors"] == []
    (query,) = [one for one in bench.labels.queries() if one.id == "q01"]
    assert query.anchors == ()


def test_a_document_that_changed_since_it_was_pooled_takes_no_anchor(ada: Visitor, bench: Workbench):
    path = bench.project.folder / "docs" / "station-01.md"
    path.write_text("Something else entirely stands here now.\n", encoding="utf-8")
    answer = choose(ada, 2, "keeps 17 barrels of oil in the cellar")
    assert answer.status_code == 400
    assert "has changed since it was pooled" in answer.json()["error"]


def test_the_list_says_how_far_one_is(ada: Visitor):
    grade(ada, 1, 0)
    assert ">1/4<" in ada.get("/label").text
    state = re.search(r'id="c1"[^>]*data-state="([^"]*)"', ada.get("/label?q=q01").text)
    assert state is not None
    assert json.loads(html.unescape(state[1]))["mine"] == 0.0


@pytest.mark.parametrize(
    ("path", "change", "told"),
    [
        ("/label/settle", {"grade": 7}, "grade: 0 to 3 is expected, not 7"),
        ("/label/anchor", {"grade": 0, "start": 0, "end": 30}, "grade: 1 to 3 is expected, not 0"),
    ],
)
def test_a_grade_that_no_page_sends_is_told(ada: Visitor, path: str, change: dict[str, Any], told: str):
    body = {"id": row_id(), "pool": "pool-1", "number": 1} | change
    answer = ada.post(path, body)
    assert (answer.status_code, answer.json()["error"]) == (400, told)


def test_a_query_cannot_be_laid_open_before_there_is_a_run(ada: Visitor, bench: Workbench):
    shutil.rmtree(bench.store.folder)
    answer = ada.get("/query")
    assert answer.status_code == 400
    assert "no run is stored yet" in answer.text
    assert "assay run" in answer.text
