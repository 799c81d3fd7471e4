"""Which part of the labels a query belongs to: train, dev or test; all its places are in the same one."""

from __future__ import annotations

import hashlib

from assay.model.judges import Part


def part_of(query_id: str, *, seed: int = 0, train: float = 0.2, dev: float = 0.4) -> Part:
    """Return the part of a query; the same for ever, whatever other queries there are.

    Args:
        query_id: the query.
        seed: deals the queries out anew.
        train: the share of queries whose labels may stand in the judge's prompt.
        dev: the share to look at while the prompt is written; the rest is to be looked at once.

    >>> [part_of(f"q{number}") for number in range(5)]
    ['dev', 'dev', 'dev', 'test', 'train']
    """
    digest = hashlib.sha256(f"{seed}|{query_id}".encode("utf-8", "surrogatepass")).digest()
    at = int.from_bytes(digest[:8], "big") / 2**64
    return "train" if at < train else "dev" if at < train + dev else "test"
