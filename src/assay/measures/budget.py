"""What fits into a prompt: lists cut at a number of tokens instead of a number of hits.

Chunks of different sizes cannot be compared at the same k: ten large ones hold more. At the same budget
of tokens they can.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from assay.measures.columns import Ints
from assay.model.errors import InputError
from assay.model.relevance import Judged, JudgedRows


def hits_within(offsets: NDArray[np.int64], tokens: NDArray[np.int64], budget: int) -> Ints:
    """Return, a query, how many leading hits fit whole into the budget.

    The list is filled from the top and stops at the first hit that does not fit.

    Args:
        offsets: the hits of query i are ``offsets[i]`` to ``offsets[i + 1]``.
        tokens: the length of each hit.
        budget: the most tokens that a prompt takes.

    Raises:
        InputError: the budget is below 1, or a length is negative.

    >>> hits_within(np.array([0, 3, 4]), np.array([400, 500, 50, 2000]), 1000)
    array([3, 0])
    >>> hits_within(np.array([0, 3]), np.array([400, 700, 50]), 1000)
    array([1])
    """
    if budget < 1:
        raise InputError(f"a budget must be at least 1 token, not {budget}")
    if len(tokens) and tokens.min() < 0:
        raise InputError(f"a hit must have 0 tokens or more, not {tokens.min()}")
    lengths = np.diff(offsets)
    query = np.repeat(np.arange(len(lengths)), lengths)
    sums = np.cumsum(tokens)
    before = np.concatenate(([0], sums))[offsets[:-1]]
    fits = sums - before[query] <= budget
    return np.bincount(query[fits], minlength=len(lengths))


def cut_lists(judged: Judged, lengths: Ints) -> Judged:
    """Return the same lists, each cut to its own length.

    ``score(cut_lists(judged, hits_within(offsets, tokens, 2000)), [recall])`` is the recall within a
    budget of 2,000 tokens.
    """
    found = judged.found
    kept = found.rank <= lengths[found.query]
    return replace(
        judged,
        found=JudgedRows(query=found.query[kept], rank=found.rank[kept], grade=found.grade[kept]),
        retrieved=np.minimum(judged.retrieved, lengths),
    )
