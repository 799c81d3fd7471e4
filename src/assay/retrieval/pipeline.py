"""The reference pipeline: rewrite, search two ways, fuse, rerank, diversify, cut; every list on record.

>>> from assay.model.documents import Chunk
>>> from assay.model.golden import Query
>>> from assay.retrieval.settings import PipelineSettings
>>> chunks = [
...     Chunk(id="a#0-14", doc_id="a", start=0, end=14, text="reset the pump"),
...     Chunk(id="b#0-14", doc_id="b", start=0, end=14, text="paint the door"),
... ]
>>> found = Pipeline(PipelineSettings(), chunks).run([Query(id="q1", text="pump reset")])
>>> [stage.name for stage in found.stages]
['vector', 'fulltext', 'pool', 'reranked', 'diverse', 'final']
>>> found.chunks.ids[found.stages[-1].chunks[0]]
'a#0-14'
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from assay.model.documents import Chunk
from assay.model.errors import ConfigError, RetrieverError, reason_of
from assay.model.golden import Query
from assay.model.notices import Notice
from assay.model.runs import Retrieved, Role, StageTable
from assay.model.words import analyser
from assay.retrieval.cache import Cache
from assay.retrieval.corpus_index import CorpusIndex, Progress
from assay.retrieval.embedding import unit
from assay.retrieval.models.protocols import (
    NOTHING_DONE,
    Candidates,
    Embedder,
    ModelReport,
    Reporting,
    Reranker,
    State,
    Surroundings,
    Window,
)
from assay.retrieval.models.registry import (
    make_embedder,
    make_reranker,
    resolve_embedder,
    resolve_reranker,
)
from assay.retrieval.notices import costs, cut_notices, rerank_notices, stage_notices
from assay.retrieval.settings import PipelineSettings, describe, digest, wiring_faults
from assay.retrieval.stages.diversify import DiversifyStage
from assay.retrieval.stages.fulltext import FulltextStage, Postings
from assay.retrieval.stages.fuse import FuseStage
from assay.retrieval.stages.lists import Lists, Watch
from assay.retrieval.stages.rerank import RerankReport, RerankStage
from assay.retrieval.stages.rewrite import FeedbackStage, Rewritten, as_terms
from assay.retrieval.stages.vector import VectorStage
from assay.retrieval.terms import TermIndex
from assay.retrieval.workers import Workers

_ROLES: Mapping[str, Role] = {
    "vector": "list",
    "fulltext": "list",
    "pool": "pool",
    "reranked": "rerank",
    "diverse": "diversify",
    "final": "final",
}


_Told = tuple[Lists, RerankReport] | tuple[Lists, ModelReport]
"""A stage's lists, and what its model said of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexCost:
    """What the indexes of a pipeline cost."""

    build_ms: float
    """Time of building them, when they were built (not of loading them from a cache)."""
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ran:
    """A stage's lists, under the key of all that went into them."""

    key: str
    lists: Lists
    elapsed_ms: float
    report: RerankReport | None = None
    embedded: ModelReport = NOTHING_DONE


