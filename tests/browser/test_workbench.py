"""The workbench in a real browser: by keyboard alone, two at once, through reloads and a lost server."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from assay.flows.evaluate import evaluate
from assay.flows.project import load_project
from pooled_project import make_pooled_project

pytest.importorskip("uvicorn", reason="uvicorn is not installed")

from served_workbench import Served, served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Dialog, Page, Route

pytestmark = pytest.mark.browser

PAGES = [
    "/",
    "/label",
    "/label?q=q01&find=tide+allows",
    "/drafts",
    "/misses",
    "/compare",
    "/query",
    "/judges",
    "/name",
    "/nothing",
]
Enter = Callable[..., Any]
SAVED = "#saved[data-state=saved]"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make_pooled_project(tmp_path_factory.mktemp("pooled"), queries=12)
    evaluate(load_project(folder).with_settings({"chunker.max_chars": 60}))
    return folder


@pytest.fixture
def lamps(template: Path, tmp_path: Path) -> Iterator[Served]:
    with served(shutil.copytree(template, tmp_path / "lamps")) as made:
        yield made


class Person:
    """A browser of one person, and all that it complained of."""

    def __init__(self, context: BrowserContext, home: str) -> None:
        self.context = context
        self.home = home
        self.complaints: list[str] = []
        self.page = self.tab()

    def tab(self) -> Page:
        page = self.context.new_page()
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        return page

    def go(self, path: str) -> Page:
        self.page.goto(f"{self.home}{path}")
        return self.page


@pytest.fixture
def enter(browser: Browser, lamps: Served) -> Iterator[Enter]:
    """Return a function that gives a person a browser: name, width, theme."""
    people: list[Person] = []

    def opener(name: str = "ada", *, width: int = 1280, theme: str = "light") -> Person:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=theme,  # pyright: ignore[reportArgumentType] - a literal there, a parameter here
            reduced_motion="reduce",
        )
        context.add_cookies([{"name": "assay-name", "value": name, "url": lamps.address}])
        people.append(Person(context, lamps.address))
        return people[-1]

    yield opener
    for person in people:
        person.context.close()


def grades(served_at: Served, query_id: str | None = None, by: str | None = None) -> list[float | None]:
    assert served_at.bench is not None
    rows = served_at.bench.labels.judgements(query_id=query_id, by=by, standing=True)
    return [row.grade for row in rows]


def drag(page: Page, number: int, text: str) -> None:
    """Drag over a text of a candidate with the mouse."""
    box: dict[str, Any] = page.evaluate(
        """([number, text]) => {
          const passage = document.querySelector(`#c${number} .reading`);
          const walk = document.createTreeWalker(passage, NodeFilter.SHOW_TEXT);
          let node, at = -1;
          while ((node = walk.nextNode()) && at < 0) {
            at = node.data.indexOf(text);
            if (at >= 0) {
              const ends = [at, at + text.length].map((place) => {
                const range = document.createRange();
                range.setStart(node, place); range.setEnd(node, place);
                const { x, y, height } = range.getBoundingClientRect();
                return [x, y + height / 2];
              });
              return { from: ends[0], to: ends[1] };
            }
          }
        }""",
        [number, text],
    )
    page.mouse.move(*box["from"])
    page.mouse.down()
    page.mouse.move(*[(a + b) / 2 for a, b in zip(box["from"], box["to"], strict=True)])
    page.mouse.move(*box["to"])
    page.mouse.up()


def test_ten_queries_are_labelled_by_keyboard_alone(enter: Enter, lamps: Served):
    ada = enter()
    page = ada.go("/label")
    for number in range(1, 11):
        page.locator(f"h1:has-text('station {number} keep?')").wait_for()
        for key in "0310":
            page.keyboard.press(key)
        page.locator(f"#tally:has-text('4 of 4 graded'), {SAVED}").first.wait_for()
        page.locator(SAVED).wait_for()
        page.keyboard.press("n")
    page.locator("h1:has-text('station 11 keep?')").wait_for()
    assert page.locator(".rail-head").inner_text().split() == ["10", "of", "12", "queries", "done"]
    assert [grades(lamps, f"q{number:02}") for number in range(1, 11)] == [[0.0, 3.0, 1.0, 0.0]] * 10
    assert ada.complaints == []


def test_keys_move_grade_skip_and_take_back(enter: Enter, lamps: Served):
    ada = enter()
    page = ada.go("/label?q=q01")
    current = page.locator(".card.current")
    assert current.get_attribute("id") == "c1"
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert current.get_attribute("id") == "c2"
    assert page.evaluate("document.activeElement.id") == "c2"
    page.keyboard.press("2")
    page.keyboard.press("s")
    page.locator(SAVED).wait_for()
    assert page.locator("#tally").inner_text() == "2 of 4 graded"
    assert page.locator("#c2 [data-grade='2']").get_attribute("aria-pressed") == "true"
    page.keyboard.press("u")
    assert current.get_attribute("id") == "c3"
    page.keyboard.press("u")
    assert current.get_attribute("id") == "c2"
    page.locator("#tally:has-text('0 of 4 graded')").wait_for()
    page.locator(SAVED).wait_for()
    assert grades(lamps) == []
    assert ada.complaints == []


def test_the_list_of_keys_opens_and_holds_the_focus(enter: Enter):
    page = enter().go("/label")
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    page.keyboard.press("1")  # a key of the page does nothing while the list is open
    page.keyboard.press("Escape")
    assert not page.locator("#keys").is_visible()
    assert page.locator("#tally").inner_text() == "0 of 4 graded"


def test_pages_are_reached_by_keys_and_the_first_tab_skips_to_the_content(enter: Enter):
    page = enter().go("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("g")
    page.keyboard.press("d")
    page.locator("h1:has-text('What lies in the cellar')").wait_for()


def test_an_anchor_is_made_by_dragging_with_a_live_check(enter: Enter, lamps: Served):
    ada = enter()
    page = ada.go("/label?q=q01")
    page.keyboard.press("j")
    page.keyboard.press("a")
    drag(page, 2, "17 barrels of oil")
    page.locator("#facts:has-text('✕ 4 words, 6 at least')").wait_for()
    assert page.locator("#keep").is_disabled()
    drag(page, 2, "keeps 17 barrels of oil in the cellar")
    page.locator("#facts:has-text('✓ 8 words')").wait_for()
    assert page.locator("#facts .holds").count() == 3
    page.keyboard.press("Enter")
    page.locator("#c2 mark:has-text('keeps 17 barrels of oil in the cellar')").wait_for()
    page.locator("#anchors mark:has-text('keeps 17 barrels')").wait_for()
    page.locator(SAVED).wait_for()
    assert lamps.bench is not None
    (query,) = [one for one in lamps.bench.labels.queries() if one.id == "q01"]
    assert [one.quote for one in query.anchors] == ["keeps 17 barrels of oil in the cellar"]
    page.keyboard.press("u")
    page.locator("#anchors:not(:has(mark))").wait_for(state="attached")
    assert page.locator("#c2 mark").count() == 0
    assert ada.complaints == []


def test_an_anchor_is_made_by_keys_alone_and_fitted(enter: Enter, lamps: Served):
    page = enter().go("/label?q=q01")
    page.keyboard.press("j")
    page.keyboard.press("a")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    page.locator("#facts:has-text('✕ 2 words')").wait_for()
    page.locator("#widen:not([disabled])").wait_for()
    page.keyboard.press("f")
    page.locator("#facts:has-text('✓ 6 words')").wait_for()
    page.keyboard.press("Enter")
    page.locator("#anchors mark").wait_for()
    page.locator(SAVED).wait_for()
    assert lamps.bench is not None
    assert [len(one.anchors) for one in lamps.bench.labels.queries() if one.id == "q01"] == [1]


def test_what_nobody_retrieved_is_found_in_the_documents_added_and_graded(enter: Enter, lamps: Served):
    ada = enter()
    page = ada.go("/label?q=q01")
    page.keyboard.press("0")
    page.locator(SAVED).wait_for()
    page.keyboard.press("/")
    page.keyboard.type("barrels of station 2")
    page.keyboard.press("Enter")
    page.locator(".found .reading:has-text('Station 2 keeps 27 barrels')").wait_for()
    page.locator(".found :focus").wait_for()
    page.keyboard.press("3")  # what is read now is no candidate, and the one that was read is not meant
    row = page.locator(".found li").filter(has_text="Station 2 keeps 27 barrels")
    row.get_by_role("button", name="Add to candidates").focus()
    page.keyboard.press("Enter")
    page.locator(".card#c5.current").wait_for()
    assert "27 barrels" in page.locator("#c5 .reading").inner_text()
    page.keyboard.press("3")
    page.locator(SAVED).wait_for()
    page.locator("#tally:has-text('2 of 5 graded')").wait_for()
    assert grades(lamps, "q01") == [0.0, 3.0]
    assert ada.complaints == []


def test_a_phrase_that_is_marked_in_what_was_found_is_no_anchor_yet(enter: Enter):
    ada = enter()
    page = ada.go("/label?q=q01&find=barrels+of+station+2")
    page.keyboard.press("a")
    page.locator("#offer").wait_for()
    page.locator(".found .reading").first.dblclick()
    page.wait_for_timeout(300)
    assert page.locator("#keep").is_disabled()
    assert ada.complaints == []


def test_two_browsers_at_once_on_one_query_see_each_other_and_no_torn_state(enter: Enter, lamps: Served):
    ada, bob = enter("ada"), enter("bob")
    for person in (ada, bob):
        person.go("/label?q=q01")
    for mine, other in zip("0312", "0302", strict=True):
        ada.page.keyboard.press(mine)
        bob.page.keyboard.press(other)
    for person in (ada, bob):
        person.page.locator(SAVED).wait_for()
        person.page.locator("#c3.conflict").wait_for()
        assert person.page.locator(".card.conflict").count() == 1
    assert grades(lamps, by="ada") == [0.0, 3.0, 1.0, 2.0]
    assert grades(lamps, by="bob") == [0.0, 3.0, 0.0, 2.0]
    assert "bob: 0" in ada.page.locator("#c3 .said").inner_text()
    bob.page.locator("#c3").get_by_role("button", name="Settle as 1").click()
    for person in (ada, bob):
        person.page.locator("#c3 .said:has-text('settled as 1 by bob')").wait_for()
        person.page.locator("#c3:not(.conflict)").wait_for()
    assert ada.complaints == bob.complaints == []


def test_two_tabs_of_one_person_show_the_same(enter: Enter):
    ada = enter()
    ada.go("/label?q=q01")
    other = ada.tab()
    other.goto(f"{ada.home}/label?q=q01")
    ada.page.bring_to_front()
    ada.page.keyboard.press("3")
    other.bring_to_front()
    other.locator("#c1 [data-grade='3'][aria-pressed=true]").wait_for()


def test_a_reload_in_mid_work_keeps_everything(enter: Enter, lamps: Served):
    ada = enter()
    page = ada.go("/label?q=q01")
    page.keyboard.press("1")
    page.keyboard.press("2")
    page.reload()  # at once: what was not acknowledged yet is sent again
    page.locator("#tally:has-text('2 of 4 graded')").wait_for()
    page.locator(SAVED).wait_for()
    assert page.locator(".card.current").get_attribute("id") == "c3"
    page.keyboard.press("u")
    page.locator("#tally:has-text('1 of 4 graded')").wait_for()
    page.locator(SAVED).wait_for()
    assert grades(lamps, "q01") == [1.0]


def test_grades_wait_while_the_server_is_away_and_survive_a_reload(enter: Enter, lamps: Served):
    ada = enter()
    page = ada.go("/label?q=q01")
    lamps.stop()
    page.keyboard.press("3")
    page.keyboard.press("0")
    page.locator("#saved[data-state=waiting]").wait_for()
    assert page.locator("#saved").inner_text() == "Not saved: 2 waiting, trying again"
    assert page.locator("#tally").inner_text() == "2 of 4 graded"
    page.keyboard.press("1")
    lamps.start()  # with another secret: the page gets a new token by itself
    page.locator(SAVED).wait_for(timeout=15000)
    assert grades(lamps, "q01") == [3.0, 0.0, 1.0]
    assert all("Failed to load" in one or "ERR_CONNECTION" in one for one in ada.complaints)


def accept(dialog: Dialog) -> None:
    dialog.accept()


def abort(route: Route) -> None:
    route.abort()


def test_grades_that_wait_are_sent_by_the_page_that_comes_after(enter: Enter, lamps: Served):
    ada = enter()
    page = ada.go("/label?q=q01")
    page.on("dialog", accept)
    page.route("**/label/judge", abort)
    page.keyboard.press("3")
    page.locator("#saved[data-state=waiting]").wait_for()
    page.unroute("**/label/judge")
    page.goto(f"{ada.home}/label?q=q02")
    page.locator(SAVED).wait_for()
    page.wait_for_function("sessionStorage.getItem('assay-queue label') === '[]'")
    assert grades(lamps, "q01") == [3.0]


def test_a_draft_is_edited_and_accepted_and_the_next_comes(enter: Enter, lamps: Served):
    ada = enter()
    page = ada.go("/drafts")
    page.keyboard.press("e")
    page.keyboard.press("Control+A")
    page.keyboard.type("Where does station 1 keep its oil?")
    page.locator(".quote").fill("barrels of oil")
    page.locator(".check:has-text('✓')").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("y")
    page.locator("h1:has-text('cellar of station 2')").wait_for()
    page.keyboard.press("x")
    page.locator("h1:has-text('No draft waits')").wait_for()
    assert lamps.bench is not None
    assert [query.text for query in lamps.bench.labels.queries()] == ["Where does station 1 keep its oil?"]
    assert [one.verdict for one in lamps.bench.labels.decisions()] == ["edited", "refused"]
    assert ada.complaints == []


def test_words_that_are_selected_in_the_passage_become_the_anchor(enter: Enter):
    page = enter().go("/drafts")
    page.evaluate(
        """() => {
          const node = [...document.querySelector('.reading').childNodes].at(-1);
          const start = node.data.indexOf('Boats may land');
          getSelection().setBaseAndExtent(node, start, node, start + 'Boats may land at station 1'.length);
        }"""
    )
    page.keyboard.press("a")
    page.locator(".check:has-text('✓')").wait_for()
    assert page.locator(".quote").input_value() == "Boats may land at station 1"


def test_a_miss_is_confirmed_by_key_and_taken_back(enter: Enter):
    ada = enter()
    page = ada.go("/misses")
    if page.locator("#choices").count() == 0:
        pytest.fail("the project misses nothing: there is nothing to confirm")
    first = page.url if "miss=" in page.url else page.locator(".rail [aria-current]").get_attribute("href")
    page.keyboard.press("1")
    page.wait_for_url("**/misses?run=*")
    page.goto(f"{ada.home}{first}" if str(first).startswith("/") else str(first))
    page.locator("#verdict:has-text('by ada')").wait_for()
    page.keyboard.press("u")
    page.locator("#verdict:has-text('Nobody has looked yet')").wait_for()
    assert ada.complaints == []


def test_a_run_is_started_from_the_page_and_its_progress_is_live(enter: Enter):
    ada = enter()
    page = ada.go("/")
    page.get_by_role("button", name="Run now").click()
    page.locator("#work[data-state=done]").wait_for(timeout=20000)
    assert page.evaluate("document.activeElement.id") == "link"
    page.reload()  # the job is over before this page is drawn
    assert page.locator("#step").inner_text() == "Done"
    assert page.evaluate("document.activeElement.id") == "link"
    page.keyboard.press("Enter")
    page.wait_for_url("**/misses?run=*")
    assert ada.complaints == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_accessibility_check_passes_on_every_page(enter: Enter, lamps: Served, theme: str, width: int):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    ada = enter(width=width, theme=theme)
    other = enter("bob")
    for person, key in ((ada, "3"), (other, "0")):
        person.go("/label?q=q01").keyboard.press(key)
        person.page.locator(SAVED).wait_for()
    for path in PAGES:
        page = ada.go(path)
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        found = axe.run(page).response["violations"]
        assert [(path, one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page = ada.go("/label?q=q01")
    page.locator(".card.conflict").wait_for()
    page.keyboard.press("2")
    page.keyboard.press("a")
    page.keyboard.press("ArrowRight")
    page.locator("#facts .fails").first.wait_for()
    for _ in range(2):  # in the middle of an anchor, then with the list of keys open
        found = axe.run(page).response["violations"]
        assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []
        page.keyboard.press("Escape")
        page.keyboard.press("?")
    assert [one for one in ada.complaints if "404" not in one] == []


def test_grading_moves_nothing_but_the_mark(enter: Enter):
    page = enter().go("/label?q=q01")
    places = (
        "[...document.querySelectorAll('.reading, .status, .asked')]"
        ".map((e) => e.offsetTop + ' ' + e.offsetHeight).join()"
    )
    before = page.evaluate(places)
    for key in ["3", "0", "a", "Escape", "u"]:
        page.keyboard.press(key)
        page.locator(SAVED).wait_for()
        assert page.evaluate(places) == before


def test_the_same_work_is_done_on_a_phone_by_touch(enter: Enter, lamps: Served):
    page = enter(width=390).go("/label?q=q01")
    page.locator("#c1 [data-grade='2']").click()
    page.locator("#c2 [data-grade='0']").click()
    page.get_by_role("button", name="Undo").click()
    page.locator("#tally:has-text('1 of 4 graded')").wait_for()
    page.locator(SAVED).wait_for()
    assert grades(lamps, "q01") == [2.0]
