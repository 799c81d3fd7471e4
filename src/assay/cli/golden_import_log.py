"""``assay golden import-log``."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from assay.cli.screen import console, write
from assay.flows.golden_log import LogImport, LogWishes, Names, import_log
from assay.flows.project import load_project
from assay.model.errors import InputError
from assay.report.terminal import UNDEFINED, counted


def command(
    log: Path,
    project: Annotated[Path, Parameter(name=["--project", "-p"])] = Path(),
    *,
    count: int | None = None,
    shares: Annotated[tuple[str, ...], Parameter(negative=(), consume_multiple=True)] = (),
    least: int | None = None,
    seed: int | None = None,
    query_column: str | None = None,
    count_column: str | None = None,
    session_column: str | None = None,
    clicks_column: str | None = None,
    names: Names | None = None,
    dry_run: Annotated[bool, Parameter(negative=())] = False,
    json: bool = False,
) -> None:
    """Take a stratified sample of the queries that people really asked.

    Personal data is masked before anything is stored; near-duplicates are merged with their counts; the plan
    says how many of each kind are taken and what interval that gives. The queries wait in the label store:
    assay golden pool gathers candidates for them.

    Args:
        log: a CSV, JSONL or Parquet file; a column each for the query and, where there are such, its count,
            its session and what was clicked.
        project: the folder of an assay.toml, or the file itself.
        count: how many queries; 80 by default.
        shares: another distribution than the log's, as in how-to=0.5 lexical=0.5.
        least: the fewest queries of each kind.
        seed: decides which queries are drawn.
        query_column: the column of the query.
        count_column: the column that says how often it was asked.
        session_column: the column that says who asked; one session counts once for a question.
        clicks_column: the column of what was opened.
        names: auto masks names of people where presidio or spacy is installed; required, or off.
        dry_run: print the plan and store nothing.
        json: print one JSON object instead.
    """
    columns = {
        "query": query_column,
        "count": count_column,
        "session": session_column,
        "clicks": clicks_column,
    }
    wishes = LogWishes(
        count=count,
        seed=seed,
        columns={name: column for name, column in columns.items() if column is not None},
        shares=_shares(shares) if shares else None,
        least=least,
        names=names,
        dry_run=dry_run,
    )
    found = import_log(load_project(project), log, wishes)
    if json:
        write(_json(found))
    else:
        _print(found, console())


def _shares(pairs: tuple[str, ...]) -> dict[str, float]:
    shares: dict[str, float] = {}
    for pair in pairs:
        kind, mark, value = pair.rpartition("=")
        try:
            shares[kind] = float(value)
        except ValueError:
            mark = ""
        if not mark:
            raise InputError(f"--shares {pair}: write kind=share", fix="--shares how-to=0.5 lexical=0.5")
    return shares


def _print(found: LogImport, screen: Console) -> None:
    screen.print(
        f"{found.source}: {counted(found.rows, 'query')}, {counted(found.distinct, 'different question')}",
        markup=False,
    )
    masked = ", ".join(f"{count} {kind}" for kind, count in found.masked.items()) or "nothing"
    names = f"names looked for by {found.detector}" if found.detector else "no detector of names is installed"
    screen.print(f"masked: {masked}; {names}", markup=False)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("kind", "in the log", "asked", "share", "in the set", "95 % interval"):
        table.add_column(heading, justify="left" if heading == "kind" else "right")
    for stratum in found.plan.strata:
        table.add_row(
            stratum.kind,
            f"{stratum.distinct:,}",
            f"{stratum.traffic:,.0f}",
            f"{stratum.share:.1%}",
            str(stratum.picked),
            _width(stratum.half_width),
        )
    table.add_row("all", f"{found.distinct:,}", "", "", str(found.plan.picked), _width(found.plan.half_width))
    screen.print(table)
    if found.plan.true_shares:
        screen.print("the set has the log's own distribution: its mean is the log's mean", markup=False)
    else:
        screen.print("the set's distribution is not the log's: weigh kinds by their share", markup=False)
    if found.plan.picked < found.plan.wanted:
        screen.print(f"the log has only {found.plan.picked} of {found.plan.wanted} queries", markup=False)
    if found.stored:
        screen.print(f"\n{found.job}: stored. Next: assay golden pool --job {found.job!r}", markup=False)


def _width(half: float | None) -> str:
    return UNDEFINED if half is None else f"± {half:.3f}"


def _json(found: LogImport) -> str:
    record = {
        "source": found.source,
        "job": found.job,
        "rows": found.rows,
        "distinct": found.distinct,
        "masked": dict(found.masked),
        "detector": found.detector,
        "true_shares": found.plan.true_shares,
        "half_width": found.plan.half_width,
        "plan": [
            {
                "kind": stratum.kind,
                "distinct": stratum.distinct,
                "asked": stratum.traffic,
                "share": stratum.share,
                "picked": stratum.picked,
                "half_width": stratum.half_width,
            }
            for stratum in found.plan.strata
        ],
        "queries": [
            {"id": draft.query.id, "query": draft.query.text, "kind": draft.query.kind}
            for draft in found.drafts
        ],
        "stored": found.stored,
    }
    return json_text.dumps(record, indent=2, ensure_ascii=False) + "\n"
