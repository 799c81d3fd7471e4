"""Passages of a project's documents that hold some words: for who labels what no retriever found.

Rooms: retrieval (full text), building (places).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from assay.building.pools import pool_hits
from assay.corpus import Corpus
from assay.flows.prepare import prepare_asked
from assay.flows.project import Project
from assay.flows.retrieve import ReferenceRetriever, run_of
from assay.model.documents import Chunk
from assay.model.golden import Query
from assay.model.labels import Candidate
from assay.model.runs import Hit
from assay.model.text import normalise
from assay.retrieval.settings import read_pipeline

_DEPTH = 200
"""Passages of the full-text list among which those that hold the very words come first."""
_SEARCH = {"vector": False, "reranker": "none", "depth": _DEPTH, "pool": _DEPTH, "k": _DEPTH}


class Finder:
    """Full text over a project's chunks, whatever retriever the project has; safe to share between threads.

    Args:
        project: whose chunker cuts the passages, so that they are as long as those that are pooled.
        corpus: its documents.
    """

    def __init__(self, project: Project, corpus: Corpus) -> None:
        self._prepared = prepare_asked(project, corpus)
        self._retriever = ReferenceRetriever(self._prepared, read_pipeline(_SEARCH))
        self._searching = threading.Lock()

    def find(self, words: str, *, most: int = 20) -> tuple[Candidate, ...]:
        """Return the passages that hold some words: first those that hold them as they stand, each by BM25.

        Words that full text leaves out or cannot tell apart (stop words, scripts without blanks) are looked
        for as they stand.

        Args:
            words: any text; nothing is found for blanks.
            most: how many passages are returned.
        """
        sought = normalise(words).text
        if not sought:
            return ()
        hits = self._ranked(words) or list(islice(self._holding(sought), most))
        places = pool_hits({"": hits}, self._prepared.corpus.by_id)
        places.sort(key=lambda one: sought not in normalise(one.text).text)
        return tuple(replace(one, ranks={}) for one in places[:most])

    def _ranked(self, words: str) -> Sequence[Hit]:
        query = Query(id="words", text=words)
        with self._searching:
            found = self._retriever.retrieve([query], watch={})
        return run_of(self._prepared, self._retriever, [query], found).trace(query.id).final.hits

    def _holding(self, sought: str) -> Iterator[Hit]:
        holding = (one for one in self._prepared.chunks if sought in normalise(one.text).text)
        return (_hit(rank, chunk) for rank, chunk in enumerate(holding, start=1))


def _hit(rank: int, chunk: Chunk) -> Hit:
    return Hit(
        rank=rank, chunk_id=chunk.id, doc_id=chunk.doc_id, start=chunk.start, end=chunk.end, score=None
    )
