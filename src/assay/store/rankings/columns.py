"""The names that people give to the columns of runs and judgements, and what a table has to hold."""

from __future__ import annotations

from collections.abc import Sequence

from assay.model.errors import Fault, InputError

QUERY = ("query", "query_id", "query-id", "qid", "q_id", "queryid", "topic", "topic_id", "_query_id")
DOC = (
    "doc", "doc_id", "doc-id", "docid", "docno", "did", "document", "document_id", "corpus-id", "corpus_id",
    "pid", "passage_id", "chunk", "chunk_id",
)  # fmt: skip
SCORE = ("score", "sim", "similarity")
GRADE = ("grade", "relevance", "rel", "label", "judgement", "judgment", "score")
RANK = ("rank", "ranking")
IGNORED = frozenset({"iteration", "iter", "q0", "tag", "run", "run_id", "runid", "system"})


def find(names: Sequence[str], known: Sequence[str]) -> str | None:
    """Return the column that goes by one of the known names, in any letter case; the first known wins.

    >>> find(["Query-ID", "corpus-id", "score"], QUERY)
    'Query-ID'
    """
    lowered = {name.strip().casefold(): name for name in names}
    return next((lowered[name] for name in known if name in lowered), None)


def needed(names: Sequence[str], where: str, *, judgements: bool) -> tuple[str, str, str | None]:
    """Return the columns of query, document and number (the score of a run may be absent).

    Raises:
        InputError: one that is needed is not there.

    >>> needed(["qid", "docno", "label"], "qrels.csv", judgements=True)
    ('qid', 'docno', 'label')
    """
    query, doc = find(names, QUERY), find(names, DOC)
    number = find(names, GRADE if judgements else SCORE)
    wanted: list[tuple[str, str | None, Sequence[str]]] = [("query", query, QUERY), ("document", doc, DOC)]
    if judgements:
        wanted.append(("grade", number, GRADE))
    shown = ", ".join(map(repr, names)) or "none"
    faults = [
        Fault(
            where=where,
            what=f"there is no column for the {noun}; the columns are {shown}",
            fix=f"name it {known[0]!r} (or {', '.join(map(repr, known[1:5]))})",
        )
        for noun, found, known in wanted
        if found is None
    ]
    if faults or query is None or doc is None:
        raise InputError(faults)
    return query, doc, number


def others(names: Sequence[str], used: Sequence[str | None]) -> list[str]:
    """Return the columns that say something else: what results can be grouped by."""
    taken = {name for name in used if name is not None}
    return [name for name in names if name not in taken and name.strip().casefold() not in IGNORED]
