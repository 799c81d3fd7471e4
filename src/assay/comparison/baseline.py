"""Baselines: small JSON files that live in git, one query a line, so that a change can be read in a diff.

::

    {
     "form": 1,
     "name": "main",
     "run": "3f0c...",
     "digests": {"golden": "...", "corpus": "...", "pipeline": "..."},
     "means": {"final": {"recall@10": 0.7291666666666666}},
     "queries": {
      "q-001": {"groups": {"kind": "factual"}, "scores": {"final": {"recall@10": 1.0}}},
      ...
     }
    }

The means are there for people; reading holds them against the queries, so that an edited figure is an
error and not a surprise. A score that is undefined is ``null``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np

from assay.model.errors import Fault, InputError
from assay.model.gates import Baseline
from assay.model.scores import ScoreTable
from assay.store.atomic import write_text

FORM = 1


class BaselineQuery(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """One query of a baseline."""

    groups: dict[str, str | None] = {}
    """Column -> the query's value: its kind, and columns of the team's own."""
    scores: dict[str, dict[str, float | None]]
    """Stage -> measure -> value; null: undefined."""


class BaselineFile(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The file of a baseline."""

    form: int
    """1: this form."""
    name: str
    """What gates call it."""
    run: str
    """Id of the run that it was made of."""
    digests: dict[str, str] = {}
    """Of the golden set, the corpus and the pipeline."""
    means: dict[str, dict[str, float | None]]
    """Stage -> measure -> mean: for people, and held against the queries when it is read."""
    queries: dict[str, BaselineQuery]
    """Query -> its groups and scores, sorted by id."""


def make_baseline(
    tables: Mapping[str, ScoreTable],
    *,
    name: str = "main",
    run: str,
    digests: Mapping[str, str] | None = None,
    measures: Sequence[str] | None = None,
) -> Baseline:
    """Return a baseline of a run's scores.

    Args:
        tables: stage -> scores; all stages hold the same queries.
        name: what gates call it.
        run: the run's id.
        digests: of the golden set, the corpus and the pipeline.
        measures: the columns to keep, to keep the file small; None: all.
    """
    kept = {
        stage: ScoreTable(
            query_ids=table.query_ids,
            values={
                measure: values
                for measure, values in table.values.items()
                if measures is None or measure in measures
            },
            groups=table.groups,
        )
        for stage, table in tables.items()
    }
    return Baseline(name=name, run=run, tables=kept, digests=digests or {})


def save_baseline(path: Path | str, baseline: Baseline) -> None:
    """Write a baseline, whole or not at all. The same scores give the same bytes, in any order of queries.

    Raises:
        StoreError: the place cannot be written.
    """
    means = {
        stage: {measure: table.average(measure).mean for measure in table.measures}
        for stage, table in baseline.tables.items()
    }
    head = {
        "form": FORM,
        "name": baseline.name,
        "run": baseline.run,
        "digests": dict(sorted(baseline.digests.items())),
        "means": means,
    }
    lines = [f' "{key}": {_json(value)},' for key, value in head.items()]
    queries = _queries(baseline.tables)
    rows = [f"  {_json(query)}: {_json(queries[query])}" for query in sorted(queries)]
    body = ",\n".join(rows)
    write_text(
        Path(path), "\n".join(["{", *lines, ' "queries": {', *([body] if body else []), " }", "}", ""])
    )


def load_baseline(path: Path | str) -> Baseline:
    """Read a baseline.

    Raises:
        InputError: there is no such file, it is not a baseline, or a mean does not fit its queries.
    """
    where = str(path)
    try:
        form = msgspec.json.decode(Path(path).read_bytes(), type=BaselineFile)
    except FileNotFoundError:
        raise InputError(
            Fault(where=where, what="there is no such baseline", fix="write one with: assay gate --update")
        ) from None
    except OSError as error:
        raise InputError(
            Fault(where=where, what=f"cannot be read ({error.strerror})", fix="name a file that you may read")
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(
            Fault(
                where=where, what=f"this is no baseline: {error}", fix="write it again: assay gate --update"
            )
        ) from error
    if form.form != FORM:
        raise InputError(
            Fault(
                where=where, what=f"form {form.form} is not known", fix="write it again: assay gate --update"
            )
        )
    tables = {stage: _table(stage, tuple(means), form.queries) for stage, means in form.means.items()}
    faults = [
        Fault(
            where=f"{where} means.{stage}",
            what=f"{measure} is written as {mean}, and its queries give {found}",
            fix="change no figure by hand; write the file again: assay gate --update",
        )
        for stage, means in form.means.items()
        for measure, mean in means.items()
        if not _same(mean, found := tables[stage].average(measure).mean)
    ]
    if faults:
        raise InputError(faults)
    return Baseline(name=form.name, run=form.run, tables=tables, digests=form.digests)


def _queries(tables: Mapping[str, ScoreTable]) -> dict[str, dict[str, object]]:
    queries: dict[str, dict[str, object]] = {}
    scores: dict[str, dict[str, dict[str, float | None]]] = {}
    for stage, table in tables.items():
        columns: dict[str, list[float]] = {name: values.tolist() for name, values in table.values.items()}
        for row, query in enumerate(table.query_ids):
            scores.setdefault(query, {})[stage] = {
                name: None if math.isnan(values[row]) else values[row] for name, values in columns.items()
            }
            groups = {column: cells[row] for column, cells in table.groups.items()}
            queries.setdefault(query, {"groups": groups, "scores": scores[query]})
    return queries


def _table(stage: str, measures: Sequence[str], queries: Mapping[str, BaselineQuery]) -> ScoreTable:
    rows = {query: row for query, row in queries.items() if stage in row.scores}
    columns = dict.fromkeys(column for row in rows.values() for column in row.groups)
    return ScoreTable(
        query_ids=tuple(rows),
        values={
            measure: np.array(
                [_score(row.scores[stage].get(measure)) for row in rows.values()], dtype=np.float64
            )
            for measure in measures
        },
        groups={column: tuple(row.groups.get(column) for row in rows.values()) for column in columns},
    )


def _score(value: float | None) -> float:
    return math.nan if value is None else value


def _same(written: float | None, found: float | None) -> bool:
    if written is None or found is None:
        return written is found
    return math.isclose(written, found, rel_tol=1e-12, abs_tol=1e-15)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
