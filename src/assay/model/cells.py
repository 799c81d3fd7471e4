"""Cells of CSV files that hold whole documents: Python refuses cells above 131,072 characters unless told."""

from __future__ import annotations

import csv
import sys
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def wide_cells() -> Generator[None]:
    """Let cells be as long as they are while the block lasts; the limit of others stays theirs.

    >>> before = csv.field_size_limit()
    >>> with wide_cells():
    ...     len(next(csv.reader(["x" * 200_000]))[0])
    200000
    >>> csv.field_size_limit() == before
    True
    """
    # the limit is a C long, which has 32 bits on some systems
    before = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        yield
    finally:
        csv.field_size_limit(before)
