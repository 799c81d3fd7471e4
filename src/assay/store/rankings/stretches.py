"""Rows that stand together: the positions of stretches of rows, and of their heads."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.store.rankings.ids import Positions


def distinct(ascending: Positions) -> Positions:
    """Return each value of an ascending column of positions once."""
    return ascending[np.flatnonzero(np.diff(ascending, prepend=-1))]


def ranges(starts: NDArray[np.integer], lengths: NDArray[np.integer]) -> Positions:
    """Return start, start + 1, ... for each start, one after the other."""
    ends = np.cumsum(lengths)
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(int(ends[-1]) if len(ends) else 0)
