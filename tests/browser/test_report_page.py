from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

Open = Callable[..., Any]


def focused(page: Page) -> str:
    """Name what has the focus: its tag, name, id and text."""
    return page.evaluate(
        "(() => { const e = document.activeElement; return [e.tagName, e.name || '', e.id].join(' '); })()"
    )


def tab_to(page: Page, wanted: str, most: int = 80) -> None:
    """Press Tab until the wanted element has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if wanted in focused(page):
            return
    pytest.fail(f"{wanted} cannot be reached by Tab")


def open_all(page: Page) -> None:
    # Twice, because a miss draws what is inside it when it is opened first.
    for _ in range(2):
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        page.wait_for_timeout(100)


def test_the_report_opens_without_a_network_and_without_complaints(open_page: Open, demo_report: Path):
    opened = open_page(demo_report)
    open_all(opened.page)
    assert opened.asked == [demo_report.as_uri()]
    assert opened.complaints == []
    assert opened.page.locator("h1").inner_text() == "demo"


def test_the_figures_of_the_page_are_those_of_the_run(open_page: Open, demo_report: Path):
    page = open_page(demo_report).page
    # The demo's recall@10 is 32.5 of 48 queries: 0.677.
    assert page.locator(".figure .value").inner_text() == "0.677"
    assert "0.531 to 0.792" in page.locator(".figure").inner_text()
    assert page.locator("#count").inner_text() == "15 misses"


def test_filters_work_by_keyboard_alone(open_page: Open, demo_report: Path):
    page = open_page(demo_report).page
    tab_to(page, "INPUT lost")
    page.keyboard.press("Space")
    chosen = page.evaluate("document.activeElement.value")
    assert page.locator("#count").inner_text() == "11 of 15 misses"
    assert set(page.locator("#misses .tag.lost").all_text_contents()) == {f"lost at {chosen}"}
    tab_to(page, "search")
    page.keyboard.type("cheating to compose")
    assert page.locator("#count").inner_text() == "1 of 15 misses"
    tab_to(page, "BUTTON")
    page.keyboard.press("Enter")
    page.locator("#count", has_text="15 misses").and_(page.locator("#count:not(:has-text('of'))")).wait_for()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator("#misses details[open] .ladder").wait_for()


def test_filters_of_a_kind_show_that_kind_and_the_text_search_finds_ids(
    open_page: Open, hostile_report: Path
):
    page = open_page(hostile_report).page
    page.locator("input[name=kind][value=plain]").check()
    kinds = page.locator("#misses .tags .tag:first-child").all_text_contents()
    assert kinds
    assert set(kinds) == {"kind plain"}
    page.locator("button[type=reset]").click()
    page.locator("#search").fill("GONE")
    assert page.locator("#misses .miss .id").all_inner_texts() == ["gone"]
    page.locator("#search").fill("nothing has these words")
    assert page.locator("#none").is_visible()


def test_a_miss_shows_its_anchor_marked_beside_what_the_prompt_got(open_page: Open, demo_report: Path):
    page = open_page(demo_report).page
    page.locator("#misses summary").first.click()
    body = page.locator("#misses details[open] .body").first
    body.locator(".ladder li").first.wait_for()  # the script fills it in when it is opened
    assert body.locator(".ladder li").count() == 6
    assert body.locator(".ladder .here").count() == 1
    assert body.locator("mark").first.inner_text().startswith("models answer best when the passage")
    assert body.locator(".hits > li").count() == 10
    body.locator(".hits summary").first.click()
    assert body.locator(".hits .passage").first.is_visible()
    assert "assay explain c01" in body.inner_text()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("which", ["demo_report", "hostile_report"])
def test_the_accessibility_check_passes(
    open_page: Open, which: str, theme: str, width: int, request: pytest.FixtureRequest
):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = open_page(request.getfixturevalue(which), width=width, theme=theme).page
    open_all(page)
    found = axe.run(page).response["violations"]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []


@pytest.mark.parametrize("which", ["demo_report", "hostile_report"])
def test_nothing_is_wider_than_a_phone(open_page: Open, which: str, request: pytest.FixtureRequest):
    page = open_page(request.getfixturevalue(which), width=390).page
    open_all(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_hostile_documents_stay_text(open_page: Open, hostile_report: Path):
    opened = open_page(hostile_report)
    page = opened.page
    open_all(page)
    assert page.evaluate("window.owned") is None
    assert page.title().startswith("A & B <i>report</i>: recall@1")
    assert page.locator("#owned, main img, main script, main u, main i").count() == 0
    assert opened.asked == [hostile_report.as_uri()]
    assert opened.complaints == []
    passage = page.locator(".passage.anchor").first.inner_text()
    assert "<script>document.title='owned'" in passage
    assert "invoice⟨U+202E⟩gnp.exe⟨U+202C⟩" in passage
    assert "⟨U+0007⟩bell ⟨U+E0041⟩tag 😀 end" in passage


def test_marks_stand_right_behind_signs_of_two_units(open_page: Open, hostile_report: Path):
    page = open_page(hostile_report).page
    open_all(page)
    marked = page.locator(".passage.anchor mark").all_inner_texts()
    assert marked
    assert all(text.startswith(("<b>gold ", "<script>")) for text in marked)
    assert any(text.endswith("</b>") for text in marked)


def test_only_the_scripts_of_the_page_itself_may_run(open_page: Open, hostile_report: Path):
    opened = open_page(hostile_report)
    opened.page.evaluate(
        "(() => { const s = document.createElement('script'); s.textContent = 'window.owned = 2';"
        " document.body.append(s); })()"
    )
    assert opened.page.evaluate("window.owned") is None
    assert "Content Security Policy" in opened.complaints[0]


def test_the_theme_can_be_chosen_and_stays(open_page: Open, demo_report: Path):
    page = open_page(demo_report, theme="light").page
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(ground)
    button = page.locator("#theme")
    assert button.inner_text() == "Theme: auto"
    button.click()
    assert page.evaluate(ground) == light
    button.click()
    assert button.inner_text() == "Theme: dark"
    dark = page.evaluate(ground)
    assert dark != light
    page.reload()
    assert page.evaluate(ground) == dark
    page.locator("#theme").click()
    assert page.evaluate(ground) == light


def test_the_first_misses_can_be_read_without_scripts(open_page: Open, demo_report: Path):
    page = open_page(demo_report, scripts=False).page
    assert page.locator("#misses > li").count() == 15
    assert not page.locator("#filters").is_visible()
    assert not page.locator("#theme").is_visible()
    page.locator("#misses summary").first.click()
    assert page.locator("#misses .body").first.is_visible()
    assert page.locator("#misses mark").first.inner_text().startswith("models answer best")


def test_paper_has_no_controls_and_shows_what_is_inside(open_page: Open, demo_report: Path):
    page = open_page(demo_report, theme="dark").page
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert not page.locator("#filters").is_visible()
    assert not page.locator(".bar-top").is_visible()
    assert page.locator("#misses .ladder").count() == 15
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("#misses details[open]").count() == 0


def test_every_link_inside_the_page_leads_somewhere(open_page: Open, demo_report: Path):
    page = open_page(demo_report).page
    links = page.eval_on_selector_all("a", "all => all.map(a => a.getAttribute('href'))")
    assert "#trials" in links
    assert "#changes" in links
    assert all(page.locator(link).count() == 1 for link in links)
