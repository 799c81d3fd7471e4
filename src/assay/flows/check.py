"""``assay check``: prove a golden set before it is used, and say what a chunking does to its anchors.

Rooms: building (the rules), matching (places, survival), corpus (chunkers), measures (precision-omega), store
(the last run, to see whether the set was written from the retriever's own output).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.building.checks import check_golden
from assay.corpus import Chunker, chunk_corpus
from assay.flows.beside import as_spans
from assay.flows.prepare import Prepared, load_chunker, prepare
from assay.flows.project import Project
from assay.flows.wiring import DEFAULT_CHUNKER
from assay.matching import SpanCodes, Survival, find_relevance, label_survival
from assay.measures.spans import precision_omega
from assay.model.checks import CheckFinding
from assay.model.errors import ConfigError
from assay.model.relevance import Relevance
from assay.model.runs import ChunkTable, chunk_table
from assay.store.runs import RunStore

Survivals = Mapping[str, "Surviving"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surviving:
    """What one chunker does to the anchors."""

    chunks: int
    survival: Survival
    omega: float | None
    """Precision-omega: the character precision if exactly the chunks that touch an anchor were retrieved."""


@dataclass(frozen=True, kw_only=True)
class Checked:
    """All that the check has to say."""

    prepared: Prepared
    findings: tuple[CheckFinding, ...]
    survival: Survivals
    """Chunker in words -> what it does to the anchors; the configured one first."""

    def count(self, severity: str) -> int:
        return sum(finding.severity == severity for finding in self.findings)

    @property
    def failed(self) -> bool:
        return self.count("error") > 0


def check_project(project: Project, *, chunkers: Sequence[str] = (), run: str | None = None) -> Checked:
    """Check the golden set of a project.

    Args:
        project: the project.
        chunkers: further chunkers to hold the anchors against, as ``name key=value key=value``.
        run: a stored run whose top hits the queries are held against; None: the latest, where there is one.

    Raises:
        InputError: a file or a setting is wrong.
        StoreError: the named run is not there.
    """
    prepared = prepare(project)
    tables: dict[str, ChunkTable] = {in_words(project.chunker): chunk_table(prepared.chunks)}
    for text in chunkers:
        settings = read_chunker(text)
        chunker = load_chunker(project, settings)
        tables[in_words(settings)] = _cut(prepared, chunker)
    return Checked(
        prepared=prepared,
        findings=tuple(
            check_golden(
                prepared.golden,
                prepared.corpus.documents,
                tables,
                lines=prepared.lines,
                top_texts=_top_texts(prepared, run),
            )
        ),
        survival={name: _surviving(prepared, table) for name, table in tables.items()},
    )


def read_chunker(text: str) -> dict[str, Any]:
    """Read a chunker from the command line.

    Raises:
        ConfigError: a setting has no value.

    >>> read_chunker("recursive size=400 overlap=50")
    {'name': 'recursive', 'size': 400, 'overlap': 50}
    """
    name, *pairs = text.split()
    settings: dict[str, Any] = {"name": name}
    for pair in pairs:
        key, mark, value = pair.partition("=")
        if not mark:
            raise ConfigError(f"--chunkers {text!r}: {pair!r} has no value", fix="write name key=value")
        try:
            settings[key] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            settings[key] = value
    return settings


def in_words(settings: Mapping[str, Any]) -> str:
    """Write a chunker's settings in one line.

    >>> in_words({"name": "paragraphs", "max_chars": 800})
    'paragraphs max_chars=800'
    """
    rest = [f"{key}={value}" for key, value in settings.items() if key != "name"]
    return " ".join([str(settings.get("name", DEFAULT_CHUNKER)), *rest])


def _cut(prepared: Prepared, chunker: Chunker) -> ChunkTable:
    return chunk_table(chunk_corpus(prepared.corpus.documents, chunker))


def _surviving(prepared: Prepared, table: ChunkTable) -> Surviving:
    relevance = find_relevance(prepared.golden, prepared.corpus.documents, table, twins=False)
    return Surviving(
        chunks=len(table),
        survival=label_survival(relevance, table),
        omega=_omega(prepared, relevance, table),
    )


def _omega(prepared: Prepared, relevance: Relevance, table: ChunkTable) -> float | None:
    codes = SpanCodes(table)
    chunks = codes.all_chunks()
    anchors = codes.anchors(relevance, prepared.golden, chunks)
    values = precision_omega(as_spans(chunks), as_spans(anchors), len(prepared.golden.queries))
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None


def _top_texts(prepared: Prepared, run_id: str | None) -> dict[str, list[str]] | None:
    """Return the texts of the first hits of a stored run; None where there is no run."""
    store = RunStore(prepared.project.home / "runs")
    if run_id is None and not store.list():
        return None
    run = store.load(run_id or "latest")
    documents = prepared.corpus.by_id
    texts: dict[str, list[str]] = {}
    for trace in run.traces():
        found: list[str] = []
        for hit in trace.final.hits:
            document = documents.get(hit.doc_id)
            if hit.text is not None:
                found.append(hit.text)
            elif document is not None and hit.start is not None:
                found.append(document.text[hit.start : hit.end])
        texts[trace.query_id] = found
    return texts
