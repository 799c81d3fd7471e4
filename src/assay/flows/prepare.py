"""What every command needs first: documents, golden set, chunks, and which chunks are right.

Rooms: store (golden set), corpus (documents, chunker), matching (relevance).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.corpus import (
    Chunker,
    Columns,
    Corpus,
    chunk_corpus,
    chunking_notices,
    make_chunker,
    read_corpus,
)
from assay.flows.project import FILE, Project, check_project
from assay.flows.wiring import DEFAULT_CHUNKER, wired
from assay.model.documents import Chunk
from assay.model.golden import GoldenSet, Query
from assay.model.notices import Notice
from assay.store.golden import load_golden_lines


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A project's inputs, read and checked."""

    project: Project
    corpus: Corpus
    golden: GoldenSet
    lines: Mapping[str, int]
    """Query id -> its line in the golden file."""
    chunker: Chunker
    chunks: tuple[Chunk, ...]
    notices: tuple[Notice, ...] = field(default=())


def prepare(project: Project) -> Prepared:
    """Read the documents and the golden set of a project, and cut the chunks.

    Raises:
        InputError: a file or a setting is wrong; all faults of each are listed.
    """
    check_project(project)
    chunker = wired(project.raw)
    golden = load_golden_lines(
        project.golden_path, kinds=project.golden.kinds, name=project.golden.name or project.golden_path.stem
    )
    corpus = load_corpus(project)
    chunks = tuple(chunk_corpus(corpus.documents, chunker))
    return Prepared(
        project=project,
        corpus=corpus,
        golden=golden.golden,
        lines=golden.lines,
        chunker=chunker,
        chunks=chunks,
        notices=(*golden.notices, *corpus.notices, *chunking_notices(corpus.documents, chunks, chunker)),
    )


def prepare_asked(project: Project, corpus: Corpus, queries: Sequence[Query] = ()) -> Prepared:
    """Return what a retriever needs that is asked with queries of no golden file."""
    chunker = load_chunker(project)
    return Prepared(
        project=project,
        corpus=corpus,
        golden=GoldenSet(name="asked", queries=tuple(queries)),
        lines={},
        chunker=chunker,
        chunks=tuple(chunk_corpus(corpus.documents, chunker)),
    )


def load_corpus(project: Project) -> Corpus:
    """Read the documents of a project; the project's own files are none, where they lie among them."""
    table = project.corpus
    own = (FILE, project.golden.path) if project.corpus_path.is_dir() else ()
    return read_corpus(
        project.corpus_path,
        include=table.include,
        exclude=(*table.exclude, *own),
        columns=Columns(id=table.id, text=table.text, title=table.title),
    )


def load_chunker(project: Project, settings: Mapping[str, Any] | None = None) -> Chunker:
    """Make the chunker of a project, or the one of other settings (``name`` and its own)."""
    values = dict(project.chunker if settings is None else settings)
    name = values.pop("name", DEFAULT_CHUNKER)
    return make_chunker(str(name), values, where=f"{FILE} [chunker]")