class Pipeline:
    """Settings over a corpus.

    Pipelines that share a cache share what they have in common: indexes over the same chunks, and the lists
    of every stage up to the first knob in which they differ.

    Args:
        settings: every knob; see ``assay.retrieval.settings``.
        chunks: the corpus; ``Chunk.searchable`` is what is searched.
        cache: where indexes and lists are kept; None: in this pipeline alone.
        folder: what model folders in the settings are relative to; None: the working folder.
        workers: who embeds the chunks; None: this process. The vectors are the same bytes.

    Raises:
        ConfigError: the stages do not fit together; all faults are listed, and nothing has run.
        InputError: two chunks have one id; a model or its package is not there.
    """

    def __init__(
        self,
        settings: PipelineSettings,
        chunks: Sequence[Chunk],
        *,
        cache: Cache | None = None,
        folder: Path | None = None,
        workers: Workers | None = None,
    ) -> None:
        faults = wiring_faults(settings)
        if faults:
            raise ConfigError(faults)
        self.cache = Cache() if cache is None else cache
        self.workers = workers
        self._where = Surroundings(folder=folder, cache=self.cache.folder)
        self.settings = self._resolved(settings)
        self.index = CorpusIndex(chunks, self.cache)

    @property
    def digest(self) -> str:
        """Content address of the settings."""
        return digest(self.settings)

    def describe(self) -> dict[str, Any]:
        """Return the settings as plain JSON values, for the manifest of a run."""
        return describe(self.settings)

    def build_vectors(self, *, progress: Progress | None = None) -> None:
        """Embed the chunks (or load their vectors), where the settings search by vector."""
        if self.settings.vector.enabled:
            self._vectors(progress)

    def build(self, *, progress: Progress | None = None) -> IndexCost:
        """Build (or load) every index that the settings need, and say what they cost.

        Args:
            progress: told what is being done, how much of it is done, and how much there is.
        """
        self.build_vectors(progress=progress)
        if self.settings.fulltext.enabled:
            self._postings()
        if self.settings.reranker.name == "lexical":
            self._candidates()
        costs = self.index.built.values()
        return IndexCost(build_ms=sum(ms for ms, _ in costs), bytes=sum(size for _, size in costs))

    def run(
        self,
        queries: Sequence[Query],
        *,
        watch: Mapping[str, Collection[str]] | None = None,
        progress: Progress | None = None,
    ) -> Retrieved:
        """Search for every query.

        A stage that fails on a query is recorded for that query; the others go on. The time of a stage is
        that of its batch in equal shares; a stage that was found in the cache keeps the time it once took.

        Args:
            queries: what is asked.
            watch: query id -> chunk ids whose rank is recorded in the lists and the pool, however deep.
            progress: told how many queries are reranked, of how many.

        Returns:
            The chunks, and one table a stage; the last is what the prompt gets.

        Raises:
            RetrieverError: every query failed.
        """
        texts = [query.text for query in queries]
        ids = [query.id for query in queries]
        watched = Watch.of(watch or {}, ids, self.index.table.position)
        base = digest(
            self.index.digest, texts, self.settings.depth, watched.query.tolist(), watched.chunk.tolist()
        )
        rewritten = self._rewrite(texts, base) if self.settings.rewrite.name == "prf" else None
        ran = self._lists(texts, rewritten, base, watched)
        ran["pool"] = pool = self._fuse(ran, watched)
        last = pool
        if self.settings.reranker.name != "none":
            ran["reranked"] = last = self._rerank(texts, last, progress)
        if self.settings.balance is not None:
            ran["diverse"] = last = self._diversify(last)
        ran["final"] = self._stage(
            "final", [last.key, self.settings.k], lambda: last.lists.cut(self.settings.k)
        )
        if queries and len(ran["final"].lists.errors) == len(queries):
            raise RetrieverError(
                f"every query failed; the first with: {ran['final'].lists.errors[0]}",
                fix="mend what that says; the stages are those of assay.toml [pipeline]",
            )
        return Retrieved(
            chunks=self.index.table,
            stages=tuple(_table(name, stage) for name, stage in ran.items()),
            notices=self._notices(ran, ids),
            meta=self._meta(ran, ids, watched),
            rewritten={
                query: new.text for query, new in zip(ids, rewritten or [], strict=False) if new.added
            },
        )

    def _stage(self, kind: str, key: object, run: Callable[[], Lists | _Told]) -> _Ran:
        """Run a stage, or find what it gave before."""
        name = digest(kind, key)

        def timed() -> _Ran:
            started = time.perf_counter()
            made = run()
            elapsed_ms = (time.perf_counter() - started) * 1e3
            if not isinstance(made, tuple):
                return _Ran(key=name, lists=made, elapsed_ms=elapsed_ms)
            lists, report = made
            if isinstance(report, ModelReport):
                return _Ran(key=name, lists=lists, elapsed_ms=elapsed_ms, embedded=report)
            return _Ran(key=name, lists=lists, elapsed_ms=elapsed_ms, report=report)

        return self.cache.remember(kind, name, timed)

    def _rewrite(self, texts: Sequence[str], base: str) -> list[Rewritten]:
        own = self.settings.rewrite
        stage = FeedbackStage(chunks=own.chunks, terms=own.terms, weight=own.weight)
        terms, postings = self._postings()
        chunks = self.index.chunks
        return self.cache.remember(
            "rewrite",
            digest(base, own, self.settings.fulltext),
            lambda: stage.run(
                texts,
                terms,
                postings,
                self.index.order,
                analyse=self._analyse,
                read=lambda chunk: chunks[chunk].searchable,
            ),
        )

    def _lists(
        self, texts: Sequence[str], rewritten: Sequence[Rewritten] | None, base: str, watch: Watch
    ) -> dict[str, _Ran]:
        own = self.settings
        rewriting = None if rewritten is None else [own.rewrite, own.fulltext]
        order = self.index.order
        ran: dict[str, _Ran] = {}
        if own.vector.enabled:

            def by_vector() -> tuple[Lists, ModelReport]:
                vectors, state = self._vectors()
                searched = texts if rewritten is None else [query.text for query in rewritten]
                rows, errors, report = _embedded(self._embedder(), searched, state)
                lists = VectorStage(depth=own.depth).run(rows, vectors, order, watch)
                return lists.with_errors(errors), report

            ran["vector"] = self._stage("vector", [base, rewriting, own.embedder], by_vector)
        if own.fulltext.enabled:

            def by_words() -> Lists:
                terms, postings = self._postings()
                searched = (
                    [as_terms(text, terms, self._analyse) for text in texts]
                    if rewritten is None
                    else [query.terms for query in rewritten]
                )
                return FulltextStage(depth=own.depth).run(searched, postings, order, watch)

            ran["fulltext"] = self._stage("fulltext", [base, rewriting, own.fulltext], by_words)
        return ran

    def _fuse(self, ran: Mapping[str, _Ran], watch: Watch) -> _Ran:
        own = self.settings
        stage = FuseStage(
            name=own.fusion.name, k_rrf=own.fusion.k_rrf, weights=own.list_weights, pool=own.pool
        )
        key = [
            [ran[name].key for name in own.lists],
            own.fusion.name,
            own.fusion.k_rrf,
            own.list_weights,
            own.pool,
        ]
        return self._stage(
            "pool", key, lambda: stage.run({name: ran[name].lists for name in own.lists}, watch)
        )

    def _rerank(self, texts: Sequence[str], pool: _Ran, progress: Progress | None) -> _Ran:
        own = self.settings
        stage = RerankStage(top_n=own.reranked, backfill=own.reranker.backfill)

        def reranked() -> tuple[Lists, RerankReport]:
            reranker = self._reranker()
            assert reranker is not None  # 'none' has no such stage
            return stage.run(texts, pool.lists, reranker, self._candidates(), progress=progress)

        return self._stage("reranked", [pool.key, own.reranker], reranked)

    def _diversify(self, incoming: _Ran) -> _Ran:
        balance = self.settings.balance
        assert balance is not None  # else there is no such stage
        return self._stage(
            "diverse",
            [incoming.key, self.settings.embedder, balance],
            lambda: DiversifyStage(balance=balance).run(incoming.lists, self._vectors()[0]),
        )

    def _vectors(self, progress: Progress | None = None) -> tuple[NDArray[np.float32], State]:
        own = self.settings.embedder
        return self.index.vectors(
            own, self._embedder, where=self._where, workers=self.workers, progress=progress
        )

    def _embedder(self) -> Embedder:
        own = self.settings.embedder
        return self.cache.remember("embedder", digest(own), lambda: make_embedder(own, self._where))

    def _reranker(self) -> Reranker | None:
        own = self.settings.reranker
        return self.cache.remember("reranker", digest(own), lambda: make_reranker(own, self._where))

    def _resolved(self, settings: PipelineSettings) -> PipelineSettings:
        """Fill in what holds where nothing is said; a model that nothing uses is left alone."""
        embedder = settings.embedder
        if settings.vector.enabled:
            embedder = resolve_embedder(embedder, self._where)
        reranker = resolve_reranker(settings.reranker, self._where)
        return structs.replace(settings.in_force, embedder=embedder, reranker=reranker)

    def _notices(self, ran: Mapping[str, _Ran], ids: Sequence[str]) -> tuple[Notice, ...]:
        found = stage_notices({name: stage.lists for name, stage in ran.items()}, ids)
        if "vector" in ran:
            found += cut_notices(self.index.embedded, self.index.table.ids, what="chunks")
            found += cut_notices(ran["vector"].embedded, ids, what="queries")
        report = None if "reranked" not in ran else ran["reranked"].report
        return tuple(found if report is None else [*found, *rerank_notices(report, ids)])

    def _meta(self, ran: Mapping[str, _Ran], ids: Sequence[str], watch: Watch) -> dict[str, object]:
        """Say what models cost, and what a reranker read: the window, and of watched chunks how far."""
        report = None if "reranked" not in ran else ran["reranked"].report
        reports = {"passages": self.index.embedded}
        if "vector" in ran:
            reports["queries"] = ran["vector"].embedded
        meta: dict[str, object] = {}
        if report is not None:
            reports["reranker"] = report.model
            if report.window is not None:
                meta["reranker_window"] = _plain_window(report.window)
            if report.window is not None or report.read:
                meta["reranker_read"] = self._read(report, ids, watch)
        spent = costs(reports)
        return {**meta, "costs": spent} if spent else meta

    def _read(self, report: RerankReport, ids: Sequence[str], watch: Watch) -> dict[str, dict[str, int]]:
        read: dict[str, dict[str, int]] = {}
        rows: list[list[int]] = np.stack([watch.query, watch.chunk], axis=1).tolist()
        for query, chunk in rows:
            signs = report.read.get((query, chunk))
            if signs is not None:
                context = self.index.chunks[chunk].context
                own = max(signs - (len(context) + 1 if context else 0), 0)
                read.setdefault(ids[query], {})[self.index.table.ids[chunk]] = own
        return read

    def _postings(self) -> tuple[TermIndex, Postings]:
        own = self.settings.fulltext
        terms = self.index.terms(stemming=own.stemming, stop_words=own.stop_words)
        postings = self.index.postings(
            terms, stemming=own.stemming, stop_words=own.stop_words, k1=own.k1, b=own.b
        )
        return terms, postings

    def _candidates(self) -> Candidates:
        terms = self.index.terms(stemming=True, stop_words=True)
        return Candidates(chunks=self.index.chunks, terms=terms)

    @cached_property
    def _analyse(self) -> Callable[[str], list[str]]:
        own = self.settings.fulltext
        return analyser(stemming=own.stemming, stop_words=own.stop_words)


