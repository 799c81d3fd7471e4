"""Documents, queries, names and ids are other people's: in the pages they stay text."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

import pytest

from assay.model.golden import Anchor, Query
from assay.model.labels import Candidate, Draft, Pool
from assay.workbench.bench import Workbench
from hostile_project import ATTACK, KIND, TURNED, make_hostile_project
from visitor import HOME, Visitor, row_id

DOCUMENT = "page-0 & <u>.md"
FIND = "/label?find=" + quote(f"{ATTACK} gold {TURNED}")
PLACES = [
    "/",
    "/label",
    FIND,
    "/drafts",
    "/misses",
    "/query?id=q1%3Ci%3E",
    "/judges",
    "/label?q=%3Cscript%3E",
]


@pytest.fixture
def hostile(tmp_path: Path) -> Iterator[Workbench]:
    project = make_hostile_project(tmp_path)
    made = Workbench(tmp_path)
    text = (tmp_path / "docs" / DOCUMENT).read_text(encoding="utf-8")
    whole = Candidate(doc_id=DOCUMENT, start=0, end=len(text), text=text)
    query_id = f"q\u202e\x07{ATTACK}"
    made.labels.add_pools(
        [
            Pool(
                id="pool-x",
                name="x",
                query_id=query_id,
                query=f"{ATTACK} {TURNED}",
                kind=KIND,
                candidates=(whole,),
            )
        ]
    )
    anchor = Anchor(id="<i>", doc_id=DOCUMENT, quote="<b>gold 0</b>")
    made.labels.add_drafts(
        [
            Draft(
                job=ATTACK,
                query=Query(id=query_id, text=f"{ATTACK} {TURNED}", kind=KIND, anchors=(anchor,)),
                evidence={f"{DOCUMENT}#0-{len(text)}": text},
                notes=(ATTACK,),
                by=ATTACK,
            )
        ]
    )
    assert project.folder == tmp_path
    yield made
    made.close()


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


@pytest.mark.parametrize("place", PLACES)
def test_no_tag_of_theirs_is_a_tag_of_the_page(hostile: Workbench, place: str):
    answer = Visitor(hostile, name="<b>eve</b>").get(place)
    assert answer.status_code in {200, 400}
    tags = _Tags()
    tags.feed(answer.text)
    names = {tag for tag, _ in tags.seen}
    assert not names & {"img", "u", "i", "b", "iframe", "object"}
    sources = [attributes.get("src") or "" for tag, attributes in tags.seen if tag == "script"]
    assert all(source.startswith("/static/") for source in sources)
    assert not any(name.startswith("on") for _, attributes in tags.seen for name in attributes)
    assert not any(attributes.get("id") == "owned" for _, attributes in tags.seen)


@pytest.mark.parametrize("place", PLACES)
def test_signs_that_hide_or_turn_others_round_are_spelled_out(hostile: Workbench, place: str):
    text = html.unescape(Visitor(hostile, name="eve").get(place).text)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]", text)


def test_an_anchor_is_found_behind_signs_that_are_spelled_out(hostile: Workbench):
    eve = Visitor(hostile, name="eve")
    text = html.unescape(eve.get("/label").text)
    shown = re.search(r'<p class="reading" dir="auto">(.*?)</p>\n', text, re.DOTALL)
    assert shown is not None
    units = shown[1].encode("utf-16-le")
    # "😀" is two units and "⟨U+202E⟩" eight, where the document has one code point each.
    start = len(shown[1][: shown[1].index("end <b>gold")].encode("utf-16-le")) // 2
    end = len(units) // 2 - len(".\n")
    body = {"pool": "pool-x", "number": 1, "start": start, "end": end}
    said = eve.post("/label/anchor/check", body).json()
    assert said["quote"] == "end <b>gold 0</b> & more"
    assert said["span"] == [start, end]


def test_a_passage_is_added_whatever_its_id_and_that_of_the_query_are(hostile: Workbench):
    query_id = f"q\u202e\x07{ATTACK}"
    hostile.labels.add_pools([Pool(id="pool-y", name="x", query_id=query_id, query=TURNED)])
    eve = Visitor(hostile, name="eve")
    page = eve.get(FIND).text
    (asked,) = re.findall(r'name="pool" value="([^"]*)"', page)
    assert eve.get(f"/label?pool={asked}&find=gold").status_code == 200
    actions = [html.unescape(one) for one in re.findall(r'action="(/label/add[^"]*)"', page)]
    action = next(one for one in actions if quote(DOCUMENT, safe="").replace("%20", "+") in one)
    answer = eve.client.post(
        action, data={"token": eve.token}, headers={"origin": HOME}, follow_redirects=False
    )
    assert answer.status_code == 303
    (added,) = hostile.labels.pools(query_id=query_id)[-1].candidates
    assert added.doc_id == DOCUMENT


def test_an_id_that_is_made_of_anything_is_found_again(hostile: Workbench):
    eve = Visitor(hostile, name="eve")
    body = {"id": row_id(), "pool": "pool-x", "number": 1, "grade": 1, "elapsed_ms": 1}
    assert eve.post("/label/judge", body).status_code == 200
    (row,) = hostile.labels.judgements()
    assert row.query_id == f"q\u202e\x07{ATTACK}"
    found = re.search(r'href="(/label\?q=[^"]*)"', eve.get("/label").text)
    assert found is not None
    assert eve.get(html.unescape(found[1])).status_code == 200
