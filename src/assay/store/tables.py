"""Reading CSV: quoted commas and line ends, cells as long as documents, ids as text, a line for each row."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from assay.model.cells import wide_cells
from assay.model.errors import Fault, InputError
from assay.store.jsonl import read_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The rows of a CSV file; every cell is text."""

    columns: tuple[str, ...]
    rows: tuple[tuple[int, dict[str, str]], ...]
    """Number of the line where the row begins (from 1), and column -> cell."""


def read_table(path: Path) -> Table:
    """Return the rows of a CSV or TSV file (RFC 4180), plain or gzip; blank rows are nothing.

    Raises:
        InputError: the file is missing or no CSV, or rows have more cells than the header; all of them.
    """
    return parse_table(read_text(path), where=str(path), tabs=".tsv" in path.suffixes)


def parse_table(text: str, *, where: str, tabs: bool = False) -> Table:
    r"""Return the rows of a text, as ``read_table`` does of a file.

    A column without a name whose cells are empty is left out: spreadsheets write them.

    Raises:
        InputError: the text is no CSV, or rows have more cells than the header; all of them.

    >>> parse_table('a,b\n"1, one","two\nlines"\n', where="t.csv").rows
    ((2, {'a': '1, one', 'b': 'two\nlines'}),)
    """
    with wide_cells():
        return _parse(text, where, "\t" if tabs else ",")


def _parse(text: str, where: str, delimiter: str) -> Table:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    columns: tuple[str, ...] | None = None
    rows: list[tuple[int, dict[str, str]]] = []
    faults: list[Fault] = []
    line = 1
    try:
        for cells in reader:
            begins, line = line, reader.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if columns is None:
                columns = tuple(cell.strip() for cell in cells)
                faults.extend(_repeated(columns, f"{where}:{begins}"))
                continue
            if any(cell.strip() for cell in cells[len(columns) :]):
                what = f"{len(cells)} cells, but the header has {len(columns)}"
                faults.append(Fault(where=f"{where}:{begins}", what=what, fix="quote cells that hold commas"))
            padded = [*cells, *[""] * (len(columns) - len(cells))]
            row = {name: cell for name, cell in zip(columns, padded, strict=False) if name or cell.strip()}
            rows.append((begins, row))
    except csv.Error as error:
        faults.append(
            Fault(
                where=f"{where}:{line}",
                what=f"not CSV: {error}",
                fix='close every quote, and quote cells that hold one as ""',
            )
        )
    if columns is None and not faults:
        faults.append(
            Fault(
                where=where,
                what="holds no header and no row",
                fix="write a line of names, and one row each below",
            )
        )
    if faults:
        raise InputError(faults)
    return Table(columns=tuple(name for name in columns or () if name), rows=tuple(rows))


def _repeated(columns: tuple[str, ...], where: str) -> list[Fault]:
    twice = sorted({name for name in columns if name and columns.count(name) > 1})
    fix = "give every column a name of its own"
    return [Fault(where=where, what=f"the header names {name!r} more than once", fix=fix) for name in twice]
