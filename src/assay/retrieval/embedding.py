"""Embedding of many passages, block by block, here or on several processes.

A block is embedded in the same company wherever it is done, so that the vectors are the same bytes for any
number of workers. Texts are sent when a worker is free for them: never more are on the way than there are
workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from assay.retrieval.models.protocols import (
    NOTHING_DONE,
    Blockwise,
    Embedder,
    EmbedderSettings,
    ModelReport,
    Reporting,
    State,
    Surroundings,
)
from assay.retrieval.models.registry import make_embedder
from assay.retrieval.workers import Task, Workers

EMBEDDED = 8192
"""Passages that are embedded at a time, where the embedder does not say."""
Block = tuple[int, NDArray[np.float32], ModelReport]
"""Where it starts, its rows, and what the embedder said of it."""


def block_size(embedder: Embedder) -> int:
    """Return how many passages an embedder is given at a time."""
    return embedder.block if isinstance(embedder, Blockwise) else EMBEDDED


def embed_here(texts: Sequence[str], embedder: Embedder, state: State) -> Iterator[Block]:
    """Yield the blocks in their order, embedded in this process."""
    step = block_size(embedder)
    for start in range(0, len(texts), step):
        yield start, *embed_block(embedder, texts[start : start + step], state)


def embed_elsewhere(
    texts: Sequence[str],
    step: int,
    settings: EmbedderSettings,
    where: Surroundings,
    state: State,
    workers: Workers,
) -> Iterator[Block]:
    """Yield the blocks as they are done, in whatever order.

    Args:
        texts: the passages; slices of them are taken when they are sent.
        step: passages of a block.
        settings: the embedder's, resolved.
        where: where the model works; the same for each worker.
        state: what the embedder learnt of the corpus.
        workers: who does the work.

    Raises:
        WorkerError: a worker failed.
    """
    tasks = [Task(work=start) for start in range(0, len(texts), step)]
    shared = (settings, where, dict(state))
    done = workers.run(start_embedding, shared, tasks, load=lambda start: texts[start : start + step])
    for place, (rows, report) in done:
        yield place * step, rows, report


def start_embedding(
    shared: tuple[EmbedderSettings, Surroundings, State],
) -> Callable[[Sequence[str]], tuple[NDArray[np.float32], ModelReport]]:
    """Start what a worker keeps while it embeds: the model."""
    settings, where, state = shared
    embedder = make_embedder(settings, where)
    return lambda texts: embed_block(embedder, texts, state)


def embed_block(
    embedder: Embedder, texts: Sequence[str], state: State
) -> tuple[NDArray[np.float32], ModelReport]:
    """Return the rows of a block, each of length 1, and what the embedder said of it."""
    rows = unit(embedder.embed_passages(texts, state))
    return rows, embedder.take_report() if isinstance(embedder, Reporting) else NOTHING_DONE


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return rows of length 1; rows of zeros stay.

    >>> unit(np.array([[3.0, 4.0], [0.0, 0.0]], np.float32)).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    wide = rows.astype(np.float64)
    lengths = np.sqrt((wide * wide).sum(axis=1, keepdims=True))
    return (wide / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)
