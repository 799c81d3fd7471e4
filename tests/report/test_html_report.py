from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from assay.flows.evaluate import evaluate
from assay.flows.project import load_project
from assay.flows.report import Wanted, report
from assay.model.comparison import Interval
from assay.model.report import Figure, ReportPage
from assay.model.scores import Average
from assay.report.html.embed import Texts
from assay.report.html.page import report_html
from assay.report.html.plots import gauge, waterfall, whisker
from assay.report.html.visible import pieces, shown, shown_marks
from assay.report.page_json import page_json
from assay.report.page_junit import page_junit
from assay.report.page_markdown import page_markdown
from hostile_project import ATTACK, KIND, make_hostile_project
from small_project import SETTINGS, make_project


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> ReportPage:
    return report(make_hostile_project(tmp_path_factory.mktemp("hostile")))


@pytest.fixture
def faultless(tmp_path: Path) -> ReportPage:
    project = load_project(make_project(tmp_path))
    evaluate(project)
    return report(project)


class Links(HTMLParser):
    """Collects every address that a page could load or go to, and every element's name."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.names: set[str] = set()
        self.handlers: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.addresses += [
            value or "" for name, value in attrs if name in {"src", "href", "action", "srcset"}
        ]
        self.handlers += [name for name, _ in attrs if name.startswith("on") or name == "style"]


def data_of(html: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_the_file_names_nothing_outside_itself(hostile: ReportPage):
    links = Links()
    links.feed(report_html(hostile))
    assert all(address.startswith(("#", "data:")) for address in links.addresses)
    assert not links.names & {"img", "iframe", "object", "embed", "u", "i", "b", "base"}
    # The policy forbids inline handlers and styles, so none is written.
    assert not links.handlers


def test_the_same_run_gives_the_same_bytes(tmp_path: Path):
    project = make_hostile_project(tmp_path)
    first, second = (report_html(report(load_project(project.folder))) for _ in range(2))
    assert first == second
    assert page_json(report(project)) == page_json(report(project))


def test_no_part_of_a_document_can_end_the_data(hostile: ReportPage):
    html = report_html(hostile)
    data = data_of(html)
    # Three scripts: theme, data, and the page's own; the documents' dozens are text.
    assert html.count("</script>") == 3
    assert any(ATTACK in text for text in data["texts"])


def test_every_miss_is_in_the_data_with_its_ranks(hostile: ReportPage):
    data = data_of(report_html(hostile))
    misses = data["misses"]
    assert [miss["id"] for miss in misses] == [miss.query_id for miss in hostile.misses]
    for told, miss in zip(misses, hostile.misses, strict=True):
        assert told["items"][0]["ranks"] == list(miss.items[0].ranks.values())
        assert told["items"][0]["lost"] == miss.items[0].lost_at


def test_misses_without_passages_say_how_many_there_are(hostile: ReportPage):
    few = replace(
        hostile,
        misses=tuple(
            replace(miss, shown=at < 2, hits=miss.hits if at < 2 else ())
            for at, miss in enumerate(hostile.misses)
        ),
    )
    html = report_html(few)
    assert f"2 of {len(few.misses)} misses are shown with their passages" in html
    misses = data_of(html)["misses"]
    assert [miss["hits"] is None for miss in misses] == [False, False] + [True] * (len(misses) - 2)


def test_a_report_without_misses_says_so(faultless: ReportPage):
    html = report_html(faultless)
    assert "Every query has all that it needs in the prompt." in html
    assert "Nothing is missing" in html
    assert 'id="filters"' not in html


def test_a_set_without_anything_to_find_has_a_page_too(tmp_path: Path):
    queries = [{"id": "u", "query": "Who founded it?", "answerable": False}]
    settings = SETTINGS.replace('kinds = ["factual", "lexical", "table"]', "")
    project = load_project(make_project(tmp_path, settings=settings, queries=queries))
    evaluate(project)
    html = report_html(report(project))
    assert "there is nothing to measure" in html
    assert "No chunk is relevant to any query" in html
    assert "1 query without an answer in the corpus" in html
    assert "nan" not in html.lower().split("<body>")[1].split("<script")[0]


def test_a_declared_kind_without_queries_has_no_number(faultless: ReportPage):
    html = report_html(faultless)
    row = re.search(r'<th scope="row">table</th>(.*?)</tr>', html, re.DOTALL)
    assert row
    assert re.findall(r"<td[^>]*>(-|0|[\d.]+)</td>", row[1])[:3] == ["0", "0", "-"]


def test_what_hides_is_spelled_and_the_rest_is_left():
    assert shown("a\u202eb\u0000c\ufeffd") == "a⟨U+202E⟩b⟨U+0000⟩c⟨U+FEFF⟩d"
    # Joiners belong to Persian and to emoji; tabs and line ends to texts; \r\n is one line end.
    assert shown("می\u200cخواهم 👩\u200d🔬\tx\r\ny") == "می\u200cخواهم 👩\u200d🔬\tx\ny"
    assert shown("half \ud83d of a sign") == "half ⟨U+D83D⟩ of a sign"


def test_marks_count_as_scripts_count():
    text = "😀\u202e gold"
    # One sign of two units, eight signs for the override, a blank: the mark begins at 11.
    assert shown_marks(text, ((3, 7),)) == [[11, 15]]
    assert pieces(text, ((3, 7),)) == [("😀\u202e ", False), ("gold", True)]


def test_a_passage_is_kept_once():
    texts = Texts()
    assert [texts.place(text) for text in ("a", "b", "a")] == [0, 1, 0]
    assert texts.all == ["a", "b"]


def test_a_gauge_stands_where_its_numbers_are():
    figure = Figure(
        measure="recall@10",
        average=Average(mean=0.5, n=4, ceiling=1.0),
        interval=Interval(low=0.25, high=0.75),
    )
    # 160 wide with 3 at each side: 0.5 is at 3 + 154 / 2 = 80, the band from 41.5 over 77.
    drawn = gauge(figure)
    assert 'x="78.5" y="2" width="3"' in drawn
    assert 'x="41.5" y="4" width="77"' in drawn
    assert not gauge(replace(figure, average=Average(mean=None, n=0)))


def test_a_drop_is_told_from_a_gain_by_side_and_name():
    drop = whisker(-0.5, Interval(low=-1.0, high=0.0), 1.0, width=108)
    # 54 is 0, and 50 either side are 1: -0.5 is at 29.
    assert 'cx="29"' in drawn_circle(drop)
    assert "dot drop" in drawn_circle(drop)
    assert not whisker(None, None, 1.0)


def drawn_circle(drawn: str) -> str:
    found = re.search(r"<circle[^>]*>", drawn)
    assert found
    return found[0]


def test_the_waterfall_names_every_place_and_ends_at_recall(hostile: ReportPage):
    whole = hostile.diagnosis.waterfall[0]
    drawn = waterfall(whole, width=1000, label="all <b>")
    assert 'aria-label="all &lt;b&gt;"' in drawn
    assert all(f">{part.lost_at}</text>" in drawn for part in whole.parts)
    assert f"{float(whole.recall or 0):.3f}</text>" in drawn


def test_the_json_holds_what_the_other_commands_print(hostile: ReportPage):
    page = json.loads(page_json(hostile))
    assert page["summary"]["counts"]["queries"] == 9
    assert set(page["diagnosis"]) >= {"findings", "waterfall", "trials", "proposal"}
    assert len(page["misses"]) == len(hostile.misses)
    assert page["intervals"]["overall"]["recall@1"]["low"] <= page["summary"]["measures"]["recall@1"]
    assert page["comparison"] is None


def test_the_markdown_keeps_hostile_names_in_their_cells(hostile: ReportPage):
    text = page_markdown(hostile, most_misses=3)
    rows = [line for line in text.splitlines() if line.startswith("| `q")]
    assert len(rows) == 3
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 7 for row in rows)
    assert "<script>" not in text
    assert f"and {len(hostile.misses) - 3} more" in text
    assert text.startswith("<!-- assay -->\n### A & B".replace("&", "&amp;"))


def test_the_junit_has_a_case_a_miss(hostile: ReportPage):
    root = ET.fromstring(page_junit(hostile))
    assert {suite.get("name") for suite in root} == {"plain", KIND}
    cases = root.findall("testsuite/testcase")
    assert len(cases) == len(hostile.misses) == int(root.get("tests", ""))
    failure = next(case for case in cases if case.get("name") == "gone").find("failure")
    assert failure is not None
    assert failure.get("type") == "stale label"


def test_a_report_against_a_baseline_lists_what_moved(tmp_path: Path):
    project = load_project(make_project(tmp_path, settings=SETTINGS.replace("k = 2", "k = 1")))
    base = evaluate(project.with_settings({"pipeline.fulltext": {"enabled": False}})).run.id
    run = evaluate(project).run.id
    page = report(project, run, Wanted(baseline=base))
    html = report_html(page)
    assert "What changed against the baseline" in html
    assert f"assay report {run} --baseline {base}" in html
    assert page.comparison is not None
    assert page.comparison.candidate.endswith(run)