def _embedded(
    embedder: Embedder, texts: Sequence[str], state: State
) -> tuple[NDArray[np.float32], dict[int, str], ModelReport]:
    """Embed queries, and say what the embedder told of them."""
    if not texts:
        return np.zeros((0, embedder.dimensions), np.float32), {}, NOTHING_DONE
    if not isinstance(embedder, Reporting):
        return *_one_by_one(embedder, texts, state), NOTHING_DONE
    embedder.take_report()
    rows, errors = _one_by_one(embedder, texts, state)
    report = embedder.take_report()
    # After a failure texts were read twice, and their order says nothing.
    return rows, errors, replace(report, cut=(), cut_tokens=0) if errors else report


def _one_by_one(
    embedder: Embedder, texts: Sequence[str], state: State
) -> tuple[NDArray[np.float32], dict[int, str]]:
    """Embed queries; when the batch fails, one by one, so that one bad query spoils only itself."""
    try:
        return unit(embedder.embed_queries(texts, state)), {}
    except Exception:  # noqa: BLE001 - whatever a model raises is found again below, query by query
        rows = np.zeros((len(texts), embedder.dimensions), np.float32)
    errors: dict[int, str] = {}
    for query, text in enumerate(texts):
        try:
            rows[query] = unit(embedder.embed_queries([text], state))[0]
        except Exception as error:  # noqa: BLE001 - it is data of that query
            errors[query] = f"embedder: {type(error).__name__}: {reason_of(error)}"
    return rows, errors


def _plain_window(window: Window) -> dict[str, object]:
    shown: dict[str, object] = {"max_length": window.max_length, "special_tokens": window.special_tokens}
    return shown if window.holds_query else {**shown, "holds_query": False}


def _table(name: str, ran: _Ran) -> StageTable:
    return ran.lists.table(name, _ROLES[name], elapsed_ms=ran.elapsed_ms)
