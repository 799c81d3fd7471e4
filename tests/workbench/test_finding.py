"""Searching the documents from the page where people label, and adding what was found."""

from __future__ import annotations

import html
import re
import urllib.parse
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.flows.find import Finder
from assay.flows.prepare import load_corpus
from assay.flows.project import load_project
from assay.model.labels import Pool
from assay.workbench.bench import Workbench
from pooled_project import REPEATED, pool_of, sentences
from visitor import HOME, Visitor

WORDS = "tide allows"


def found_in(page: str) -> list[str]:
    section = page[page.index('<section class="find"') :]
    return [
        html.unescape(one)
        for one in re.findall(r'<p class="reading" dir="auto">(.*?)</p>', section, re.DOTALL)
    ]


def actions_in(page: str) -> list[str]:
    return [html.unescape(one) for one in re.findall(r'action="(/label/add[^"]*)"', page)]


def submit(visitor: Visitor, action: str) -> Any:
    """Press a button of a form, as a browser does."""
    return visitor.client.post(
        action, data={"token": visitor.token}, headers={"origin": HOME}, follow_redirects=False
    )


def cut_down(bench: Workbench, kept: int) -> Pool:
    """Give the first query a later pool of fewer candidates."""
    pool = replace(pool_of(1), id=f"short-{kept}", candidates=pool_of(1).candidates[:kept])
    (stored,) = bench.labels.add_pools([pool])
    return stored


def project_of(folder: Path, texts: dict[str, str]) -> Finder:
    (folder / "docs").mkdir(parents=True)
    for name, text in texts.items():
        (folder / "docs" / name).write_text(text, encoding="utf-8")
    (folder / "assay.toml").write_text(
        'name = "found"\n[corpus]\npath = "docs"\n[chunker]\nmax_chars = 80\n', encoding="utf-8"
    )
    project = load_project(folder)
    return Finder(project, load_corpus(project))


def test_passages_are_found_by_their_words_and_the_very_words_come_first(tmp_path: Path):
    finder = project_of(
        tmp_path,
        {
            "a.md": "Oil of barrels: barrels, oil, barrels and oil, barrels.\n",
            "b.md": "Nothing of that kind is kept here, and nobody asks for it.\n",
            "c.md": "There are many Barrels  of\noil in the cellar under the northern stair.\n",
        },
    )
    assert [one.doc_id for one in finder.find("barrels of oil")] == ["c.md", "a.md"]
    assert [one.doc_id for one in finder.find("oil barrels")] == ["a.md", "c.md"]
    (only,) = finder.find("barrels of oil", most=1)
    assert (only.doc_id, only.start, only.ranks) == ("c.md", 0, {})
    assert only.text.startswith("There are many Barrels  of\noil")
    assert finder.find("  ") == ()
    assert finder.find("zeppelin") == ()


def test_what_full_text_cannot_find_is_looked_for_as_it_stands(tmp_path: Path):
    finder = project_of(
        tmp_path, {"a.md": "灯塔的油放在北面的楼梯下面。\n", "b.md": "To be or not to be, that is it.\n"}
    )
    assert [one.doc_id for one in finder.find("楼梯下")] == ["a.md"]
    assert [one.doc_id for one in finder.find("to be or not")] == ["b.md"]


def test_a_project_with_a_retriever_of_its_own_is_searched_too(tmp_path: Path):
    project_of(tmp_path, {"a.md": "Five barrels of oil.\n"})
    settings = tmp_path / "assay.toml"
    settings.write_text(
        settings.read_text(encoding="utf-8") + '[retriever]\nkind = "run"\npath = "nowhere.run"\n',
        encoding="utf-8",
    )
    project = load_project(tmp_path)
    assert [one.doc_id for one in Finder(project, load_corpus(project)).find("barrel")] == ["a.md"]


def test_what_is_found_is_shown_under_the_candidates_and_those_that_are_candidates_link_there(
    ada: Visitor, bench: Workbench
):
    cut_down(bench, 2)
    page = ada.get(f"/label?q=q01&find={urllib.parse.quote(WORDS)}").text
    assert found_in(page)[0] in [sentences(number)[2] for number in range(1, 5)]
    assert sentences(1)[2] in found_in(page)
    assert '<a href="#c1">Candidate 1</a>' in page  # the first candidate holds the words
    assert len(actions_in(page)) == len(found_in(page)) - 1
    assert 'value="tide allows"' in page
    assert "No passage holds" not in page


def test_who_does_not_search_waits_for_no_index(ada: Visitor, monkeypatch: pytest.MonkeyPatch):
    def never(*_: object) -> None:
        raise AssertionError("an index was made")

    monkeypatch.setattr("assay.workbench.bench.Finder", never)
    assert ada.get("/label?q=q01").status_code == 200
    assert ada.get("/label?q=q01&find=+").status_code == 200


