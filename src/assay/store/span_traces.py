"""Spans of retrievers and rerankers become traces of a pipeline.

- A retriever that others stand below is the pool that joins them; the others are first-stage lists.
- What a reranker was given is the pool, where that is not the list before it.
- The prompt gets the last of these lists.

``gen_ai.retrieval.documents`` of OpenTelemetry's own conventions is read as OpenInference's are.

Source: OpenInference, Semantic conventions; OpenTelemetry, GenAI retrieval spans.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from assay.model.runs import Role
from assay.store.spans import RERANKER, RETRIEVER, Span, as_table, put, read_json_text, value_at
from assay.store.trace_form import HitRow, StageRow, TraceRow

_DOC_KEYS = (
    "doc_id", "doc", "document_id", "ref_doc_id", "source", "file_path", "path", "file_name", "filename",
    "file", "url", "title",
)  # fmt: skip
_START_KEYS = ("start", "start_index", "start_char_idx", "start_offset")
_END_KEYS = ("end", "end_index", "end_char_idx", "end_offset")
_QUERY_KEYS = ("query", "question", "input", "query_str", "str_or_query_bundle", "text", "search_query")


@dataclass(slots=True)
class _Asked:
    """The spans that belong to one query, in one trace."""

    spans: list[Span] = field(default_factory=list[Span])


def traces_of(spans: Sequence[Span], known: Mapping[str, str]) -> tuple[list[TraceRow], list[str], int]:
    """Return what retrievers and rerankers did for each query of a golden set.

    Args:
        spans: in the order of their start.
        known: query text, as ``plain_text`` makes it -> query id.

    Returns:
        One trace a query; what is odd, in sentences; how many retrieval spans belong to no known query.
    """
    by_id = {(span.trace, span.id): span for span in spans}
    asked: dict[str, dict[str, _Asked]] = {}
    strange = 0
    for span in spans:
        if span.kind not in (RETRIEVER, RERANKER):
            continue
        query = _query_of(span, by_id, known)
        if query is None:
            strange += 1
        else:
            asked.setdefault(query, {}).setdefault(span.trace, _Asked()).spans.append(span)
    rows: list[TraceRow] = []
    odd: list[str] = []
    repeated = [query for query, traces in asked.items() if len(traces) > 1]
    if repeated:
        odd.append(f"{len(repeated)} queries were asked more than once; the last time counts")
    unjoined = 0
    for query, traces in asked.items():
        stages, joined = _stages(list(traces.values())[-1].spans, by_id)
        unjoined += not joined
        rows.append(TraceRow(query=query, stages=stages))
    if unjoined:
        odd.append(
            f"for {unjoined} queries several retrievers ran and no span joins their lists: the prompt is "
            "taken to hold them in turn, rank by rank"
        )
    return rows, odd, strange


def plain_text(text: str) -> str:
    """Return a query's words as they are compared: casefolded, white space joined.

    >>> plain_text(" How  long? ")
    'how long?'
    """
    return " ".join(text.casefold().split())


def _documents(nested: object) -> list[Mapping[str, object]]:
    """Return documents in their order: a list, a mapping of positions, or either as JSON text."""
    if isinstance(nested, str):
        nested = read_json_text(nested)
    if isinstance(nested, Mapping):
        held = as_table(cast("object", nested))
        nested = [held[key] for key in sorted((key for key in held if key.isdigit()), key=int)]
    if not isinstance(nested, list):
        return []
    found: list[Mapping[str, object]] = []
    for one in cast("list[object]", nested):
        flat: dict[str, object] = {}
        for key, value in as_table(one).items():
            put(flat, key, value)
        found.append(as_table(flat.get("document")) or flat)
    return found


def _hits(documents: Sequence[Mapping[str, object]]) -> list[HitRow | str]:
    return [_hit(document) for document in documents]


def _hit(document: Mapping[str, object]) -> HitRow:
    metadata = document.get("metadata")
    held = as_table(read_json_text(metadata) if isinstance(metadata, str) else metadata)
    score = document.get("score")
    content = document.get("content") or document.get("text")
    identity = document.get("id")
    start, end = _whole(held, _START_KEYS), _whole(held, _END_KEYS)
    if start is not None and end is None and isinstance(content, str):
        end = start + len(content)
    return HitRow(
        id=None if identity is None else str(identity),
        doc=next((str(held[key]) for key in _DOC_KEYS if held.get(key) not in (None, "")), None),
        start=start if end is not None else None,
        end=end if start is not None else None,
        score=float(score) if isinstance(score, int | float) else None,
        text=content if isinstance(content, str) and content else None,
    )


def _whole(held: Mapping[str, object], keys: Sequence[str]) -> int | None:
    return next((value for key in keys if isinstance(value := held.get(key), int)), None)


def _query_of(span: Span, by_id: Mapping[tuple[str, str], Span], known: Mapping[str, str]) -> str | None:
    """Return the query that a span belongs to: by its own text, else by that of the spans above it."""
    at: Span | None = span
    seen: set[str] = set()
    while at is not None and at.id not in seen:
        seen.add(at.id)
        for text in _texts(at):
            if plain_text(text) in known:
                return known[plain_text(text)]
        at = by_id.get((at.trace, at.parent)) if at.parent is not None else None
    return None


def _texts(span: Span) -> Iterator[str]:
    for path in (
        ("reranker", "query"),
        ("gen_ai", "retrieval", "query", "text"),
        ("input", "value"),
    ):
        value = value_at(span.attributes, *path)
        if isinstance(value, str):
            yield value
            value = read_json_text(value) if value[:1] in '{["' else None
        if isinstance(value, str):
            yield value
        held = as_table(value)
        yield from (str(held[key]) for key in _QUERY_KEYS if isinstance(held.get(key), str))


def _stages(spans: Sequence[Span], by_id: Mapping[tuple[str, str], Span]) -> tuple[list[StageRow], bool]:
    """Return the stages of one query, and whether something joins its lists."""
    retrievers = [span for span in spans if span.kind == RETRIEVER]
    parents = {above.id for span in retrievers if (above := _above(span, retrievers, by_id)) is not None}
    lists: list[StageRow] = []
    pools: list[StageRow] = []
    names: set[str] = set()
    for span in retrievers:
        joins = span.id in parents
        given = value_at(span.attributes, "retrieval", "documents")
        if given is None:
            given = value_at(span.attributes, "gen_ai", "retrieval", "documents")
        row = _stage(span, "pool" if joins else "list", _hits(_documents(given)), names)
        (pools if joins else lists).append(row)
    stages = [*lists, *pools[-1:]]
    last = stages[-1] if len(lists) == 1 or pools else None
    for span in (span for span in spans if span.kind == RERANKER):
        given = _hits(_documents(value_at(span.attributes, "reranker", "input_documents")))
        if given and (last is None or (last.role == "list" and _ids(given) != _ids(last.hits))):
            stages.append(StageRow(name=_unused("reranker input", names), role="pool", hits=given))
        row = _stage(
            span,
            "rerank",
            _hits(_documents(value_at(span.attributes, "reranker", "output_documents"))),
            names,
        )
        stages.append(row)
        last = row
    if last is None:
        hits = _in_turn([stage.hits for stage in lists])
        return [*stages, StageRow(name="final", role="final", hits=hits)], len(lists) < 2
    final = StageRow(name="final", role="final", hits=last.hits, error=last.error)
    return [*stages, final], True


def _above(span: Span, among: Sequence[Span], by_id: Mapping[tuple[str, str], Span]) -> Span | None:
    """Return the nearest retriever that a span stands below."""
    ids = {one.id for one in among}
    at, seen = span, {span.id}
    while at.parent is not None and at.parent not in seen:
        above = by_id.get((at.trace, at.parent))
        if above is None:
            return None
        if above.id in ids:
            return above
        seen.add(above.id)
        at = above
    return None


def _stage(span: Span, role: Role, hits: list[HitRow | str], names: set[str]) -> StageRow:
    elapsed = (span.end_ns - span.start_ns) / 1e6
    return StageRow(
        name=_unused("final list" if span.name == "final" else span.name, names),
        role=role,
        hits=[] if span.error else hits,
        error=span.error,
        elapsed_ms=elapsed if elapsed > 0 else None,
    )


def _unused(name: str, names: set[str]) -> str:
    number, free = 1, name
    while free in names:
        number += 1
        free = f"{name} {number}"
    names.add(free)
    return free


def _ids(hits: Sequence[HitRow | str]) -> list[object]:
    return [hit if isinstance(hit, str) else (hit.id or hit.text) for hit in hits]


def _in_turn(lists: Sequence[Sequence[HitRow | str]]) -> list[HitRow | str]:
    longest = max(map(len, lists), default=0)
    return [one[rank] for rank in range(longest) for one in lists if rank < len(one)]
