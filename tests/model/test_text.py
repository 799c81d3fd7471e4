"""The one normalisation and its map back to the source."""

from __future__ import annotations

import csv
import json
import unicodedata
from itertools import pairwise
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assay.model.phrases import agrees, find, phrase
from assay.model.text import normalise
from shared_data import DATASETS, load_cases, needs_shared

SIGNS = (
    *"aAbBeE1,.-*_`|> \t\n\r\"'ßﬁ…“’—é字か🍰م\0\ud800",
    *"\u00a0\u00ad\u200b\u200d\ufeff\u0301\u0308\u3099\u1100\u1161\u2028\u064b\u0345\u212bİΐกิक",
    "pre-\ntraining",
    "| a | b |\n|--|--|\n",
)
NASTY = st.lists(st.sampled_from(SIGNS), max_size=30).map("".join)
WORDS = ("Alpha", "beta-", "**x**", "`y_z`", "12", "字", "a…", "“q”", "é")


def places(quote: str, document: str) -> list[tuple[int, int]]:
    return find(quote, normalise(document))


@needs_shared
@pytest.mark.parametrize("name", ["C02", "C04", "C10"])
def test_presentation_does_not_matter_and_spans_count_the_source(name: str):
    case = load_cases()[name]
    document, expected = case["input"]["doc"], case["expected"]
    assert places(case["input"]["anchor"], document) == [tuple(expected["source_span"])]
    start, end = expected["source_span"]
    assert document[start:end] == expected.get("stored_text", document[start:end])


@needs_shared
def test_case_is_folded():
    case = load_cases()["C06"]
    span = tuple(case["expected"]["near_match"]["source_span"])
    assert places(case["input"]["anchor"], case["input"]["doc"]) == [span]


@needs_shared
def test_emphasis_is_not_text_but_an_underscore_inside_a_name_is():
    case = load_cases()["C07"]
    for anchor in case["input"]["anchors"]:
        expected = case["expected"][anchor]
        found = places(anchor, case["input"]["doc"])
        assert found == ([tuple(expected["source_span"])] if expected["match"] else [])


@needs_shared
def test_every_occurrence_is_found():
    case = load_cases()["C08"]
    spans = [tuple(span) for span in case["expected"]["occurrences"]]
    assert places(case["input"]["anchor"], case["input"]["doc"]) == spans


@needs_shared
def test_a_short_phrase_is_not_found_inside_a_longer_number():
    case = load_cases()["C11"]
    found = {name: places(case["input"]["anchor"], text) for name, text in case["input"]["chunks"].items()}
    assert [name for name, spans in found.items() if spans] == case["expected"]["relevant_chunks"]


@pytest.mark.parametrize(
    ("quote", "document", "spans"),
    [
        # joined and kept, in one phrase: "dur" + "ing" is joined, "well" + "known" keeps its hyphen
        ("during the well-known", "Dur-\ning the well-\r\n  known case", [(0, 27)]),
        ("Dur-\ning the", "Dur-\ning the", [(0, 12)]),
        ("dur- ing the", "Dur-\ning the", [(0, 12)]),
        ("Dur-\ning the", "during the case", [(0, 10)]),
        ("Dur-\ning the", "x dur-ing the case", [(2, 13)]),
        ("during", "Dur\u00ad\ning", [(0, 8)]),
        ("a list", "a -\nlist", []),
        ("word- next", "word—\nnext", [(0, 10)]),
        ("in-the", "in--\nthe", []),
    ],
)
def test_a_hyphen_at_a_line_end_is_tried_joined_and_kept(
    quote: str, document: str, spans: list[tuple[int, int]]
):
    assert places(quote, document) == spans


TABLE = "Fees:\n\n| Plan | Fee |\n|------|-----|\n| Free | none |\n| Team | 12 EUR |\n"
OPEN_TABLE = "Plan | Fee\n--- | ---\nFree | none\nTeam | 12 EUR\n\nafter"


@pytest.mark.parametrize("document", [TABLE, OPEN_TABLE])
@pytest.mark.parametrize(
    ("quote", "whether"),
    [
        ("Team 12 EUR", True),
        ("Team | 12 EUR", True),
        ("| Team | 12 EUR |", True),
        ("none Team", False),
        ("none | Team", False),
        ("none |\n| Team", True),
        ("Team || 12 EUR", True),
        ("Free | no | ne", False),
    ],
)
def test_a_cell_border_is_a_blank_and_a_row_end_is_not(document: str, quote: str, *, whether: bool):
    if quote == "none |\n| Team" and document is OPEN_TABLE:
        quote = "none\nTeam |"
    assert bool(places(quote, document)) is whether


def test_a_border_in_the_quote_needs_a_border_in_the_text():
    assert places("cat x | grep y", "run cat x | grep y now") == [(4, 18)]
    assert places("cat x | grep y", "run cat x grep y now") == []
    assert places("cat x grep y", "run cat x | grep y now") == []


