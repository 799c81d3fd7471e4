"""Taking anchors and folding questions while a set is built."""

from __future__ import annotations

from fractions import Fraction

import pytest

from assay.building.anchors import accept_anchor
from assay.building.closest import closest_place, line_of
from assay.building.questions import fold_questions, longest_shared_run, shared_words
from assay.model.text import normalise
from shared_data import load_cases, needs_shared


@needs_shared
def test_only_presentation_is_repaired_and_always_to_the_source():
    case = load_cases()["B01"]
    source, expected = case["input"]["source"], case["expected"]
    made = {name: accept_anchor(source, quote) for name, quote in case["input"]["anchors"].items()}
    for name, acceptance in made.items():
        wanted = expected[name]
        assert acceptance.status == wanted["status"], name
        assert acceptance.why == wanted.get("why")
        assert acceptance.span == (tuple(wanted["span"]) if "span" in wanted else None)
        if acceptance.span is not None:
            assert acceptance.text == source[slice(*acceptance.span)]
        assert acceptance.text == wanted.get("text", acceptance.text)
    assert sum(one.status != "rejected" for one in made.values()) == expected["written_to_golden"]


@needs_shared
def test_a_model_that_changed_the_case_gets_the_source_spelling():
    case = load_cases()["C06"]
    acceptance = accept_anchor(case["input"]["doc"], case["input"]["anchor"])
    assert acceptance.status == "repaired"
    assert acceptance.span == tuple(case["expected"]["near_match"]["source_span"])
    assert acceptance.text == "Set retries to NONE while"


@pytest.mark.parametrize(
    ("quote", "status", "why", "places"),
    [
        ("the red fuse", "accepted", None, 2),
        ("The red fuse", "repaired", None, 2),
        ("a red fuse … the box", "rejected", "joined with an ellipsis", 0),
        ("red fuse [...] in the box", "rejected", "joined with an ellipsis", 0),
        ("the box ... a red fuse", "rejected", "paraphrase", 0),
        ("he red fus", "rejected", "inside a longer word", 0),
        ("**the red** fuse", "repaired", None, 2),
        ("**", "rejected", "paraphrase", 0),
        ("\u200b \u00ad", "rejected", "empty", 0),
    ],
)
def test_what_becomes_of_an_offered_phrase(quote: str, status: str, why: str | None, places: int):
    source = "Take a red fuse. Put the red fuse in the box. Lock the red fuse up."
    acceptance = accept_anchor(source, quote)
    assert (acceptance.status, acceptance.why, acceptance.places) == (status, why, places)


@needs_shared
def test_equal_questions_become_one_with_their_anchors_united():
    case = load_cases()["B02"]
    expected = case["expected"]
    folding = fold_questions(case["input"]["rows"])
    assert len(folding.kept) == expected["kept"]
    assert [one.question for one in folding.kept] == expected["questions"]
    assert list(folding.kept[0].anchors) == expected["merged_anchors_of_first"]
    assert [{"row": row, "why": why} for row, why in folding.rejected] == expected["rejected"]
    assert len(folding.malformed) == expected["malformed_rows"]
    assert folding.malformed == (3,)


@needs_shared
def test_a_question_made_of_its_anchors_words_is_seen_by_its_stems():
    case = load_cases()["B03"]
    for name, question in case["input"]["questions"].items():
        shared = shared_words(question, case["input"]["anchor"], stop_words=case["input"]["stop_words"])
        expected = case["expected"][name]
        assert shared.content_words == expected["content_words"]
        assert shared.exact == expected["shared_exact"]
        assert shared.share == Fraction(expected["share"]["exact"])
        assert shared.stemmed == expected.get("shared_after_plain_stemming", 0)
        flagged = (shared.stemmed_share or 0) >= Fraction(case["input"]["limit"])
        assert flagged is (expected["status"] == "flag")


def test_a_question_without_content_words_has_no_share():
    assert shared_words("What is it?", "It is this.").share is None


def test_the_longest_run_of_shared_words():
    assert longest_shared_run("Is it kept at 20 °C?", "Keep it: IT KEPT  at—20 days") == "it kept at 20"
    assert longest_shared_run("nothing", "else") == ""


def test_the_closest_place_has_its_line_and_how_much_it_is_alike():
    document = "Fees.\r\n\r\nRefunds take 14 working days.\r\nNothing else."
    normal = normalise(document)
    close = closest_place("Refunds take 14 days", document, normal)
    assert close is not None
    assert document[close.start : close.end] == "Refunds take 14 working days."
    # 20 equal signs of 20 and 29: 2 * 20 / 49
    assert close.alike == pytest.approx(40 / 49)
    assert str(close) == "closest: 81 % alike, line 3"
    assert closest_place("zebra", document, normal) is None
    assert line_of("a\rb\nc", 4) == 3
