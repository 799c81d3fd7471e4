"""What the commands of this folder share: where they work, how a pipeline is measured, where results go."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assay.flows.evaluate import Evaluation, evaluate
from assay.flows.importing import import_set
from assay.flows.project import Project, load_project
from assay.model.scores import ScoreTable
from assay.stats.bootstrap import mean_interval
from assay.store.atomic import write_text

RESULTS = Path(__file__).parent / "RESULTS.md"
WORK = Path(tempfile.gettempdir()) / "assay-published"
"""Imported sets and their vectors; kept, so that a second run is quick. It can be deleted at any time."""
SEED = 0


def imported(form: str, source: Path, name: str, options: Mapping[str, str] | None = None) -> Project:
    """Return the project of a known set, imported when it is not there yet."""
    folder = WORK / name
    if not (folder / "assay.toml").is_file():
        import_set(form, source, folder, options=dict(options or {}))
    return load_project(folder)


def measured(project: Project, changes: Mapping[str, Any]) -> Evaluation:
    """Run a project with some settings changed; progress goes to the error stream."""
    return evaluate(project.with_settings(changes), save=False, progress=tell)


def tell(what: str, done: int, of: int) -> None:
    """Show how far long work is."""
    if of > 1:
        print(f"\r{what} {done:,} of {of:,}   ", end="\n" if done >= of else "", file=sys.stderr, flush=True)


def with_interval(table: ScoreTable, measure: str, mask: np.ndarray | None = None) -> str:
    """Return mean and 95 % interval over queries: ``0.712 (0.65 to 0.77)``; ``-`` where there is none."""
    values = table.values[measure] if mask is None else table.values[measure][mask]
    values = values[~np.isnan(values)]
    if not len(values):
        return "-"
    interval = mean_interval(values, np.random.default_rng(SEED))
    mean = float(values.mean())
    return f"{mean:.3f}" if interval is None else f"{mean:.3f} ({interval.low:.2f} to {interval.high:.2f})"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table whose first column is words and whose others are figures."""
    lines = [f"| {' | '.join(head)} |", f"|---|{'---:|' * (len(head) - 1)}"]
    return "\n".join([*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows)])


def keep(name: str, text: str) -> None:
    """Put a section between its marks in RESULTS.md, at the end when the marks are not there."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before = RESULTS.read_text(encoding="utf-8") if RESULTS.is_file() else "# Published tables, reproduced\n"
    block = f"{begin}\n{text.strip()}\n{end}"
    if begin in before and end in before:
        head, rest = before.split(begin, 1)
        whole = head + block + rest.split(end, 1)[1]
    else:
        whole = f"{before.rstrip()}\n\n{block}\n"
    write_text(RESULTS, whole)
    print(text)


def datasets(arguments: Sequence[str], page: str) -> Path:
    """Return the folder of the sets that the first argument names.

    Raises:
        SystemExit: none was named; the page says how to.
    """
    if not arguments:
        raise SystemExit(page)
    return Path(arguments[0]) / "datasets"
