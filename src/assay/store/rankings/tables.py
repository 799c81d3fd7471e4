"""Tables: CSV and TSV with a header (BEIR), Parquet, Arrow files, and frames in memory."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

from assay.model.cells import wide_cells
from assay.model.errors import Fault, InputError
from assay.store.rankings import columns
from assay.store.rankings.batch import Batch, UncleanError, batch_of
from assay.store.rankings.opening import bare_suffix, whole
from assay.store.rankings.records import id_text
from assay.store.rankings.rows import Rows, is_number

if TYPE_CHECKING:
    from _csv import Reader

    import polars as pl

Frame: TypeAlias = "pl.DataFrame | pl.LazyFrame"

ROWS_AT_A_TIME = 1 << 20
"""Rows of a Parquet file that are in memory at once."""


def frame_batches(frame: Frame, where: str, *, judgements: bool) -> Iterator[Batch]:
    """Yield a table in parts.

    Raises:
        InputError: a column is missing, or ids are fractions.
        UncleanError: some cell has to be looked at.
    """
    import polars as pl  # noqa: PLC0415 - the frame is polars' already

    lazy = frame.lazy()
    chosen = _chosen(lazy, where, judgements=judgements)
    step, start = ROWS_AT_A_TIME, 0
    while True:
        part = lazy.select(chosen).slice(start, step).collect()
        if not part.height:
            return
        if sum(part.null_count().row(0)) or (judgements and not part["score"].is_finite().all()):
            raise UncleanError
        for name in ("query", "doc"):
            text = pl.col(name)
            odd = (text.str.normalize("NFC") != text) | (text == "")
            if part.select(odd.any()).item():
                raise UncleanError
        yield batch_of(part)
        start += part.height


def other_columns(frame: Frame, where: str, *, judgements: bool) -> dict[str, dict[str, str]]:
    """Return query -> column -> value for the columns that have one value a query."""
    import polars as pl  # noqa: PLC0415 - the frame is polars' already

    lazy = frame.lazy()
    names = lazy.collect_schema().names()
    query, doc, number = columns.needed(names, where, judgements=judgements)
    spare = columns.others(names, [query, doc, number, columns.find(names, columns.RANK)])
    if not spare:
        return {}
    values = [pl.col(name).cast(pl.String).drop_nulls().unique() for name in spare]
    table = lazy.group_by(pl.col(query).cast(pl.String).alias("\0query")).agg(values).collect()
    single = [name for name in spare if table[name].list.len().max() in (0, 1)]
    return {
        cast("str", row["\0query"]): {name: row[name][0] for name in single if row[name]}
        for row in table.iter_rows(named=True)
    }


def frame_rows(frame: Frame, rows: Rows, *, judgements: bool) -> None:
    """Take a table row by row, with all that is wrong."""
    lazy = frame.lazy()
    names = lazy.collect_schema().names()
    query, doc, number = columns.needed(names, rows.where, judgements=judgements)
    wanted = [query, doc, *([number] if number else [])]
    table = lazy.select(wanted).collect()
    for line, row in enumerate(table.iter_rows(), start=1):
        _take(
            rows, line, row[0], row[1], row[2] if number else None, judgements=judgements, named=(query, doc)
        )


def _chosen(lazy: pl.LazyFrame, where: str, *, judgements: bool) -> list[pl.Expr]:
    import polars as pl  # noqa: PLC0415 - the frame is polars' already

    schema = lazy.collect_schema()
    query, doc, number = columns.needed(schema.names(), where, judgements=judgements)
    fractions = [name for name in (query, doc) if schema[name].is_float()]
    if fractions:
        what = f"column {fractions[0]!r} holds fractions, and ids are texts (is 7.0 the id 7, or 7.0?)"
        raise InputError(Fault(where=where, what=what, fix="write the column as text"))
    chosen = [pl.col(query).cast(pl.String).alias("query"), pl.col(doc).cast(pl.String).alias("doc")]
    rank = None if judgements else columns.find(schema.names(), columns.RANK)
    if number is not None:
        chosen.append(pl.col(number).cast(pl.Float64).alias("score"))
        if rank is not None and schema[rank].is_integer():
            chosen.append(pl.col(rank).cast(pl.Int64).alias("rank"))
    elif rank is not None:
        chosen.append((-pl.col(rank).cast(pl.Float64)).alias("score"))
    return chosen


def scanned(path: Path) -> pl.LazyFrame:
    """Open a Parquet or Arrow file without reading its rows.

    Raises:
        InputError: it is none.
    """
    import polars as pl  # noqa: PLC0415 - only tables need it

    scan: Callable[[Path], pl.LazyFrame] = (
        pl.scan_parquet if path.is_dir() or bare_suffix(path) in {".parquet", ".pq"} else pl.scan_ipc
    )
    try:
        lazy = scan(path / "*.parquet" if path.is_dir() else path)
        lazy.collect_schema()
    except (pl.exceptions.PolarsError, OSError) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            Fault(
                where=str(path),
                what=f"cannot be read as a table: {first}",
                fix="write it as Parquet or CSV again; the end of its name says which",
            )
        ) from error
    return lazy


def read_csv(path: Path) -> pl.DataFrame:
    """Read a CSV or TSV file with a header, every cell as text.

    Raises:
        UncleanError: rows are longer or shorter than the header, or a text is not UTF-8.
    """
    import polars as pl  # noqa: PLC0415 - only tables need it

    data = whole(path)
    try:
        frame = pl.read_csv(data, separator=separator(path, data), infer_schema=False)
    except pl.exceptions.PolarsError:
        raise UncleanError from None
    names = frame.columns
    numbers = [columns.find(names, known) for known in (columns.GRADE, columns.SCORE, columns.RANK)]
    casts = [pl.col(name).cast(pl.Float64) for name in dict.fromkeys(numbers) if name is not None]
    try:
        return frame.with_columns(casts)
    except pl.exceptions.PolarsError:
        raise UncleanError from None


def csv_rows(path: Path, rows: Rows, *, judgements: bool) -> None:
    """Take a CSV or TSV file line by line, with all that is wrong.

    Raises:
        InputError: a column is missing, or the file is not UTF-8.
    """
    data = whole(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError(
            Fault(where=f"{path}:{line}", what="not UTF-8", fix="save the file as UTF-8")
        ) from None
    with wide_cells():
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator(path, data))
        _take_lines(reader, rows, judgements=judgements)


def _take_lines(reader: Reader, rows: Rows, *, judgements: bool) -> None:
    header = next(reader, list[str]())
    query, doc, number = columns.needed(header, rows.where, judgements=judgements)
    at = [header.index(name) for name in (query, doc, *([number] if number else []))]
    line = reader.line_num + 1
    for cells in reader:
        start, line = line, reader.line_num + 1
        if not cells:
            continue
        if len(cells) != len(header):
            rows.fault(start, f"{len(cells)} fields where the header has {len(header)}")
            continue
        values = [cells[place] for place in at]
        value = values[2] if number else None
        _take(rows, start, values[0], values[1], value, judgements=judgements, named=(query, doc))


def separator(path: Path, data: bytes) -> str:
    """Return the separator of a table file: what its header uses, a tab before a comma."""
    head = data[: data.find(b"\n")] if b"\n" in data else data
    return "\t" if b"\t" in head or bare_suffix(path) == ".tsv" else ","


def from_pandas(frame: object) -> pl.DataFrame:
    """Return a pandas frame as polars' (no Arrow needed): ids as text, numbers as they are."""
    import polars as pl  # noqa: PLC0415 - only tables need it

    table = cast("Mapping[str, _Column]", frame)
    return pl.DataFrame({str(name): table[name].tolist() for name in table}, strict=False)


def from_arrow(table: object) -> pl.DataFrame:
    """Return a pyarrow table or batch as polars' frame."""
    import polars as pl  # noqa: PLC0415 - only tables need it

    return pl.DataFrame(table)  # pyright: ignore[reportArgumentType] - takes all that speaks Arrow


class _Column(Protocol):
    """The shape of a pandas column."""

    def tolist(self) -> list[object]: ...


def _take(
    rows: Rows,
    line: int,
    query: object,
    doc: object,
    number: object,
    *,
    judgements: bool,
    named: tuple[str, str],
) -> None:
    for name, value in zip(named, (query, doc), strict=True):
        if value is None or id_text(value) in {None, ""}:
            rows.fault(line, f"column {name!r} is empty", "two absent ids are no match: fill them in")
            return
    noun = "grade" if judgements else "score"
    if isinstance(number, str):
        number = float(number) if is_number(number) else number
    wrong = number is None and judgements
    wrong = wrong or (number is not None and not isinstance(number, int | float))
    if wrong or (judgements and not math.isfinite(cast("float", number))):
        rows.fault(line, f"the {noun} {number!r} is not a number")
        return
    rows.add(line, cast("str", id_text(query)), cast("str", id_text(doc)), cast("float | None", number))
