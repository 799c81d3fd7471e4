"""The tables as they are now; ``migrations.py`` says how a store gets there."""

from __future__ import annotations

import re

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    Dialect,
    Float,
    ForeignKey,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
)

metadata = MetaData()
_MARK = "\ufdd0"
_UNTOLD = re.compile(f"[\0\ud800-\udfff{_MARK}]")
_TOLD = re.compile(f"{_MARK}([0-9a-f]{{4}})")


class AnyText(TypeDecorator[str]):
    """Text of any code points: documents and models hold NUL and half pairs, which databases refuse."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Write what a database refuses as a mark and four hex digits."""
        del dialect
        return value and _UNTOLD.sub(lambda found: f"{_MARK}{ord(found[0]):04x}", value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """Read such a mark back."""
        del dialect
        return value and _TOLD.sub(lambda found: chr(int(found[1], 16)), value)


def _log(name: str, *columns: Column[object]) -> Table:
    """A table of appended rows: ``seq`` counts them, ``id`` is their maker's, ``at`` says when."""
    return Table(
        name,
        metadata,
        Column("seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
        Column("id", String(64), nullable=False, unique=True),
        Column("at", String(40), nullable=False),
        *columns,
        sqlite_autoincrement=True,
    )


def _text(name: str, *, indexed: bool = False) -> Column[object]:
    return Column(name, AnyText, nullable=False, index=indexed)


def _may_be_text(name: str) -> Column[object]:
    return Column(name, AnyText)


def _number(name: str) -> Column[object]:
    return Column(name, BigInteger, nullable=False)


def _json(name: str, *, nullable: bool = False) -> Column[object]:
    return Column(name, JSON(none_as_null=True), nullable=nullable)


replies = _log(
    "replies",
    _text("job", indexed=True),
    _text("task", indexed=True),
    _number("attempt"),
    _text("model"),
    _text("request"),
    _text("text"),
    _text("status"),
    _text("reason"),
    _number("prompt_tokens"),
    _number("completion_tokens"),
    Column("elapsed_ms", Float),
)
pools = _log(
    "pools",
    _text("name", indexed=True),
    _text("query_id", indexed=True),
    _text("query"),
    _text("kind"),
    _number("seed"),
    _number("depth"),
    _json("sources"),
    _text("by"),
)
candidates = Table(
    "candidates",
    metadata,
    Column("pool_id", String(64), ForeignKey("pools.id"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    _text("doc_id"),
    _number("start"),
    _number("end"),
    _text("text"),
    _json("ranks"),
)
judgements = _log(
    "judgements",
    _text("query_id", indexed=True),
    _text("doc_id"),
    _number("start"),
    _number("end"),
    Column("grade", Float),
    _text("shown"),
    _text("why"),
    _text("by", indexed=True),
    _text("origin"),
    _may_be_text("model"),
    Column("pool_id", String(64), ForeignKey("pools.id")),
    Column("margin", Float),
    Column("elapsed_ms", Float),
    Column("undoes", String(64), ForeignKey("judgements.id")),
)
drafts = _log(
    "drafts",
    _text("job", indexed=True),
    _json("query"),
    _json("evidence"),
    _json("notes"),
    Column("reply_id", String(64), ForeignKey("replies.id")),
    _text("by"),
)
decisions = _log(
    "decisions",
    _text("subject", indexed=True),
    _text("verdict"),
    _text("by"),
    _text("why"),
    _json("query", nullable=True),
    Column("grade", Float),
    Column("undoes", String(64), ForeignKey("decisions.id")),
)
edits = _log(
    "edits",
    _text("query_id", indexed=True),
    _text("action"),
    _text("by"),
    _text("why"),
    _json("query", nullable=True),
    _json("anchor", nullable=True),
    Column("undoes", String(64), ForeignKey("edits.id")),
)
looks = _log("looks", _text("what", indexed=True), _text("of"), _text("by"), _json("facts"))
syncs = _log("syncs", _text("direction"), _text("file"), _text("by"), _json("lines"))

version = Table(
    "assay_version",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("at", String(40), nullable=False),
)
