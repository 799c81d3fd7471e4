from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from assay.retrieval.embedding import unit
from assay.retrieval.stages.lists import Lists, Watch
from assay.retrieval.stages.vector import VectorStage, error_bound, exact


def watch_all(n_queries: int, n_chunks: int) -> Watch:
    return Watch(
        query=np.repeat(np.arange(n_queries), n_chunks), chunk=np.tile(np.arange(n_chunks), n_queries)
    )


def search(
    queries: NDArray[np.float32],
    vectors: NDArray[np.float32],
    *,
    depth: int,
    query_block: int = 512,
    chunk_block: int = 4096,
    order: NDArray[np.int64] | None = None,
) -> Lists:
    stage = VectorStage(depth=depth, query_block=query_block, chunk_block=chunk_block)
    ids = np.arange(len(vectors)) if order is None else order
    return stage.run(queries, vectors, ids, watch_all(len(queries), len(vectors)))


def rows(seed: int, n_rows: int, dimensions: int, *, twins: bool) -> NDArray[np.float32]:
    """Unit rows; with twins many are equal, and some are zero."""
    rng = np.random.default_rng(seed)
    made = rng.standard_normal((n_rows, dimensions))
    if twins and n_rows:
        made = made[rng.integers(0, max(1, n_rows // 3), n_rows)]
        made[rng.random(n_rows) < 0.1] = 0.0
    return unit(made.astype(np.float32))


def test_a_hand_made_ranking():
    vectors = np.array([[1, 0], [0, 1], [0.6, 0.8]], np.float32)
    found = search(np.array([[0, 1]], np.float32), vectors, depth=2)
    assert found.chunks.tolist() == [1, 2]
    assert found.scores.tolist() == pytest.approx([1.0, 0.8])
    # Chunk 0 is third, below the two that are stored.
    assert (found.deep_chunk.tolist(), found.deep_rank.tolist()) == ([0], [3])


def test_equal_scores_stand_in_the_order_of_their_ids():
    vectors = np.tile(np.array([[1, 0]], np.float32), (4, 1))
    order = np.array([2, 0, 3, 1])
    found = search(np.array([[1, 0]], np.float32), vectors, depth=4, order=order)
    assert found.chunks.tolist() == [1, 3, 0, 2]


def test_a_query_that_says_nothing_finds_nothing():
    found = search(np.zeros((1, 2), np.float32), np.eye(2, dtype=np.float32), depth=2)
    assert found.offsets.tolist() == [0, 0]
    assert not len(found.deep_rank)


def test_no_queries_and_no_chunks_are_fine():
    assert search(np.zeros((0, 3), np.float32), np.eye(3, dtype=np.float32), depth=2).offsets.tolist() == [0]
    assert search(np.ones((1, 3), np.float32), np.zeros((0, 3), np.float32), depth=2).offsets.tolist() == [
        0,
        0,
    ]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(1, 9),
    st.integers(1, 60),
    st.sampled_from([1, 3, 8, 33, 100]),
    st.booleans(),
    st.integers(1, 70),
    st.integers(1, 10),
    st.integers(1, 70),
)
def test_any_block_size_gives_the_order_of_all_64_bit_scores(
    seed: int,
    n_queries: int,
    n_chunks: int,
    dimensions: int,
    twins: bool,  # noqa: FBT001
    depth: int,
    query_block: int,
    chunk_block: int,
):
    vectors = rows(seed, n_chunks, dimensions, twins=twins)
    queries = rows(seed + 1, n_queries, dimensions, twins=False)
    order = np.random.default_rng(seed).permutation(n_chunks)
    found = search(
        queries, vectors, depth=depth, query_block=query_block, chunk_block=chunk_block, order=order
    )
    for query in range(n_queries):
        scores = exact(queries, vectors, np.full(n_chunks, query), np.arange(n_chunks))
        expected = np.lexsort((order, -scores))
        assert found.chunks[found.of(query)].tolist() == expected[:depth].tolist()
        assert found.scores[found.of(query)].tolist() == scores[expected[:depth]].tolist()
        deep = found.deep_query == query
        ranks = dict(zip(found.deep_chunk[deep].tolist(), found.deep_rank[deep].tolist(), strict=True))
        assert ranks == {
            int(chunk): rank for rank, chunk in enumerate(expected.tolist(), start=1) if rank > depth
        }


@pytest.mark.parametrize("blocks", [(1, 1), (7, 50), (512, 4096)])
def test_a_large_search_is_byte_for_byte_the_same_in_any_blocks(blocks: tuple[int, int]):
    vectors, queries = rows(5, 700, 256, twins=True), rows(6, 20, 256, twins=False)
    whole = search(queries, vectors, depth=50)
    parts = search(queries, vectors, depth=50, query_block=blocks[0], chunk_block=blocks[1])
    assert parts.chunks.tobytes() == whole.chunks.tobytes()
    assert parts.scores.tobytes() == whole.scores.tobytes()
    assert parts.deep_rank.tobytes() == whole.deep_rank.tobytes()


@given(st.integers(0, 2**32), st.integers(1, 40), st.sampled_from([1, 5, 64, 300]))
def test_a_pair_has_one_score_in_whatever_company(seed: int, n_rows: int, dimensions: int):
    vectors = rows(seed, n_rows, dimensions, twins=False)
    together = exact(vectors, vectors[::-1].copy(), np.arange(n_rows), np.arange(n_rows))
    alone = [
        exact(vectors[[row]], vectors[[n_rows - 1 - row]], np.array([0]), np.array([0]))[0]
        for row in range(n_rows)
    ]
    assert together.tolist() == alone


@given(st.integers(0, 2**32), st.sampled_from([1, 16, 384, 1024]))
def test_a_32_bit_product_is_within_the_bound(seed: int, dimensions: int):
    left, right = rows(seed, 20, dimensions, twins=False), rows(seed + 1, 20, dimensions, twins=False)
    close = exact(left, right, np.repeat(np.arange(20), 20), np.tile(np.arange(20), 20))
    assert np.abs((left @ right.T).ravel() - close).max() <= error_bound(dimensions)
