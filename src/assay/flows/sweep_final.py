"""``--final``: the winner of a sweep on the held-out queries, once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from assay.flows.looks import HELDOUT, record_look
from assay.flows.sweep_work import Job, Session, columns_of, run_id_of
from assay.model.comparison import Interval
from assay.model.errors import StoreError
from assay.model.scores import Average, ScoreTable
from assay.model.sweep import FinalLook, SweepResult
from assay.stats.bootstrap import mean_interval
from assay.store.atomic import write_bytes

if TYPE_CHECKING:
    from assay.flows.sweep import Measured

FINAL = "final.json"


class FinalFile(msgspec.Struct, forbid_unknown_fields=True):
    """``final.json`` of a sweep's folder: the one look at the held-out queries."""

    number: int
    """Of the winner."""
    run_id: str
    """The run on the held-out queries."""
    measure: str
    """The column that decided."""
    heldout: dict[str, list[float | int | None]]
    """Column -> mean, n, undefined."""
    interval: list[float] | None
    """Of the measure's mean."""


def final_look(measured: Measured, result: SweepResult, folder: Path) -> SweepResult:
    """Return the result with the winner's held-out scores: looked up where there has been a look, else taken.

    The look is written into the sweep's folder and beside the golden set; a second call looks at nothing.

    Raises:
        StoreError: the file of the look is damaged.
    """
    path = folder / FINAL
    look = _read(path) if path.is_file() else _taken(measured, result, path)
    dev = result.winner.averages
    mean, n, undefined = look.heldout[look.measure]
    final = FinalLook(
        number=look.number,
        run_id=look.run_id,
        measure=look.measure,
        dev=dev[look.measure],
        heldout=Average(mean=mean, n=int(n or 0), undefined=int(undefined or 0)),
        heldout_interval=None
        if look.interval is None
        else Interval(low=look.interval[0], high=look.interval[1]),
        columns={name: (dev[name].mean, look.heldout[name][0]) for name in dev if name in look.heldout},
    )
    return replace(result, final=final)


def _taken(measured: Measured, result: SweepResult, path: Path) -> FinalFile:
    material = measured.material
    heldout = tuple(
        query.id
        for query in material.golden.queries
        if query.split == HELDOUT and (query.anchors or query.labels)
    )
    session = Session(material)
    winner = result.winner.configuration
    evaluation, _, cut = session.run(
        Job(number=winner.number, round=0, changes=winner.changes, query_ids=heldout, timed=False)
    )
    columns = columns_of(evaluation, cut=material.cut, tokens=cut.tokens)
    table = ScoreTable(query_ids=heldout, values=columns)
    averages = {name: table.average(name) for name in columns}
    values = columns[result.target]
    interval = mean_interval(values[~np.isnan(values)], np.random.default_rng(measured.plan.table.seed))
    run_id = run_id_of(evaluation)
    # Written down first: a look that is forgotten is worse than one that is counted twice.
    record_look(material.project, material.golden, by=f"sweep {measured.id} --final", runs=[run_id])
    look = FinalFile(
        number=winner.number,
        run_id=run_id,
        measure=result.target,
        heldout={name: [one.mean, one.n, one.undefined] for name, one in averages.items()},
        interval=None if interval is None else [interval.low, interval.high],
    )
    write_bytes(path, msgspec.json.format(msgspec.json.encode(look), indent=2) + b"\n")
    return look


def _read(path: Path) -> FinalFile:
    try:
        return msgspec.json.decode(path.read_bytes(), type=FinalFile)
    except (OSError, msgspec.DecodeError) as error:
        raise StoreError(
            f"{path}: cannot be read ({error})", fix="restore it, or delete the sweep's folder"
        ) from error
