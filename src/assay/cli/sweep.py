"""``assay sweep``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from assay.cli.screen import console, progress, write
from assay.flows.project import load_project
from assay.flows.sweep import sweep
from assay.flows.sweep_files import save_sweep
from assay.flows.sweep_plan import load_plan
from assay.model.errors import InputError
from assay.report.html.sweep import sweep_html
from assay.report.sweep import print_sweep, sweep_json
from assay.retrieval.workers import Workers, local_workers
from assay.store.atomic import write_parquet, write_text
from assay.store.sweep_tables import whole_table


def command(
    plan: Path | None = None,
    *,
    vary: Annotated[tuple[str, ...], Parameter(name=["--vary", "-v"], negative=())] = (),
    project: Annotated[Path, Parameter(name=["--project", "-p"])] = Path(),
    method: Literal["grid", "random", "halving"] | None = None,
    samples: int | None = None,
    measure: str | None = None,
    split: Literal["dev", "all"] | None = None,
    seed: int | None = None,
    timed: int | None = None,
    final: Annotated[bool, Parameter(negative=())] = False,
    workers: int = 1,
    dask: str | None = None,
    rows: int = 20,
    json: bool = False,
    html: Path | None = None,
    parquet: Path | None = None,
) -> None:
    """Turn the knobs of the pipeline: what each setting is worth, what it costs, and what is chance.

    Every configuration is measured on the queries marked dev, where there are any. What configurations share
    (chunks, embeddings, first-stage lists) is made once. A sweep that was stopped goes on where it was.

    Args:
        plan: a sweep.toml with a [knobs] table; or use --vary.
        vary: a setting and its values, as in --vary chunker.max_chars=400,800; may be repeated. Short names
            do where they are clear: reranker=none,lexical. lists=vector,fulltext,both switches lists.
        project: the folder of an assay.toml, or the file itself.
        method: every combination, some drawn at random, or halving: many on few queries, few on all.
        samples: how many configurations are drawn (random, halving).
        measure: the column that decides, such as "recall@10", "char IoU" or "recall in 2000 tokens".
        split: dev tunes on the queries marked dev, all on every query.
        seed: of the draws, the order of queries, and the intervals.
        timed: how many queries are timed one by one for the latencies; 0 for none.
        final: score the winner once on the held-out queries, and write the look down beside the golden set.
        workers: how many processes do the work; the results are the same for any number.
        dask: the address of a Dask scheduler that does the work instead, such as tcp://10.0.0.1:8786.
        rows: how many configurations the table shows.
        json: print one JSON object instead of the tables.
        html: also write the page with its plots to this file; it is in the sweep's folder in any case.
        parquet: also write the table to this file.
    """
    read = load_project(project)
    made = load_plan(
        read,
        plan,
        vary,
        method=method,
        samples=samples,
        measure=measure,
        split=split,
        seed=seed,
        timed=timed,
    )
    with progress() as tell:
        result = sweep(read, made, workers=_workers(workers, dask), final=final, progress=tell)
    page = sweep_html(result)
    save_sweep(read, result, page)
    if html is not None:
        write_text(html, page)
    if parquet is not None:
        write_parquet(parquet, whole_table(result))
    if json:
        write(sweep_json(result))
    else:
        print_sweep(result, console(), most_rows=rows)


def _workers(count: int, dask: str | None) -> Workers:
    if dask is not None:
        from assay.retrieval.cluster import DaskWorkers  # noqa: PLC0415 - only for those who have a cluster

        return DaskWorkers(dask)
    if count < 1:
        raise InputError(f"--workers {count}: work takes at least 1", fix="--workers 2")
    return local_workers(count)