def test_nothing_found_is_said(ada: Visitor):
    page = ada.get("/label?q=q01&find=zeppelin").text
    assert "No passage holds any of these words." in page
    assert found_in(page) == []
    assert "No passage holds" not in ada.get("/label?q=q01&find=+").text


def test_a_passage_that_is_added_stands_at_the_end_and_all_else_stays(ada: Visitor, bench: Workbench):
    short = cut_down(bench, 2)
    ada.post("/label/judge", {"id": "0" * 32, "pool": short.id, "number": 1, "grade": 2, "elapsed_ms": 5})
    page = ada.get("/label?pool=short-2&find=hour+of+it+into+the+book&pooling=first+pooling").text
    place = f"station-01.md#{pool_of(1).candidates[2].start}-"
    action = next(one for one in actions_in(page) if place in urllib.parse.unquote(one))
    answer = submit(ada, action)
    assert (answer.status_code, answer.headers["location"]) == (
        303,
        "/label?q=q01&pooling=first+pooling#c3",
    )
    wider = bench.labels.pools(query_id="q01")[-1]
    assert (wider.name, wider.by, wider.sources) == (short.name, "ada", short.sources)
    assert wider.candidates[:2] == short.candidates
    assert (wider.candidates[2].ranks, len(wider.candidates)) == ({}, 3)
    assert REPEATED in wider.candidates[2].text
    # The grade that was given before is the place's, and the new candidate can be graded.
    said = ada.get(f"/label/state?pool={wider.id}").json()["states"]
    assert [one.get("mine") for one in said] == [2.0, None, None]
    body = {"id": "1" * 32, "pool": wider.id, "number": 3, "grade": 3, "elapsed_ms": 5}
    assert ada.post("/label/judge", body).json()["state"]["mine"] == 3.0


def test_a_passage_that_is_added_twice_is_there_once(ada: Visitor, bob: Visitor, bench: Workbench):
    cut_down(bench, 2)
    page = ada.get("/label?q=q01&find=hour+of+it+into+the+book").text
    bob.get("/label?q=q01")
    action = actions_in(page)[0]
    ends = {submit(who, action).headers["location"] for who in (ada, ada, bob)}
    assert ends == {"/label?q=q01#c3"}
    assert len(bench.labels.pools(query_id="q01")[-1].candidates) == 3


def test_two_people_who_add_different_passages_lose_neither(ada: Visitor, bob: Visitor, bench: Workbench):
    short = cut_down(bench, 2)
    page = ada.get("/label?q=q01&find=fog+horn").text
    bob.get("/label?q=q01")
    first, second, *_ = actions_in(page)
    assert submit(ada, first).headers["location"].endswith("#c3")
    assert submit(bob, second).headers["location"].endswith("#c4")
    latest = bench.labels.pools(query_id="q01")[-1]
    assert (len(latest.candidates), latest.candidates[:2]) == (4, short.candidates)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"place": "station-01.md#0-3"}, "is not among what these words find"),
        ({"find": "zeppelin"}, "is not among what these words find"),
        ({"pool": "none"}, "there is no pool"),
        ({"place": None}, "place: a text is expected"),
    ],
)
def test_what_the_search_did_not_find_is_not_added(
    ada: Visitor, bench: Workbench, change: dict[str, str | None], told: str
):
    cut_down(bench, 2)
    action = urllib.parse.urlsplit(actions_in(ada.get("/label?q=q01&find=fog+horn").text)[0])
    asked = {**dict(urllib.parse.parse_qsl(action.query)), **change}
    kept = {key: value for key, value in asked.items() if value is not None}
    answer = submit(ada, f"{action.path}?{urllib.parse.urlencode(kept)}")
    assert (answer.status_code, told in answer.text) == (400, True)
    assert len(bench.labels.pools(query_id="q01")) == 2


def test_a_query_without_candidates_can_be_labelled_from_the_documents(ada: Visitor, bench: Workbench):
    pool = replace(pool_of(1), id="empty", query_id="q99", candidates=())
    bench.labels.add_pools([pool])
    page = ada.get("/label?q=q99&find=barrels+of+oil").text
    assert "Nothing was retrieved for this query." in page
    answer = submit(ada, actions_in(page)[0])
    assert answer.headers["location"] == "/label?q=q99#c1"
    assert "Nothing was retrieved" not in ada.get("/label?q=q99").text


def test_a_very_long_search_is_cut(ada: Visitor):
    page = ada.get(f"/label?q=q01&find={'oil+' * 300}").text
    shown = re.search(r'name="find" value="([^"]*)"', page)
    assert shown is not None
    assert 390 < len(shown[1]) <= 400
