"""Writing runs and judgements in other people's forms; what a form cannot hold is refused."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from assay.model.errors import Fault, InputError
from assay.model.notices import Notice, listed
from assay.store.atomic import parquet_bytes, write_bytes
from assay.store.rankings.batch import Batch, pairs_of
from assay.store.rankings.sources import Form, form_by_name

if TYPE_CHECKING:
    import polars as pl

_BLANK_FIX = "write JSONL, CSV or Parquet, whose ids may hold blanks"


def write_run(path: Path, run: Batch, *, form: Form | None = None, tag: str = "assay") -> tuple[Notice, ...]:
    """Write a run whose rows stand in the order of its ranking, the rows of each query together.

    Args:
        path: the file; its name says the form, and ``.gz`` at its end that it is packed.
        run: the rows; a run without scores gets falling whole numbers where a form needs scores.
        form: the form, where the name does not say it.
        tag: the last column of a TREC file.

    Returns:
        What the form changes: where equal scores will stand otherwise, read as TREC files are.

    Raises:
        InputError: an id that the form cannot hold, or a name that says no form.
        StoreError: the place cannot be written.
    """
    form = form or form_by_name(path)
    starts = np.repeat(run.starts, run.lengths)
    ranks = np.arange(1, len(run) + 1) - starts
    scores = run.scores
    if scores is None and form != "jsonl":
        scores = (np.repeat(run.lengths, run.lengths) - ranks + 1).astype(np.float64)
    queries = _per_row(run)
    docs = run.docs.texts()
    if form == "trec":
        _check_no_blanks(path, run)
        shown = map(str, cast("NDArray[np.float64]", scores).tolist())
        rows = zip(queries, docs, ranks.tolist(), shown, strict=True)
        _write(
            path,
            "".join(f"{query} Q0 {doc} {rank} {score} {tag}\n" for query, doc, rank, score in rows).encode(),
        )
        return _moved_ties(path, run)
    if form == "json":
        _write(path, _object(run, docs, cast("NDArray[np.float64]", scores).tolist()))
    elif form == "jsonl":
        _write(path, b"".join(_lines(queries, docs, None if scores is None else scores.tolist(), "score")))
    else:
        columns: dict[str, object] = {"query": queries, "doc": docs, "rank": ranks, "score": scores}
        _write_table(path, form, columns)
    return ()


def write_judgements(path: Path, judgements: Batch, *, form: Form | None = None) -> None:
    """Write judgements; their grades stand in ``scores``.

    Whole grades are written as whole numbers.

    Raises:
        InputError: an id that the form cannot hold, or a name that says no form.
        StoreError: the place cannot be written.
    """
    form = form or form_by_name(path)
    queries, docs = _per_row(judgements), judgements.docs.texts()
    grades = [1.0] * len(judgements) if judgements.scores is None else judgements.scores.tolist()
    plain = [int(grade) if grade == int(grade) else grade for grade in grades]
    if form == "trec":
        _check_no_blanks(path, judgements)
        rows = zip(queries, docs, plain, strict=True)
        _write(path, "".join(f"{query} 0 {doc} {grade}\n" for query, doc, grade in rows).encode())
    elif form == "json":
        _write(path, _object(judgements, docs, plain))
    elif form == "jsonl":
        _write(path, b"".join(_lines(queries, docs, plain, "grade")))
    else:
        whole = all(isinstance(grade, int) for grade in plain)
        _write_table(path, form, {"query": queries, "doc": docs, "grade": plain if whole else grades})


def _per_row(batch: Batch) -> list[str]:
    lengths: list[int] = batch.lengths.tolist()
    return [query for query, length in zip(batch.queries, lengths, strict=True) for _ in range(length)]


def _object(batch: Batch, docs: list[str], numbers: list[float] | list[int] | list[float | int]) -> bytes:
    starts: list[int] = batch.starts.tolist()
    tree = {
        query: dict(zip(docs[start : start + length], numbers[start : start + length], strict=True))
        for query, start, length in zip(batch.queries, starts, batch.lengths.tolist(), strict=True)
    }
    for values in tree.values():
        _check_finite(list(values.values()))
    return msgspec.json.encode(tree) + b"\n"


def _lines(
    queries: list[str], docs: list[str], numbers: list[float] | list[float | int] | None, name: str
) -> Iterator[bytes]:
    encode = msgspec.json.Encoder().encode
    if numbers is None:
        for query, doc in zip(queries, docs, strict=True):
            yield encode({"query": query, "doc": doc}) + b"\n"
        return
    _check_finite(numbers)
    for query, doc, number in zip(queries, docs, numbers, strict=True):
        yield encode({"query": query, "doc": doc, name: number}) + b"\n"


def _check_finite(numbers: list[float] | list[int] | list[float | int]) -> None:
    if not np.isfinite(np.array(numbers, np.float64)).all():
        raise InputError(
            "JSON has no infinite and no undefined numbers", fix="write the run as TREC, CSV or Parquet"
        )


def _write_table(path: Path, form: Form, columns: dict[str, object]) -> None:
    import polars as pl  # noqa: PLC0415 - only tables need it

    table: pl.DataFrame = pl.DataFrame(columns)
    if form == "parquet":
        write_bytes(path, parquet_bytes(table))
        return
    buffer = io.BytesIO()
    if form == "arrow":
        table.write_ipc(buffer)
    else:
        table.write_csv(buffer, separator="\t" if ".tsv" in path.suffixes else ",")
    _write(path, buffer.getvalue())


def _write(path: Path, data: bytes) -> None:
    write_bytes(path, gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def _check_no_blanks(path: Path, batch: Batch) -> None:
    faults = [
        Fault(
            where=str(path),
            what=f"query id {query!r} holds a blank, which divides TREC's fields",
            fix=_BLANK_FIX,
        )
        for query in batch.queries
        if len(query.split()) != 1
    ]
    faults += [
        Fault(
            where=str(path),
            what=f"document id {doc!r} holds a blank, which divides TREC's fields",
            fix=_BLANK_FIX,
        )
        for doc in dict.fromkeys(batch.docs.texts())
        if len(doc.split()) != 1
    ]
    if faults:
        faults[-1] = Fault(
            where=faults[-1].where, what=faults[-1].what, fix="JSONL, CSV and Parquet hold any id"
        )
        raise InputError(faults)


def _moved_ties(path: Path, run: Batch) -> tuple[Notice, ...]:
    """Say where readers of TREC files, which put equal scores by document id, will see another order."""
    from assay.store.rankings.ordering import Ordering  # noqa: PLC0415 - only here

    moved = np.flatnonzero(Ordering(run, "trec").whole() != np.arange(len(run)))
    queries = tuple(dict.fromkeys(query for query, _ in pairs_of(run, moved)))
    if not queries:
        return ()
    text = (
        f"{path}: readers of TREC files put equal scores by document id: the order changes in "
        f"{len(queries):,} of {len(run.queries):,} queries ({listed(queries)}); other forms keep it"
    )
    return (Notice(code="ties-moved", text=text, ids=queries),)
