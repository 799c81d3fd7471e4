from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import bm25s
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.model.documents import Chunk
from assay.retrieval.stages.fulltext import FulltextStage, best, rank_of, score_all, weigh
from assay.retrieval.stages.lists import Watch
from assay.retrieval.terms import TermIndex, index_terms
from shared_data import load_cases, needs_shared


def chunks_of(*texts: str) -> list[Chunk]:
    return [
        Chunk(id=f"d{place}", doc_id=f"d{place}", start=0, end=len(text), text=text)
        for place, text in enumerate(texts)
    ]


def plain(*texts: str) -> TermIndex:
    return index_terms(chunks_of(*texts), stemming=False, stop_words=False)


def weighted(index: TermIndex, *terms: str) -> list[tuple[int, float]]:
    return [(number, 1.0) for number in index.numbers(terms)]


def test_a_hand_worked_score():
    # Two chunks of 3 and 1 words: average 2. "b" stands in one of two: idf = ln(1 + 1.5/1.5) = ln 2.
    # tf 2, length 3: ln 2 * 2 / (2 + 1.2 * (1 - 0.75 + 0.75 * 3/2)).
    index = plain("bb bb cc", "dd")
    scores = score_all(weighted(index, "bb"), weigh(index, k1=1.2, b=0.75))
    assert scores[0] == pytest.approx(math.log(2) * 2 / (2 + 1.2 * (0.25 + 0.75 * 1.5)), abs=1e-15)
    assert scores[1] == 0.0


def test_a_chunk_that_shares_no_word_is_no_hit():
    index = plain("ship parcel", "refund buyer")
    found = FulltextStage(depth=9).run(
        [weighted(index, "refund"), []], weigh(index, k1=1.2, b=0.75), np.arange(2), Watch.of({}, [], {})
    )
    assert found.offsets.tolist() == [0, 1, 1]
    assert found.chunks.tolist() == [1]


def test_equal_scores_stand_in_the_order_of_their_ids():
    scores = np.array([1.0, 2.0, 1.0, 1.0, 0.0])
    order = np.array([3, 0, 1, 2, 4])
    assert best(scores, order, 3).tolist() == [1, 2, 3]
    assert [rank_of(chunk, scores, order) for chunk in range(5)] == [4, 1, 2, 3, None]


@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(0, 600), st.sampled_from([0.0, 0.02, 0.3, 1.0]))
def test_the_best_are_those_of_a_whole_sort(seed: int, most: int, n: int, share: float):
    draw = np.random.default_rng(seed)
    # few values, so that many scores are equal, also at the last place that counts
    scores = draw.integers(1, 6, n) * (draw.random(n) < share).astype(np.float64)
    order = draw.permutation(n)
    sorted_whole = [chunk for chunk in np.lexsort((order, -scores)).tolist() if scores[chunk] > 0]
    assert best(scores, order, most).tolist() == sorted_whole[:most]


def test_the_rank_of_a_watched_chunk_is_known_however_deep():
    texts = ["pump"] + ["pump " * 2] * 5 + ["door"]
    index = plain(*texts)
    watch = Watch.of({"q": ["d0", "d1", "d6"]}, ["q"], {f"d{place}": place for place in range(7)})
    found = FulltextStage(depth=2).run(
        [weighted(index, "pump")], weigh(index, k1=1.2, b=0.0), np.arange(7), watch
    )
    assert found.chunks.tolist() == [1, 2]
    # d1 is stored, d6 shares no word: d0 alone has a rank below, the last of the six that hold the word.
    assert (found.deep_chunk.tolist(), found.deep_rank.tolist()) == ([0], [6])


def test_a_heavier_word_weighs_more():
    index = plain("red", "blue")
    postings = weigh(index, k1=1.2, b=0.75)
    red, blue = index.numbers(["red", "blue"])
    scores = score_all([(red, 1.0), (blue, 2.5)], postings)
    assert scores[1] == pytest.approx(2.5 * scores[0])


def test_a_corpus_without_a_word_finds_nothing():
    index = plain("...", "!!")
    assert score_all([], weigh(index, k1=1.2, b=0.75)).tolist() == [0.0, 0.0]


words = st.sampled_from(["aa", "bb", "cc", "dd", "ee"])
documents = st.lists(st.lists(words, max_size=12), min_size=1, max_size=8)


@settings(deadline=None)
@given(documents, st.lists(words, min_size=1, max_size=4), st.floats(0.1, 3.0), st.floats(0.0, 1.0))
def test_scores_are_those_of_bm25s(corpus: list[list[str]], query: list[str], k1: float, b: float):
    index = plain(*(" ".join(document) for document in corpus))
    known = [word for word in query if word in index.number]
    if not known:
        return
    ours = score_all([(number, 1.0) for number in index.numbers(known)], weigh(index, k1=k1, b=b))
    peer = bm25s.BM25(method="lucene", k1=k1, b=b, dtype="float64")
    peer.index(cast("Any", corpus), show_progress=False)
    assert ours == pytest.approx(peer.get_scores(known), abs=1e-12)


def test_chunks_are_counted_the_same_in_any_number_of_parts(monkeypatch: pytest.MonkeyPatch):
    texts = ["aa bb aa", "", "bb cc", "cc cc cc aa"]
    whole = plain(*texts).document_frequency.tolist()
    monkeypatch.setattr("assay.retrieval.terms._BLOCK", 1)
    assert plain(*texts).document_frequency.tolist() == whole == [2, 2, 2]


def test_context_is_searched_and_told_apart():
    chunk = Chunk(id="a#0-4", doc_id="a", start=0, end=4, text="pump", context="Repair manual")
    index = index_terms([chunk])
    assert index.vocabulary == ("repair", "manual", "pump")
    assert index.heads.tolist() == [2]


@needs_shared
def test_case_d03_a_word_in_half_of_the_documents_still_counts():
    case = load_cases()["D03"]
    documents_: dict[str, Sequence[str]] = case["input"]["docs"]
    index = plain(*(" ".join(document) for document in documents_.values()))
    term = index.numbers(case["input"]["query"])[0]
    assert math.exp(index.idf[term]) == pytest.approx(case["expected"]["idf_smoothed_argument"]["value"])
    scores = score_all([(term, 1.0)], weigh(index, k1=1.2, b=0.75))
    names = list(documents_)
    assert [names[chunk] for chunk in best(scores, np.arange(2), 10)] == case["expected"]["order_smoothed"]
