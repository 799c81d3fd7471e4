"""TREC files: ``query Q0 document rank score tag`` and ``query iteration document grade``.

Three ways, from the fastest to the most patient, with one result: a table engine for clean files, plain
Python for small ones (it starts sooner), and the careful pass of ``lines.py`` when anything is off.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assay.store.rankings.batch import Batch, UncleanError, batch_of
from assay.store.rankings.ids import ListDocs
from assay.store.rankings.opening import ahead, compression, sliced

if TYPE_CHECKING:
    import polars as pl

SMALL = 6 << 20
"""Below so many bytes plain Python is done before a table engine has been loaded."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a TREC file."""

    width: int
    number: int
    """Position of the score or the grade."""
    rank: int | None


RUN = Layout(width=6, number=4, rank=3)
QRELS = Layout(width=4, number=3, rank=None)


def clean_batches(path: Path, layout: Layout) -> Iterator[Batch]:
    """Yield the rows of a clean file; the grades of judgements stand in ``scores``.

    Raises:
        UncleanError: something has to be looked at line by line.
    """
    if path.stat().st_size < SMALL and compression(path) is None:
        yield from (_small(data, layout) for data in sliced(path))
    else:
        yield from ahead(_large(data, layout) for data in sliced(path))


def _large(data: bytes, layout: Layout) -> Batch:
    frame = _parsed(data, layout)
    if frame is None:
        frame = _parsed(_tidied(data), layout)
    if frame is None:
        raise UncleanError
    if not data.isascii():
        _check_composed(frame)
    batch = batch_of(frame)
    if any(query.startswith("#") for query in batch.queries):
        raise UncleanError
    return batch


def _parsed(data: bytes, layout: Layout) -> pl.DataFrame | None:
    """Return the table of a slice, or None when it is not one row a line, with single separators."""
    import polars as pl  # noqa: PLC0415 - small files do without

    head = data[: data.find(b"\n")] if b"\n" in data else data
    blank, other = (b"\t", b" ") if b"\t" in head else (b" ", b"\t")
    if other in data:
        return None
    names = ["query", "second", "doc", "rank", "score", "tag"] if layout is RUN else _QRELS_NAMES
    schema: dict[str, type[pl.DataType]] = dict.fromkeys(names, pl.String)
    schema["score"] = pl.Float64
    wanted = [place for place in range(len(names)) if place != 1]
    frame = None
    for rank in [pl.Int64, None] if layout.rank else [None]:
        # a rank that is no whole number is no fault, because it is not used
        if rank is not None:
            schema["rank"] = rank
        elif layout.rank:
            schema["rank"] = pl.String
        try:
            frame = pl.read_csv(
                data,
                separator=blank.decode(),
                has_header=False,
                quote_char=None,
                schema=schema,
                columns=wanted,
            )
            break
        except pl.exceptions.PolarsError:
            continue
    if frame is None or sum(frame.null_count().row(0)):
        return None
    # No field is empty, so that no row is short; with this count none is long either.
    letters = np.frombuffer(data, np.uint8)
    if np.count_nonzero(letters == ord(blank)) != (layout.width - 1) * frame.height:
        return None
    if layout is RUN and (frame["doc"] == "Q0").any():
        return None
    return frame.drop("rank") if layout.rank and schema["rank"] == pl.String else frame


_QRELS_NAMES = ["query", "second", "doc", "score"]


def _tidied(data: bytes) -> bytes:
    """Return the slice with one blank between fields, none at line ends, no empty or comment lines."""
    data = data.removeprefix(b"\xef\xbb\xbf").replace(b"\t", b" ").replace(b"\r\n", b"\n")
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    data = data.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")
    while b"\n\n" in data:
        data = data.replace(b"\n\n", b"\n")
    data = data.removeprefix(b"\n")
    if data.startswith(b"#") or b"\n#" in data:
        data = b"\n".join(line for line in data.split(b"\n") if not line.startswith(b"#"))
    return data


def _check_composed(frame: pl.DataFrame) -> None:
    import polars as pl  # noqa: PLC0415 - the frame is polars' already

    for name in ("query", "doc"):
        if frame.select((pl.col(name).str.normalize("NFC") != pl.col(name)).any()).item():
            raise UncleanError


def _small(data: bytes, layout: Layout) -> Batch:
    if not data.isascii():
        raise UncleanError
    if not data.endswith(b"\n"):
        data += b"\n"
    _check_even(data, layout.width - 1)
    fields = data.decode().split()
    width = layout.width
    queries, docs, numbers = fields[::width], fields[2::width], fields[layout.number :: width]
    if "_" in "".join(numbers) or any(name.startswith("#") for name in set(queries)):
        raise UncleanError
    if layout is RUN and "Q0" in docs:
        raise UncleanError
    try:
        scores = np.array(list(map(float, numbers)), np.float64)
    except ValueError:
        raise UncleanError from None
    stretches = [(query, sum(1 for _ in rows)) for query, rows in groupby(queries)]
    return Batch(
        queries=[query for query, _ in stretches],
        lengths=np.array([length for _, length in stretches], np.int64),
        docs=ListDocs(docs),
        scores=scores,
        ranks=_whole_numbers(fields[layout.rank :: width]) if layout.rank else None,
    )


def _check_even(data: bytes, wanted: int) -> None:
    """Refuse a slice where some line has more or fewer single blanks than a row has."""
    letters = np.frombuffer(data, np.uint8)
    blank = (letters == ord(" ")) | (letters == ord("\t"))
    ends = np.flatnonzero(letters == ord("\n"))
    counts = np.diff(np.concatenate(([0], np.cumsum(blank)[ends])))
    space = blank | (letters < ord(" "))
    if (counts != wanted).any() or (space[1:] & space[:-1]).any() or space[0]:
        raise UncleanError


def _whole_numbers(texts: list[str]) -> NDArray[np.int64] | None:
    try:
        return np.array(list(map(int, texts)), np.int64)
    except (ValueError, OverflowError):
        return None
