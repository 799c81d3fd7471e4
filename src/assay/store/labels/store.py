"""The label store: everything that people and judges said, appended row by row.

What a method returns has been acknowledged: it is on the disk, and neither ``kill -9`` nor a power cut
takes it away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar

from sqlalchemy import ColumnElement, Connection, RowMapping, Table, func, select
from sqlalchemy.dialects import postgresql, sqlite

from assay.model.errors import InputError, StoreError
from assay.model.golden import Query
from assay.model.labels import (
    Decision,
    Draft,
    Edit,
    Judgement,
    Labeller,
    Look,
    Pool,
    Reply,
    ReplyStatus,
    new_id,
)
from assay.store.labels import tables
from assay.store.labels.engine import Database
from assay.store.labels.fold import fold_edits, undone
from assay.store.labels.migrations import migrate
from assay.store.labels.rows import Logged, as_row, candidate_rows, noun_of, pool_of, pool_row

_TAKEN_FIX = "give the new row an id of its own; a row that is kept never changes"

Noun = TypeVar("Noun", Judgement, Draft, Decision, Edit, Look, Reply)
_TABLES: Mapping[type, Table] = {
    Judgement: tables.judgements,
    Draft: tables.drafts,
    Decision: tables.decisions,
    Edit: tables.edits,
    Look: tables.looks,
    Reply: tables.replies,
}
_AT_ONCE = 500
"""Ids in one question: databases bound the number of parameters."""


class Snapshot(NamedTuple):
    """What stands in the store at one moment; nothing that was taken back."""

    queries: tuple[Query, ...]
    pools: tuple[Pool, ...]
    judgements: tuple[Judgement, ...]
    decisions: tuple[Decision, ...]


class LabelStore:
    """Labels, drafts, decisions, edits, looks and replies; safe to share between threads and processes.

    Args:
        url: SQLAlchemy's; ``open_labels`` makes one of a path or of a project's setting.

    Raises:
        StoreError: the store cannot be opened, or was made by a newer Assay.
    """

    def __init__(self, url: str) -> None:
        self._database = Database(url)
        try:
            with self._database.write() as connection:
                migrate(connection)
        except BaseException:
            self._database.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def shown(self) -> str:
        """The URL, without a password."""
        return self._database.shown

    def close(self) -> None:
        """Close all connections."""
        self._database.close()

    # Judgements

    def add_judgements(self, rows: Sequence[Judgement]) -> tuple[Judgement, ...]:
        """Append judgements, all or none, and return them as they were acknowledged.

        A row whose id is there already, with the same content, is not added twice.

        Raises:
            StoreError: an id is there with another content; or the store cannot be written.
        """
        with self._database.write() as connection:
            return _append(connection, Judgement, rows)

    def judgements(
        self,
        *,
        query_id: str | None = None,
        by: str | None = None,
        origin: Labeller | None = None,
        after: int = 0,
        standing: bool = False,
    ) -> tuple[Judgement, ...]:
        """Return judgements in the order in which they were appended.

        Args:
            query_id: of this query only.
            by: of this person or judge only.
            origin: of people only, or of judges only.
            after: those with a ``seq`` above it. A row whose transaction was still under way may appear later
                with a lower one: ``counts`` says for certain whether anything was added.
            standing: leave out what was taken back, and the rows that take back.
        """
        c = tables.judgements.c
        conditions = _equal({c.query_id: query_id, c.by: by, c.origin: origin})
        with self._database.read() as connection:
            rows = _all(connection, Judgement, [*conditions, c.seq > after])
            if not standing:
                return rows
            undoings = _all(connection, Judgement, [c.undoes.is_not(None)])
        gone = undone(undoings)
        return tuple(row for row in rows if row.undoes is None and row.id not in gone)

    def undo_judgement(self, judgement_id: str, *, by: str, why: str = "") -> Judgement:
        """Take a judgement back by appending a row that says so; undoing that row brings it back.

        Raises:
            InputError: there is no such judgement.
        """
        with self._database.write() as connection:
            found = _all(connection, Judgement, [tables.judgements.c.id == judgement_id])
            if not found:
                raise InputError(
                    f"there is no judgement {judgement_id!r}", fix="judgements() returns those that are kept"
                )
            old = found[0]
            row = Judgement(
                query_id=old.query_id,
                doc_id=old.doc_id,
                start=old.start,
                end=old.end,
                grade=None,
                why=why,
                by=by,
                origin=old.origin,
                undoes=judgement_id,
            )
            return _append(connection, Judgement, [row])[0]

    # Pools

    def add_pools(self, pools: Sequence[Pool]) -> tuple[Pool, ...]:
        """Append pools with their candidates, all or none.

        Raises:
            StoreError: an id is there with another content; or the store cannot be written.
        """
        if not pools:
            return ()
        now = _now()
        shown = [row for pool in pools for row in candidate_rows(pool)]
        with self._database.write() as connection:
            connection.execute(_insert(connection, tables.pools), [pool_row(pool, now) for pool in pools])
            if shown:
                connection.execute(_insert(connection, tables.candidates), shown)
            kept = {
                pool.id: pool for pool in _pools(connection, [tables.pools.c.id.in_([p.id for p in pools])])
            }
            for pool in pools:
                if replace(kept[pool.id], at=pool.at, seq=pool.seq) != pool:
                    raise StoreError(f"pools: id {pool.id!r} is taken by another row", fix=_TAKEN_FIX)
            return tuple(kept[pool.id] for pool in pools)

    def pools(
        self,
        *,
        name: str | None = None,
        query_id: str | None = None,
        pool_id: str | None = None,
    ) -> tuple[Pool, ...]:
        """Return pools, oldest first: of one pooling, of one query, or the one with an id."""
        c = tables.pools.c
        with self._database.read() as connection:
            return _pools(connection, _equal({c.name: name, c.query_id: query_id, c.id: pool_id}))

    # Drafts and decisions

    def add_drafts(self, drafts: Sequence[Draft]) -> tuple[Draft, ...]:
        """Append drafts, all or none. They are in no set until somebody accepts them."""
        with self._database.write() as connection:
            return _append(connection, Draft, drafts)

    def drafts(
        self,
        *,
        job: str | None = None,
        draft_id: str | None = None,
        undecided: bool = False,
    ) -> tuple[Draft, ...]:
        """Return drafts, oldest first.

        Args:
            job: of this job only.
            draft_id: the one with this id.
            undecided: those that wait for a person.
        """
        with self._database.read() as connection:
            rows = _all(connection, Draft, _equal({tables.drafts.c.job: job, tables.drafts.c.id: draft_id}))
            if not undecided:
                return rows
            decided = {one.subject for one in _standing_decisions(connection, [])}
        return tuple(row for row in rows if row.id not in decided)

    def decide(self, decisions: Sequence[Decision], *, edits: Sequence[Edit] = ()) -> tuple[Decision, ...]:
        """Append decisions and the edits of the set that follow from them, all or none.

        To accept a draft, send its decision together with an ``Edit`` that puts its query.
        """
        with self._database.write("edits") as connection:
            added = _append(connection, Decision, decisions)
            _append(connection, Edit, edits)
            return added

    def decisions(self, *, subject: str | None = None, standing: bool = False) -> tuple[Decision, ...]:
        """Return decisions, oldest first; ``standing`` leaves out what was taken back."""
        conditions = _equal({tables.decisions.c.subject: subject})
        with self._database.read() as connection:
            if standing:
                return _standing_decisions(connection, conditions)
            return _all(connection, Decision, conditions)

    # The golden set

    def edit(self, edits: Sequence[Edit]) -> tuple[Edit, ...]:
        """Append edits of the golden set, all or none.

        Raises:
            StoreError: an ``undo`` names an edit that is not there; or the store cannot be written.
        """
        with self._database.write("edits") as connection:
            return _append(connection, Edit, edits)

    def edits(self, *, query_id: str | None = None) -> tuple[Edit, ...]:
        """Return edits, oldest first."""
        with self._database.read() as connection:
            return _all(connection, Edit, _equal({tables.edits.c.query_id: query_id}))

    def queries(self) -> tuple[Query, ...]:
        """Return the queries of the golden set as they stand after all edits, sorted by id."""
        return tuple(fold_edits(self.edits()).values())

    # Looks and replies

    def add_look(self, look: Look) -> Look:
        """Append one look."""
        with self._database.write() as connection:
            return _append(connection, Look, [look])[0]

    def looks(self, *, what: str | None = None) -> tuple[Look, ...]:
        """Return looks, oldest first."""
        with self._database.read() as connection:
            return _all(connection, Look, _equal({tables.looks.c.what: what}))

    def add_reply(self, reply: Reply) -> Reply:
        """Append one reply of a model."""
        with self._database.write() as connection:
            return _append(connection, Reply, [reply])[0]

    def replies(self, *, job: str | None = None, status: ReplyStatus | None = None) -> tuple[Reply, ...]:
        """Return replies, oldest first."""
        c = tables.replies.c
        with self._database.read() as connection:
            return _all(connection, Reply, _equal({c.job: job, c.status: status}))

    # Everything, and the exchange with the file

    def snapshot(self) -> Snapshot:
        """Return all that the golden set is made of, as of one moment, whatever others write meanwhile."""
        with self._database.read() as connection:
            gone = undone(_all(connection, Judgement, [tables.judgements.c.undoes.is_not(None)]))
            rows = _all(connection, Judgement, [tables.judgements.c.undoes.is_(None)])
            return Snapshot(
                queries=tuple(fold_edits(_all(connection, Edit, [])).values()),
                pools=_pools(connection, []),
                judgements=tuple(row for row in rows if row.id not in gone),
                decisions=_standing_decisions(connection, []),
            )

    def add_sync(self, *, direction: str, file: str, by: str, lines: Mapping[str, str]) -> None:
        """Note what the golden file held, query by query, when it and the store last agreed."""
        row = {"id": new_id(), "at": _now(), "direction": direction, "file": file, "by": by}
        with self._database.write("edits") as connection:
            connection.execute(tables.syncs.insert(), {**row, "lines": dict(lines)})

    def last_sync(self) -> Mapping[str, str]:
        """Return query id -> line as of the last exchange; empty before the first."""
        asked = select(tables.syncs.c.lines).order_by(tables.syncs.c.seq.desc()).limit(1)
        with self._database.read() as connection:
            return connection.execute(asked).scalar() or {}

    def counts(self) -> Mapping[str, int]:
        """Return table -> rows, as of one moment; a page compares it to see whether anything was added."""
        with self._database.read() as connection:
            return {
                table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
                for table in _TABLES.values()
            }


def _append(connection: Connection, kind: type[Noun], rows: Sequence[Noun]) -> tuple[Noun, ...]:
    if not rows:
        return ()
    table, now = _TABLES[kind], _now()
    values = [as_row(row, now) for row in rows]
    connection.execute(_insert(connection, table), values)
    held: dict[str, Noun] = {}
    ids = [row.id for row in rows]
    for start in range(0, len(ids), _AT_ONCE):
        for row in _all(connection, kind, [table.c.id.in_(ids[start : start + _AT_ONCE])]):
            held[row.id] = row
    other = [row.id for row in rows if not _same(row, held[row.id])]
    if other:
        raise StoreError(f"{table.name}: id {other[0]!r} is taken by another row", fix=_TAKEN_FIX)
    return tuple(held[row.id] for row in rows)


def _same(sent: Logged, held: Logged) -> bool:
    return as_row(sent, "") | {"at": ""} == as_row(held, "") | {"at": ""}


def _all(
    connection: Connection, kind: type[Noun], conditions: Sequence[ColumnElement[bool]]
) -> tuple[Noun, ...]:
    table = _TABLES[kind]
    rows = connection.execute(select(table).where(*conditions).order_by(table.c.seq)).mappings()
    return tuple(noun_of(kind, _plain(row)) for row in rows)


def _plain(row: RowMapping) -> dict[str, Any]:
    return {str(key): value for key, value in row.items()}


def _standing_decisions(
    connection: Connection, conditions: Sequence[ColumnElement[bool]]
) -> tuple[Decision, ...]:
    gone = undone(_all(connection, Decision, [tables.decisions.c.undoes.is_not(None)]))
    rows = _all(connection, Decision, conditions)
    return tuple(row for row in rows if row.undoes is None and row.id not in gone)


def _pools(connection: Connection, conditions: Sequence[ColumnElement[bool]]) -> tuple[Pool, ...]:
    rows = (
        connection.execute(select(tables.pools).where(*conditions).order_by(tables.pools.c.seq))
        .mappings()
        .all()
    )
    wanted = select(tables.pools.c.id).where(*conditions)
    c = tables.candidates.c
    asked = select(tables.candidates).where(c.pool_id.in_(wanted)).order_by(c.pool_id, c.position)
    shown: dict[str, list[Mapping[str, Any]]] = {}
    for candidate in connection.execute(asked).mappings():
        shown.setdefault(candidate["pool_id"], []).append(_plain(candidate))
    return tuple(pool_of(_plain(row), shown.get(row["id"], [])) for row in rows)


def _equal(wanted: Mapping[Any, object]) -> list[ColumnElement[bool]]:
    return [column == value for column, value in wanted.items() if value is not None]


def _insert(connection: Connection, table: Table) -> Any:  # noqa: ANN401 - one of two dialects' statements
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    return dialect.insert(table).on_conflict_do_nothing()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
