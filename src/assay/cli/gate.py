"""``assay gate``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from assay.cli.screen import console, progress, write
from assay.flows.gate import Gated, gate, update_baseline
from assay.flows.judge_licence import require_validated as require
from assay.flows.project import load_project
from assay.report.comparison import print_comparison
from assay.report.gates import gates_json, print_gates
from assay.report.github import gate_annotations, step_summary
from assay.report.junit import gate_junit
from assay.report.markdown import comparison_markdown, gate_markdown
from assay.store.atomic import write_text


def command(
    project: Annotated[Path, Parameter(name=["--project", "-p"])] = Path(),
    *,
    run: str | None = None,
    baseline: Path | None = None,
    update: Annotated[bool, Parameter(negative=())] = False,
    json: bool = False,
    junit: Path | None = None,
    markdown: Path | None = None,
    github: Annotated[bool, Parameter(negative=())] = False,
    require_validated: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Measure a project and hold it against its gates: floors, pins and a baseline.

    The gates stand in assay.toml under [gate]. Exit code 0 when all pass, 1 when one falls (each is named,
    with the queries that caused it), 2 when an input is wrong.

    Args:
        project: the folder of an assay.toml, or the file itself.
        run: hold this stored run against the gates, instead of running the retriever now.
        baseline: the file of the baseline; else the one that [gate] baseline names, or baselines/main.json.
        update: write the baseline from this run, showing how it differs from the one that stood there.
        json: print one JSON object instead of the table.
        junit: also write JUnit XML to this file.
        markdown: also write Markdown for a pull request comment to this file.
        github: print annotations for GitHub Actions, and add to the summary of the step.
        require_validated: refuse a golden set that carries labels of a judge that is not validated.
    """
    read = load_project(project)
    if require_validated:
        require(read)
    if update:
        with progress() as tell:
            updated = update_baseline(read, run=run, baseline=baseline, progress=tell)
        screen = console()
        if updated.comparison is not None:
            print_comparison(updated.comparison, screen)
        screen.print(f"baseline {updated.baseline.name} of run {updated.baseline.run}: {updated.path}")
        return 0
    with progress() as tell:
        gated = gate(read, run=run, baseline=baseline, progress=tell)
    if json:
        write(gates_json(gated.report))
    else:
        print_gates(gated.report, console())
    _write_files(gated, junit, markdown, github=github)
    return gated.report.exit_code


def _write_files(gated: Gated, junit: Path | None, markdown: Path | None, *, github: bool) -> None:
    if junit is not None:
        write_text(junit, gate_junit(gated.report))
    if markdown is not None:
        parts = [gate_markdown(gated.report)]
        if gated.comparison is not None:
            parts.append(comparison_markdown(gated.comparison))
        write_text(markdown, "\n".join(parts))
    if github:
        write(gate_annotations(gated.report))
        summary = os.environ.get("GITHUB_STEP_SUMMARY")
        if summary:
            with Path(summary).open("a", encoding="utf-8") as file:
                file.write(step_summary(gated.report, gated.comparison))
