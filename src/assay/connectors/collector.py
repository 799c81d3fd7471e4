"""Replies of many queries become columns, under one identity of chunks.

A chunk is its document and its span; where a retriever gives no span, it is the retriever's own id; where it
gives no id either, it is the text. One place under two ids is one chunk, so that lists of one pipeline that
number their chunks differently meet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from assay.connectors.calls import Outcome
from assay.connectors.hits import FINAL, USUAL, HitError, HitForm, RawHit, ordered, read_reply
from assay.model.documents import chunk_id
from assay.model.errors import RetrieverError
from assay.model.notices import Notice, listed
from assay.model.runs import ChunkTable, Retrieved, Role, StageTable

ROLES: dict[str, Role] = {
    "pool": "pool",
    "fused": "pool",
    "reranked": "rerank",
    "rerank": "rerank",
    "diverse": "diversify",
    "final": "final",
}
"""Stage name -> role; every other name is a first-stage list."""

Identity = tuple[str, ...]
_FEWEST = 5
"""Queries from which on equal lengths are no accident."""


def collect(
    query_ids: Sequence[str], outcomes: Sequence[Outcome], k: int, *, form: HitForm = USUAL
) -> Retrieved:
    """Return chunks and stages of the replies to queries, in the queries' order.

    Every list is put in order (score down, ties as given, missing scores last), and the final one is cut to
    ``k``. A reply that cannot be read is an error of its query.

    Args:
        query_ids: the queries.
        outcomes: one a query.
        k: length of the final list.
        form: where the fields of the hits are.

    Raises:
        RetrieverError: every query failed.
    """
    replies: list[dict[str, list[RawHit]]] = []
    errors: dict[int, str] = {}
    for query, outcome in enumerate(outcomes):
        reply: dict[str, list[RawHit]] = {}
        if outcome.error is not None:
            errors[query] = outcome.error
        else:
            try:
                reply = read_reply(outcome.reply, form)
            except HitError as error:
                errors[query] = str(error)
        replies.append(reply)
    if outcomes and len(errors) == len(outcomes):
        raise RetrieverError(
            f"every query failed; the first ({query_ids[0]}) with: {errors[0]}",
            fix="call the retriever with this one query; it has to answer outside of Assay too",
        )
    named = dict.fromkeys(name for reply in replies for name in reply if name != FINAL)
    elapsed_ms = np.array([outcome.elapsed_ms for outcome in outcomes])
    chunks = _Chunks([hit for reply in replies for hits in reply.values() for hit in hits])
    seen = _Seen()
    stages = tuple(
        _stage(name, [reply.get(name, []) for reply in replies], chunks, seen, k, errors, elapsed_ms)
        for name in [*named, FINAL]
    )
    return Retrieved(
        chunks=chunks.table(), stages=stages, notices=_notices(seen, chunks, query_ids, errors, k)
    )


@dataclass(slots=True)
class _Seen:
    """What was odd about the lists: query positions."""

    unscored: set[int] = field(default_factory=set[int])
    repeated: set[int] = field(default_factory=set[int])
    long: set[int] = field(default_factory=set[int])
    cut: int | None = None
    """Length of every final list, where that is one length below k."""


def _stage(
    name: str,
    lists: Sequence[Sequence[RawHit]],
    chunks: _Chunks,
    seen: _Seen,
    k: int,
    errors: dict[int, str],
    elapsed_ms: NDArray[np.float64],
) -> StageTable:
    rows: list[int] = []
    scores: list[float] = []
    offsets = [0]
    for query, hits in enumerate(lists):
        sorted_hits, unscored = ordered(hits)
        if name == FINAL:
            if len(sorted_hits) > k:
                seen.long.add(query)
            sorted_hits = sorted_hits[:k]
        places = [chunks.place(hit) for hit in sorted_hits]
        if unscored:
            seen.unscored.add(query)
        if len(set(places)) < len(places):
            seen.repeated.add(query)
        rows += places
        scores += [float("nan") if hit.score is None else hit.score for hit in sorted_hits]
        offsets.append(len(rows))
    lengths = {end - start for start, end in pairwise(offsets)}
    if name == FINAL and not errors and len(lengths) == 1 and 0 < min(lengths) < k:
        seen.cut = min(lengths)
    return StageTable(
        name=name,
        role=ROLES.get(name, "list"),
        offsets=np.array(offsets, np.int64),
        chunks=np.array(rows, np.int32),
        scores=np.array(scores, np.float64),
        errors=errors,
        elapsed_ms=elapsed_ms if name == FINAL else None,
    )


class _Chunks:
    """Every chunk that some hit speaks of, by first appearance."""

    def __init__(self, hits: Sequence[RawHit]) -> None:
        places: dict[tuple[str | None, str], set[Identity]] = {}
        names: dict[Identity, dict[str, None]] = {}
        for hit in hits:
            if hit.id is not None and hit.start is not None:
                places.setdefault((hit.doc_id, hit.id), set()).add(_identity(hit))
                places.setdefault((None, hit.id), set()).add(_identity(hit))
                names.setdefault(_identity(hit), {})[hit.id] = None
        documents: dict[str, set[str]] = {}
        for hit in hits:
            if hit.id is not None and hit.doc_id is not None:
                documents.setdefault(hit.id, set()).add(hit.doc_id)
        self._document_of = {name: next(iter(found)) for name, found in documents.items() if len(found) == 1}
        """Id -> the only document that comes with it, for lists that give the id alone."""
        self._place_of = {key: next(iter(found)) for key, found in places.items() if len(found) == 1}
        """(document or None, id) -> the only place that carries this id."""
        self._names = names
        self.renamed = [found for found in names.values() if len(found) > 1]
        self.rows: dict[Identity, int] = {}
        self.hits: list[RawHit] = []

    def place(self, hit: RawHit) -> int:
        """Return the position of a hit's chunk."""
        identity = _identity(hit)
        if hit.start is None and hit.id is not None:
            named = ("id", hit.doc_id or self._document_of.get(hit.id, ""), hit.id)
            identity = self._place_of.get((hit.doc_id, hit.id), named)
        row = self.rows.setdefault(identity, len(self.hits))
        if row == len(self.hits):
            self.hits.append(hit)
        elif self.hits[row].text is None and hit.text is not None:
            # A first-stage list may give ids alone where the final list gives the texts too.
            self.hits[row] = hit
        return row

    def table(self) -> ChunkTable:
        wanted = [self._id_of(identity) for identity in self.rows]
        times = Counter(wanted)
        ids = [
            name if times[name] == 1 else f"{name} ({':'.join(identity[1:])})"
            for name, identity in zip(wanted, self.rows, strict=True)
        ]
        places = [_span(identity) for identity in self.rows]
        return ChunkTable(
            ids=tuple(ids),
            doc_ids=tuple(
                identity[1] or hit.id or name
                for identity, hit, name in zip(self.rows, self.hits, ids, strict=True)
            ),
            starts=np.array([start for start, _ in places], np.int64),
            ends=np.array([end for _, end in places], np.int64),
            texts=tuple(hit.text for hit in self.hits),
        )

    def _id_of(self, identity: Identity) -> str:
        """Return the name of a chunk: the retriever's own where it has exactly one, else its place."""
        if identity[0] == "place":
            doc_id, start, end = identity[1], *_span(identity)
            names = self._names.get(identity, {})
            only = next(iter(names)) if len(names) == 1 else None
            clear = only is not None and self._place_of.get((None, only)) == identity
            return only if clear and only is not None else chunk_id(doc_id, start, end)
        return identity[-1]


