"""``assay golden import-log``: a log of real queries becomes a plan and drafts that wait for labels.

Rooms: building (reading, masking, merging, types, the sample), corpus (words that are right as they are),
store (labels). What the log said word for word is held in memory only: masking comes before merging, and
merging before anything is stored.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from assay.building.logged import LogColumns, Logged, read_log
from assay.building.masking import Detector, Masker, installed_detector
from assay.building.merging import MergedQuery, merge_queries
from assay.building.query_types import own_rules, query_type
from assay.building.sampling import SamplePlan, plan_sample, sample
from assay.flows.golden_labels import project_labels
from assay.flows.prepare import load_corpus
from assay.flows.project import FILE, Project
from assay.model.errors import ConfigError, Fault, MissingExtraError
from assay.model.golden import Provenance, Query
from assay.model.labels import Draft
from assay.model.notices import listed
from assay.model.settings import read_settings
from assay.model.words import content_words

Names = Literal["auto", "off", "required"]
"""``auto``: names of people are masked where a detector is installed. ``required``: without one it fails."""
_MOST_WORDINGS = 5


class LogTable(msgspec.Struct, frozen=True, kw_only=True):
    """``[log]``: how a log is read and sampled."""

    count: int = 80
    """How many queries the plan has."""
    columns: LogColumns = LogColumns()
    """``[log.columns]``: which columns hold what; the usual names are tried."""
    kinds: dict[str, str | list[str]] = msgspec.field(default_factory=dict[str, str | list[str]])
    """``[log.kinds]``: kind -> regular expressions, tried in this order before the built-in kinds."""
    shares: dict[str, float] | None = None
    """``[log.shares]``: kind -> share of the set. None: the log's own distribution."""
    least: int = 0
    """The fewest queries of each kind."""
    names: Names = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogWishes:
    """What the command line asks for; None: what ``[log]`` says."""

    count: int | None = None
    seed: int | None = None
    columns: Mapping[str, str] = field(default_factory=dict[str, str])
    shares: Mapping[str, float] | None = None
    least: int | None = None
    names: Names | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LogImport:
    """What a log held, and what was taken of it."""

    source: str
    rows: int
    """Rows with a query."""
    distinct: int
    """Different questions after near-duplicates were merged."""
    masked: Mapping[str, int]
    """Kind of personal data -> how often it was masked."""
    detector: str | None
    """The package that looked for names of people; None: nothing did."""
    plan: SamplePlan
    drafts: tuple[Draft, ...]
    job: str
    stored: bool


def import_log(project: Project, path: Path | str, wishes: LogWishes | None = None) -> LogImport:
    """Make a stratified sample of a log; its queries wait in the label store for anchors and a person's yes.

    Raises:
        ConfigError: ``[log]`` is wrong.
        InputError: the log is missing or wrong; all faults are listed.
        MissingExtraError: names are to be masked, and no detector is installed.
        StoreError: the label store cannot be opened or written.
    """
    wishes = wishes or LogWishes()
    table = log_table(project, wishes)
    rules = own_rules(table.kinds, f"{FILE} [log.kinds]")
    detector = _detector(table.names)
    rows, masked = mask_log(read_log(path, table.columns), Masker(detector[1] if detector else None))
    merged = merge_queries(rows, known=_known_words(project))
    by_kind: dict[str, list[MergedQuery]] = {}
    for one in merged:
        by_kind.setdefault(query_type(one.text, rules), []).append(one)
    try:
        plan = plan_sample(by_kind, table.count, shares=table.shares, least=table.least)
    except ValueError as error:
        fix = "take the kind out, or add what its queries say to [log.kinds]"
        raise ConfigError(Fault(where=f"{FILE} [log.shares]", what=str(error), fix=fix)) from error
    rng = np.random.default_rng(project.seed if wishes.seed is None else wishes.seed)
    source = Path(path).name
    job = f"log {source} {_digest([one.text for one in merged])[:8]}"
    drafts = tuple(
        _draft(job, source, stratum.kind, one)
        for stratum in plan.strata
        for one in sample(by_kind[stratum.kind], stratum.picked, rng)
    )
    if not wishes.dry_run:
        with project_labels(project) as labels:
            drafts = labels.add_drafts(drafts)
    return LogImport(
        source=source,
        rows=len(rows),
        distinct=len(merged),
        masked=masked,
        detector=detector[0] if detector else None,
        plan=plan,
        drafts=drafts,
        job=job,
        stored=not wishes.dry_run,
    )


