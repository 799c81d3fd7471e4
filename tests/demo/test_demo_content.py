"""The bundled demo keeps its promises: what the corpus holds, and what each query may and may not share."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import assay.demo
from assay.building.splitting import split_queries
from assay.corpus import chunk_corpus, make_chunker, read_corpus
from assay.model.phrases import find
from assay.model.text import normalise
from assay.model.words import content_words, words
from assay.store.golden import load_golden_lines

PROJECT = Path(assay.demo.__file__).parent / "project"
PAGES = {
    path.relative_to(PROJECT).as_posix(): path.read_text(encoding="utf-8")
    for folder in ("handbook", "incidents")
    for path in sorted((PROJECT / folder).glob("*.md"))
}
LINES = (PROJECT / "golden.jsonl").read_text(encoding="utf-8").splitlines()
QUERIES: list[dict[str, Any]] = [json.loads(line) for line in LINES]
RARE_TERMS = {
    "l01": "ef_search",
    "l02": "rank_constant",
    "l03": "lambda_mult",
    "l04": "RM3",
    "l05": "PYTHONHASHSEED",
    "l06": "WAND",
    "l07": "NFKC",
    "l08": "BCa",
    "l09": "MaxSim",
    "l10": "IoU",
    "l11": "MinHash",
    "l12": "R-precision",
    "l13": "CAD-512",
    "l14": "rewrite_rejected",
    "l15": "tenant_filter",
    "l16": "part_exact",
}
MOST_CHARS = 700
"""A hundred below the default chunker's limit of 800, so that a paragraph fits together with its heading."""


def plain(text: str) -> str:
    """White space as single blanks, which is all that a verbatim phrase may differ in here."""
    return " ".join(text.split())


def paragraphs(page: str) -> list[str]:
    return [plain(block) for block in re.split(r"\n\s*\n", PAGES[page]) if block.strip()]


