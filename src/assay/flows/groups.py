"""Columns to group queries by: from the judgements themselves, or from a file about the queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from assay.model.errors import Fault, InputError, nearest
from assay.store.rankings.judgements import Judgements
from assay.store.rankings.query_columns import read_query_columns


def group_columns(
    judgements: Judgements, by: Sequence[str], queries: Path | None
) -> dict[str, tuple[str | None, ...]]:
    """Return column -> one value a judged query, for each column that is asked for.

    Raises:
        InputError: a column is nowhere; the ones that there are are named.
    """
    if not by:
        return {}
    known: dict[str, Mapping[str, str] | None] = dict.fromkeys(judgements.groups)
    said = {} if queries is None else read_query_columns(queries)
    for columns in said.values():
        known.update(dict.fromkeys(columns))
    faults = [_unknown(column, list(known), judgements.name) for column in by if column not in known]
    if faults:
        raise InputError(faults)
    return {
        column: tuple(
            said.get(query, {}).get(column) or _own(judgements, column, place)
            for place, query in enumerate(judgements.query_ids)
        )
        for column in dict.fromkeys(by)
    }


def _own(judgements: Judgements, column: str, place: int) -> str | None:
    return judgements.groups[column][place] if column in judgements.groups else None


def _unknown(column: str, known: list[str], name: str) -> Fault:
    close = nearest(column, known)
    if close:
        fix = f"did you mean --by {close}?"
    elif known:
        fix = f"the columns are {', '.join(known)}"
    else:
        fix = "give a file that says it of each query: --queries queries.jsonl"
    return Fault(
        where=f"--by {column}", what=f"neither {name} nor a file of queries has this column", fix=fix
    )
