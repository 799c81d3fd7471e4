"""``assay golden drift`` and ``repair``: what documents that changed did to the anchors, and mending it.

Rooms: store (the golden file, of which only the mended lines change), corpus (documents), building (drift).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from assay.building.drift import Drift, DriftKind, find_drift, mend
from assay.flows.prepare import load_corpus
from assay.flows.project import Project
from assay.model.golden import GoldenSet
from assay.store.golden import load_golden_lines
from assay.store.golden_lines import rewrite_queries

MOVED: frozenset[DriftKind] = frozenset({"moved"})
"""What ``drift`` mends: offsets, where the same words stand elsewhere in the document."""
PRESENTATION: frozenset[DriftKind] = frozenset({"moved", "presentation", "renamed"})
"""What ``repair`` mends."""


@dataclass(frozen=True, kw_only=True)
class Drifted:
    """What became of the anchors of a golden file."""

    path: Path
    golden: GoldenSet
    """As it is after mending."""
    drifts: tuple[Drift, ...]
    mended: tuple[Drift, ...]
    """Those that were mended, or would be."""
    written: bool
    anchors: int
    """How many anchors and alternatives were looked at."""

    @property
    def left(self) -> tuple[Drift, ...]:
        """Those that were not mended."""
        done = {id(one) for one in self.mended}
        return tuple(one for one in self.drifts if id(one) not in done)

    @property
    def lost(self) -> tuple[Drift, ...]:
        """Those that only a person can mend: their words have changed or are gone."""
        return tuple(one for one in self.drifts if one.mended is None)

    @property
    def counts(self) -> Counter[str]:
        """Kind of drift -> how many anchors."""
        return Counter(one.kind for one in self.drifts)


def drift_project(
    project: Project,
    *,
    golden: Path | None = None,
    mending: Collection[DriftKind] = MOVED,
    write: bool = True,
) -> Drifted:
    """Find the anchors that do not stand as the set has them, and mend what can be mended without a person.

    Args:
        project: the project, for its documents.
        golden: another golden file than the project's.
        mending: the kinds of drift that are mended.
        write: change the file; else only say what would be changed.

    Raises:
        InputError: a file or a setting is wrong.
        StoreError: the file cannot be written.
    """
    path = golden or project.golden_path
    read = load_golden_lines(path, kinds=project.golden.kinds)
    drifts = find_drift(read.golden, load_corpus(project).documents)
    mended = tuple(one for one in drifts if one.mended is not None and one.kind in mending)
    after = mend(read.golden, mended)
    changed = {new.id: new for old, new in zip(read.golden.queries, after.queries, strict=True) if old != new}
    if write:
        rewrite_queries(path, changed, read.lines)
    return Drifted(
        path=path,
        golden=after,
        drifts=drifts,
        mended=mended,
        written=write and bool(changed),
        anchors=sum(len(item.any_of) for query in read.golden.queries for item in query.anchors),
    )
