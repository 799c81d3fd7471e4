"""``assay index``: put a project's chunks into an engine, for a comparison.

``corpus -> chunker -> chunks (+ vectors) -> engine``. A row's key is the content address of all that is in
it: what is there already is left alone, what is there no more is taken out, and a run that was stopped goes
on where it was. Rooms: corpus (chunks), retrieval (vectors), connectors (the engine).
"""

from __future__ import annotations

import json
import tomllib
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from assay.connectors.engines import Engine, EngineKind, EngineSettings, Row
from assay.connectors.kinds import Surroundings
from assay.connectors.registry import ENGINES, read_connector, table_of
from assay.connectors.secrets import shown
from assay.corpus import chunk_corpus
from assay.flows.embedding import ProjectEmbedder
from assay.flows.prepare import load_chunker, load_corpus
from assay.flows.project import FILE, Project
from assay.model.documents import Chunk
from assay.model.errors import AssayError, ConfigError, Fault, RetrieverError

Progress = Callable[[str, int, int], None]
BATCH = 256
"""Chunks that are put in at a time; a stopped run repeats at most this many."""


@dataclass(frozen=True, kw_only=True)
class IndexReport:
    """What an index holds now, and what was done to it."""

    engine: str
    table: str
    chunks: int
    added: int
    kept: int
    """Rows that were there already."""
    removed: int
    """Rows of chunks that the project no longer has."""
    retriever: str
    """The ``[retriever]`` table that measures this index."""


def index_chunks(
    project: Project,
    into: str | None = None,
    *,
    settings: Mapping[str, Any] | None = None,
    batch: int = BATCH,
    progress: Progress | None = None,
) -> IndexReport:
    """Put the chunks of a project into an engine; what is there already stays.

    Args:
        project: the project.
        into: an engine's URL, a TOML file with a ``[retriever]`` table, or None: the project's own retriever.
        settings: further settings of the engine.
        batch: chunks that are put in at a time.
        progress: told what is being done, how much of it is done, and how much there is.

    Raises:
        ConfigError: that is no engine, or a setting is wrong.
        RetrieverError: the engine cannot be reached, or refuses.
    """
    if batch < 1:
        raise ConfigError(f"batch must be at least 1, not {batch}")
    values = {**table_of(_target(project, into)), **(settings or {})}
    kind, read = read_connector(values, where="index into")
    if not isinstance(kind, EngineKind) or not isinstance(read, EngineSettings):
        what = f"{values.get('type', 'callable')!r} is no engine that can be filled"
        raise ConfigError(Fault(where="index into", what=what, fix=f"one of {', '.join(ENGINES)}"))
    chunks = tuple(chunk_corpus(load_corpus(project).documents, load_chunker(project)))
    embedder = ProjectEmbedder(project, chunks)
    around = Surroundings(folder=project.folder, embed=embedder)
    try:
        # What is put in is put in now: nothing of it comes from a recording.
        engine = kind.open(msgspec.structs.replace(read, recording=None), around)
        added, kept, removed = _fill(engine, chunks, embedder, batch, progress)
    except AssayError:
        raise
    except Exception as error:
        where = f"{read.type} {shown(read.url)}"
        raise RetrieverError(
            f"{where}: {type(error).__name__}: {error}",
            fix="see that the engine runs, that url and table name what it may write, "
            "and that no chunks of another embedder stand there: --set table=NAME makes a new one",
        ) from error
    return IndexReport(
        engine=read.type,
        table=read.table,
        chunks=len(chunks),
        added=added,
        kept=kept,
        removed=removed,
        retriever=_table_text(values),
    )


def _target(project: Project, into: str | None) -> Mapping[str, Any]:
    if into is None:
        if project.retriever is None:
            raise ConfigError(
                Fault(
                    where="index",
                    what=f"{FILE} names no retriever, and no engine was given",
                    fix="assay index --into sqlite:///index.db",
                )
            )
        return project.retriever
    if "://" in into:
        return {"call": into}
    path = Path(into)
    if not path.is_file():
        what = f"{into!r} is neither the URL of an engine nor a file"
        raise ConfigError(Fault(where="index into", what=what, fix="assay index --into sqlite:///index.db"))
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(
            Fault(
                where=into,
                what=f"this is not TOML: {error}",
                fix="mend the line that is named; texts stand in quotes",
            )
        ) from error
    inner = table.get("retriever", table)
    return {"call": inner} if isinstance(inner, str) else inner


def _fill(
    engine: Engine,
    chunks: Sequence[Chunk],
    embedder: ProjectEmbedder,
    batch: int,
    progress: Progress | None,
) -> tuple[int, int, int]:
    """Put in what is missing and take out what is too much; return how many were added, kept, removed."""
    tell = progress or _silent
    vectors = embedder.passages(progress) if "vector" in engine.lists else None
    about = embedder.digest if vectors is not None else ""
    wanted = {key_of(chunk, about): place for place, chunk in enumerate(chunks)}
    try:
        engine.create(1 if vectors is None else vectors.shape[1])
        present = engine.keys()
        missing = [(key, place) for key, place in wanted.items() if key not in present]
        stale = sorted(present - wanted.keys())
        for start in range(0, len(missing), batch):
            tell("indexing", start, len(missing))
            part = missing[start : start + batch]
            engine.add(list(_rows(part, chunks, vectors)))
            tell("indexing", start + len(part), len(missing))
        # Last, so that an index that refuses the new rows keeps its old ones.
        for start in range(0, len(stale), batch):
            engine.remove(stale[start : start + batch])
        # Also when nothing was added: a run that was stopped may have ended before this.
        engine.finish()
    finally:
        engine.close()
    return len(missing), len(wanted) - len(missing), len(stale)


def key_of(chunk: Chunk, embedder: str) -> str:
    """Return the content address of a row, in the form of a UUID, which every engine takes as a key.

    >>> chunk = Chunk(id="a.md#0-5", doc_id="a.md", start=0, end=5, text="Alpha")
    >>> key_of(chunk, "") == key_of(chunk, ""), key_of(chunk, "") == key_of(chunk, "minilm")
    (True, False)
    """
    state = blake2b(digest_size=16)
    for part in (chunk.id, chunk.searchable, embedder):
        data = part.encode("utf-8", "surrogatepass")
        state.update(f"{len(data)} ".encode() + data)
    return str(uuid.UUID(bytes=state.digest(), version=4))


def _rows(
    part: Sequence[tuple[str, int]], chunks: Sequence[Chunk], vectors: NDArray[np.float32] | None
) -> Iterator[Row]:
    for key, place in part:
        chunk = chunks[place]
        yield Row(
            key=key,
            chunk_id=chunk.id,
            doc_id=chunk.doc_id,
            start=chunk.start,
            end=chunk.end,
            text=chunk.text,
            searched=chunk.searchable,
            embedding=[] if vectors is None else vectors[place].tolist(),
        )


def _table_text(values: Mapping[str, Any]) -> str:
    """Return the ``[retriever]`` table that measures what was indexed; passwords are hidden in it."""
    lines = ["[retriever]"]
    told: dict[str, Any] = {**shown(values), "whole_index": True}
    for key, value in told.items():
        if isinstance(value, Mapping):
            pairs = cast("Mapping[str, Any]", value).items()
            inner = ", ".join(f"{json.dumps(name)} = {json.dumps(each)}" for name, each in pairs)
            lines.append(f"{key} = {{ {inner} }}")
        else:
            lines.append(f"{key} = {json.dumps(value, ensure_ascii=False)}")
    return "\n".join(lines) + "\n"


def _silent(what: str, done: int, of: int) -> None:
    del what, done, of
