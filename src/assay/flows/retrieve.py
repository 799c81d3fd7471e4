"""The retriever of a project: the reference pipeline, or somebody's own.

Rooms: retrieval (reference pipeline, cache), connectors (retrievers of others), matching (their places).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, cast, runtime_checkable

import msgspec

from assay.flows.embedding import ProjectEmbedder
from assay.flows.prepare import Prepared
from assay.flows.project import FILE, Project
from assay.matching import locate_texts, name_documents
from assay.model.golden import Query
from assay.model.runs import Retrieved, Run, chunk_table
from assay.retrieval.cache import Cache
from assay.retrieval.pipeline import Pipeline
from assay.retrieval.settings import PipelineSettings, digest, read_pipeline

Watch = Mapping[str, Collection[str]]
Progress = Callable[[str, int, int], None]


@runtime_checkable
class Retriever(Protocol):
    """Whatever answers queries with ranked lists."""

    @property
    def name(self) -> str: ...

    @property
    def settings(self) -> Mapping[str, Any]:
        """All that made it what it is, as plain JSON values; ``summary`` is a line for people."""
        ...

    @property
    def digest(self) -> str: ...

    @property
    def whole_index(self) -> bool:
        """Whether the chunks of its results are all that its index holds."""
        ...

    def retrieve(
        self, queries: Sequence[Query], *, watch: Watch, progress: Progress | None = None
    ) -> Retrieved: ...


class ReferenceRetriever:
    """The reference pipeline over a project's chunks."""

    whole_index = True

    def __init__(self, prepared: Prepared, settings: PipelineSettings, *, cache: Cache | None = None) -> None:
        self.pipeline = Pipeline(
            settings,
            prepared.chunks,
            cache=cache or project_cache(prepared.project),
            folder=prepared.project.folder,
        )
        self.name = prepared.project.name
        self.settings: Mapping[str, Any] = {
            "summary": f"{_in_words(prepared)} -> {pipeline_in_words(settings)}",
            "chunker": dict(prepared.chunker.describe()),
            "pipeline": self.pipeline.describe(),
        }
        self.digest = digest(self.settings["chunker"], self.pipeline.settings)

    def retrieve(
        self, queries: Sequence[Query], *, watch: Watch, progress: Progress | None = None
    ) -> Retrieved:
        """Run every query through the pipeline."""
        if progress is not None:
            progress("indexing", 0, 1)
        self.pipeline.build(progress=progress)
        if progress is not None:
            progress("indexing", 1, 1)
            progress("searching", 0, len(queries))
        found = self.pipeline.run(queries, watch=watch, progress=progress)
        if progress is not None:
            progress("searching", len(queries), len(queries))
        return found


class ForeignRetriever:
    """Somebody's own retriever, behind a connector.

    Args:
        prepared: the project's inputs.
        brought: the ``[retriever]`` table, or the retriever itself: a function, an object, an object of a
            framework.
    """

    def __init__(self, prepared: Prepared, brought: object) -> None:
        # Only those who bring a retriever pay for the connectors.
        from assay.connectors.kinds import HOW  # noqa: PLC0415
        from assay.connectors.registry import connect, take  # noqa: PLC0415
        from assay.connectors.secrets import shown as hidden  # noqa: PLC0415

        project = prepared.project
        self._k = project.k
        self._documents = prepared.corpus.documents
        self._index = chunk_table(prepared.chunks)
        embedder = ProjectEmbedder(project, prepared.chunks)
        if isinstance(brought, Mapping):
            self._connected, settings = connect(
                cast("Mapping[str, Any]", brought),
                folder=project.folder,
                where=f"{FILE} [retriever]",
                embed=embedder,
            )
        else:
            self._connected, settings = take(brought)
        self.whole_index = settings.whole_index
        self.name = self._connected.name
        # How it is called is not what it is: neither the number of threads nor the patience enters.
        shown = hidden({key: value for key, value in msgspec.to_builtins(settings).items() if key not in HOW})
        self.settings: Mapping[str, Any] = {"summary": f"{self.name} -> {self._k}", "retriever": shown}
        if self._connected.embeds:
            self.settings = {**self.settings, "embedder": embedder.describe()}
        if self.whole_index:
            self.settings = {**self.settings, "chunker": dict(prepared.chunker.describe())}
        self.digest = digest(*(value for key, value in self.settings.items() if key != "summary"))

    def retrieve(
        self, queries: Sequence[Query], *, watch: Watch, progress: Progress | None = None
    ) -> Retrieved:
        """Ask for every query's k best; the retriever's other chunks stay unknown, unless it is ours."""
        del watch  # a foreign list ends where it ends

        def tell(done: int) -> None:
            if progress is not None:
                progress("searching", done, len(queries))

        found = self._connected.retrieve(queries, k=self._k, on_done=tell)
        chunks, named = name_documents(found.chunks, self._documents)
        chunks, located = locate_texts(chunks, self._documents)
        if self.whole_index:
            chunks = chunks.joined(self._index)
        return replace(found, chunks=chunks, notices=(*found.notices, *named, *located))


