"""``assay diagnose``."""

from __future__ import annotations

import getpass
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console

from assay.cli.screen import console, progress, write
from assay.diagnosis.review import HELP, Review
from assay.flows.diagnose import Diagnosed, decide, decisions_path, diagnose
from assay.flows.project import FILE, load_project
from assay.report.diagnosis import agreement_sentence, diagnosis_json, finding_lines, print_diagnosis
from assay.store.findings import load_decisions


def command(
    run: str | None = None,
    *,
    project: Annotated[Path, Parameter(name=["--project", "-p"])] = Path(),
    traces: Path | None = None,
    try_: Annotated[bool, Parameter(name="--try", negative=())] = False,
    slow: Annotated[bool, Parameter(negative=())] = False,
    review: Annotated[bool, Parameter(negative=())] = False,
    by: str | None = None,
    json: bool = False,
    times: Annotated[bool, Parameter(negative=())] = False,
    misses: int = 20,
) -> int | None:
    """Say of each miss where it was lost, why, and which fix brings it back.

    Where an item was lost is read from the trace; why is a proposal with its evidence, which --review asks
    you to confirm or to change. Decisions are kept in findings.jsonl beside the golden set.

    Args:
        run: a stored run: its id, the beginning of one, latest, or latest~1; the latest by default. A folder
            with an assay.toml is taken as the project.
        project: the folder of an assay.toml, or the file itself.
        traces: diagnose a file of traces instead: the form of docs/schemas, or OpenTelemetry spans with
            OpenInference attributes, exported as JSON.
        try_: run the pipeline again with each fix that applies, first on the misses, then over the whole set.
        slow: with --try, also embedders that take minutes on a corpus of this size.
        review: go through the findings and say of each whether its kind is right.
        by: your name in the decisions; the login name by default.
        json: print one JSON object instead of the tables (exact values; see docs/diagnosis.md).
        times: with --json, also measured times, which no two runs have alike.
        misses: how many findings are shown.
    """
    if run is not None and (Path(run) / FILE).is_file():
        project, run = Path(run), None
    with progress() as tell:
        diagnosed = diagnose(load_project(project), run, traces=traces, trials=try_, slow=slow, progress=tell)
    screen = console()
    if review:
        diagnosed = review_in_terminal(diagnosed, screen, by=by or getpass.getuser())
    if json:
        write(diagnosis_json(diagnosed.diagnosis, times=times))
    elif not review:
        print_diagnosis(diagnosed.diagnosis, screen, most_misses=misses)
    return None


def review_in_terminal(
    diagnosed: Diagnosed, screen: Console, *, by: str, ask: Callable[[str], str] = input
) -> Diagnosed:
    """Ask about each finding that nobody has decided, and keep every answer at once.

    Args:
        diagnosed: the diagnosis.
        screen: where findings are shown.
        by: who reviews.
        ask: gives the answer to a prompt; for tests.
    """
    review = Review(diagnosed.diagnosis.findings, diagnosed.settings.kinds, by=by)
    if not review.findings:
        screen.print("nothing to review: every finding is decided, and no trace has changed since")
        return diagnosed
    held = {one.key: one for one in load_decisions(decisions_path(diagnosed.evaluation.project))}
    screen.print(f"kinds: {', '.join(diagnosed.settings.kinds)}, unexplained", style="dim")
    screen.print(f"{HELP}   (a note after a colon: 'y: the table was cut')\n", style="dim")
    while (finding := review.current) is not None:
        screen.print(f"{review.place + 1} of {len(review.findings)}", style="dim")
        screen.print(finding_lines(finding))
        if finding.quote:
            screen.print(f'  anchor: "{finding.quote}"', style="dim", markup=False)
        before = review.decisions
        try:
            wrong = review.answer(ask(f"{finding.kind or 'unexplained'}? [y/n/kind/s/u/q] "))
        except (EOFError, KeyboardInterrupt):
            break
        if wrong is not None:
            screen.print(f"  {wrong}", style="yellow", markup=False)
            continue
        gone = [one for one in before if one not in review.decisions]
        restored = [held[one.key] for one in gone if one.key in held]
        removed = [one for one in gone if one.key not in held]
        diagnosed = decide(diagnosed, [*review.decisions, *restored], removed=removed)
        screen.print()
    path = decisions_path(diagnosed.evaluation.project)
    screen.print(f"{len(review.decisions)} decisions are kept in {path}", markup=False)
    screen.print(agreement_sentence(diagnosed.diagnosis.agreement))
    return diagnosed
