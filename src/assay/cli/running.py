"""``assay run``. Not ``run.py``: importing that would hide the function ``assay.cli.run``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from assay.cli.screen import console, progress, write
from assay.flows.evaluate import evaluate
from assay.flows.judge_licence import require_validated as require
from assay.flows.project import load_project
from assay.report.json import summary_json
from assay.report.terminal import print_summary


def command(
    project: Annotated[Path, Parameter(name=["--project", "-p"])] = Path(),
    *,
    json: bool = False,
    misses: int = 20,
    no_save: Annotated[bool, Parameter(negative=())] = False,
    require_validated: Annotated[bool, Parameter(negative=())] = False,
    set: Annotated[tuple[str, ...], Parameter(name=["--set", "-s"], negative=())] = (),  # noqa: A002
) -> None:
    """Measure the retriever of a project.

    Prints the measures overall and by kind beside their ceilings, the recall of every stage, and the queries
    that lack something with the stage that lost it. The run is stored under .assay/runs.

    Args:
        project: the folder of an assay.toml, or the file itself.
        json: print one JSON object instead of the table (exact values; see docs/schemas).
        misses: how many misses the table shows.
        no_save: do not store the run.
        require_validated: refuse a golden set that carries labels of a judge that is not validated.
        set: a setting for this run only, as in --set chunker.max_chars=400; may be repeated.
    """
    changed = load_project(project).with_settings(settings_of(set))
    if require_validated:
        require(changed)
    with progress() as tell:
        evaluation = evaluate(changed, save=not no_save, progress=tell)
        summary = evaluation.summary
    if json:
        write(summary_json(summary))
    else:
        print_summary(summary, console(), most_misses=misses)


def settings_of(pairs: tuple[str, ...]) -> dict[str, object]:
    """Read ``key=value`` pairs; a value is TOML where it can be, else plain text."""
    import tomllib  # noqa: PLC0415

    from assay.model.errors import ConfigError  # noqa: PLC0415

    settings: dict[str, object] = {}
    for pair in pairs:
        key, mark, value = pair.partition("=")
        if not mark or not key.strip():
            raise ConfigError(f"--set {pair}: a setting is written key=value", fix="--set pipeline.pool=100")
        try:
            settings[key.strip()] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            settings[key.strip()] = value.strip()
    return settings
