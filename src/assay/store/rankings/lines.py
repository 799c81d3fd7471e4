"""The careful pass over TREC files: line by line, all faults with their lines, nothing half-read."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path

from assay.store.rankings.opening import sliced
from assay.store.rankings.rows import Rows, excerpt, is_number

_RUN = "query Q0 document rank score tag"
_QRELS = "query iteration document grade"


def numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield each line that holds something with its number (from 1), trimmed, without the byte-order mark."""
    number = 0
    for data in sliced(path):
        for raw in data.removesuffix(b"\n").split(b"\n"):
            number += 1
            line = raw.removeprefix(b"\xef\xbb\xbf").strip() if number == 1 else raw.strip()
            if line:
                yield number, line


def read_lines(path: Path, take: Callable[[Rows, int, list[str]], None], rows: Rows) -> None:
    """Feed every line of a TREC file, split at blanks and tabs, to ``take``; comment lines are left out."""
    for number, line in numbered_lines(path):
        if line.startswith(b"#"):
            continue
        try:
            take(rows, number, [part.decode() for part in line.split()])
        except UnicodeDecodeError:
            rows.fault(number, f"not UTF-8: {line[:40]!r}", "save the file as UTF-8")


def take_run(rows: Rows, line: int, fields: list[str]) -> None:
    """Take one line of a run."""
    count = len(fields)
    shown = excerpt(" ".join(fields))
    if count < 6:
        rows.fault(line, f"{count} fields where 6 belong ({_RUN}): {shown}")
        return
    query, _, doc, rank, score = fields[:5]
    if doc == "Q0":
        rows.fault(line, "the third column is Q0, where the document belongs", f"the order is: {_RUN}")
        return
    # Words after the tag are ignored, as trec_eval does; a blank inside an id shifts the numbers.
    if count > 6 and (not is_number(rank) or not is_number(score) or is_number(fields[5])):
        rows.fault(
            line,
            f"{count} fields where 6 belong (a blank inside an id?): {shown}",
            "ids with blanks are safe in JSONL: one object a line, with query, doc and score",
        )
        return
    rows.spare_words += count > 6
    if not is_number(score):
        rows.fault(line, f"the score {score!r} is not a number")
        return
    rows.add(line, query, doc, float(score))


def take_qrels(rows: Rows, line: int, fields: list[str]) -> None:
    """Take one line of judgements."""
    if len(fields) != 4:
        fix = {2: "add the two columns that are missing: query 0 document 1"}.get(len(fields))
        if len(fields) > 4:
            fix = "ids with blanks are safe in JSONL: one object a line, with query, doc and grade"
        shown = excerpt(" ".join(fields))
        rows.fault(line, f"{len(fields)} fields where 4 belong ({_QRELS}): {shown}", fix)
        return
    query, _, doc, grade = fields
    if not is_number(grade) or not math.isfinite(float(grade)):
        rows.fault(line, f"the grade {grade!r} is not a number")
        return
    rows.add(line, query, doc, float(grade))
