"""``assay compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from assay.cli.screen import console, write
from assay.flows.compare import Asked, compare_all_files, compare_all_runs, compare_files, compare_runs
from assay.flows.project import load_project
from assay.flows.score import Scoring
from assay.model.comparison import Comparison, Matrix
from assay.model.errors import InputError
from assay.report.comparison import comparison_json, matrix_json, print_comparison, print_matrix
from assay.report.markdown import comparison_markdown, matrix_markdown
from assay.store.atomic import write_text


def command(
    *runs: str,
    qrels: Path | None = None,
    project: Annotated[Path, Parameter(name=["--project", "-p"])] = Path(),
    measures: Annotated[tuple[str, ...], Parameter(consume_multiple=True, negative=())] = (),
    by: str | None = None,
    queries: Path | None = None,
    split: str | None = None,
    seed: int = 0,
    alpha: float = 0.05,
    moved: int = 10,
    json: bool = False,
    markdown: Path | None = None,
) -> None:
    """Compare runs, paired by query: what changed, whether it is proven, and which queries moved.

    Two runs give a comparison with intervals, tests and lists; more give a matrix. Runs are ids of stored
    runs (latest and latest~1 too), or, with --qrels, files in any form that assay score reads.

    Args:
        runs: the base first, then the candidate, or candidates.
        qrels: judgements; then the runs are files.
        project: the folder of an assay.toml, or the file itself.
        measures: what to compare; else all measures that the runs share.
        by: the column to group by; kind for stored runs, none for files.
        queries: with --qrels, a file that says more of each query, for --by.
        split: dev or heldout; else every query. A look at held-out queries is written down beside the
            golden set, so that it can be seen how often something was chosen by them.
        seed: of the bootstrap and of the sign-flip test.
        alpha: the chance of a false alarm that is taken, over all tests together.
        moved: how many of the queries that moved are shown.
        json: print one JSON object instead of the tables.
        markdown: also write Markdown to this file.
    """
    if len(runs) < 2:
        raise InputError(
            f"a comparison takes two runs or more, not {len(runs)}",
            fix="assay compare latest~1 latest, or assay compare base.run candidate.run --qrels FILE",
        )
    asked = Asked(
        measures=measures or None,
        by=by or (None if qrels is not None else "kind"),
        split=split,
        seed=seed,
        alpha=alpha,
        lists=moved,
    )
    result = _compare(runs, qrels, project, asked, queries)
    if isinstance(result, Comparison):
        if markdown is not None:
            write_text(markdown, comparison_markdown(result))
        write(comparison_json(result)) if json else print_comparison(result, console(), most_moved=moved)
        return
    if markdown is not None:
        write_text(markdown, matrix_markdown(result))
    write(matrix_json(result)) if json else print_matrix(result, console())


def _compare(
    runs: tuple[str, ...], qrels: Path | None, project: Path, asked: Asked, queries: Path | None
) -> Comparison | Matrix:
    if qrels is None:
        read = load_project(project)
        if len(runs) == 2:
            return compare_runs(read, runs[0], runs[1], asked)
        return compare_all_runs(read, runs, asked)
    files, scoring = [Path(run) for run in runs], Scoring(queries=queries)
    if len(files) == 2:
        return compare_files(files[0], files[1], qrels, asked, scoring)
    return compare_all_files(files, qrels, asked, scoring)
