"""``assay judge run``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from assay.cli.screen import console, progress, write
from assay.flows.judge_run import judge_pools
from assay.flows.judge_settings import JudgeWishes
from assay.flows.project import load_project
from assay.report.judges import outcome_json, print_outcome


def command(
    pool: str | None = None,
    *,
    project: Annotated[Path, Parameter(name=["--project", "-p"])] = Path(),
    limit: int | None = None,
    base_url: str | None = None,
    model: str | None = None,
    calls: int | None = None,
    tokens: int | None = None,
    workers: int | None = None,
    json: bool = False,
) -> int:
    """Let a language model grade the candidates of pools, through any OpenAI-compatible endpoint.

    The endpoint, its model and what it is told stand in assay.toml under [judge] and [judge.model]; the key
    comes from the environment. Every reply is kept; a run that was stopped goes on where it was, and asks
    nothing twice. No label counts before assay judge report has held the judge against people. Exit code 1
    when the job ended early, or places are left without a grade.

    Args:
        pool: the pooling of assay golden pool; all of them by default.
        project: the folder of an assay.toml, or the file itself.
        limit: grade at most so many places.
        base_url: the endpoint, up to and with its version: http://127.0.0.1:8080/v1.
        model: the model's name there.
        calls: the most requests of this judge, over all its starts.
        tokens: the most tokens of this judge, prompt and answer together.
        workers: how many places are asked for at a time.
        json: print one JSON object instead.
    """
    with progress() as tell:
        outcome = judge_pools(
            load_project(project),
            pool=pool,
            limit=limit,
            wishes=JudgeWishes(base_url=base_url, model=model, calls=calls, tokens=tokens, workers=workers),
            progress=tell,
        )
    if json:
        write(outcome_json(asdict(outcome)))
    else:
        print_outcome(asdict(outcome), console())
    return int(outcome.graded < outcome.places)
