"""The indexes over one sequence of chunks, each built when it is first needed, and kept by content."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from assay.model.documents import Chunk
from assay.model.errors import Fault, InputError
from assay.model.runs import ChunkTable, chunk_table
from assay.retrieval.cache import Arrays, Cache, EntryWriter
from assay.retrieval.embedding import block_size, embed_elsewhere, embed_here
from assay.retrieval.models.counting import Account
from assay.retrieval.models.protocols import (
    NOTHING_DONE,
    Embedder,
    EmbedderSettings,
    ModelReport,
    Reporting,
    State,
    Surroundings,
)
from assay.retrieval.settings import digest
from assay.retrieval.stages.fulltext import Postings, weigh
from assay.retrieval.terms import TermIndex, index_terms
from assay.retrieval.workers import Workers

_STATE = "state-"
_CUT = "cut"
Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is."""


class CorpusIndex:
    """Chunks and what is built over them.

    Args:
        chunks: the corpus, with unique ids.
        cache: where what is built is kept.

    Raises:
        InputError: two chunks have one id.
    """

    def __init__(self, chunks: Sequence[Chunk], cache: Cache) -> None:
        self.chunks = chunks
        self.cache = cache
        self.built: dict[str, tuple[float, int]] = {}
        """What was built or loaded, by content -> milliseconds that building took, and bytes."""
        self.embedded = NOTHING_DONE
        """What the embedder said of the passages: of this process's work, and which were cut, ever."""
        if len({chunk.id for chunk in chunks}) < len(chunks):
            raise InputError(_twice(chunks))

    def again(self) -> CorpusIndex:
        """Return an index over the same chunks that shares what is known of them and counts its own costs."""
        other = CorpusIndex.__new__(CorpusIndex)
        other.chunks, other.cache, other.built, other.embedded = self.chunks, self.cache, {}, NOTHING_DONE
        other.__dict__ |= {"table": self.table, "digest": self.digest, "order": self.order}
        return other

    @cached_property
    def table(self) -> ChunkTable:
        """The chunks in columns."""
        return chunk_table(self.chunks)

    @cached_property
    def digest(self) -> str:
        """Content address of all ids and all that is searched."""
        state = blake2b(digest_size=16)
        for chunk in self.chunks:
            state.update(f"{len(chunk.id)} {len(chunk.context)} {len(chunk.text)} ".encode())
            state.update(f"{chunk.id}{chunk.context}{chunk.text}".encode("utf-8", "surrogatepass"))
        return state.hexdigest()

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """Place of each chunk among the sorted ids: what decides between equal scores."""
        ids = self.table.ids
        order = np.empty(len(ids), np.int64)
        order[np.array(sorted(range(len(ids)), key=ids.__getitem__), np.int64)] = np.arange(len(ids))
        return order

    def terms(self, *, stemming: bool, stop_words: bool) -> TermIndex:
        """Return the terms of all chunks."""
        key = digest(self.digest, stemming, stop_words)

        def fill(writer: EntryWriter) -> None:
            made = index_terms(self.chunks, stemming=stemming, stop_words=stop_words)
            words = "\n".join(made.vocabulary).encode("utf-8", "surrogatepass")
            writer.put("vocabulary", np.frombuffer(words, np.uint8))
            writer.put("flat", made.flat)
            writer.put("offsets", made.offsets)
            writer.put("heads", made.heads)
            writer.put("frequency", made.document_frequency)

        # Asked for before it is remembered, so that its cost counts wherever it comes from.
        stored = self._arrays("terms", key, fill)

        def read() -> TermIndex:
            text = stored["vocabulary"].tobytes().decode("utf-8", "surrogatepass")
            return TermIndex(
                vocabulary=tuple(text.split("\n")) if text else (),
                flat=stored["flat"],
                offsets=stored["offsets"],
                heads=stored["heads"],
                document_frequency=stored["frequency"],
            )

        return self.cache.remember("term-index", key, read)

    def postings(
        self, terms: TermIndex, *, stemming: bool, stop_words: bool, k1: float, b: float
    ) -> Postings:
        """Return the BM25 weights over an index of terms made with the same switches."""

        def fill(writer: EntryWriter) -> None:
            made = weigh(terms, k1=k1, b=b)
            writer.put("starts", made.starts)
            writer.put("chunks", made.chunks)
            writer.put("weights", made.weights)

        stored = self._arrays("postings", digest(self.digest, stemming, stop_words, k1, b), fill)
        return Postings(
            n_chunks=len(self.chunks),
            starts=stored["starts"],
            chunks=stored["chunks"],
            weights=stored["weights"],
        )

    def vectors(
        self,
        settings: EmbedderSettings,
        make: Callable[[], Embedder],
        *,
        where: Surroundings | None = None,
        workers: Workers | None = None,
        progress: Progress | None = None,
    ) -> tuple[NDArray[np.float32], State]:
        """Return one unit row a chunk, and what the embedder learnt of the corpus.

        Args:
            settings: the embedder's, for the key.
            make: called only when the vectors are not there yet.
            where: where the model works, for workers.
            workers: who embeds; None: this process. The vectors are the same bytes.
            progress: told how many chunks are embedded, of how many.
        """

        def fill(writer: EntryWriter) -> None:
            embedder, account = make(), Account()
            if isinstance(embedder, Reporting):
                embedder.take_report()
            texts = _Searchable(self.chunks)
            state = embedder.fit(texts)
            rows = writer.create("vectors", (len(texts), embedder.dimensions), np.float32)
            if isinstance(embedder, Reporting):
                account.add(embedder.take_report())  # to know its dimensions may have cost a call
            blocks = (
                embed_here(texts, embedder, state)
                if workers is None
                else embed_elsewhere(
                    texts, block_size(embedder), settings, where or Surroundings(), state, workers
                )
            )
            reports: dict[int, ModelReport] = {}
            done = 0
            for start, block, reports[start] in blocks:
                rows[start : start + len(block)] = block
                done += len(block)
                if progress is not None:
                    progress("embedding", done, len(texts))
            for name, values in state.items():
                writer.put(_STATE + name, values)
            if isinstance(embedder, Reporting):
                for start in sorted(reports):
                    account.add(reports[start])
                self.embedded = account.take()
                writer.put(_CUT, np.array([self.embedded.cut_tokens, *self.embedded.cut], np.int64))

        stored = self._arrays("vectors", digest(self.digest, settings), fill)
        if _CUT in stored:
            cut_tokens, *cut = stored[_CUT].tolist()
            self.embedded = replace(self.embedded, cut=tuple(cut), cut_tokens=cut_tokens)
        state = {
            name.removeprefix(_STATE): values for name, values in stored.items() if name.startswith(_STATE)
        }
        return stored["vectors"], state

    def _arrays(self, kind: str, key: str, fill: Callable[[EntryWriter], None]) -> Arrays:
        def timed(writer: EntryWriter) -> None:
            started = time.perf_counter()
            fill(writer)
            writer.put("built_ms", np.array([(time.perf_counter() - started) * 1e3]))

        stored = self.cache.arrays(kind, key, timed)
        size = sum(values.nbytes for values in stored.values())
        self.built[f"{kind}-{key}"] = float(stored["built_ms"][0]), size
        return stored


class _Searchable(Sequence[str]):
    """What is searched of each chunk, joined when it is asked for."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self.chunks = chunks

    def __len__(self) -> int:
        return len(self.chunks)

    def __getitem__(self, at: int | slice) -> str | list[str]:  # type: ignore[override] # slices are lists
        if isinstance(at, slice):
            return [chunk.searchable for chunk in self.chunks[at]]
        return self.chunks[at].searchable


def _twice(chunks: Sequence[Chunk]) -> list[Fault]:
    seen: set[str] = set()
    faults: list[Fault] = []
    for chunk in chunks:
        if chunk.id in seen:
            faults.append(
                Fault(where=chunk.id, what="two chunks have this id", fix="give each chunk an id of its own")
            )
        seen.add(chunk.id)
    return faults
