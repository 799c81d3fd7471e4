"""Reviewing drafts: what waits, what a person decides, what enters the set.

Rooms: store (labels), corpus (documents, to take another phrase), building (what a decision is).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from assay.building.anchor_shapes import AnchorShaper
from assay.building.reviewing import Ruling, requoted
from assay.corpus import Corpus
from assay.flows.golden_draft import anchor_shaper
from assay.flows.prepare import load_corpus
from assay.flows.project import Project
from assay.model.errors import nearest
from assay.model.golden import Query
from assay.model.labels import Draft

if TYPE_CHECKING:
    from assay.store.labels.store import LabelStore


@dataclass(kw_only=True)
class Reviewing:
    """One person at work on the drafts of a project; documents are read when a phrase is changed."""

    project: Project
    labels: LabelStore = field(repr=False)
    by: str
    job: str | None = None

    def waiting(self) -> tuple[Draft, ...]:
        """Return the drafts that nobody has decided, oldest first."""
        return self.labels.drafts(job=self.job, undecided=True)

    def keep(self, ruling: Ruling) -> None:
        """Append a decision with its edit of the set, both or neither."""
        self.labels.decide([ruling.decision], edits=ruling.edits)

    def requote(self, query: Query, number: int, quote: str, doc_id: str) -> tuple[Query | None, str]:
        """Return the query with another phrase for an anchor, or None and why the phrase cannot serve."""
        document = self._corpus.by_id.get(doc_id)
        if document is None:
            near = nearest(doc_id, list(self._corpus.by_id))
            hint = f"; did you mean {near!r}?" if near else ""
            return None, f"there is no document {doc_id!r}{hint}"
        return requoted(query, number, quote, document, self._shaper)

    @cached_property
    def _corpus(self) -> Corpus:
        return load_corpus(self.project)

    @cached_property
    def _shaper(self) -> AnchorShaper:
        return anchor_shaper(self.project, self._corpus)


def open_review(project: Project, labels: LabelStore, *, by: str, job: str | None = None) -> Reviewing:
    """Return the reviewing of a project's drafts by one person."""
    return Reviewing(project=project, labels=labels, by=by, job=job)
