"""``assay golden draft``: questions drafted from the documents, which wait for a person's yes.

Rooms: corpus (documents, chunks), building (passages, the job, checks, rules), store (labels, golden set).
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from assay.building.anchor_shapes import AnchorShaper
from assay.building.budget import Budget
from assay.building.chat import Chat, ModelTable
from assay.building.draft_checks import DraftChecker
from assay.building.draft_job import DraftJob, DraftReport, Progress
from assay.building.draft_rules import RuleDrafter
from assay.building.draft_tasks import KINDS, TaskSource, share_out
from assay.building.rarity import Rarity
from assay.corpus import Corpus, chunk_corpus
from assay.flows.golden_labels import project_labels
from assay.flows.prepare import load_chunker, load_corpus
from assay.flows.project import FILE, Project
from assay.model.errors import ConfigError, Fault, nearest
from assay.model.golden import Query
from assay.model.settings import read_settings
from assay.store.golden import load_golden

_FEWEST_PASSAGES = 200
_PASSAGES_EACH = 8
"""Passages made ready for each query that is wanted: some are used up by replies that are refused."""


class DraftTable(msgspec.Struct, frozen=True, kw_only=True):
    """``[draft]``: what is drafted, and with which model."""

    count: int = 60
    """How many queries."""
    kinds: dict[str, float] = msgspec.field(default_factory=lambda: dict.fromkeys(KINDS, 1.0))
    """Kind -> its share; factual, lexical, conceptual, multi-hop."""
    attempts: int = 2
    """How often one question is asked for: the second time the model is told what was wrong."""
    workers: int = 1
    """How many questions are asked for at a time."""
    budget_calls: int | None = None
    """The most requests of a job, over all its starts; None: no bound."""
    budget_tokens: int | None = None
    """The most tokens, prompt and answer together."""
    model: ModelTable | None = None
    """``[draft.model]``: the endpoint. None: rules draft, and a person words the questions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftWishes:
    """What the command line asks for; None: what ``[draft]`` says."""

    count: int | None = None
    kinds: Mapping[str, float] | None = None
    seed: int | None = None
    model: str | None = None
    base_url: str | None = None
    calls: int | None = None
    tokens: int | None = None
    workers: int | None = None
    job: str | None = None


def draft_project(
    project: Project, wishes: DraftWishes | None = None, *, progress: Progress | None = None
) -> DraftReport:
    """Draft questions from a project's documents; the drafts wait in the label store.

    The same call goes on where an earlier one was stopped: what was replied then is not asked again.

    Raises:
        ConfigError: a setting is wrong.
        InputError: a document or the golden set is wrong.
        StoreError: the label store cannot be opened or written.
    """
    wishes = wishes or DraftWishes()
    table = draft_table(project, wishes)
    seed = project.seed if wishes.seed is None else wishes.seed
    corpus = load_corpus(project)
    wanted = share_out(table.count, table.kinds)
    by = "rules" if table.model is None else table.model.model
    job = wishes.job or job_name(by, seed, wanted, corpus)
    shaper = anchor_shaper(project, corpus)
    rarity = Rarity(corpus.documents)
    with project_labels(project) as labels:
        used = [place for draft in labels.drafts() if draft.job != job for place in draft.evidence]
        source = TaskSource(
            corpus.documents,
            rarity,
            np.random.default_rng(seed),
            avoid=used,
            reserve=max(_FEWEST_PASSAGES, _PASSAGES_EACH * table.count),
        )
        if table.model is None:
            drafts = labels.add_drafts(RuleDrafter(job, shaper, rarity).run(wanted, source.next))
            return DraftReport(job=job, drafts=drafts, wanted=wanted)
        drafting = DraftJob(
            name=job,
            chat=Chat(table=table.model),
            checker=DraftChecker(shaper, rarity),
            keeper=labels,
            budget=Budget(most_calls=table.budget_calls, most_tokens=table.budget_tokens),
            attempts=table.attempts,
            workers=table.workers,
        )
        taken = [query.text for query in [*_golden_queries(project), *labels.queries()]]
        return drafting.run(wanted, source.next, taken=taken, progress=progress)


def draft_table(project: Project, wishes: DraftWishes) -> DraftTable:
    """Return what is to be drafted: ``[draft]``, with what the command line says in its place.

    Raises:
        ConfigError: a setting is wrong; all faults are listed.
    """
    values = dict(project.raw.get("draft", {}))
    said = {
        "count": wishes.count,
        "kinds": None if wishes.kinds is None else dict(wishes.kinds),
        "budget_calls": wishes.calls,
        "budget_tokens": wishes.tokens,
        "workers": wishes.workers,
    }
    values.update({key: value for key, value in said.items() if value is not None})
    model = dict(values.get("model", {}))
    address = wishes.base_url or os.environ.get("OPENAI_BASE_URL")
    if wishes.model is not None:
        model["model"] = wishes.model
    if wishes.base_url is not None or (model and "base_url" not in model and address):
        model["base_url"] = address
    if model:
        values["model"] = model
    table, faults = read_settings(DraftTable, values, f"{FILE} [draft]")
    if table is None:
        raise ConfigError(faults)
    for name in ("count", "attempts", "workers"):
        if getattr(table, name) < 1:
            what = f"should be at least 1, not {getattr(table, name)}"
            faults.append(Fault(where=f"{FILE} [draft] {name}", what=what))
    for kind, share in table.kinds.items():
        if kind not in KINDS:
            near = nearest(kind, KINDS)
            fix = f"did you mean {near!r}?" if near else f"known are {', '.join(KINDS)}"
            what = f"{kind!r} cannot be drafted"
            faults.append(Fault(where=f"{FILE} [draft] kinds", what=what, fix=fix))
        if share < 0:
            what = f"the share of {kind} is {share:g}"
            faults.append(Fault(where=f"{FILE} [draft] kinds", what=what, fix="0 or more"))
    if sum(table.kinds.values()) <= 0:
        faults.append(Fault(where=f"{FILE} [draft] kinds", what="no kind has a share", fix="factual = 1"))
    if faults:
        raise ConfigError(faults)
    return table


def job_name(by: str, seed: int, wanted: Mapping[str, int], corpus: Corpus) -> str:
    """Return the name that the same wish over the same documents has again."""
    made = json.dumps([by, seed, dict(wanted), corpus.digest])
    return f"draft {by} {hashlib.sha256(made.encode()).hexdigest()[:8]}"


def anchor_shaper(project: Project, corpus: Corpus) -> AnchorShaper:
    """Return what makes anchors over a project's documents, as its chunker cuts them."""
    return AnchorShaper(corpus.documents, chunk_corpus(corpus.documents, load_chunker(project)))


def _golden_queries(project: Project) -> Sequence[Query]:
    return load_golden(project.golden_path).queries if project.golden_path.is_file() else ()
