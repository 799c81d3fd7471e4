"""What people said of findings: ``findings.jsonl`` beside the golden set, one decision a line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from assay.model.errors import Fault, InputError
from assay.model.findings import Decision, LostAt
from assay.store.atomic import write_text
from assay.store.jsonl import read_jsonl
from assay.store.strict import clean_record

FILE = "findings.jsonl"


class DecisionRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line: what a person said of one finding."""

    query: str
    """The query's id."""
    item: str
    """The anchor's id, or the label's."""
    lost_at: LostAt
    """Where the item was lost when the person looked."""
    kind: str | None
    """The kind that the person gave; null: unexplained."""
    proposed: str | None
    """The kind that the rules had proposed; null: none."""
    by: str
    """Who."""
    when: str
    """ISO date and time, UTC."""
    trace: str
    """Digest of the trace that the person saw; another one now makes the decision stale."""
    note: str | None = None


def findings_schema() -> dict[str, Any]:
    """Return the JSON Schema of one line of ``findings.jsonl``."""
    (reference,), definitions = msgspec.json.schema_components([DecisionRow])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "findings.schema.json",
        "title": "one line of findings.jsonl",
        **reference,
        "$defs": definitions,
    }


def load_decisions(path: Path) -> tuple[Decision, ...]:
    """Return the decisions of a file, in its order; none where there is no file.

    Raises:
        InputError: lines are wrong: all of them, each with its number.
    """
    if not path.is_file():
        return ()
    faults: list[Fault] = []
    found: dict[tuple[str, str, str], Decision] = {}
    for line, record in read_jsonl(path).records:
        cleaned, problems = clean_record(record, DecisionRow)
        faults += [Fault(where=f"{path}:{line}", what=one.what, fix=one.fix) for one in problems]
        if not problems:
            row = msgspec.convert(cleaned, DecisionRow)
            decision = Decision(
                query_id=row.query,
                item=row.item,
                lost_at=row.lost_at,
                kind=row.kind,
                proposed=row.proposed,
                by=row.by,
                when=row.when,
                trace=row.trace,
                note=row.note,
            )
            if decision.key in found:
                what = f"query {row.query!r}, item {row.item!r} at {row.lost_at!r} stands more than once"
                faults.append(Fault(where=f"{path}:{line}", what=what, fix="keep one of the lines"))
            found[decision.key] = decision
    if faults:
        raise InputError(faults)
    return tuple(found.values())


def save_decisions(
    path: Path, decisions: Iterable[Decision], *, removed: Iterable[tuple[str, str, str]] = ()
) -> tuple[Decision, ...]:
    """Add decisions to a file, each in the place of an earlier one of its key; return what it holds then.

    The file is read again first and replaced whole, so that what somebody else decided meanwhile stays.

    Args:
        path: the file; it is made when it is missing.
        decisions: new ones, and changed ones.
        removed: keys of decisions that are taken back.

    Raises:
        InputError: the file that is there has faults.
        StoreError: it cannot be written.
    """
    held = {decision.key: decision for decision in load_decisions(path)}
    held |= {decision.key: decision for decision in decisions}
    for key in removed:
        held.pop(key, None)
    encode = msgspec.json.Encoder().encode
    rows = [
        DecisionRow(
            query=one.query_id,
            item=one.item,
            lost_at=one.lost_at,
            kind=one.kind,
            proposed=one.proposed,
            by=one.by,
            when=one.when,
            trace=one.trace,
            note=one.note,
        )
        for one in held.values()
    ]
    write_text(path, "".join(f"{encode(row).decode()}\n" for row in rows))
    return tuple(held.values())