def make_retriever(prepared: Prepared) -> Retriever:
    """Make the retriever that a project names.

    Raises:
        ConfigError: its settings are wrong; all faults are listed, and nothing has run.
    """
    project = prepared.project
    if project.retriever is not None:
        return ForeignRetriever(prepared, project.retriever)
    return ReferenceRetriever(prepared, pipeline_settings(project))


def take_retriever(prepared: Prepared, brought: object) -> Retriever:
    """Take a retriever as it is: one of these, or somebody's function or object.

    Raises:
        ConfigError: it cannot be asked with a query.
    """
    if isinstance(brought, Retriever):
        return brought
    return ForeignRetriever(prepared, brought)


def run_of(prepared: Prepared, retriever: Retriever, queries: Sequence[Query], retrieved: Retrieved) -> Run:
    """Return what a retriever found as a run that has no id yet."""
    return Run(
        id="",
        name=retriever.name,
        pipeline=retriever.settings,
        pipeline_digest=retriever.digest,
        golden_digest=prepared.golden.digest,
        corpus_digest=prepared.corpus.digest,
        k=prepared.project.k,
        query_ids=tuple(query.id for query in queries),
        chunks=retrieved.chunks,
        stages=retrieved.stages,
        seed=prepared.project.seed,
        meta={**retrieved.meta, "whole_index": retriever.whole_index},
    )


def pipeline_settings(project: Project) -> PipelineSettings:
    """Read the settings of a project's reference pipeline."""
    return read_pipeline({**project.pipeline, "k": project.k}, where=f"{FILE} [pipeline]")


def project_cache(project: Project) -> Cache:
    """Return the cache of a project's embeddings and indexes, under ``.assay/cache``."""
    return Cache(project.home / "cache")


def _in_words(prepared: Prepared) -> str:
    about = prepared.chunker.describe()
    settings = about.get("settings")
    size = ""
    if isinstance(settings, Mapping):
        values = cast("Mapping[str, object]", settings)
        size = next((f" {values[key]}" for key in ("max_chars", "size", "max_tokens") if key in values), "")
        if values.get("context", "none") != "none":
            size += f" with {values['context']}"
    return f"{prepared.chunker.name}{size}"


def pipeline_in_words(settings: PipelineSettings) -> str:
    """Write a pipeline in one line.

    >>> pipeline_in_words(PipelineSettings())
    'hashing vectors + BM25 -> rrf, pool 50 -> lexical reranker -> mmr 0.9 -> 10'
    """
    lists = {"vector": f"{settings.embedder.name} vectors", "fulltext": "BM25"}
    first = " + ".join(lists[name] for name in settings.lists)
    steps = [first if settings.rewrite.name == "none" else f"{settings.rewrite.name} rewrite -> {first}"]
    steps.append(f"{settings.fusion.name}, pool {settings.pool}")
    if settings.reranker.name != "none":
        steps.append(f"{settings.reranker.name} reranker")
    if settings.balance is not None:
        steps.append(f"mmr {settings.balance:g}")
    return " -> ".join([*steps, str(settings.k)])
