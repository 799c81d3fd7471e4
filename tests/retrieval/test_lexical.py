from __future__ import annotations

import numpy as np
import pytest

from assay.model.documents import Chunk
from assay.retrieval.models.lexical import LexicalReranker, LexicalSettings
from assay.retrieval.models.protocols import Candidates
from assay.retrieval.terms import index_terms


def chunk(place: int, text: str, context: str = "") -> Chunk:
    return Chunk(id=f"d{place}", doc_id=f"d{place}", start=0, end=len(text), text=text, context=context)


def scores(query: str, *chunks: Chunk, **weights: float) -> list[float]:
    only = dict.fromkeys(("coverage", "frequency", "proximity", "bigrams", "heading"), 0.0) | weights
    settings = LexicalSettings(**only) if weights else LexicalSettings()  # pyright: ignore[reportArgumentType]
    candidates = Candidates(chunks=chunks, terms=index_terms(chunks))
    positions = np.arange(len(chunks), dtype=np.int32)
    return LexicalReranker(settings).rerank(query, positions, candidates).scores.tolist()


RED, BLUE, BOTH, NONE = chunk(0, "red"), chunk(1, "blue"), chunk(2, "red blue"), chunk(3, "door")


def test_coverage_is_the_share_of_the_query_by_weight():
    # red and blue stand in two of four chunks each: equal weights.
    assert scores("red blue", RED, BLUE, BOTH, NONE, coverage=1.0) == [0.5, 0.5, 1.0, 0.0]


def test_a_rare_word_covers_more_than_a_common_one():
    chunks = [chunk(0, "red"), chunk(1, "red"), chunk(2, "blue"), chunk(3, "red")]
    first, _, third, _ = scores("red blue", *chunks, coverage=1.0)
    # idf: red ln(1 + 1.5/3.5), blue ln(1 + 3.5/1.5).
    red, blue = np.log1p(1.5 / 3.5), np.log1p(3.5 / 1.5)
    assert first == pytest.approx(red / (red + blue))
    assert third == pytest.approx(blue / (red + blue))


def test_frequency_saturates():
    # tf / (tf + 1): 1/2 and 3/4.
    assert scores("red", chunk(0, "red"), chunk(1, "red red red"), frequency=1.0) == [0.5, 0.75]


def test_proximity_wants_the_words_together():
    far = chunk(0, "red " + "filler " * 20 + "blue")
    near = chunk(1, "filler " * 20 + "red filler blue")
    assert scores("red blue", far, near, proximity=1.0) == pytest.approx([0.5, 1.0])


def test_pairs_want_the_words_side_by_side_and_in_order():
    rows = [
        chunk(0, "red blue"),
        chunk(1, "blue red"),
        chunk(2, "red and the blue"),
        chunk(3, "red door blue"),
    ]
    # Stop words are no neighbours: "red and the blue" holds the pair.
    assert scores("red blue", *rows, bigrams=1.0) == [1.0, 0.0, 1.0, 0.0]


def test_a_pair_does_not_reach_over_the_end_of_a_chunk():
    assert scores("red blue", chunk(0, "door red"), chunk(1, "blue door"), bigrams=1.0) == [0.0, 0.0]


def test_the_heading_counts_on_its_own():
    rows = [chunk(0, "text", context="Red pumps"), chunk(1, "red pumps text")]
    assert scores("red pump", *rows, heading=1.0) == [1.0, 0.0]


def test_a_perfect_chunk_scores_below_1_and_a_strange_one_0():
    perfect, strange = scores("red blue", chunk(0, "red blue", context="red blue"), NONE)
    assert 0.9 < perfect < 1.0
    assert strange == 0.0


@pytest.mark.parametrize("query", ["", "the of", "unknown words"])
def test_a_query_without_a_known_word_leaves_all_equal(query: str):
    assert scores(query, RED, BLUE) == [0.0, 0.0]


def test_scores_do_not_depend_on_the_other_candidates():
    chunks = [chunk(place, text) for place, text in enumerate(["red blue", "blue red pump", "", "pump"])]
    candidates = Candidates(chunks=chunks, terms=index_terms(chunks))
    reranker = LexicalReranker(LexicalSettings())
    together = reranker.rerank("blue pump red", np.arange(4, dtype=np.int32), candidates).scores
    alone = [
        reranker.rerank("blue pump red", np.array([place], np.int32), candidates).scores[0]
        for place in range(4)
    ]
    assert together.tolist() == alone
