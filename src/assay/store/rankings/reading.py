"""Reading runs and judgements, the fast way first and the careful way when anything is off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.model.errors import Fault, InputError
from assay.model.notices import Notice, listed
from assay.store.rankings.batch import (
    Batch,
    Duplicates,
    RepeatedError,
    ScatteredError,
    UncleanError,
    folded,
    pairs_of,
    repeats,
    stacked,
    together,
    whole_queries,
)
from assay.store.rankings.judgements import Judgements
from assay.store.rankings.meet import Meet, Meeting, Rules
from assay.store.rankings.rows import Rows
from assay.store.rankings.sources import Form, Readable, Source, open_qrels, open_run


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """A run that has met the judgements, and what is to be said of it."""

    meeting: Meeting
    notices: tuple[Notice, ...] = ()


def meet_run(
    run: Readable, judgements: Judgements, rules: Rules | None = None, *, lenient: bool = False
) -> Met:
    """Read a run and return what it met; a run is never held in memory when its queries stand together.

    Args:
        run: from ``open_run``.
        judgements: from ``read_judgements``.
        rules: how the run is read; by default as its form says.
        lenient: leave broken rows out, saying so, instead of refusing the run.

    Raises:
        InputError: the run is broken (all faults, with their lines), or shares no query with the judgements.
    """
    rules = rules or Rules(ties=run.ties)
    notices: tuple[Notice, ...] = ()
    try:
        try:
            meeting = Meet(judgements, rules).take(whole_queries(run.clean()))
        except ScatteredError:
            meeting = Meet(judgements, rules).take([together(stacked(list(run.clean())))])
    except (UncleanError, RepeatedError) as error:
        batch, notices = _careful(run, rules.duplicates, error, lenient=lenient)
        meeting = Meet(judgements, rules).take([batch])
    if meeting.judged.answered is None or not meeting.judged.answered.any():
        raise _nothing_shared(run, judgements, meeting)
    return Met(meeting=meeting, notices=(*notices, *_said(run, meeting)))


def read_run(
    source: Source, *, form: Form | None = None, duplicates: Duplicates = "error", lenient: bool = False
) -> tuple[Batch, tuple[Notice, ...]]:
    """Return all rows of a run in memory, the rows of each query together, and what is to be said of it.

    Raises:
        InputError: the run is broken; all faults, with their lines.
    """
    return read_batch(open_run(source, form=form), duplicates=duplicates, lenient=lenient)


def read_judgements(
    source: Source, *, form: Form | None = None, duplicates: Duplicates = "error", lenient: bool = False
) -> Judgements:
    """Read judgements.

    Raises:
        InputError: they are broken (all faults, with their lines), or there are none.
    """
    readable = open_qrels(source, form=form)
    batch, notices = read_batch(readable, duplicates=duplicates, lenient=lenient)
    if not len(batch):
        raise InputError(
            Fault(
                where=readable.name,
                what="there are no judgements",
                fix="query, document and grade: q1 0 d3 1",
            )
        )
    grades = np.ones(len(batch)) if batch.scores is None else batch.scores
    negative = int(np.count_nonzero(grades < 0))
    if negative:
        text = f"{readable.name}: {negative} negative grades count as 0 (judged, and not relevant)"
        notices = (*notices, Notice(code="negative-grades", text=text))
    said = readable.said()
    columns = dict.fromkeys(name for values in said.values() for name in values)
    return Judgements(
        name=readable.name,
        query_ids=tuple(batch.queries),
        query=np.repeat(np.arange(len(batch.queries), dtype=np.int32), batch.lengths),
        docs=batch.docs,
        grades=grades,
        groups={name: tuple(said.get(query, {}).get(name) for query in batch.queries) for name in columns},
        notices=notices,
    )


def read_batch(
    readable: Readable, *, duplicates: Duplicates = "error", lenient: bool = False
) -> tuple[Batch, tuple[Notice, ...]]:
    """Return all rows of what was opened, the rows of each query together, and what is to be said of it.

    Raises:
        InputError: the rows are broken; all faults, with their lines.
    """
    notices: tuple[Notice, ...] = ()
    try:
        parts = list(readable.clean())
        batch = together(stacked(parts)) if parts else Rows(where=readable.name).batch()
        again = repeats(batch)
        if len(again) and duplicates == "error":
            raise RepeatedError(pairs_of(batch, again))  # noqa: TRY301 - one careful way for all that is off
    except (UncleanError, RepeatedError) as error:
        batch, notices = _careful(readable, duplicates, error, lenient=lenient)
        again = repeats(batch)
    if len(again) and duplicates != "error":
        batch = folded(batch, duplicates)
        notices = (*notices, _folding(readable.name, len(again), duplicates))
    return batch, notices


def _careful(
    readable: Readable, duplicates: Duplicates, error: Exception, *, lenient: bool
) -> tuple[Batch, tuple[Notice, ...]]:
    rows = Rows(where=readable.name, duplicates=duplicates)
    readable.careful(rows)
    batch = together(rows.batch(lenient=lenient))
    if isinstance(error, RepeatedError) and duplicates == "error" and not rows.faults:
        # No input brings this about: the two ways of reading would disagree, which must not pass in silence.
        raise AssertionError(f"{readable.name}: repeated rows that have no line: {error.pairs[:5]}")
    return batch, rows.notices()


def _nothing_shared(run: Readable, judgements: Judgements, meeting: Meeting) -> InputError:
    if not meeting.extra:
        fix = "name the run that the retriever wrote: q1 Q0 d3 1 0.9 name"
        return InputError(Fault(where=run.name, what="the run has no rows", fix=fix))
    what = (
        f"no query of the run has judgements: the run has {meeting.extra[0]!r}, "
        f"{judgements.name} has {judgements.query_ids[0]!r}"
    )
    return InputError(Fault(where=run.name, what=what, fix="write the query ids alike in both files"))


def _said(run: Readable, meeting: Meeting) -> list[Notice]:
    judged = meeting.judged
    answered = judged.answered if judged.answered is not None else np.ones(len(judged.query_ids), np.bool_)
    missing = tuple(_names(judged.query_ids, ~answered))
    said: list[Notice] = []

    def say(code: str, ids: tuple[str, ...], text: str) -> None:
        if ids:
            said.append(Notice(code=code, text=f"{run.name}: {text}", ids=ids))

    say(
        "missing-queries",
        missing,
        f"judged queries that are missing score 0: {len(missing):,} ({listed(missing)})",
    )
    extra = meeting.extra
    say("extra-queries", extra, f"queries without judgements are left out: {len(extra):,} ({listed(extra)})")
    wrong = meeting.contradicted
    say(
        "rank-column",
        wrong,
        f"the rank column disagrees with the scores and is ignored: {len(wrong):,} ({listed(wrong)})",
    )
    nan = meeting.not_numbers
    say(
        "nan-scores", nan, f"queries with scores that are NaN (they stand last): {len(nan):,} ({listed(nan)})"
    )
    if meeting.folded:
        said.append(_folding(run.name, meeting.folded, "first or best"))
    return said


def _folding(name: str, count: int, how: str) -> Notice:
    return Notice(code="repeats-folded", text=f"{name}: {count} repeated rows were folded ({how} kept)")


def _names(ids: tuple[str, ...], mask: NDArray[np.bool_]) -> list[str]:
    return [ids[place] for place in np.flatnonzero(mask).tolist()]