@pytest.mark.parametrize(
    ("quote", "document", "count"),
    [
        ("12 days", "112 days", 0),
        ("112 days", "1,112 days", 0),
        ("5 days", "3.5 days", 0),
        ("costs 1", "it costs 1,500", 0),
        ("costs 1", "it costs 1, or 2", 1),
        ("open", "max_open_days", 0),
        ("cafe", "café", 0),
        ("cafe", "cafe\u0301", 0),
        ("café", "cafe\u0301", 1),
        ("三天", "在三天内", 1),
        ("12日", "第112日", 0),
        ("12日", "第12日", 1),
        ("東京", "東京都", 1),
        ("ไทย", "ภาษาไทยและ", 1),
        ("받는다", "선물받는다", 0),
        ("then..", "and then…", 0),
        ("then...", "and then…", 1),
        ("strasse", "Die Straße", 1),
        ("first", "the ﬁrst", 1),
        ("e", "", 0),
        ("", "anything", 0),
        (" \u200b ", "anything at all", 0),
        ("ha ha", "ha ha ha", 2),
    ],
)
def test_a_match_begins_and_ends_at_word_edges(quote: str, document: str, count: int):
    assert len(places(quote, document)) == count


@pytest.mark.parametrize(
    ("source", "normal"),
    [
        ("**必須**です", "必須です"),
        ("2 * 3 is 2*3", "2 * 3 is 2*3"),
        ("* item __one__", "* item one"),
        ("snake_case `x_y` _z_", "snake_case x_y z"),
        ("a ` b", "a b"),
        ("ΐ Å Ω", "ΐ å ω"),
        ("İ", "i\u0307"),
        ("\u1100\u1161\u11a8", "각"),
        ("x\u2028y\u3000z", "x y z"),
        ("„so“ ‘it’ – is", "\"so\" 'it' - is"),
    ],
)
def test_normal_forms(source: str, normal: str):
    assert normalise(source).text == normal


@given(NASTY)
@example("a\u00ad\u0301")
@example("e\u200b\u0301 İ\u0301")
def test_each_sign_comes_from_a_span_in_order(text: str):
    normal = normalise(text)
    spans = [normal.to_source(at, at + 1) for at in range(len(normal.text))]
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(a[0] <= b[0] and a[1] <= b[1] for a, b in pairwise(spans))
    assert normal.text == normal.text.strip()


@given(NASTY, st.sampled_from(["NFC", "NFD"]))
def test_composed_and_decomposed_texts_have_one_normal_form(text: str, form: Literal["NFC", "NFD"]):
    assert normalise(unicodedata.normalize(form, text)).text == normalise(text).text


@given(NASTY, NASTY, NASTY)
@example("", "pre-\ntraining", "")
@example("a", "* b", "")
@example("", "|b", "|c|")
def test_a_reported_span_agrees_with_the_quote(before: str, quote: str, after: str):
    text = before + " " + quote + " " + after
    for start, end in find(quote, normalise(text)):
        assert agrees(quote, text[start:end]), (quote, text[start:end])


@given(st.lists(st.sampled_from(WORDS), min_size=1))
def test_whole_words_copied_out_of_a_text_are_found_where_they_stood(parts: list[str]):
    text = "  \n".join(parts)
    for first in range(len(parts)):
        quote = "\t".join(parts[first:])
        assert any(end == normalise(text).source_end for _, end in places(quote, text))


def test_a_quote_of_marks_and_blanks_alone_has_no_reading_to_look_for():
    assert phrase(" `` ").readings == ()


@needs_shared
def test_every_label_of_the_span_sets_agrees_with_its_place():
    corpora: dict[str, str] = {}
    for path in sorted((DATASETS / "chroma-chunking" / "corpora").glob("*.md")):
        corpora[path.stem] = path.read_bytes().decode("utf-8")
    with (DATASETS / "chroma-chunking" / "questions_df.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    labels = [(row["corpus_id"], ref) for row in rows for ref in json.loads(row["references"])]
    agreed = [
        agrees(ref["content"], corpora[corpus][ref["start_index"] : ref["end_index"]])
        for corpus, ref in labels
    ]
    assert (len(agreed), sum(agreed)) == (790, 790)


@needs_shared
def test_a_corpus_of_1_4_million_characters_is_normalised_as_its_parts_are():
    texts = [path.read_bytes().decode() for path in (DATASETS / "chroma-chunking" / "corpora").glob("*.md")]
    assert sum(map(len, texts)) == 1_444_328
    for text in texts:
        halves = text[: len(text) // 2].rpartition(" ")
        parts = (normalise(half).text for half in (halves[0], text[len(halves[0]) :]))
        assert normalise(text).text.split() == " ".join(parts).split()


@needs_shared
@pytest.mark.parametrize("path", sorted((DATASETS / "awkward-text").glob("*.*")), ids=lambda path: path.name)
def test_awkward_files_keep_their_places(path: Path):
    text = path.read_bytes().decode("utf-8")
    normal = normalise(text)
    lines = [line for line in text.splitlines() if len(line.split()) > 5][:40]
    assert lines
    for line in lines:
        words = line.split()
        quote = " ".join(words[1:-1])
        spans = find(quote, normal, whole_words=False)
        assert spans, quote
        assert all(agrees(quote, text[start:end]) for start, end in spans)
