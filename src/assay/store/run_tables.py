"""A run's columns as Parquet, and back."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray

from assay.model.runs import ChunkTable, Run, StageTable
from assay.store.atomic import parquet_bytes
from assay.store.run_form import StageEntry, StageTimings

if TYPE_CHECKING:
    import polars as pl

TIMINGS = "timings.jsonl"
OLD_TIMINGS = "timings.parquet"
"""Of runs that were saved before they became lines."""


def content_id(run: Run) -> str:
    """Return the content address of a run: 12 hex digits over its digests and results.

    Neither timings nor ``meta`` enter, so that equal results of equal inputs have one id.
    """
    digest = hashlib.sha256()

    def texts(*parts: str) -> None:
        for part in parts:
            data = part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "little"))
            digest.update(data)

    def numbers(column: NDArray[np.generic], kind: str) -> None:
        digest.update(len(column).to_bytes(8, "little"))
        digest.update(np.ascontiguousarray(column, dtype=kind).tobytes())

    texts(run.name, run.pipeline_digest, run.golden_digest, run.corpus_digest, str(run.k), str(run.seed))
    texts(*run.query_ids, "", *run.chunks.ids, "", *run.chunks.doc_ids)
    texts(*(f"{place}:{text}" for place, text in enumerate(run.chunks.texts) if text is not None))
    numbers(run.chunks.starts, "<i8")
    numbers(run.chunks.ends, "<i8")
    for stage in run.stages:
        texts(stage.name, stage.role)
        numbers(stage.offsets, "<i8")
        numbers(stage.chunks, "<i4")
        numbers(np.where(np.isnan(stage.scores), np.nan, stage.scores), "<f8")
        numbers(stage.deep_query, "<i4")
        numbers(stage.deep_chunk, "<i4")
        numbers(stage.deep_rank, "<i8")
        texts(*(f"{query}:{stage.errors[query]}" for query in sorted(stage.errors)))
    return digest.hexdigest()[:12]


def result_files(run: Run) -> dict[str, bytes]:
    """Return the tables of a run, name -> bytes; equal runs give equal bytes."""
    tables = {"queries.parquet": _queries(run), "chunks.parquet": _chunks(run.chunks)}
    for place, stage in enumerate(run.stages):
        tables[f"stage-{place}.parquet"] = _lists(stage)
    tables["deep.parquet"] = _deep(run.stages)
    tables["errors.parquet"] = _errors(run.stages)
    return {name: parquet_bytes(table) for name, table in tables.items()}


def timings_file(run: Run) -> bytes:
    """Return the timings of a run as JSON lines: one a stage that was timed.

    No Parquet: they are written whenever a run is made again, and Polars would be loaded for them alone.
    """
    lines = (
        StageTimings(stage=f"{place} {stage.name}", elapsed_ms=stage.elapsed_ms.tolist())
        for place, stage in enumerate(run.stages)
        if stage.elapsed_ms is not None
    )
    return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)  # NaN becomes null


def stages_from(
    files: Mapping[str, bytes], entries: Sequence[StageEntry], queries: int
) -> tuple[StageTable, ...]:
    """Return the stages of a stored run.

    Raises:
        KeyError: a table is missing.
        ValueError: a table does not hold what the manifest says.
        polars.exceptions.PolarsError: a table is no Parquet, or lacks a column.
    """
    deep = _read(files["deep.parquet"])
    errors = _read(files["errors.parquet"])
    timings = _timings_from(files)
    stages: list[StageTable] = []
    for place, entry in enumerate(entries):
        lists = _read(files[f"stage-{place}.parquet"], ["query", "chunk", "score"])
        if len(lists) != entry.hits:
            raise ValueError(f"stage-{place}.parquet has {len(lists)} rows, not {entry.hits}")
        lengths = np.bincount(lists["query"].to_numpy(), minlength=queries)
        below = deep.filter(deep["stage"] == place)
        failed = errors.filter(errors["stage"] == place)
        stages.append(
            StageTable(
                name=entry.name,
                role=entry.role,
                offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
                chunks=lists["chunk"].to_numpy(),
                scores=lists["score"].fill_null(float("nan")).to_numpy(),
                errors=dict(zip(failed["query"].to_list(), failed["error"].to_list(), strict=True)),
                elapsed_ms=timings.get(f"{place} {entry.name}"),
                deep_query=below["query"].to_numpy(),
                deep_chunk=below["chunk"].to_numpy(),
                deep_rank=below["rank"].to_numpy(),
            )
        )
    return tuple(stages)


def _timings_from(files: Mapping[str, bytes]) -> dict[str, NDArray[np.float64]]:
    """Return stage -> milliseconds of each query, from either form that they have had."""
    if TIMINGS in files:
        decoder = msgspec.json.Decoder(StageTimings)
        try:
            lines = [decoder.decode(line) for line in files[TIMINGS].splitlines()]
        except msgspec.DecodeError as error:
            raise ValueError(f"{TIMINGS}: {error}") from error
        return {line.stage: np.array(line.elapsed_ms, np.float64) for line in lines}
    if OLD_TIMINGS in files:
        table = _read(files[OLD_TIMINGS])
        return {column: table[column].to_numpy() for column in table.columns}
    return {}


def query_ids_from(files: Mapping[str, bytes]) -> tuple[str, ...]:
    """Return the query ids of a stored run, in order (raises as ``stages_from`` does)."""
    return tuple(_read(files["queries.parquet"])["query_id"].to_list())


def chunks_from(files: Mapping[str, bytes]) -> ChunkTable:
    """Return the chunk table of a stored run (raises as ``stages_from`` does)."""
    table = _read(files["chunks.parquet"])
    return ChunkTable(
        ids=tuple(table["id"].to_list()),
        doc_ids=tuple(table["doc_id"].to_list()),
        starts=table["start"].fill_null(-1).to_numpy(),
        ends=table["end"].fill_null(-1).to_numpy(),
        texts=tuple(table["text"].to_list()),
    )


def _queries(run: Run) -> pl.DataFrame:
    import polars as pl  # noqa: PLC0415 - only where tables are written

    return pl.DataFrame({"query_id": pl.Series(run.query_ids, dtype=pl.String)})


def _chunks(chunks: ChunkTable) -> pl.DataFrame:
    import polars as pl  # noqa: PLC0415 - only where tables are written

    placed = pl.Series(chunks.starts >= 0)
    starts = pl.Series(np.asarray(chunks.starts, dtype=np.int64))
    ends = pl.Series(np.asarray(chunks.ends, dtype=np.int64))
    return pl.DataFrame(
        {
            "id": pl.Series(chunks.ids, dtype=pl.String),
            "doc_id": pl.Series(chunks.doc_ids, dtype=pl.String),
            "start": starts.set(~placed, None),
            "end": ends.set(~placed, None),
            "text": pl.Series(chunks.texts, dtype=pl.String),
        }
    )


def _lists(stage: StageTable) -> pl.DataFrame:
    import polars as pl  # noqa: PLC0415 - only where tables are written

    lengths = np.diff(stage.offsets)
    ranks = np.arange(len(stage.chunks)) - np.repeat(stage.offsets[:-1], lengths) + 1
    scores = pl.Series(np.asarray(stage.scores, dtype=np.float64))
    return pl.DataFrame(
        {
            "query": np.repeat(np.arange(len(lengths), dtype=np.int32), lengths),
            "rank": ranks.astype(np.int32),
            "chunk": np.asarray(stage.chunks, dtype=np.int32),
            "score": scores.fill_nan(None),
        }
    )


def _deep(stages: Sequence[StageTable]) -> pl.DataFrame:
    import polars as pl  # noqa: PLC0415 - only where tables are written

    none = np.zeros(0, np.int64)
    return pl.DataFrame(
        {
            "stage": np.repeat(
                np.arange(len(stages), dtype=np.int32), [len(stage.deep_rank) for stage in stages]
            ),
            "query": np.concatenate([none, *(stage.deep_query for stage in stages)]).astype(np.int32),
            "chunk": np.concatenate([none, *(stage.deep_chunk for stage in stages)]).astype(np.int32),
            "rank": np.concatenate([none, *(stage.deep_rank for stage in stages)]).astype(np.int64),
        }
    )


def _errors(stages: Sequence[StageTable]) -> pl.DataFrame:
    import polars as pl  # noqa: PLC0415 - only where tables are written

    rows = [
        (place, query, stage.errors[query])
        for place, stage in enumerate(stages)
        for query in sorted(stage.errors)
    ]
    schema = {"stage": pl.Int32, "query": pl.Int32, "error": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _read(data: bytes, columns: Sequence[str] | None = None) -> pl.DataFrame:
    import polars as pl  # noqa: PLC0415 - only where tables are read

    return pl.read_parquet(io.BytesIO(data), columns=list(columns) if columns else None)
