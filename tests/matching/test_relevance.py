"""Anchors and labels against chunks: which are right, and why some can never be."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from assay.matching import find_relevance, label_survival, locate, locate_texts
from assay.matching.sources import Sources
from assay.model.documents import Document
from assay.model.errors import InputError
from assay.model.golden import Anchor, GoldenSet, Query
from assay.model.relevance import QueryRelevance, Relevance
from matching.golden_by_hand import anchor, documents, golden, table, texts, windows
from shared_data import DATASETS, load_cases, needs_shared


def only(relevance: Relevance) -> QueryRelevance:
    assert len(relevance.queries) == 1
    return relevance.queries[0]


@needs_shared
def test_an_anchor_that_a_boundary_cuts_is_lost_to_the_chunker_and_says_how_much_was_held():
    case = load_cases()["C01"]
    text, quote, expected = case["input"]["doc"], case["input"]["anchor"], case["expected"]
    for setting in case["input"]["settings"]:
        overlap = str(setting["overlap"])
        chunks = table(*windows("doc", text, setting["size"], setting["overlap"]))
        one = only(find_relevance(golden(q=anchor(quote)), documents(doc=text), chunks))
        (place,) = one.places["a1"]
        assert [place.start, place.end] == expected["anchor_span"]
        holding = [[int(part) for part in chunk.split("#")[1].split("-")] for chunk in one.chunk_grades]
        assert holding == expected["chunks_holding_whole_anchor"][overlap]
        if not holding:
            assert one.lost == {"a1": "cut by the chunker"}
            assert one.best_part["a1"] == float(Fraction(expected["best_part_held"][overlap]["exact"]))
            assert one.labelled
            assert not one.winnable


@needs_shared
def test_the_smallest_overlap_that_always_holds_an_anchor_is_its_length_less_one():
    case = load_cases()["C01"]
    quote = case["input"]["anchor"]
    overlap = case["expected"]["smallest_overlap_that_always_holds_it"]
    for before in range(40):
        text = "x " * before + quote + " and so on and so on and so on"
        chunks = table(*windows("doc", text, 30, overlap))
        assert only(find_relevance(golden(q=anchor(quote)), documents(doc=text), chunks)).winnable


@needs_shared
def test_every_occurrence_counts_unless_offsets_pin_one():
    case = load_cases()["C08"]
    text, quote = case["input"]["doc"], case["input"]["anchor"]
    spans = case["input"]["chunks"]
    chunks = table(*[("doc", *span) for span in spans.values()], ids=list(spans))
    free = only(find_relevance(golden(q=anchor(quote)), documents(doc=text), chunks))
    assert list(free.chunk_grades) == case["expected"]["relevant_chunks"]
    assert [[place.start, place.end] for place in free.places["a1"]] == case["expected"]["occurrences"]
    start, end = case["expected"]["occurrences"][0]
    pinned = only(find_relevance(golden(q=anchor(quote, start=start, end=end)), documents(doc=text), chunks))
    assert list(pinned.chunk_grades) == ["c0"]


@needs_shared
def test_a_phrase_inside_a_longer_number_makes_nothing_relevant():
    case = load_cases()["C11"]
    text = "\n".join(case["input"]["chunks"].values())
    middle = text.index("\n")
    chunks = table(("doc", 0, middle), ("doc", middle + 1, len(text)), ids=["c1", "c2"])
    one = only(find_relevance(golden(q=anchor(case["input"]["anchor"])), documents(doc=text), chunks))
    assert list(one.chunk_grades) == case["expected"]["relevant_chunks"]


@needs_shared
def test_the_label_is_text_so_it_outlives_a_new_chunking():
    case = load_cases()["D02"]
    text, quote = case["input"]["doc"], case["input"]["anchor"]
    for name, setting in case["input"]["chunkers"].items():
        chunks = table(*windows("doc", text, setting["size"], setting["overlap"]))
        one = only(find_relevance(golden(q=anchor(quote)), documents(doc=text), chunks))
        expected = [f"doc#{start}-{end}" for start, end in case["expected"][name]["chunks_with_anchor"]]
        assert list(one.chunk_grades) == expected


@needs_shared
def test_offsets_count_code_points_not_bytes():
    case = load_cases()["K06"]
    text, quote = case["input"]["text"], case["input"]["chunk"]
    (place,) = locate(anchor(quote), Sources(documents(doc=text))).places
    assert [place.start, place.end] == case["expected"]["char_span"]


@needs_shared
def test_ids_compare_as_text_with_letters_composed():
    case = load_cases()["I02"]
    composed, decomposed = "Z\u00fcrich guide.md", "Zu\u0308rich guide.md"
    assert (len(composed), len(decomposed)) == tuple(case["input"]["code_points"].values())
    text = "Trams run every seven minutes."
    chunks = table((decomposed, 0, len(text)))
    one = only(
        find_relevance(
            golden(q=anchor("every seven minutes", composed)), [Document(id=decomposed, text=text)], chunks
        )
    )
    assert one.winnable
    assert case["expected"]["loading_index_ids"]["verdict"] == "error"
    with pytest.raises(InputError, match="one after Unicode composition"):
        find_relevance(golden(), [Document(id=composed, text="a"), Document(id=decomposed, text="b")], chunks)


def test_ids_that_look_like_numbers_stay_apart():
    chunks = table(("007", 0, 5), ("7", 0, 5))
    one = only(find_relevance(golden(q={"007": 1.0}), [], chunks))
    assert list(one.chunk_grades) == ["007#0-5"]


def test_a_document_that_is_not_indexed_and_a_stale_label_are_told_apart_from_a_cut():
    docs = documents(kept="The fuse is in the red box.", changed="Nothing here any more.", out="Not indexed.")
    chunks = table(("kept", 0, 12), ("kept", 12, 27), ("changed", 0, 22))
    found = find_relevance(
        golden(
            cut=anchor("is in the red box", "kept"),
            stale=anchor("the old phrase", "changed"),
            no_chunk=anchor("Not indexed", "out"),
            no_document=anchor("Gone", "gone"),
            held=anchor("in the red", "kept"),
        ),
        docs,
        chunks,
    )
    assert {one.query_id: list(one.lost.values()) for one in found.queries} == {
        "cut": ["cut by the chunker"],
        "stale": ["stale label"],
        "no_chunk": ["not indexed"],
        "no_document": ["not indexed"],
        "held": [],
    }
    survival = label_survival(found, chunks)
    assert (survival.anchors, survival.whole, survival.split, survival.lost) == (5, 1, 1, 3)
    assert survival.share == 0.2
    # "is in the red box" is [9, 26): the second chunk holds 14 of its 17 signs
    assert survival.fates[0].best_part == 14 / 17


def test_overlapping_chunks_hold_an_anchor_twice_and_an_alias_does_not():
    chunks = table(("doc", 0, 19), ("doc", 5, 30), ("doc", 5, 30), ids=["a", "b", "b-again"])
    found = find_relevance(
        golden(q=anchor("red box")), documents(doc="It is in the red box now, see."), chunks
    )
    one = only(found)
    assert one.chunk_grades == {"b": 1.0}
    assert set(one.covers) == {"b", "b-again"}
    wider = table(("doc", 0, 25), ("doc", 5, 30))
    twice = find_relevance(
        golden(q=anchor("red box")), documents(doc="It is in the red box now, see."), wider
    )
    assert label_survival(twice, wider).duplicated == 1
    assert label_survival(found, chunks).duplicated == 0


def test_wrong_offsets_are_repaired_to_the_nearest_occurrence_and_listed():
    text = "seal it. " * 5
    wrong = anchor("seal it", start=19, end=26)  # the occurrences begin at 0, 9, 18, 27, 36
    docs, chunks = documents(doc=text), table(("doc", 0, len(text)))
    found = find_relevance(golden(q=wrong), docs, chunks)
    assert [(place.start, place.end) for place in only(found).places["a1"]] == [(18, 25)]
    assert [(notice.code, notice.ids) for notice in found.notices] == [("repaired-offsets", ("q a1",))]
    nowhere = find_relevance(golden(q=anchor("break it", start=0, end=8)), docs, chunks)
    assert only(nowhere).lost == {"a1": "stale label"}


def test_a_pinned_place_may_begin_inside_a_word_and_leaves_the_blanks_of_its_quote_out():
    text = "As my predecessor, on my first day. "
    (place,) = locate(anchor("sor, on my first day. ", start=14, end=36), Sources(documents(doc=text))).places
    assert text[place.start : place.end] == "sor, on my first day."


def test_any_one_alternative_is_enough_and_they_are_one_item():
    docs = documents(a="Call the night desk first.", b="Ring the desk at night.")
    item = Anchor(
        id="a1",
        doc_id="a",
        quote="Call the night desk",
        alternatives=(Anchor(id="b1", doc_id="b", quote="Ring the desk"),),
    )
    one = only(find_relevance(golden(q=item), docs, table(("a", 0, 10), ("b", 0, 20))))
    assert one.covers == {"b#0-20": ("a1",)}
    assert one.anchor_grades == {"a1": 1.0}
    assert one.lost == {}
    neither = only(find_relevance(golden(q=item), docs, table(("a", 0, 10), ("b", 0, 9))))
    assert neither.lost == {"a1": "cut by the chunker"}
    assert neither.best_part["a1"] == 9 / 13  # of "Ring the desk"


def test_the_same_phrase_in_another_document_is_a_twin_and_counts_nothing():
    docs = documents(a="Log every reading twice a day.", b="We log every\nreading too.", c="No log.")
    one = only(
        find_relevance(
            golden(q=anchor("log every reading", "a")), docs, table(("a", 0, 30), ("b", 0, 25), ("c", 0, 7))
        )
    )
    assert list(one.chunk_grades) == ["a#0-30"]
    assert [(place.doc_id, place.start, place.end) for place in one.twins["a1"]] == [("b", 3, 20)]


def test_twins_are_found_through_broken_words_tables_and_short_quotes():
    docs = documents(
        a="The pre-training | cost is 12 EUR", b="the pretraining", c="the pre-\ntraining", d="| cost | is |"
    )
    anchors = [anchor("The pre-training", "a"), anchor("12", "a"), anchor("cost is", "a"), anchor("EUR", "a")]
    one = only(find_relevance(golden(q=anchors), docs, table(("a", 0, 33))))
    assert {item: [place.doc_id for place in places] for item, places in one.twins.items()} == {
        "a1": ["c"],
        "a3": ["d"],
    }


def test_text_without_a_place_is_located_in_its_document():
    text = "Intro.\n\nPress the  red\r\nbutton twice. Then wait."
    chunks = texts(hit=("doc", "Press the red button twice."), other=("doc", "Then   wait."))
    placed, notices = locate_texts(chunks, documents(doc=text))
    assert [(int(a), int(b)) for a, b in zip(placed.starts, placed.ends, strict=True)] == [(8, 37), (38, 48)]
    assert [(notice.code, notice.ids) for notice in notices] == [("located", ("hit", "other"))]
    one = only(find_relevance(golden(q=anchor("the red button")), documents(doc=text), chunks))
    assert list(one.chunk_grades) == ["hit"]


def test_text_that_stands_nowhere_is_searched_for_the_anchor_and_reported_either_way():
    docs = documents(doc="Press the red button twice.", other="Nothing.")
    chunks = texts(
        reworded=("doc", "Summary: press the RED button twice!"),
        useless=("doc", "Summary of something else"),
        twin=("other", "They press the red button there"),
        nameless=("", "press the red button"),
    )
    found = find_relevance(golden(q=anchor("the red button")), docs, chunks, whole_index=False)
    assert list(only(found).chunk_grades) == ["reworded", "nameless"]
    codes = {notice.code: notice.ids for notice in found.notices}
    assert codes["not-located"] == ("reworded", "useless")
    assert codes["located-by-text"] == ("reworded", "nameless")


def test_labels_name_chunks_or_documents():
    chunks = table(("a", 0, 5), ("a", 5, 9), ("b", 0, 4))
    docs = documents(a="x" * 9, b="y" * 4)
    found = find_relevance(golden(q={"a": 2.0, "b#0-4": 1.0, "nowhere": 1.0, "b": -1.0}), docs, chunks)
    one = only(found)
    assert one.chunk_grades == {"a#0-5": 2.0, "a#5-9": 2.0, "b#0-4": 1.0}
    assert one.document_grades == {"a": 2.0, "b": 1.0, "nowhere": 1.0}
    assert one.lost == {"nowhere": "not indexed"}
    assert [notice.code for notice in found.notices] == ["document-labels"]


def test_labels_of_an_unknown_index_are_relevant_and_not_retrieved():
    one = only(find_relevance(golden(q={"d1": 1.0, "d9": 1.0}), [], table(("d1", -1, -1), ids=["d1"])))
    assert one.chunk_grades == {"d1": 1.0, "d9": 1.0}
    assert one.lost == {}


def test_a_query_without_an_answer_has_nothing_relevant():
    query = Query(id="q", text="?", answerable=False)
    one = only(find_relevance(GoldenSet(name="g", queries=(query,)), documents(a="b"), table(("a", 0, 1))))
    assert not one.labelled
    assert not one.winnable


@needs_shared
def test_all_790_span_labels_agree_and_97_stand_more_than_once():
    folder = DATASETS / "chroma-chunking"
    docs = [
        Document(id=path.stem, text=path.read_bytes().decode()) for path in (folder / "corpora").glob("*.md")
    ]
    with (folder / "questions_df.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    sources = Sources(docs)
    anchors = [
        anchor(ref["content"], row["corpus_id"], ref["start_index"], ref["end_index"])
        for row in rows
        for ref in json.loads(row["references"])
    ]
    located = [locate(one, sources) for one in anchors]
    assert [one.finding for one in located] == ["found"] * 790
    for one in located:
        assert one.anchor.start is not None
        (place,) = one.places
        assert place.start - one.anchor.start == len(one.anchor.quote) - len(one.anchor.quote.lstrip())
    verbatim = [sources.document(one.doc_id) for one in anchors]
    counts = [text.text.count(one.quote) for one, text in zip(anchors, verbatim, strict=True) if text]
    assert sum(count > 1 for count in counts) == 97
    free = [len(locate(replace(one, start=None, end=None), sources).places) for one in anchors]
    # 49 labels begin or end inside a word; without their offsets those stand at no word's edge
    assert 741 <= sum(count > 0 for count in free) < 790


@needs_shared
def test_all_1190_short_answers_agree_with_their_offsets():
    folder = DATASETS / "squad-fulldoc"
    docs = [
        Document(id=path.name, text=path.read_bytes().decode()) for path in (folder / "docs").glob("*.txt")
    ]
    rows = [json.loads(line) for line in (folder / "golden.jsonl").read_text(encoding="utf-8").splitlines()]
    queries = [
        Query(
            id=str(row["query_id"]),
            text=row["query"],
            anchors=(anchor(label["text"], label["doc_id"], label["start"], label["end"]),),
        )
        for row in rows
        for label in row["labels"]
    ]
    chunks = table(*[window for doc in docs for window in windows(doc.id, doc.text, 800, 200)])
    found = find_relevance(GoldenSet(name="squad", queries=tuple(queries)), docs, chunks)
    assert len(found.queries) == 1190
    assert found.notices == ()
    assert not any(one.lost for one in found.queries)
    assert np.mean([len(one.chunk_grades) for one in found.queries]) > 1.2
