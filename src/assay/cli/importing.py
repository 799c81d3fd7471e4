"""``assay import``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.table import Table

from assay.cli.screen import console, write
from assay.flows.importing import AUTO, import_set, list_forms, report_json
from assay.model.errors import InputError


def command(
    form: str = "",
    source: Path | None = None,
    *,
    into: Path | None = None,
    set: Annotated[tuple[str, ...], Parameter(name=["--set", "-s"], negative=())] = (),  # noqa: A002
    documents: Path | None = None,
    json: bool = False,
) -> None:
    """Turn a known golden set into a project folder: documents, golden.jsonl, assay.toml.

    Without arguments the forms that can be imported are listed. What is not where the set says it is gets
    repaired or kept as stale, counted and told, and written into import.json.

    Args:
        form: the form of the set, or auto (which may be left out).
        source: the file or folder of the set.
        into: the folder to make; by default the name of the set, here.
        set: a choice of the form, as in --set anchors=sentence; may be repeated.
        documents: the set's documents, where they stand apart: a folder, glob or file.
        json: print one JSON object instead of the report.
    """
    if not form:
        _print_forms()
        return
    if source is None and Path(form).exists():
        form, source = AUTO, Path(form)
    if source is None:
        raise InputError("assay import takes a form and a source", fix=f"assay import {form} PATH")
    report = import_set(
        form,
        source,
        into or Path(source.resolve().name.split(".")[0]),
        options=_choices(set),
        documents=documents,
    )
    if json:
        write(report_json(report))
        return
    screen = console()
    counts = ", ".join(
        f"{count:,} {name.replace('_', ' ')}" for name, count in report.counts.items() if count
    )
    screen.print(f"{report.source} ({report.form}) -> {report.folder}: {counts}", markup=False)
    for notice in report.notices:
        screen.print(f"note: {notice.text}", markup=False)
    if report.documents is None:
        screen.print("\nNext: assay runs, or name its documents in assay.toml", markup=False)
    else:
        screen.print(f"\nNext: assay check {report.folder}, and assay run {report.folder}", markup=False)


def _print_forms() -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column()
    for form in list_forms():
        table.add_row(form.name, form.about)
        for name, option in form.options.items():
            choices = f" ({', '.join(filter(None, option.choices))})" if option.choices else ""
            default = f"; {option.default} by default" if option.default else ""
            table.add_row("", f"--set {name}=...{choices}: {option.about}{default}")
    console().print(table)


def _choices(pairs: tuple[str, ...]) -> dict[str, str]:
    chosen: dict[str, str] = {}
    for pair in pairs:
        name, mark, value = pair.partition("=")
        if not mark:
            raise InputError(f"--set {pair}: a choice is written name=value", fix="--set anchors=sentence")
        chosen[name.strip()] = value.strip()
    return chosen
