"""What must hold of every chunker on every text."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.corpus import CHUNKERS, make_chunker
from assay.corpus.chunkers import lost_characters
from assay.model.documents import Document
from corpus.nasty_text import nasty_text, repetitive_text

SETTINGS: list[tuple[str, Mapping[str, object]]] = [
    ("characters", {"size": 7, "overlap": 3}),
    ("characters", {"size": 1, "overlap": 0}),
    ("paragraphs", {}),
    ("paragraphs", {"max_chars": 9, "overlap": 0}),
    ("paragraphs", {"max_chars": 9, "overlap": 8}),
    ("paragraphs", {"max_paragraphs": 1}),
    ("markdown", {}),
    ("markdown", {"max_chars": 12, "overlap": 5}),
    ("markdown", {"max_chars": 40, "max_level": 1}),
    ("recursive", {}),
    ("recursive", {"size": 8, "overlap": 7}),
    ("recursive", {"size": 8, "overlap": 3, "separator_side": "after"}),
    ("recursive", {"size": 4, "overlap": 2, "unit": "words"}),
    ("recursive", {"size": 6, "overlap": 0, "separators": ["\n\n", " "]}),
    ("sentences", {}),
    ("sentences", {"max_chars": 12, "overlap_sentences": 5}),
    ("sentences", {"max_sentences": 2, "overlap_sentences": 1}),
    ("tokens", {"size": 4, "overlap": 3}),
    ("tokens", {"size": 4, "overlap": 0, "counter": "estimate"}),
    ("tokens", {"size": 4, "overlap": 1, "counter": "characters"}),
]
CL100K: list[tuple[str, Mapping[str, object]]] = [
    ("tokens", {"size": 3, "overlap": 1, "counter": "cl100k"}),
    ("recursive", {"size": 4, "overlap": 1, "unit": "cl100k"}),
]


def check(name: str, values: Mapping[str, object], text: str) -> None:
    document = Document(id="nasty.md", text=text, title="Nasty")
    chunker = make_chunker(name, {**values, "context": "headings"})
    chunks = chunker.chunk(document)
    assert chunks == chunker.chunk(document), "the same document gives the same chunks"
    for chunk in chunks:
        assert text[chunk.start : chunk.end] == chunk.text
        assert chunk.text.strip(), "no chunk is blank"
        assert chunk.doc_id == document.id
    for first, second in pairwise(chunks):
        assert first.start <= second.start, "in the order of their places"
        assert first.end < second.end, "none lies wholly in the one before"
    assert lost_characters(text, [(chunk.start, chunk.end) for chunk in chunks]) == 0
    limit = values.get("max_chars")
    if isinstance(limit, int):
        assert all(len(chunk.text) <= limit for chunk in chunks)
    if name in {"characters", "tokens"} and values.get("counter") != "cl100k":
        assert not any(chunker.oversize(chunk) for chunk in chunks)


@pytest.mark.parametrize(("name", "values"), SETTINGS)
@given(text=nasty_text)
def test_places_are_exact_and_no_text_is_lost(name: str, values: Mapping[str, object], text: str):
    check(name, values, text)


@pytest.mark.parametrize(("name", "values"), SETTINGS)
@given(text=repetitive_text)
def test_repeated_text_is_cut_as_well(name: str, values: Mapping[str, object], text: str):
    check(name, values, text)


@pytest.mark.peer
@pytest.mark.parametrize(("name", "values"), CL100K)
@given(text=nasty_text)
def test_tokens_that_end_inside_a_character_lose_none(name: str, values: Mapping[str, object], text: str):
    pytest.importorskip("tiktoken")
    check(name, values, text)


@pytest.mark.parametrize("name", sorted(CHUNKERS))
@pytest.mark.parametrize("text", ["", " ", "\n\n\r\n\t", "\u00a0"])
def test_a_blank_document_has_no_chunk(name: str, text: str):
    assert make_chunker(name).chunk(Document(id="a.md", text=text)) == []


@given(size=st.integers(1, 30), data=st.data(), text=nasty_text)
def test_windows_of_characters_step_by_size_minus_overlap(size: int, data: st.DataObject, text: str):
    overlap = data.draw(st.integers(0, size - 1))
    windows = make_chunker("characters", {"size": size, "overlap": overlap}).chunk(
        Document(id="a", text=text)
    )
    for window in windows:
        assert window.start % (size - overlap) == 0
        assert window.end == min(window.start + size, len(text))


@pytest.mark.parametrize("name", sorted(CHUNKERS))
def test_long_text_without_a_place_to_cut_is_cut_anyway(name: str):
    text = "x" * 10_000
    chunks = make_chunker(name).chunk(Document(id="a.md", text=text))
    assert lost_characters(text, [(chunk.start, chunk.end) for chunk in chunks]) == 0
    if name != "tokens":  # one word is one token, however long
        assert len(chunks) > 5
