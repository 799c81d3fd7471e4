"""``assay golden pool``."""

from __future__ import annotations

import json as json_text
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from assay.cli.screen import console, progress, write
from assay.flows.golden_pool import Pooling, PoolWishes, pool_project
from assay.flows.project import load_project
from assay.model.notices import listed
from assay.report.terminal import counted, figure


def command(
    project: Annotated[Path, Parameter(name=["--project", "-p"])] = Path(),
    *,
    name: str = "pool",
    run: Annotated[tuple[str, ...], Parameter(negative=())] = (),
    variant: Annotated[tuple[str, ...], Parameter(negative=())] = (),
    depth: int = 10,
    measure: str | None = None,
    job: Annotated[tuple[str, ...], Parameter(negative=())] = (),
    most: int = 50,
    next: Annotated[bool, Parameter(negative=())] = False,  # noqa: A002 - what people type
    seed: int | None = None,
    dry_run: Annotated[bool, Parameter(negative=())] = False,
    json: bool = False,
) -> None:
    """Gather candidates from several retrievers for people to judge: blind, one entry a place.

    Nothing of a rank or of a retriever is shown to who labels, and the order is shuffled. An unjudged hit is
    unknown, not wrong: best and worst case of each retriever stand beside the measured value, and the labels
    that could still change who wins come next.

    Args:
        project: the folder of an assay.toml, or the file itself.
        name: a name for the pooling.
        run: a stored run to take candidates from; may be repeated.
        variant: settings that make a retriever, as in "pipeline.reranker=none chunker.max_chars=400"; may be
            repeated. Without runs and variants: the project's own, and each first stage alone.
        depth: how many hits of each list are taken.
        measure: hit@k, recall@k, precision@k or MRR@k; recall at the project's k by default.
        job: a job of import-log or draft whose drafts are pooled; may be repeated. By default the golden set
            and all queries of logs that wait.
        most: how many of the next labels are listed.
        next: pool only the places whose grades could change who wins.
        seed: shuffles.
        dry_run: store nothing.
        json: print one JSON object instead.
    """
    wishes = PoolWishes(
        name=name,
        runs=run,
        variants=variant,
        depth=depth,
        measure=measure,
        jobs=job,
        most=most,
        seed=seed,
        only_next=next,
        dry_run=dry_run,
    )
    with progress() as tell:
        pooling = pool_project(load_project(project), wishes, progress=tell)
    if json:
        write(_json(pooling))
    else:
        _print(pooling, console())


def _print(pooling: Pooling, screen: Console) -> None:
    verdict = pooling.verdict
    candidates = sum(len(pool.candidates) for pool in pooling.pools)
    head = f"{pooling.name}: {counted(len(pooling.pools), 'query')}, {counted(candidates, 'candidate')}"
    screen.print(f"{head} from {counted(len(pooling.sources), 'retriever')}", markup=False)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("retriever", overflow="fold")
    for heading in (
        f"judged@{verdict.measure.rpartition('@')[2]}",
        verdict.measure,
        "worst case",
        "best case",
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in verdict.retrievers:
        table.add_row(one.name, *map(figure, (one.judged, one.measured, one.worst, one.best)))
    screen.print(table)
    told = f"measured on {counted(verdict.queries, 'query')} with something relevant known"
    if verdict.open_queries:
        told += f"; {counted(verdict.open_queries, 'query')} more with nothing relevant known yet"
    screen.print(f"{told}; an unjudged hit is unknown, not wrong", markup=False)
    if pooling.without_candidates:
        ids = listed(pooling.without_candidates)
        screen.print(
            f"without candidates: {ids}; label them from the documents, or say that no answer exists",
            markup=False,
        )
    if pooling.unplaced:
        screen.print(f"left out: {counted(pooling.unplaced, 'hit')} of unknown place", markup=False)
    if verdict.leader and len(verdict.retrievers) > 1:
        _print_next(pooling, screen)
    if pooling.stored:
        screen.print("\nstored. Next: assay ui, or assay judge run", markup=False)


def _print_next(pooling: Pooling, screen: Console) -> None:
    verdict = pooling.verdict
    if not verdict.open_against:
        screen.print(f"{verdict.leader} wins whatever the missing labels say", markup=False)
        return
    screen.print(
        f"open: the missing labels could still put {listed(verdict.open_against)} before {verdict.leader}",
        markup=False,
    )
    for label in verdict.next_labels[:10]:
        screen.print(f"  {label.query_id}  {label.place}  swing {label.swing:.4f}", markup=False)


def _json(pooling: Pooling) -> str:
    record = {
        "name": pooling.name,
        "queries": len(pooling.pools),
        "candidates": sum(len(pool.candidates) for pool in pooling.pools),
        "sources": list(pooling.sources),
        "without_candidates": list(pooling.without_candidates),
        "unplaced": pooling.unplaced,
        "stored": pooling.stored,
        "verdict": asdict(pooling.verdict),
    }
    return json_text.dumps(record, indent=2, ensure_ascii=False) + "\n"
