"""``assay report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from assay.cli.screen import progress, write
from assay.flows.project import load_project
from assay.flows.report import MOST_SHOWN, Wanted, report
from assay.model.report import ReportPage
from assay.store.atomic import write_text

Format = Literal["html", "md", "json", "junit"]


def command(
    run: str | None = None,
    *,
    baseline: str | None = None,
    format: Format = "html",  # noqa: A002 - it is the option's name
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    project: Annotated[Path, Parameter(name=["--project", "-p"])] = Path(),
    try_: Annotated[bool, Parameter(name="--try", negative=())] = False,
    passages: int = MOST_SHOWN,
) -> None:
    """Write the report of a run: one HTML file that opens anywhere, without a network.

    It holds the figures with their intervals and ceilings, the recall waterfall, the ranks of what is
    relevant at every stage, each miss with its evidence, what changed against a baseline, and how it was run.
    The same inputs give the same bytes.

    Args:
        run: a stored run: its id, the beginning of one, latest, or latest~1; the latest by default.
        baseline: a stored run to compare with.
        format: html; md for the comment on a pull request; json; junit for CI systems.
        output: the file to write; html goes to assay-report.html beside the assay.toml, and the other
            formats to standard output.
        project: the folder of an assay.toml, or the file itself.
        try_: also run the pipeline again with each fix that applies, as assay diagnose --try does.
        passages: how many misses are shown with their passages and hits; the others have their ranks and
            the reason.
    """
    read = load_project(project)
    with progress() as tell:
        wanted = Wanted(baseline=baseline, trials=try_, passages=max(0, passages))
        text = _render(report(read, run, wanted, progress=tell), format)
    if output is None and format != "html":
        write(text)
        return
    path = output or read.folder / "assay-report.html"
    write_text(path, text)
    write(f"{path}\n")


def _render(page: ReportPage, form: Format) -> str:
    # Only the form that was asked for is loaded.
    if form == "html":
        from assay.report.html.page import report_html  # noqa: PLC0415

        return report_html(page)
    if form == "md":
        from assay.report.page_markdown import page_markdown  # noqa: PLC0415

        return page_markdown(page)
    if form == "json":
        from assay.report.page_json import page_json  # noqa: PLC0415

        return page_json(page)
    from assay.report.page_junit import page_junit  # noqa: PLC0415

    return page_junit(page)
