"""TREC files: ``query Q0 document rank score tag`` and ``query iteration document grade``.

Three ways, from the fastest to the most patient, with one result: a table engine for clean files, plain
Python for small ones (it starts sooner), and the careful pass of ``lines.py`` when anything is off.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assay.store.rankings.ahead import made_ahead
from assay.store.rankings.batch import Batch, UncleanError, batch_of
from assay.store.rankings.ids import FrameDocs
from assay.store.rankings.opening import compression, sliced
from assay.store.rankings.packed import PackedDocs

if TYPE_CHECKING:
    import polars as pl

SMALL = 16 << 20
"""Below so many bytes plain Python is done before a table engine has been loaded."""

_SMALL_SLICE = 1 << 18
"""Bytes that plain Python looks at together: its columns take forty times as many."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a TREC file."""

    width: int
    number: int
    """Position of the score or the grade."""
    rank: int | None


RUN = Layout(width=6, number=4, rank=3)
QRELS = Layout(width=4, number=3, rank=None)


def is_small(path: Path) -> bool:
    """Return whether plain Python reads the file sooner than a table engine is loaded."""
    return path.stat().st_size < SMALL and compression(path) is None


def clean_batches(path: Path, layout: Layout) -> Iterator[Batch]:
    """Yield the rows of a clean file; the grades of judgements stand in ``scores``.

    Raises:
        UncleanError: something has to be looked at line by line.
    """
    if is_small(path):
        yield from (_small(data, layout) for data in sliced(path, _SMALL_SLICE))
    else:
        yield from made_ahead(partial(_large, layout=layout), sliced(path))


def _large(data: bytes, layout: Layout) -> Batch:
    frame = _parsed(data, layout)
    if frame is None:
        data = _tidied(data)
        frame = _parsed(data, layout)
    if frame is None:
        raise UncleanError
    batch = batch_of(frame)
    if min(batch.queries, default="$") < "$" and any(query.startswith("#") for query in batch.queries):
        raise UncleanError
    if layout is RUN and (batch.docs.keys() == _key_of("Q0")).any() and (frame["doc"] == "Q0").any():
        raise UncleanError
    return batch


def _parsed(data: bytes, layout: Layout) -> pl.DataFrame | None:
    """Return the table of a slice, or None when it is not one row a line, with single separators.

    Raises:
        UncleanError: an id is not composed.
    """
    import polars as pl  # noqa: PLC0415 - small files do without

    head = data[: data.find(b"\n")] if b"\n" in data else data
    blank, other = (b"\t", b" ") if b"\t" in head else (b" ", b"\t")
    blanks, others, ascii_only = _letters(data, blank, other)
    if others:
        return None
    names = ["query", "second", "doc", "rank", "score", "tag"] if layout is RUN else _QRELS_NAMES
    schema: dict[str, type[pl.DataType]] = dict.fromkeys(names, pl.String)
    schema["score"] = pl.Float64
    frame = _read(data, blank, schema | {"rank": pl.Int64}, [0, 2, 3, 4]) if layout is RUN else None
    if frame is None:
        # a rank that is no whole number is no fault, because it is not used
        frame = _read(data, blank, schema, [0, 2, 4, 5] if layout is RUN else [0, 2, 3])
    if frame is None or any(column.null_count() for column in frame.get_columns()):
        return None
    # No field that is read is empty, and the count says that no row is long: a blank inside an id would
    # have shifted the numbers. (A tag too few here and a word too many there pass: neither counts.)
    if blanks != (layout.width - 1) * frame.height:
        return None
    if not ascii_only:
        _check_composed(frame)
    return frame


def _letters(data: bytes, blank: bytes, other: bytes) -> tuple[int, bool, bool]:
    """Return how many blanks there are, whether there is another, and whether all letters are ASCII."""
    letters = np.frombuffer(data, np.uint8)
    blanks, others, highest = 0, False, 0
    for start in range(0, len(letters), _PIECE):  # what is looked at thrice stays in the processor's cache
        piece = letters[start : start + _PIECE]
        blanks += int(np.count_nonzero(piece == ord(blank)))
        others = others or bool((piece == ord(other)).any())
        highest = max(highest, int(piece.max()))
    return blanks, others, highest < _ASCII