def log_table(project: Project, wishes: LogWishes) -> LogTable:
    """Return how a log is read: ``[log]``, with what the command line says in its place.

    Raises:
        ConfigError: a setting is wrong; all faults are listed.
    """
    values = dict(project.raw.get("log", {}))
    said = {
        "count": wishes.count,
        "shares": None if wishes.shares is None else dict(wishes.shares),
        "least": wishes.least,
        "names": wishes.names,
    }
    values.update({key: value for key, value in said.items() if value is not None})
    if wishes.columns:
        values["columns"] = {**values.get("columns", {}), **wishes.columns}
    table, faults = read_settings(LogTable, values, f"{FILE} [log]")
    if table is None:
        raise ConfigError(faults)
    if table.count < 1:
        faults.append(Fault(where=f"{FILE} [log] count", what=f"should be at least 1, not {table.count}"))
    if table.least < 0:
        faults.append(Fault(where=f"{FILE} [log] least", what=f"should be 0 or more, not {table.least}"))
    shares = table.shares or {}
    faults += [
        Fault(where=f"{FILE} [log.shares] {kind}", what=f"should be 0 or more, not {share:g}")
        for kind, share in shares.items()
        if share < 0
    ]
    if table.shares is not None and sum(max(0.0, share) for share in shares.values()) <= 0:
        faults.append(Fault(where=f"{FILE} [log.shares]", what="no kind has a share", fix="how-to = 1"))
    if faults:
        raise ConfigError(faults)
    return table


def mask_log(
    rows: Sequence[Logged], masker: Masker, *, told: Callable[[int], None] | None = None
) -> tuple[list[Logged], dict[str, int]]:
    """Return a log without personal data, and how often each kind of it was masked.

    Args:
        rows: the log.
        masker: masks one text.
        told: told how many rows are done, for a progress bar.
    """
    counts: Counter[str] = Counter()
    texts: dict[str, str] = {}
    found: list[Logged] = []
    for number, row in enumerate(rows, start=1):
        for text in (row.text, *row.clicked):
            if text not in texts:
                masked = masker.mask(text)
                texts[text] = masked.text
                counts.update(masked.counts)
        clicked = tuple(texts[one] for one in row.clicked)
        found.append(replace(row, text=texts[row.text], clicked=clicked))
        if told is not None:
            told(number)
    return found, dict(sorted(counts.items()))


def _detector(names: Names) -> tuple[str, Detector] | None:
    found = None if names == "off" else installed_detector()
    if found is None and names == "required":
        raise MissingExtraError("masking names of people", package="presidio-analyzer", extra="names")
    return found


def _known_words(project: Project) -> frozenset[str]:
    """Return the stemmed words of the documents: they are not mistyped."""
    return frozenset(
        word for document in load_corpus(project).documents for word in content_words(document.text)
    )


def _draft(job: str, source: str, kind: str, merged: MergedQuery) -> Draft:
    digest = _digest([job, kind, merged.text])
    others = [text for text, _ in merged.wordings[1:]]
    notes = [f"asked {merged.count:g} times"]
    if others:
        notes.append(f"also worded: {listed(others, most=_MOST_WORDINGS)}")
    if merged.clicked:
        clicks = [f"{place} ({count})" for place, count in merged.clicked]
        notes.append(f"people opened: {listed(clicks, most=_MOST_WORDINGS)}")
    query = Query(
        id=f"log-{digest[:8]}",
        text=merged.text,
        kind=kind,
        provenance=Provenance(origin="log", source=source),
        meta={"asked": f"{merged.count:g}"},
    )
    return Draft(id=digest[:32], job=job, query=query, notes=tuple(notes), by="log")


def _digest(parts: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
