"""The results of a sweep as tables: one row a configuration, and one a configuration and query.

What a clock gave stands in a table of its own, so that the others are the same bytes whoever did the work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.sweep import COSTS, TIMED, SweepResult, SweepRow
from assay.store.atomic import parquet_bytes

if TYPE_CHECKING:
    import polars as pl


def sweep_files(result: SweepResult) -> dict[str, bytes]:
    """Return the tables of a sweep, name -> bytes of a Parquet file.

    ``results.parquet`` and ``queries.parquet`` are the same bytes for any number of workers, and however
    often the sweep was stopped; ``timings.parquet`` is not.
    """
    return {
        "results.parquet": parquet_bytes(results_table(result)),
        "queries.parquet": parquet_bytes(queries_table(result)),
        "timings.parquet": parquet_bytes(timings_table(result)),
    }


def results_table(result: SweepResult) -> pl.DataFrame:
    """Return one row a configuration, the best first: its knobs, its means, and what it costs anywhere."""
    import polars as pl  # noqa: PLC0415 - only where tables are written

    rows = result.rows
    columns: dict[str, pl.Series] = {"configuration": pl.Series([row.number for row in rows], dtype=pl.Int64)}
    for knob in result.knobs:
        labels = [row.configuration.labels[knob.name] for row in rows]
        columns[f"knob {knob.name}"] = pl.Series(labels, dtype=pl.String)
    columns["rounds"] = pl.Series([row.rounds for row in rows], dtype=pl.Int64)
    columns["queries"] = pl.Series([len(row.query_ids) for row in rows], dtype=pl.Int64)
    for name in result.columns:
        columns[name] = pl.Series([row.averages[name].mean for row in rows], dtype=pl.Float64)
    for name, ends in (
        ("low", [None if row.interval is None else row.interval.low for row in rows]),
        ("high", [None if row.interval is None else row.interval.high for row in rows]),
        ("behind low", [None if row.behind is None else row.behind.low for row in rows]),
        ("behind high", [None if row.behind is None else row.behind.high for row in rows]),
    ):
        columns[name] = pl.Series(ends, dtype=pl.Float64)
    columns["chunks"] = pl.Series([row.spent.chunks for row in rows], dtype=pl.Int64)
    for cost in COSTS:
        if cost not in TIMED:
            columns |= _cost_columns(result, cost)
    return pl.DataFrame(columns)


def timings_table(result: SweepResult) -> pl.DataFrame:
    """Return one row a configuration: the times that it took here."""
    import polars as pl  # noqa: PLC0415 - only where tables are written

    numbers = [row.number for row in result.rows]
    columns: dict[str, pl.Series] = {"configuration": pl.Series(numbers, dtype=pl.Int64)}
    for cost in COSTS:
        if cost in TIMED:
            columns |= _cost_columns(result, cost)
    return pl.DataFrame(columns)


def queries_table(result: SweepResult) -> pl.DataFrame:
    """Return one row a configuration and query, with every column's value; null where it is undefined."""
    import polars as pl  # noqa: PLC0415 - only where tables are written

    def of(row: SweepRow) -> pl.DataFrame:
        columns: dict[str, pl.Series] = {
            "configuration": pl.Series([row.number] * len(row.query_ids), dtype=pl.Int64),
            "query": pl.Series(row.query_ids, dtype=pl.String),
        }
        for name in result.columns:
            columns[name] = pl.Series(row.values[name], dtype=pl.Float64).fill_nan(None)
        return pl.DataFrame(columns)

    return pl.concat([of(row) for row in result.rows])


def whole_table(result: SweepResult) -> pl.DataFrame:
    """Return the results with the times beside them: what ``--parquet`` writes."""
    return results_table(result).hstack(timings_table(result).drop("configuration").get_columns())


def _cost_columns(result: SweepResult, cost: str) -> dict[str, pl.Series]:
    import polars as pl  # noqa: PLC0415 - only where tables are written

    front = set(result.fronts[cost])
    return {
        cost: pl.Series([row.spent.of(cost) for row in result.rows], dtype=pl.Float64),
        f"front {cost}": pl.Series([row.number in front for row in result.rows], dtype=pl.Boolean),
    }
