"""``assay judge report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from assay.cli.screen import console, write
from assay.flows.judge_report import report_judge
from assay.flows.project import load_project
from assay.model.errors import InputError
from assay.report.judges import print_report, report_json


def command(
    judge: str | None = None,
    *,
    project: Annotated[Path, Parameter(name=["--project", "-p"])] = Path(),
    test: Annotated[bool, Parameter(negative=())] = False,
    ask: int = 0,
    found: int | None = None,
    of: int | None = None,
    by: str | None = None,
    json: bool = False,
) -> int:
    """Hold a judge against people: true positive and true negative rate lead, kappa stands beside them.

    By default the dev part of the labels is shown, which may be looked at as often as you like. --test looks
    at the test part; that is recorded, and decides about the licence: the judge's labels count only while the
    lower bounds of both rates reach [judge] bar. Exit code 1 when they do not in the part that is shown.

    Args:
        judge: the judge's name, or the beginning of one; the one that judged last by default.
        project: the folder of an assay.toml, or the file itself.
        test: look at the test part, and record it.
        ask: choose so many places for people to look at next, and put them into a pool.
        found: a share that this judge measured, to be corrected for its errors: how many ...
        of: ... of how many.
        by: who looks; the login name by default.
        json: print one JSON object instead.
    """
    if (found is None) != (of is None):
        raise InputError("--found and --of go together", fix="--found 61 --of 80")
    measured = None if found is None or of is None else (found, of)
    report = report_judge(load_project(project), judge=judge, test=test, ask=ask, measured=measured, by=by)
    if json:
        write(report_json(report))
    else:
        print_report(report, console())
    return int(not report.passes)