_PIECE = 1 << 17
_ASCII = 128


@cache
def _key_of(text: str) -> np.uint64:
    import polars as pl  # noqa: PLC0415 - the batch is polars' already

    return FrameDocs(pl.Series([text])).keys()[0]


def _read(
    data: bytes, blank: bytes, schema: dict[str, type[pl.DataType]], columns: list[int]
) -> pl.DataFrame | None:
    import polars as pl  # noqa: PLC0415 - small files do without

    try:
        return pl.read_csv(
            data,
            separator=blank.decode(),
            has_header=False,
            quote_char=None,
            schema=schema,
            columns=columns,
        )
    except pl.exceptions.PolarsError:
        return None


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
    """Read a slice with nothing but numpy; done before a table engine would have been loaded."""
    if not data.isascii():
        raise UncleanError
    data = data if data.endswith(b"\n") else data + b"\n"
    letters = np.frombuffer(data, np.uint8)
    starts, lengths = _fields(letters, layout.width)
    padded = data + bytes(_WIDEST)
    queries = PackedDocs(padded, starts[:, 0], lengths[:, 0])
    docs = PackedDocs(padded, starts[:, 2], lengths[:, 2])
    named_q0 = (
        (lengths[:, 2] == 2) & (letters[starts[:, 2]] == ord("Q")) & (letters[starts[:, 2] + 1] == ord("0"))
    )
    if (letters[starts[:, 0]] == ord("#")).any() or (layout is RUN and named_q0.any()):
        raise UncleanError
    n = len(starts)
    rows = np.arange(n)
    fresh = np.ones(n, np.bool_)
    fresh[1:] = ~queries.take(rows[1:]).same(queries.take(rows[:-1]))
    heads = np.flatnonzero(fresh)
    cells = np.frombuffer(padded, np.uint8)
    return Batch(
        queries=queries.take(heads).texts(),
        lengths=np.diff(np.append(heads, n)),
        docs=docs,
        scores=_numbers(cells, starts[:, layout.number], lengths[:, layout.number]),
        ranks=None if layout.rank is None else _ranks(cells, starts[:, layout.rank], lengths[:, layout.rank]),
    )


def _fields(letters: NDArray[np.uint8], width: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the fields of each row begin and how long they are; refuse what is not one row a line."""
    ends = np.flatnonzero(letters <= ord(" "))
    if len(ends) % width:
        raise UncleanError
    marks = letters[ends].reshape(-1, width)
    inner = marks[:, :-1]
    if (marks[:, -1] != ord("\n")).any() or ((inner != ord(" ")) & (inner != ord("\t"))).any():
        raise UncleanError
    starts = np.concatenate(([0], ends[:-1] + 1))
    lengths = ends - starts
    if not lengths.all():
        raise UncleanError
    return starts.reshape(-1, width), lengths.reshape(-1, width)


def _numbers(
    cells: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> NDArray[np.float64]:
    text = _columns(cells, starts, lengths)
    if not _OF_NUMBERS[text].all():
        raise UncleanError
    try:
        return text.view(f"S{text.shape[1]}").ravel().astype(np.float64)
    except ValueError:
        raise UncleanError from None


def _ranks(
    cells: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> NDArray[np.int64] | None:
    """Return the rank column, or None where it is not all digits."""
    text = _columns(cells, starts, lengths)
    digits = text - np.uint8(ord("0"))
    if text.shape[1] > _LONGEST_RANK or ((digits > 9) & (text > 0)).any():
        return None
    ranks = np.zeros(len(text), np.int64)
    for place in range(text.shape[1]):
        there = text[:, place] > 0
        ranks[there] = ranks[there] * 10 + digits[there, place]
    return ranks


def _columns(
    cells: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> NDArray[np.uint8]:
    """Return the fields as rows of letters, zeros after their ends."""
    widest = int(lengths.max(initial=1))
    if widest > _WIDEST:
        raise UncleanError
    place = np.arange(widest)
    text = cells[starts[:, None] + place]
    text[place >= lengths[:, None]] = 0
    return text


_WIDEST = 40
"""Letters of the longest number that is read in columns."""
_LONGEST_RANK = 18
_OF_NUMBERS = np.isin(np.arange(256), [0, *b"0123456789+-.eEinfatyINFATY"])
