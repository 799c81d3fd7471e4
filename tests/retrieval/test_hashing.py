from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.retrieval.models.hashing import HashingEmbedder, HashingSettings

TEXTS = [
    "The retriever returned stale chunks.",
    "retrieval of stale chunk",
    "A cake is baked in an oven.",
    "",
    "the of and",
]


def embed(texts: list[str], **knobs: float | bool) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    embedder = HashingEmbedder(HashingSettings(**knobs))  # pyright: ignore[reportArgumentType]
    return embedder.embed_passages(texts, embedder.fit(texts))  # pyright: ignore[reportReturnType]


@pytest.mark.parametrize("dimensions", [1, 7, 64, 1000])
def test_rows_have_the_asked_dimension_and_length_1(dimensions: int):
    rows = embed(TEXTS, dimensions=dimensions)
    assert rows.shape == (5, dimensions)
    lengths = np.linalg.norm(rows, axis=1)
    assert lengths[[0, 1, 2, 4]] == pytest.approx(1.0)
    assert lengths[3] == 0.0


def test_a_text_is_nearer_to_its_paraphrase_than_to_something_else():
    rows = embed(TEXTS)
    assert rows[0] @ rows[1] > 0.5 > abs(rows[0] @ rows[2])


def test_runs_of_signs_tie_a_misspelt_word_to_the_right_one():
    with_runs = embed(["configuration", "configuraton"], ngram_weight=1.0)
    without = embed(["configuration", "configuraton"], ngram_weight=0.0)
    assert with_runs[0] @ with_runs[1] > 0.15
    assert abs(without[0] @ without[1]) < 0.1


def test_the_order_of_words_matters_through_pairs_alone():
    with_pairs = embed(["red blue green", "green blue red"])
    without = embed(["red blue green", "green blue red"], bigram_weight=0.0)
    assert with_pairs[0] @ with_pairs[1] < 1.0 - 1e-3
    assert without[0] @ without[1] == pytest.approx(1.0)


def test_a_repeated_word_counts_1_plus_ln_n():
    # Two words, no pairs, no runs, one feature each: the row is (1 + ln 3, 1) in two places, scaled to 1.
    knobs = {"bigram_weight": 0.0, "ngram_weight": 0.0, "word_weight": 0.0, "dimensions": 100_003}
    row = np.abs(embed(["pump pump pump door"], **knobs)[0])
    heavy, light = np.sort(row[row > 0])[::-1]
    assert heavy / light == pytest.approx(1 + np.log(3), rel=1e-6)


def test_with_idf_a_rare_word_weighs_more_than_a_common_one():
    corpus = ["pump alpha", "pump beta", "pump gamma"]
    embedder = HashingEmbedder(HashingSettings(idf=True, bigram_weight=0.0))
    state = embedder.fit(corpus)
    rows = embedder.embed_passages(corpus, state)
    rare, common = embedder.embed_queries(["alpha", "pump"], state)
    assert rows[0] @ rare > rows[0] @ common > 0.1
    # A word that the corpus lacks is embedded all the same.
    assert np.linalg.norm(embedder.embed_queries(["omega"], state)) == pytest.approx(1.0)


def test_the_embedding_is_the_same_on_every_machine():
    # Pinned: a change of the features changes every index, and has to be seen.
    row = embed(["E1207: reset the pump"], dimensions=8)[0]
    expected = [0.2043568, -0.3315748, 0.0111110, -0.1990406, -0.7352912, -0.0164272, -0.0940446, 0.5087125]
    assert row.tolist() == pytest.approx(expected, abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(max_size=40), min_size=1, max_size=6), st.booleans())
def test_a_text_has_one_row_in_whatever_company(texts: list[str], idf: bool):  # noqa: FBT001
    embedder = HashingEmbedder(HashingSettings(dimensions=128, idf=idf))
    state = embedder.fit(["some other pump", *texts])
    together = embedder.embed_passages(texts, state)
    alone = [embedder.embed_passages([text], state)[0] for text in texts]
    assert together.tobytes() == np.array(alone).tobytes()