def places(query: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Each phrase that serves a query, alternatives included, with its page."""
    for anchor in query["anchors"]:
        for place in [anchor, *anchor.get("alternatives", [])]:
            yield place["doc"], place["quote"]


def passage(doc: str, quote: str) -> str:
    """The one paragraph that holds a phrase."""
    holding = [paragraph for paragraph in paragraphs(doc) if quote in paragraph]
    assert len(holding) == 1, f"{quote!r} lies whole in {len(holding)} paragraphs of {doc}"
    return holding[0]


def of_kind(kind: str) -> list[Any]:
    return [pytest.param(query, id=query["id"]) for query in QUERIES if query["kind"] == kind]


ALL_PLACES = [
    pytest.param(doc, quote, id=f"{query['id']}-{number}")
    for query in QUERIES
    for number, (doc, quote) in enumerate(places(query), start=1)
]


def test_the_corpus_has_20_handbook_pages_and_12_incidents() -> None:
    assert Counter(page.split("/")[0] for page in PAGES) == {"handbook": 20, "incidents": 12}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_the_length_and_the_headings_of_its_kind(page: str) -> None:
    fewest, most = (500, 900) if page.startswith("handbook") else (250, 450)
    assert fewest <= len(PAGES[page].split()) <= most
    lines = PAGES[page].splitlines()
    assert lines[0].startswith("# ")
    assert sum(line.startswith("## ") for line in lines) >= 3


@pytest.mark.parametrize("page", PAGES)
def test_no_paragraph_outgrows_a_chunk(page: str) -> None:
    assert max(len(paragraph) for paragraph in paragraphs(page)) <= MOST_CHARS


def test_no_sentence_stands_twice_in_the_corpus() -> None:
    sentences = Counter(
        sentence
        for page in PAGES
        for paragraph in paragraphs(page)
        for sentence in re.split(r"(?<=[.?!]) ", paragraph)
        if len(sentence.split()) >= 6
    )
    assert [sentence for sentence, times in sentences.items() if times > 1] == []


def test_the_48_queries_are_spread_evenly_over_kinds_and_12_to_4_over_folders() -> None:
    counted = Counter((query["kind"], query["anchors"][0]["doc"].split("/")[0]) for query in QUERIES)
    kinds = ("factual", "lexical", "conceptual")
    assert counted == {
        (kind, folder): n for kind in kinds for folder, n in (("handbook", 12), ("incidents", 4))
    }


def test_each_incident_and_each_handbook_page_is_asked_for() -> None:
    assert {doc for query in QUERIES for doc, _ in places(query)} == set(PAGES)


def test_about_a_third_is_held_out_and_as_many_of_each_kind() -> None:
    held = Counter(query["kind"] for query in QUERIES if query["split"] == "heldout")
    assert held == {"factual": 5, "lexical": 5, "conceptual": 5}
    assert {query["split"] for query in QUERIES} == {"dev", "heldout"}


def test_no_page_is_asked_for_in_both_parts() -> None:
    parts: dict[str, set[str]] = {}
    for query in QUERIES:
        for doc, _ in places(query):
            parts.setdefault(doc, set()).add(query["split"])
    assert [doc for doc, held in parts.items() if len(held) > 1] == []
    assert split_queries(load_golden_lines(PROJECT / "golden.jsonl").golden.queries, fresh=True).parts == {
        query["id"]: query["split"] for query in QUERIES
    }


def test_every_query_says_where_it_came_from() -> None:
    expected = {"origin": "written", "verified_by": "the Assay authors"}
    assert all(query["provenance"] == expected for query in QUERIES)


def test_some_queries_need_several_phrases_and_some_are_served_by_either() -> None:
    assert sum(len(query["anchors"]) > 1 for query in QUERIES) == 2
    assert sum("alternatives" in anchor for query in QUERIES for anchor in query["anchors"]) == 3


@pytest.mark.parametrize(("doc", "quote"), ALL_PLACES)
def test_an_anchor_stands_once_in_its_page_within_one_paragraph_and_on_no_other_page(
    doc: str, quote: str
) -> None:
    assert plain(PAGES[doc]).count(quote) == 1
    assert quote in passage(doc, quote)
    elsewhere = [page for page in PAGES if page != doc and quote.casefold() in plain(PAGES[page]).casefold()]
    assert elsewhere == []


@pytest.mark.parametrize(("doc", "quote"), ALL_PLACES)
def test_an_anchor_has_6_to_20_words_and_begins_and_ends_at_word_edges(doc: str, quote: str) -> None:
    assert min(len(quote.split()), len(words(quote))) >= 6
    assert max(len(quote.split()), len(words(quote))) <= 20
    assert re.search(rf"(?<!\w){re.escape(quote)}(?!\w)", plain(PAGES[doc]))


@pytest.mark.parametrize("query", of_kind("lexical"))
def test_a_lexical_query_carries_a_rare_term_that_stands_in_its_passage(query: dict[str, Any]) -> None:
    term = RARE_TERMS[query["id"]]
    assert term in query["query"]
    assert all(term in passage(doc, quote) for doc, quote in places(query))
    assert sum(term in text for text in PAGES.values()) == 1


@pytest.mark.parametrize("query", of_kind("conceptual"))
def test_a_conceptual_query_shares_no_content_word_with_any_of_its_passages(query: dict[str, Any]) -> None:
    asked = set(content_words(query["query"]))
    assert len(asked) >= 4
    for doc, quote in places(query):
        assert asked & set(content_words(passage(doc, quote))) == set()


@pytest.mark.parametrize("query", of_kind("factual"))
def test_a_factual_query_does_not_give_its_passage_away(query: dict[str, Any]) -> None:
    asked = set(content_words(query["query"]))
    for _, quote in places(query):
        held = set(content_words(quote))
        assert len(asked & held) < 0.75 * len(asked)


def test_ids_are_unique_and_no_two_queries_ask_in_nearly_the_same_words() -> None:
    assert len({query["id"] for query in QUERIES}) == len(QUERIES)
    asked = {query["id"]: set(content_words(query["query"])) for query in QUERIES}
    alike = [
        (one, other)
        for one, other in combinations(asked, 2)
        if len(asked[one] & asked[other]) > 0.5 * len(asked[one] | asked[other])
    ]
    assert alike == []


def test_the_golden_file_is_read_without_a_remark_and_the_corpus_under_the_ids_it_names() -> None:
    lines = load_golden_lines(PROJECT / "golden.jsonl")
    assert len(lines.golden.queries) == 48
    assert list(lines.notices) == []
    corpus = read_corpus(PROJECT, include=["handbook/*.md", "incidents/*.md"])
    assert {document.id for document in corpus.documents} == set(PAGES)
    assert list(corpus.notices) == []


@pytest.mark.parametrize("settings", [{}, {"max_chars": 800}])
def test_each_anchor_is_found_once_and_lies_whole_in_exactly_one_default_chunk(
    settings: dict[str, object],
) -> None:
    documents = read_corpus(PROJECT, include=["handbook/*.md", "incidents/*.md"]).documents
    chunks = chunk_corpus(documents, make_chunker("paragraphs", settings))
    sources = {document.id: normalise(document.text) for document in documents}
    for query in QUERIES:
        for doc, quote in places(query):
            found = [place for source in sources.values() for place in find(quote, source)]
            assert len(found) == 1, quote
            start, end = found[0]
            holding = [c for c in chunks if c.doc_id == doc and c.start <= start and end <= c.end]
            assert len(holding) == 1, quote
