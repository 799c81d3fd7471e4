"""Splitters of other packages, as they are installed."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given

from assay.corpus import chunking_notices, make_chunker, read_corpus
from assay.corpus.chunkers import lost_characters
from assay.corpus.chunkers.locating import locate
from assay.model.documents import Document
from assay.model.errors import ConfigError, InputError, MissingExtraError
from corpus.nasty_text import nasty_text, repetitive_text
from shared_data import DATASETS, load_cases, needs_shared

pytestmark = pytest.mark.peer

SPLITTERS: list[tuple[str, Mapping[str, object]]] = [
    ("langchain:RecursiveCharacterTextSplitter", {"chunk_size": 60, "chunk_overlap": 20}),
    ("langchain:RecursiveCharacterTextSplitter", {"chunk_size": 20, "chunk_overlap": 5, "counter": "words"}),
    ("langchain:CharacterTextSplitter", {"chunk_size": 60, "chunk_overlap": 0}),
    ("langchain:MarkdownTextSplitter", {"chunk_size": 60, "chunk_overlap": 10}),
    ("chonkie:TokenChunker", {"chunk_size": 60, "chunk_overlap": 10}),
    ("chonkie:SentenceChunker", {"chunk_size": 60, "chunk_overlap": 10}),
    ("chonkie:RecursiveChunker", {"chunk_size": 60}),
    ("llama-index:SentenceSplitter", {"chunk_size": 30, "chunk_overlap": 5, "counter": "words"}),
    ("llama-index:TokenTextSplitter", {"chunk_size": 30, "chunk_overlap": 5, "counter": "words"}),
    ("llama-index:MarkdownNodeParser", {}),
]


def skip_without(name: str) -> None:
    modules = {
        "langchain": "langchain_text_splitters",
        "chonkie": "chonkie",
        "llama-index": "llama_index.core",
    }
    pytest.importorskip(modules[name.partition(":")[0]])


@needs_shared
@pytest.mark.parametrize(("name", "values"), SPLITTERS)
def test_real_pages_are_cut_at_exact_places_and_nothing_is_lost(name: str, values: Mapping[str, object]):
    skip_without(name)
    chunker = make_chunker(name, values)
    awkward = read_corpus(DATASETS / "awkward-text").documents
    pages = read_corpus(DATASETS / "fastapi-docs", include=["tutorial/*.md"]).documents
    chunks = [chunk for page in (*awkward, *pages) for chunk in chunker.chunk(page)]
    texts = {page.id: page.text for page in (*awkward, *pages)}
    assert all(texts[chunk.doc_id][chunk.start : chunk.end] == chunk.text for chunk in chunks)
    assert not chunking_notices([*awkward, *pages], chunks, chunker)


@given(text=nasty_text)
def test_langchain_cuts_of_awkward_text_are_located(text: str):
    skip_without("langchain:")
    chunker = make_chunker("langchain:RecursiveCharacterTextSplitter", {"chunk_size": 8, "chunk_overlap": 3})
    chunks = chunker.chunk(Document(id="a", text=text))
    assert lost_characters(text, [(chunk.start, chunk.end) for chunk in chunks]) == 0


@given(text=repetitive_text)
def test_langchain_cuts_of_repeated_text_cover_it(text: str):
    skip_without("langchain:")
    chunker = make_chunker("langchain:RecursiveCharacterTextSplitter", {"chunk_size": 12, "chunk_overlap": 6})
    chunks = chunker.chunk(Document(id="a", text=text))
    assert lost_characters(text, [(chunk.start, chunk.end) for chunk in chunks]) == 0


def test_the_package_s_version_is_in_the_description():
    skip_without("langchain:")
    told = make_chunker("langchain:CharacterTextSplitter", {"chunk_size": 50, "chunk_overlap": 0}).describe()
    assert told["settings"] == {
        "context": "none",
        "counter": None,
        "options": {"chunk_size": 50, "chunk_overlap": 0},
    }
    assert isinstance(told["version"], str)


def test_text_that_a_splitter_drops_is_said():
    skip_without("langchain:")
    page = Document(id="a.md", text="# One\n\nAlpha.\n\n# Two\n\nBeta.")
    values = {"headers_to_split_on": [["#", "h1"]]}
    chunker = make_chunker("langchain:MarkdownHeaderTextSplitter", values)
    chunks = chunker.chunk(page)
    assert [chunk.text for chunk in chunks] == ["Alpha.", "Beta."]
    [notice] = chunking_notices([page], chunks, chunker)
    assert notice.text.startswith("8 visible characters of 1 document(s)")  # "#One" and "#Two"


def test_unknown_packages_splitters_and_settings_get_the_nearest_name():
    skip_without("langchain:")
    with pytest.raises(ConfigError, match=r"did you mean langchain:\.\.\.\?"):
        make_chunker("langchian:CharacterTextSplitter")
    with pytest.raises(ConfigError, match="did you mean 'RecursiveCharacterTextSplitter'"):
        make_chunker("langchain:RecursiveTextSplitter")
    with pytest.raises(ConfigError) as caught:
        make_chunker("langchain:CharacterTextSplitter", {"chunk_sise": 9, "separater": "x"})
    assert [fault.fix for fault in caught.value.faults] == [
        "did you mean 'chunk_size'?",
        "did you mean 'separator'?",
    ]


def test_what_the_splitter_itself_refuses_is_passed_on():
    skip_without("chonkie:")
    with pytest.raises(ConfigError, match="TokenChunker refuses its settings: chunk_overlap must be less"):
        make_chunker("chonkie:TokenChunker", {"chunk_size": 10, "chunk_overlap": 20})


def test_a_package_that_is_not_there_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "chonkie", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'retrieval-assay\[chunkers\]'"):
        make_chunker("chonkie:TokenChunker")


def test_a_chunk_that_cannot_be_located_is_an_error():
    skip_without("langchain:")
    # The splitter joins what it cut with the separator's pattern, which is not in the text.
    values = {"chunk_size": 9, "chunk_overlap": 0, "separator": "[,;]", "is_separator_regex": True}
    chunker = make_chunker("langchain:CharacterTextSplitter", values)
    with pytest.raises(
        InputError, match=r"a\.txt: chunk 1 of 3 by langchain:CharacterTextSplitter does not stand"
    ):
        chunker.chunk(Document(id="a.txt", text="aa,bb;cc,dddd"))


@needs_shared
def test_case_k03_a_search_goes_on_from_the_chunk_before():
    case = load_cases()["K03"]
    pieces = [text for text, _ in case["expected"]["chunks"]]
    spans = locate(case["input"]["text"], pieces).spans
    assert [[text, span[0]] for text, span in zip(pieces, spans, strict=True)] == case["expected"]["chunks"]


@needs_shared
def test_case_k04_trimmed_chunks_are_found_where_they_stand():
    case = load_cases()["K04"]
    pieces = [row[0] for row in case["expected"]["chunks"]]
    spans = locate(case["input"]["text"], pieces).spans
    assert [[piece, *span] for piece, span in zip(pieces, spans, strict=True)] == case["expected"]["chunks"]


def test_a_repeated_text_takes_the_place_that_leaves_nothing_out():
    # moving by one word: with the least overlap first, the third would find no place
    assert locate("aa aa aa aa", ["aa aa", "aa aa", "aa aa"]).spans == ((0, 5), (3, 8), (6, 11))


def test_without_overlap_repeated_text_stands_side_by_side():
    assert locate("aa aa aa", ["aa", "aa", "aa"]).spans == ((0, 2), (3, 5), (6, 8))


def test_a_heading_may_be_repeated_as_the_beginning_of_the_next_chunk():
    assert locate("Head\nBody.", ["Head", "Head\nBody."]).spans == ((0, 4), (0, 10))


def test_dropped_separators_leave_gaps():
    assert locate("aa;bb;aa", ["aa", "bb", "aa"]).spans == ((0, 2), (3, 5), (6, 8))


def test_other_white_space_and_dropped_unseen_characters_are_found():
    assert locate("one\n\n  two\u200b three", ["one two three"]).spans == ((0, 17),)


def test_a_character_cut_in_two_is_whole_in_both_chunks():
    assert locate("ab\U0001f600cd", ["ab\ufffd", "\ufffdcd"]).spans == ((0, 3), (2, 5))


def test_all_pieces_that_stand_nowhere_are_named():
    assert locate("one two", ["one", "three", "two", "four"]).missing == (1, 3)


def test_a_piece_that_stands_only_before_the_ones_before_it_is_missing():
    assert locate("one two", ["two", "one"]).missing == (1,)


@given(text=repetitive_text)
def test_pieces_of_repeated_text_are_found_wherever_they_were_cut(text: str):
    chunks = make_chunker("tokens", {"size": 3, "overlap": 2}).chunk(Document(id="a", text=text))
    located = locate(text, [chunk.text for chunk in chunks])
    assert not located.missing
    assert [text[start:end] for start, end in located.spans] == [chunk.text for chunk in chunks]
    assert lost_characters(text, located.spans) == 0


def test_a_package_with_a_tokenizer_of_its_own_takes_no_counter():
    with pytest.raises(ConfigError) as caught:
        make_chunker("chonkie:TokenChunker", {"counter": "cl100k"})
    assert str(caught.value).endswith(
        "counter: chonkie takes no counter\n  fix: it has its own setting for this: tokenizer"
    )
