"""``assay fuse``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter


def command(
    *runs: Path,
    to: Path,
    method: Literal["rrf", "minmax"] = "rrf",
    weights: Annotated[tuple[float, ...], Parameter(consume_multiple=True)] = (),
    k: float = 60.0,
    depth: int = 1000,
    distances: Annotated[bool, Parameter(negative=())] = False,
    ties: Literal["trec", "given"] | None = None,
    duplicates: Literal["error", "first", "best"] = "error",
    run_form: str | None = None,
) -> None:
    """Fuse runs into one.

    Reciprocal rank fusion adds weight / (k + rank); min-max adds weight times the score scaled to 0..1 in its
    list. What a list lacks gets nothing from it; ties stand by first appearance, run after run.

    Args:
        runs: the runs, two or more.
        to: the file to write; its name says the form.
        method: rrf or minmax.
        weights: one a run, in their order; 1 for each by default.
        k: the constant of reciprocal rank fusion.
        depth: rows that are kept of each query.
        distances: the scores are distances (lower is better): they are turned round first.
        ties: how equal scores stand in the runs: trec (default for TREC files), or given in the file.
        duplicates: a document that stands twice for a query: an error, or folded into its first or best row.
        run_form: trec, jsonl, json, csv, parquet or arrow, where the names of the runs do not say it.
    """
    from assay.flows.fuse import Fusing, fuse_runs  # noqa: PLC0415 - the help needs none of this
    from assay.store.rankings.sources import as_form  # noqa: PLC0415

    fusing = Fusing(
        method=method,
        weights=weights,
        k=k,
        depth=depth,
        distances=distances,
        ties=ties,
        duplicates=duplicates,
        run_form=as_form(run_form),
    )
    done = fuse_runs(runs, to, fusing)
    sys.stdout.write(f"{done.path}: {done.rows:,} rows of {done.queries:,} queries\n")
    for notice in done.notices:
        sys.stderr.write(f"note: {notice.text}\n")
