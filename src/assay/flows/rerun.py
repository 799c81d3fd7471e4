"""A project's retriever again, under other settings: trials and sweeps ask it so.

Documents are cut and matched once a chunker, and all configurations of one share its index.
Rooms: corpus (chunks), matching (relevance), retrieval (the pipeline and its cache).
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from assay.corpus import Chunker, Corpus, chunk_corpus
from assay.flows.prepare import Prepared, load_chunker
from assay.flows.project import Project
from assay.flows.retrieve import ReferenceRetriever, Retriever, make_retriever, pipeline_settings, run_of
from assay.matching import find_relevance
from assay.model.documents import Chunk
from assay.model.golden import GoldenSet, Query
from assay.model.relevance import Relevance
from assay.model.runs import Run, chunk_table
from assay.retrieval.cache import Cache
from assay.retrieval.corpus_index import CorpusIndex
from assay.retrieval.settings import digest


@dataclass(slots=True, kw_only=True)
class Cut:
    """What one chunker makes of the documents."""

    chunker: Chunker
    chunks: tuple[Chunk, ...]
    relevance: Relevance
    cache: Cache
    cut_ms: float
    index: CorpusIndex | None = None
    tokens: dict[int, int] = field(default_factory=dict[int, int])
    """Chunk -> its tokens, counted when it is first retrieved."""


class Cuts:
    """Cuts documents and matches them with the golden set, once a chunker.

    Args:
        corpus: the documents.
        golden: the golden set, whole.
        cache: makes the cache of a cut; the same one each time, or one of its own.
        most: how many cuts are kept; the one unused the longest goes.
        known: inputs that were cut already.
    """

    def __init__(
        self,
        corpus: Corpus,
        golden: GoldenSet,
        *,
        cache: Callable[[], Cache],
        most: int,
        known: Prepared | None = None,
    ) -> None:
        self.corpus = corpus
        self.golden = golden
        self._cache = cache
        self._most = most
        self._known = known
        self._held: OrderedDict[str, Cut] = OrderedDict()

    def of(self, project: Project) -> Cut:
        """Return the cut of a project's chunker.

        Raises:
            ConfigError: the chunker's settings are wrong.
        """
        key = chunker_key(project)
        if key not in self._held:
            while len(self._held) >= self._most:  # what belonged to it is let go before the next is made
                self._held.popitem(last=False)
            self._held[key] = self._made(project)
        self._held.move_to_end(key)
        return self._held[key]

    def _made(self, project: Project) -> Cut:
        started = time.perf_counter()
        if self._known is not None and self._known.project.chunker == project.chunker:
            chunker, chunks = self._known.chunker, self._known.chunks
        else:
            chunker = load_chunker(project)
            chunks = tuple(chunk_corpus(self.corpus.documents, chunker))
        cut_ms = (time.perf_counter() - started) * 1e3
        relevance = find_relevance(self.golden, self.corpus.documents, chunk_table(chunks), twins=False)
        return Cut(chunker=chunker, chunks=chunks, relevance=relevance, cache=self._cache(), cut_ms=cut_ms)


def retriever_over(prepared: Prepared, cut: Cut) -> Retriever:
    """Make a project's retriever; the reference pipeline over what its cut shares.

    Raises:
        ConfigError: its settings are wrong.
    """
    if prepared.project.retriever is not None:
        return make_retriever(prepared)
    retriever = ReferenceRetriever(prepared, pipeline_settings(prepared.project), cache=cut.cache)
    # One index serves all configurations of a chunker: its digest and order are worked out once.
    cut.index = cut.index or CorpusIndex(cut.chunks, cut.cache)
    retriever.pipeline.index = cut.index.again()
    return retriever


def ask(
    prepared: Prepared, cut: Cut, retriever: Retriever, queries: Sequence[Query], *, watching: bool
) -> tuple[Run, Relevance]:
    """Ask the queries; return the run, and what is relevant for them in its chunks.

    Args:
        prepared: the inputs, under the settings of the run.
        cut: their cut.
        retriever: made over it.
        queries: what is asked.
        watching: whether the ranks of relevant chunks are recorded however deep, for a diagnosis.
    """
    asked = {query.id for query in queries}
    relevance = Relevance(queries=tuple(one for one in cut.relevance.queries if one.query_id in asked))
    watch = {one.query_id: frozenset(one.chunk_grades) for one in relevance.queries} if watching else {}
    run = run_of(prepared, retriever, queries, retriever.retrieve(queries, watch=watch))
    if prepared.project.retriever is not None:
        found = find_relevance(
            prepared.golden,
            prepared.corpus.documents,
            run.chunks,
            whole_index=retriever.whole_index,
            twins=False,
        )
        relevance = Relevance(queries=tuple(one for one in found.queries if one.query_id in asked))
    return run, relevance


def chunker_key(project: Project) -> str:
    """Return the digest of all that decides the chunks."""
    return digest(dict(project.chunker))
