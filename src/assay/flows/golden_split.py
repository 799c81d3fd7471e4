"""``assay golden split``: a dev and a held-out part, written into the golden file.

Rooms: store (the golden file: changed lines alone, whole or not at all), building (the split).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from assay.building.splitting import Split, split_queries
from assay.flows.project import Project
from assay.model.errors import InputError
from assay.store.golden import load_golden_lines
from assay.store.golden_lines import rewrite_queries

SHARE = 0.3
"""Of the held-out part, where nobody says another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitReport:
    """What was split, and where it was written."""

    split: Split
    path: Path
    written: bool
    changed: int
    """Queries whose part is another than it was."""


def split_project(
    project: Project,
    *,
    share: float = SHARE,
    seed: int | None = None,
    fresh: bool = False,
    write: bool = True,
) -> SplitReport:
    """Split a project's golden set and write the parts into its file.

    Args:
        project: the project.
        share: of the held-out part.
        seed: decides between groups; None: the project's.
        fresh: deal all queries out anew.
        write: write the file; else only say what would be.

    Raises:
        InputError: the golden file is wrong, or the share is not between 0 and 1.
        StoreError: the file cannot be written.
    """
    if not 0 < share < 1:
        raise InputError(f"the held-out share {share:g} is not between 0 and 1", fix="--share 0.3")
    held = load_golden_lines(project.golden_path, kinds=project.golden.kinds)
    golden = held.golden
    split = split_queries(
        golden.queries, share=share, seed=project.seed if seed is None else seed, fresh=fresh
    )
    queries = tuple(replace(query, split=split.parts[query.id]) for query in golden.queries)
    changed = {
        new.id: new for old, new in zip(golden.queries, queries, strict=True) if old.split != new.split
    }
    if write:
        rewrite_queries(project.golden_path, changed, held.lines)
    return SplitReport(split=split, path=project.golden_path, written=write, changed=len(changed))
