"""``assay golden draft``."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from assay.building.draft_job import DraftReport
from assay.cli.golden_review import review_drafts
from assay.cli.screen import console, progress, write
from assay.flows.golden_draft import DraftWishes, draft_project
from assay.flows.project import load_project
from assay.model.errors import InputError
from assay.report.terminal import counted


def command(
    project: Annotated[Path, Parameter(name=["--project", "-p"])] = Path(),
    *,
    count: int | None = None,
    kinds: Annotated[tuple[str, ...], Parameter(negative=(), consume_multiple=True)] = (),
    model: str | None = None,
    base_url: str | None = None,
    seed: int | None = None,
    calls: int | None = None,
    tokens: int | None = None,
    workers: int | None = None,
    job: str | None = None,
    review: Annotated[bool, Parameter(negative=())] = False,
    json: bool = False,
) -> int:
    """Draft questions with their anchors from the documents; they enter no set before a person says yes.

    With a model (--model and --base-url, or [draft.model]) the questions are written and checked; without one
    rules find facts and anchors, and you word the questions. The same call again goes on where it was
    stopped. Exit code 1 when nothing was drafted, else 0.

    Args:
        project: the folder of an assay.toml, or the file itself.
        count: how many queries; 60 by default.
        kinds: kinds with their shares, as in factual=2 lexical conceptual multi-hop=0.5.
        model: the model's name at its endpoint.
        base_url: an OpenAI-compatible endpoint, up to and with /v1; the key is read from OPENAI_API_KEY.
        seed: decides which passages are taken.
        calls: the most requests that the job may make, over all its starts.
        tokens: the most tokens that the job may use.
        workers: how many questions are asked for at a time.
        job: a name for the job; by default it follows from the settings and the documents.
        review: read the drafts that wait, one by one, in the terminal; nothing is drafted.
        json: print one JSON object instead.
    """
    found = load_project(project)
    if review:
        return review_drafts(found, job=job)
    wishes = DraftWishes(
        count=count,
        kinds=_shares(kinds) if kinds else None,
        seed=seed,
        model=model,
        base_url=base_url,
        calls=calls,
        tokens=tokens,
        workers=workers,
        job=job,
    )
    with progress() as tell:
        report = draft_project(found, wishes, progress=tell)
    if json:
        write(_json(report))
    else:
        _print(report)
    return int(not report.drafts)


def _shares(kinds: tuple[str, ...]) -> dict[str, float]:
    shares: dict[str, float] = {}
    for pair in kinds:
        name, mark, value = pair.partition("=")
        try:
            shares[name] = float(value) if mark else 1.0
        except ValueError:
            raise InputError(f"--kinds {pair}: the share is no number", fix="factual=2") from None
    return shares


def _print(report: DraftReport) -> None:
    screen = console()
    made = {kind: sum(draft.query.kind == kind for draft in report.drafts) for kind in report.wanted}
    parts = ", ".join(f"{made[kind]} of {count} {kind}" for kind, count in report.wanted.items())
    screen.print(f"{report.job}: {counted(len(report.drafts), 'draft')} ({parts})", markup=False)
    if report.asked or report.replayed or report.failed:
        screen.print(
            f"replies: {report.asked} now, {report.replayed} kept from before, "
            f"{report.failed} did not come; {counted(report.calls, 'request')}, {report.tokens:,} tokens",
            markup=False,
        )
    if report.refused:
        listed = ", ".join(f"{count} {code}" for code, count in report.refused.items())
        screen.print(f"refused: {listed}", markup=False)
    if report.stopped:
        screen.print(f"stopped: {report.stopped}; the same call goes on from here", markup=False)
    elif report.missing:
        lacking = ", ".join(f"{count} {kind}" for kind, count in report.missing.items())
        screen.print(f"missing: {lacking}; no passage that is left gave one", markup=False)
    if report.drafts:
        screen.print("\nNext: assay golden draft --review", markup=False)


def _json(report: DraftReport) -> str:
    record = {
        "job": report.job,
        "wanted": dict(report.wanted),
        "missing": dict(report.missing),
        "asked": report.asked,
        "replayed": report.replayed,
        "failed": report.failed,
        "refused": dict(report.refused),
        "calls": report.calls,
        "tokens": report.tokens,
        "stopped": report.stopped,
        "drafts": [
            {
                "id": draft.id,
                "query": draft.query.text,
                "kind": draft.query.kind,
                "anchors": [{"doc": anchor.doc_id, "quote": anchor.quote} for anchor in draft.query.anchors],
                "notes": list(draft.notes),
            }
            for draft in report.drafts
        ],
    }
    return json_text.dumps(record, indent=2, ensure_ascii=False) + "\n"