def _identity(hit: RawHit) -> Identity:
    if hit.start is not None and hit.end is not None and hit.doc_id is not None:
        return "place", hit.doc_id, str(hit.start), str(hit.end)
    if hit.id is not None:
        return "id", hit.doc_id or "", hit.id
    text = blake2b((hit.text or "").encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    if hit.text is None:
        return "document", hit.doc_id or "", hit.doc_id or ""
    return "text", hit.doc_id or "", f"{hit.doc_id or 'text'}#{text}"


def _span(identity: Identity) -> tuple[int, int]:
    return (int(identity[2]), int(identity[3])) if identity[0] == "place" else (-1, -1)


def _notices(
    seen: _Seen, chunks: _Chunks, query_ids: Sequence[str], errors: dict[int, str], k: int
) -> tuple[Notice, ...]:
    found: list[Notice] = []
    sentences = (
        ("retriever-errors", set(errors), "the retriever failed on {n} queries ({ids})"),
        ("unscored-hits", seen.unscored, "hits without a score among scored ones stand last: {ids}"),
        ("repeated-hits", seen.repeated, "a list repeats a hit, which earns nothing again: {ids}"),
        ("long-lists", seen.long, f"more than k = {k} hits came back and were cut: {{ids}}"),
    )
    for code, queries, sentence in sentences:
        ids = tuple(query_ids[query] for query in sorted(queries))
        if ids:
            text = sentence.format(n=len(ids), ids=listed(ids))
            if code == "retriever-errors":
                text += f"; the first with: {errors[min(errors)]}"
            found.append(Notice(code=code, text=text, ids=ids))
    if seen.cut is not None and len(query_ids) >= _FEWEST:
        text = f"every list has {seen.cut} hits although k = {k}: the retriever has a cut of its own"
        found.append(Notice(code="short-lists", text=text))
    if chunks.renamed:
        names = ["/".join(names) for names in chunks.renamed]
        text = f"{len(names)} places came under several ids and count as one chunk each ({listed(names)})"
        found.append(Notice(code="several-ids", text=text))
    return tuple(found)
