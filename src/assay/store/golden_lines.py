"""Changing single queries of a ``golden.jsonl``: every other line stays as it is, byte for byte."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path

from assay.model.golden import GoldenSet, Query
from assay.store.atomic import write_bytes
from assay.store.golden import golden_bytes
from assay.store.jsonl import read_raw


def rewrite_queries(path: Path, queries: Mapping[str, Query], lines: Mapping[str, int]) -> None:
    """Write some queries anew, each on its own line; the file is changed whole or not at all.

    Args:
        path: the file, plain or gzip.
        queries: query id -> the query as it shall be.
        lines: query id -> number of its line, from 1, as ``load_golden_lines`` gives them.

    Raises:
        InputError: there is no such file.
        StoreError: the place cannot be written.
        KeyError: a query is not in the file.
    """
    if not queries:
        return
    raw = read_raw(path)
    held = raw.split(b"\n")
    for query_id, query in queries.items():
        at = lines[query_id] - 1
        end = b"\r" if held[at].endswith(b"\r") else b""
        held[at] = query_line(query).encode() + end
    data = b"\n".join(held)
    packed = path.read_bytes()[:2] == b"\x1f\x8b"
    write_bytes(path, gzip.compress(data, mtime=0) if packed else data)


def query_line(query: Query) -> str:
    """Return the line of a query, as ``save_golden`` writes it, without its line end.

    >>> query_line(Query(id="q1", text="Who?", answerable=False))
    '{"id": "q1", "query": "Who?", "answerable": false}'
    """
    return golden_bytes(GoldenSet(name="", queries=(query,))).decode().rstrip("\n")
