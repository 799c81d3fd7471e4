"""The project's embedder for engines of others: the vectors of chunks, and of queries.

Rooms: retrieval (embedder, cache).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.flows.project import FILE, Project
from assay.model.documents import Chunk
from assay.retrieval.cache import Cache
from assay.retrieval.corpus_index import CorpusIndex, Progress
from assay.retrieval.embedding import unit
from assay.retrieval.models.protocols import Embedder, EmbedderSettings, State, Surroundings
from assay.retrieval.models.registry import make_embedder, resolve_embedder
from assay.retrieval.settings import PipelineSettings, describe, digest, read_pipeline


class ProjectEmbedder:
    """The embedder that ``[pipeline]`` names, over a project's chunks; nothing is loaded before it is used.

    Args:
        project: the project.
        chunks: its chunks: an embedder may learn of them.
    """

    def __init__(self, project: Project, chunks: Sequence[Chunk]) -> None:
        self.settings: PipelineSettings = read_pipeline(
            {**project.pipeline, "k": project.k}, where=f"{FILE} [pipeline]"
        )
        self.chunks = chunks
        self.cache = Cache(project.home / "cache")
        self._where = Surroundings(folder=project.folder, cache=self.cache.folder)

    def describe(self) -> dict[str, Any]:
        """Return the embedder's settings as plain JSON values, for the manifest of a run."""
        return describe(self._resolved)

    @cached_property
    def digest(self) -> str:
        """Content address of what the vectors depend on beside the texts."""
        parts = sorted((name, values.tobytes().hex()) for name, values in self._state.items())
        return digest(self._resolved, parts)

    def passages(self, progress: Progress | None = None) -> NDArray[np.float32]:
        """Return one row of length 1 a chunk, from the cache of the project's runs where they are there."""
        index = CorpusIndex(self.chunks, self.cache)
        rows, _ = index.vectors(self._resolved, lambda: self._embedder, progress=progress)
        return rows

    def __call__(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        """Return one row of length 1 a query."""
        return unit(self._embedder.embed_queries(texts, self._state))

    @cached_property
    def _embedder(self) -> Embedder:
        return make_embedder(self._resolved, self._where)

    @cached_property
    def _resolved(self) -> EmbedderSettings:
        return resolve_embedder(self.settings.embedder, self._where)

    @cached_property
    def _state(self) -> State:
        return self._embedder.fit([chunk.searchable for chunk in self.chunks])
