"""The figure that a gate speaks of: which table, which column, which queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.measures.spec import find_spelling
from assay.model.errors import nearest
from assay.model.gates import Gate
from assay.model.scores import ScoreTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The scores that a gate is held against."""

    stage: str
    """The name of the table."""
    spelling: str
    """The measure as the table spells it."""
    table: ScoreTable
    """The rows of the gate's queries, those without a value left out."""
    failed: Mapping[str, str]
    """Those of the queries whose retrieval failed -> with what."""

    @property
    def scores(self) -> NDArray[np.float64]:
        return self.table.values[self.spelling]


def measure_gate(
    gate: Gate, tables: Mapping[str, ScoreTable], *, final: str, errors: Mapping[str, str]
) -> Measured | str:
    """Return the scores that a gate speaks of, or the reason why nothing was measured."""
    stage = gate.stage or (final if final in tables else next(reversed(list(tables)), final))
    table = tables.get(stage)
    if table is None:
        return f"no stage {stage!r} was measured{_instead(stage, tuple(tables))}"
    spelling = column_of(gate.measure, table)
    if spelling is None:
        return f"{gate.measure} was not measured{_instead(gate.measure, table.measures)}"
    chosen = _queries_of(gate, table)
    if isinstance(chosen, str):
        return chosen
    defined = chosen & ~np.isnan(table.values[spelling])
    if not defined.any():
        return f"no query has a value: {int(chosen.sum())} have nothing relevant"
    cut = cut_table(table, np.flatnonzero(defined))
    failed = {query: errors[query] for query in cut.query_ids if query in errors}
    if len(failed) == len(cut.query_ids):
        return f"every retrieval failed: {len(failed)} of {len(failed)} queries"
    return Measured(stage=stage, spelling=spelling, table=cut, failed=failed)


def column_of(measure: str, table: ScoreTable) -> str | None:
    """Return how a table spells a measure; None when it does not have it."""
    return measure if measure in table.values else find_spelling(measure, table.measures)


def _queries_of(gate: Gate, table: ScoreTable) -> NDArray[np.bool_] | str:
    if not table.query_ids:
        return "no queries evaluated"
    if gate.group is None:
        return np.ones(len(table.query_ids), dtype=np.bool_)
    if gate.column not in table.groups:
        return f"the queries have no column {gate.column!r}{_instead(gate.column, tuple(table.groups))}"
    chosen = table.where(gate.column, gate.group)
    if chosen.any():
        return chosen
    known = tuple(dict.fromkeys(cell for cell in table.groups[gate.column] if cell is not None))
    return f"no queries evaluated: none has {gate.column} {gate.group!r}{_instead(gate.group, known)}"


def cut_table(table: ScoreTable, places: NDArray[np.int64]) -> ScoreTable:
    """Return a table of some of the rows."""
    rows: list[int] = places.tolist()
    return ScoreTable(
        query_ids=tuple(table.query_ids[row] for row in rows),
        values={measure: values[places] for measure, values in table.values.items()},
        ceilings={measure: values[places] for measure, values in table.ceilings.items()},
        groups={column: tuple(cells[row] for row in rows) for column, cells in table.groups.items()},
        unwinnable=None if table.unwinnable is None else table.unwinnable[places],
    )


def _instead(name: str, known: Sequence[str]) -> str:
    near = nearest(name, known)
    if near is not None:
        return f" (did you mean {near!r}?)"
    return f" (there is {', '.join(known)})" if known else ""
