"""Token counters: what they count, and where the tokens stand."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from assay.corpus import COUNTERS, count_tokens, read_corpus, token_counter, vocabularies
from assay.corpus.chunkers import lost_characters
from assay.model.errors import InputError, MissingExtraError
from corpus.nasty_text import nasty_text
from shared_data import DATASETS, needs_shared

OFFLINE = [name for name in COUNTERS if name != "cl100k"]


@pytest.mark.parametrize("name", OFFLINE)
@given(text=nasty_text)
def test_tokens_are_in_order_and_leave_nothing_out(name: str, text: str):
    counter = token_counter(name)
    spans = counter.spans(text)
    assert len(spans.starts) == len(spans.ends) == counter.count(text)
    assert list(spans.starts) == sorted(spans.starts)
    assert lost_characters(text, zip(spans.starts, spans.ends, strict=True)) == 0


@pytest.mark.peer
@given(text=nasty_text)
def test_cl100k_tokens_stand_where_their_bytes_do(text: str):
    pytest.importorskip("tiktoken")
    counter = token_counter("cl100k")
    spans = counter.spans(text)
    assert len(spans.starts) == counter.count(text)
    assert all(start < end for start, end in zip(spans.starts, spans.ends, strict=True))
    assert lost_characters(text, zip(spans.starts, spans.ends, strict=True)) == 0
    assert spans.ends[-1] == len(text) if text else not spans.ends


@pytest.mark.peer
def test_cl100k_by_hand():
    pytest.importorskip("tiktoken")
    # published example of the vocabulary: "tiktoken is great!" is t|ik|token| is| great|!
    assert count_tokens("tiktoken is great!", "cl100k") == 6
    assert count_tokens("<|endoftext|>", "cl100k") > 1  # text, never a control token
    # the cake is three tokens; each of them stands at the cake
    spans = token_counter("cl100k").spans("a\U0001f370")
    assert [(0, 1), *{(1, 2)}] == sorted(set(zip(spans.starts, spans.ends, strict=True)))


@needs_shared
@pytest.mark.peer
@pytest.mark.parametrize("folder", ["chroma-chunking/corpora", "fastapi-docs", "squad-fulldoc/docs"])
def test_the_estimate_is_within_an_eighth_of_cl100k_on_english(folder: str):
    pytest.importorskip("tiktoken")
    text = "\n".join(document.text for document in read_corpus(DATASETS / folder).documents)
    assert 0.88 < count_tokens(text) / count_tokens(text, "cl100k") < 1.12


@needs_shared
@pytest.mark.peer
def test_cl100k_counts_what_the_chunking_report_counted():
    pytest.importorskip("tiktoken")
    documents = read_corpus(DATASETS / "chroma-chunking/corpora").documents
    assert sum(count_tokens(document.text, "cl100k") for document in documents) == 328_208


def test_lone_surrogates_are_counted_and_not_refused():
    pytest.importorskip("tiktoken")
    assert len(token_counter("cl100k").spans("a\ud800b").starts) >= 2


def test_an_unknown_counter_gets_the_nearest_name():
    with pytest.raises(InputError, match="did you mean 'words'"):
        token_counter("word")


def test_without_a_vocabulary_nothing_is_downloaded(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("tiktoken")
    monkeypatch.setattr(vocabularies, "vocabulary_path", lambda: None)
    with pytest.raises(InputError, match="is in no cache; none is downloaded"):
        vocabularies.Cl100kCounter()


def test_without_tiktoken_the_extra_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "tiktoken", None)
    with pytest.raises(MissingExtraError, match="chunkers"):
        vocabularies.Cl100kCounter()


def test_a_file_that_is_not_the_vocabulary_is_never_counted_with(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    pytest.importorskip("tiktoken")
    other = tmp_path / "vocabulary"
    other.write_bytes(b"IQ== 0\n")
    monkeypatch.setattr(vocabularies, "vocabulary_path", lambda: other)
    with pytest.raises(InputError) as caught:
        vocabularies.Cl100kCounter()
    assert (
        str(caught.value)
        == f"{other}: is not the cl100k vocabulary (its SHA-256 differs)\n  fix: remove the file"
    )
