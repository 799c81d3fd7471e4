"""``assay convert``: a run or judgements from one form into another. Room: store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.model.notices import Notice
from assay.store.rankings.batch import Batch, Duplicates
from assay.store.rankings.ordering import Ordering, Ties
from assay.store.rankings.reading import read_batch
from assay.store.rankings.sources import Form, Source, open_qrels, open_run
from assay.store.rankings.writing import write_judgements, write_run


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """What was written."""

    path: Path
    queries: int
    rows: int
    notices: Sequence[Notice] = ()


def convert_run(
    source: Source,
    target: Path,
    *,
    source_form: Form | None = None,
    target_form: Form | None = None,
    ties: Ties | None = None,
    duplicates: Duplicates = "error",
    lenient: bool = False,
    tag: str = "assay",
) -> Converted:
    """Write a run in another form, its rows in the order of its ranking.

    Args:
        source: a path, a mapping, a frame or an iterable of records.
        target: the file to write; its name says the form.
        source_form: the form of the source, where its name does not say it.
        target_form: the form of the target, likewise.
        ties: how equal scores stand; by default as trec_eval for TREC files, else as given.
        duplicates: whether a document that stands twice for a query is an error or folded.
        lenient: leave broken rows out, saying so.
        tag: the last column of a TREC file.

    Raises:
        InputError: the source is broken (all faults, with their lines), or the target's form cannot hold it.
        StoreError: the target cannot be written.
    """
    batch, notices = ranked_run(source, form=source_form, ties=ties, duplicates=duplicates, lenient=lenient)
    more = write_run(target, batch, form=target_form, tag=tag)
    return Converted(path=target, queries=len(batch.queries), rows=len(batch), notices=(*notices, *more))


def convert_judgements(
    source: Source,
    target: Path,
    *,
    source_form: Form | None = None,
    target_form: Form | None = None,
    duplicates: Duplicates = "error",
    lenient: bool = False,
) -> Converted:
    """Write judgements in another form.

    Args:
        source: a path, a mapping, a frame or an iterable of records.
        target: the file to write; its name says the form.
        source_form: the form of the source, where its name does not say it.
        target_form: the form of the target, likewise.
        duplicates: whether a document that is judged twice for a query is an error or folded.
        lenient: leave broken rows out, saying so.

    Raises:
        InputError: the source is broken (all faults, with their lines), or the target's form cannot hold it.
        StoreError: the target cannot be written.
    """
    batch, notices = read_batch(open_qrels(source, form=source_form), duplicates=duplicates, lenient=lenient)
    write_judgements(target, batch, form=target_form)
    return Converted(path=target, queries=len(batch.queries), rows=len(batch), notices=notices)


def ranked_run(
    source: Source,
    *,
    form: Form | None = None,
    ties: Ties | None = None,
    duplicates: Duplicates = "error",
    lenient: bool = False,
) -> tuple[Batch, tuple[Notice, ...]]:
    """Return a run in memory, its rows in the order of its ranking, and what is to be said of it.

    Raises:
        InputError: the run is broken; all faults, with their lines.
    """
    readable = open_run(source, form=form)
    batch, notices = read_batch(readable, duplicates=duplicates, lenient=lenient)
    order = Ordering(batch, ties or readable.ties).whole()
    return batch.take(order, batch.queries, batch.lengths), notices
