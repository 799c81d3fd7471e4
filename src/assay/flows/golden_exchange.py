"""``assay golden export`` and ``import``: between the label store and ``golden.jsonl``.

The store keeps what the file held when both last agreed, so that each side's changes are known. Rooms: store
(labels, golden file), building (composing, three-way comparison).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from assay.building.composing import Composed, compose
from assay.building.exchange import Change, changes, described
from assay.building.standing import standings
from assay.flows.golden_labels import login_name, project_labels
from assay.flows.judge_licence import licensed_judges
from assay.flows.project import Project
from assay.model.errors import Fault, InputError
from assay.model.golden import GoldenSet, Query
from assay.model.labels import Decision, Edit, settling
from assay.model.notices import Notice
from assay.store.golden import load_golden, save_golden
from assay.store.golden_lines import query_line

if TYPE_CHECKING:
    from assay.store.labels.store import LabelStore

Take = Literal["file", "store"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchanged:
    """What an export or an import did."""

    path: Path
    queries: int
    """In the set afterwards."""
    told: Mapping[str, tuple[str, ...]]
    """Query id -> what changed, field by field."""
    conflicts: tuple[Change, ...] = ()
    """Queries that changed on both sides; nothing was done about them."""
    waiting: tuple[str, ...] = ()
    """Queries that changed in the store, and that the file does not have so yet."""
    notices: tuple[Notice, ...] = ()


def composed_set(store: LabelStore, project: Project, *, with_unvalidated: bool = False) -> Composed:
    """Return the golden set as the store says it is, as of one moment."""
    licensed: Collection[str] | None = None if with_unvalidated else licensed_judges(project)
    held = store.snapshot()
    return compose(
        held.queries,
        pools=held.pools,
        standings=standings(held.judgements, held.decisions),
        decisions=held.decisions,
        licensed=licensed,
    )


def export_golden(
    project: Project,
    *,
    golden: Path | None = None,
    force: bool = False,
    with_unvalidated: bool = False,
    by: str | None = None,
) -> Exchanged:
    """Write the golden file from the store: sorted by id, one form, so that git shows what changed.

    Args:
        project: the project.
        golden: another file than the project's.
        force: overwrite hand edits that were not imported.
        with_unvalidated: take labels of judges without a licence too; they carry their mark.
        by: who exports; the login name by default.

    Raises:
        InputError: the file holds hand edits that were not imported, or the store holds no query.
        StoreError: the store or the file cannot be read or written.
    """
    path = golden or project.golden_path
    with project_labels(project) as store:
        composed = composed_set(store, project, with_unvalidated=with_unvalidated)
        if not composed.queries:
            raise InputError(
                "the label store holds no query yet", fix="assay golden import, or assay golden draft"
            )
        lines = {query.id: query_line(query) for query in composed.queries}
        held = _file_lines(project, path)
        apart = changes(store.last_sync(), held, lines)
        edited = [change.query_id for change in apart if change.side != "store"]
        if edited and not force:
            raise InputError(
                Fault(
                    where=f"{path.name}: query {query_id!r}",
                    what="was edited by hand since the last export",
                    fix="assay golden import (or --force to lose the edit)",
                )
                for query_id in edited
            )
        save_golden(GoldenSet(name=path.stem, queries=composed.queries), path)
        store.add_sync(direction="export", file=path.name, by=by or login_name(), lines=lines)
    told = {change.query_id: described(change.file, change.store) for change in apart}
    return Exchanged(path=path, queries=len(lines), told=told, notices=composed.notices)


def import_golden(
    project: Project,
    *,
    golden: Path | None = None,
    take: Take | None = None,
    write: bool = True,
    by: str | None = None,
) -> Exchanged:
    """Bring what was edited in the golden file into the store, as edits with an author.

    What changed in the store only is left as it is. What changed on both sides, not alike, is a conflict: it
    is shown and left alone, unless ``take`` says which side counts.

    Args:
        project: the project.
        golden: another file than the project's.
        take: which side counts where both changed.
        write: bring it in; else only say what would be.
        by: who edited; the login name by default.

    Raises:
        InputError: the file is missing or wrong.
        StoreError: the store cannot be read or written.
    """
    path, author = golden or project.golden_path, by or login_name()
    queries = {query.id: query for query in load_golden(path, kinds=project.golden.kinds).queries}
    file = {query_id: query_line(query) for query_id, query in queries.items()}
    with project_labels(project) as store:
        # With the labels of every judge that the file names, for it may have been exported with them.
        every = composed_set(store, project, with_unvalidated=True)
        usual = composed_set(store, project)
        ours = {query.id: query for query in usual.queries}
        lines = {query_id: query_line(query) for query_id, query in ours.items()}
        for query in every.queries:
            if file.get(query.id) == query_line(query):
                ours[query.id], lines[query.id] = query, file[query.id]
        base = store.last_sync()
        apart = changes(base, file, lines)
        sides = {one.query_id: one.side if one.side != "conflict" or take is None else take for one in apart}
        taken = [one for one in apart if sides[one.query_id] == "file"]
        conflicts = tuple(one for one in apart if sides[one.query_id] == "conflict")
        if write:
            if taken:
                graded = {(one.query_id, one.place) for one in store.judgements(standing=True)}
                _bring_in(store, taken, queries, ours, graded, author)
            open_ = {one.query_id for one in conflicts}
            agreed = {query_id: line for query_id, line in file.items() if query_id not in open_}
            agreed |= {query_id: base[query_id] for query_id in open_ if query_id in base}
            store.add_sync(direction="import", file=path.name, by=author, lines=agreed)
    return Exchanged(
        path=path,
        queries=len(queries),
        told={one.query_id: described(one.store, one.file) for one in taken},
        conflicts=conflicts,
        waiting=tuple(query_id for query_id, side in sides.items() if side == "store"),
        notices=usual.notices,
    )


def _bring_in(
    store: LabelStore,
    taken: Sequence[Change],
    queries: Mapping[str, Query],
    ours: Mapping[str, Query],
    graded: Collection[tuple[str, str]],
    by: str,
) -> None:
    """Append what was edited by hand, all at once; an edited grade of a judged place settles it."""
    edits: list[Edit] = []
    decisions: list[Decision] = []
    for one in taken:
        query = queries.get(one.query_id)
        if query is None:
            edits.append(Edit(query_id=one.query_id, action="remove", by=by, why="removed by hand"))
            continue
        edits.append(Edit(query_id=query.id, action="put", by=by, why="edited by hand", query=query))
        before: Mapping[str, float] = ours[query.id].labels if query.id in ours else {}
        decisions += [
            Decision(
                subject=settling(query.id, place),
                verdict="settled",
                by=by,
                why="edited by hand",
                grade=query.labels.get(place),
            )
            for place in sorted({*before, *query.labels})
            if before.get(place) != query.labels.get(place) and (query.id, place) in graded
        ]
    store.decide(decisions, edits=edits)


def _file_lines(project: Project, path: Path) -> dict[str, str]:
    if not path.is_file() or not path.stat().st_size:
        return {}
    return {query.id: query_line(query) for query in load_golden(path, kinds=project.golden.kinds).queries}
