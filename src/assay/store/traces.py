"""Traces of other pipelines: the documented JSON form, and exported spans, become columns of a run."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import msgspec
import numpy as np

from assay.model.errors import Fault, InputError
from assay.model.golden import GoldenSet
from assay.model.notices import Notice, listed
from assay.model.runs import Retrieved, Role, StageTable
from assay.store.jsonl import read_jsonl, read_text, split_lines
from assay.store.span_traces import plain_text, traces_of
from assay.store.spans import as_table, is_span_record, spans_of
from assay.store.trace_chunks import TraceChunks
from assay.store.trace_form import HitRow, StageRow, TraceFile, TraceRow

_HIT_FIX = "give the hit a chunk's id, or its doc with start and end (code points, end exclusive)"

_ROLES: Mapping[str, Role] = {
    "pool": "pool",
    "fused": "pool",
    "hybrid": "pool",
    "reranked": "rerank",
    "rerank": "rerank",
    "diverse": "diversify",
    "mmr": "diversify",
    "final": "final",
    "prompt": "final",
}
_ORDER: tuple[Role, ...] = ("list", "pool", "rerank", "diversify", "final")


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignTraces:
    """What a file of traces holds, for the queries of a golden set."""

    name: str
    k: int | None
    """How many chunks the prompt gets; None where the file does not say."""
    query_ids: tuple[str, ...]
    """The queries that the file speaks of, in the order of the golden set."""
    retrieved: Retrieved
    meta: Mapping[str, object]
    """``reranker_window``, ``reranker_sent``, and the form that was read."""


def read_traces(path: Path, golden: GoldenSet, documents: Collection[str] = ()) -> ForeignTraces:
    """Read traces in any of the forms: one JSON object, a list, or JSON lines; our own form, or spans.

    Args:
        path: the file, plain or gzip.
        golden: the queries; traces are matched by id, else by the words of the query.
        documents: ids of the corpus, for traces that name a document by its file name alone.

    Raises:
        InputError: the file has faults, all of them; or it speaks of no query of the set.
    """
    records, numbered = _records(path)
    by_text = {plain_text(query.text): query.id for query in golden.queries}
    notices: list[Notice] = []
    if records and any(map(is_span_record, records)):
        rows, odd, strange = traces_of(spans_of(records), by_text)
        notices += [Notice(code="spans", text=f"{path.name}: {what}") for what in odd]
        if strange:
            text = f"{path.name}: {strange} retrieval spans belong to no query of the golden set"
            notices.append(Notice(code="unknown-queries", text=text))
        file = TraceFile(traces=rows)
        form = "spans"
    else:
        file, form = _own_form(path, records, numbered), "traces"
    asked, unknown = _matched(file.traces, golden, by_text)
    if unknown:
        text = f"{path.name}: {len(unknown)} traces are of queries that the golden set has not: "
        notices.append(Notice(code="unknown-queries", text=text + listed(unknown), ids=tuple(unknown)))
    if not asked:
        raise InputError(
            Fault(
                where=str(path),
                what=f"speaks of none of the {len(golden.queries)} queries of the golden set",
                fix="give each trace the query's id, or its words exactly as in the golden set",
            )
        )
    ids = [query.id for query in golden.queries if query.id in asked]
    table = TraceChunks(documents)
    stages = _stages([asked[query] for query in ids], table)
    notices += table.notices(path.name)
    meta: dict[str, object] = {"traces": form}
    if file.reranker_window is not None:
        meta["reranker_window"] = msgspec.to_builtins(file.reranker_window)
    if file.reranker_sent is not None:
        meta["reranker_sent"] = file.reranker_sent
    return ForeignTraces(
        name=file.name or path.name.partition(".")[0],
        k=file.k,
        query_ids=tuple(ids),
        retrieved=Retrieved(chunks=table.chunks(), stages=stages, notices=tuple(notices)),
        meta=meta,
    )


def _records(path: Path) -> tuple[list[object], list[str]]:
    """Return the records of a file and where each stands."""
    text = read_text(path)
    try:
        value: object = msgspec.json.decode(text)
    except msgspec.DecodeError:
        try:
            lines = [
                (number, cast("object", msgspec.json.decode(line)))
                for number, line in enumerate(split_lines(text), start=1)
                if line.strip()
            ]
        except msgspec.DecodeError:
            lines = list(read_jsonl(path).records)  # says what is wrong, line by line
        return [record for _, record in lines], [f"{path}:{line}" for line, _ in lines]
    if isinstance(value, list):
        rows = cast("list[object]", value)
        return rows, [f"{path}[{place}]" for place in range(len(rows))]
    return [value], [str(path)]


def _own_form(path: Path, records: Sequence[object], places: Sequence[str]) -> TraceFile:
    faults: list[Fault] = []
    rows: list[TraceRow] = []
    if len(records) == 1 and "traces" in as_table(records[0]):
        whole = _convert(records[0], TraceFile, places[0], faults)
        file = whole if isinstance(whole, TraceFile) else TraceFile(traces=[])
        rows = file.traces
        places = [f"{path} traces[{place}]" for place in range(len(rows))]
    else:
        read = [
            _convert(record, TraceRow, place, faults) for record, place in zip(records, places, strict=True)
        ]
        rows = [row for row in read if isinstance(row, TraceRow)]
        file = TraceFile(traces=rows)
    if not faults:
        for row, place in zip(rows, places, strict=True):
            faults += _faults_of(row, place)
    if not records:
        faults.append(
            Fault(where=str(path), what="holds no trace", fix="write one trace a line, one for each query")
        )
    if faults:
        raise InputError(faults)
    return file


def _convert(record: object, form: type[msgspec.Struct], place: str, faults: list[Fault]) -> object:
    try:
        return msgspec.convert(record, form, strict=True)
    except msgspec.ValidationError as error:
        told = str(error).replace("`", "'")
        faults.append(Fault(where=place, what=told[:1].lower() + told[1:], fix="docs/schemas says the form"))
        return None


def _faults_of(row: TraceRow, place: str) -> list[Fault]:
    faults: list[Fault] = []
    if row.query is None and row.text is None:
        what = "neither 'query' (an id) nor 'text' says what was asked"
        faults.append(Fault(where=place, what=what, fix='"query": "q1"'))
    if not row.stages:
        faults.append(
            Fault(where=place, what="there is no stage", fix='"stages": [{"name": "final", "hits": [...]}]')
        )
    names = [stage.name for stage in row.stages]
    faults += [
        Fault(where=place, what=f"two stages are called {name!r}", fix="give every stage a name of its own")
        for name in dict.fromkeys(name for name in names if names.count(name) > 1)
    ]
    for stage in row.stages:
        for rank, hit in enumerate(stage.hits, start=1):
            what = _fault_of(hit)
            if what is not None:
                faults.append(Fault(where=f"{place} {stage.name}, hit {rank}", what=what, fix=_HIT_FIX))
        wrong = [chunk for chunk, rank in stage.deep.items() if rank < 1]
        if wrong:
            faults.append(
                Fault(
                    where=f"{place} {stage.name}",
                    what=f"ranks start at 1: {listed(wrong)}",
                    fix="add 1 to the ranks of deep",
                )
            )
    return faults


def _fault_of(hit: HitRow | str) -> str | None:
    if isinstance(hit, str):
        return None
    if (hit.start is None) != (hit.end is None):
        return "'start' and 'end' come together"
    if hit.start is not None and hit.end is not None and not 0 <= hit.start < hit.end:
        return f"goes from {hit.start} to {hit.end}; offsets are code points, end exclusive"
    if hit.id is None and not hit.text and (hit.doc is None or hit.start is None):
        return "has no id, no text and no place"
    return None


def _matched(
    rows: Sequence[TraceRow], golden: GoldenSet, by_text: Mapping[str, str]
) -> tuple[dict[str, TraceRow], list[str]]:
    ids = {query.id for query in golden.queries}
    asked: dict[str, TraceRow] = {}
    unknown: list[str] = []
    for row in rows:
        named = None if row.query is None else str(row.query)
        found = named if named in ids else by_text.get(plain_text(row.text or named or ""))
        if found is None:
            unknown.append(named or row.text or "")
        else:
            asked[found] = row
    return asked, unknown


def _stages(rows: Sequence[TraceRow], table: TraceChunks) -> tuple[StageTable, ...]:
    """Put the stages of all queries into columns: lists first, then in the order of what stages do."""
    named: dict[str, Role] = {}
    for row in rows:
        for stage in row.stages:
            named.setdefault(stage.name, _role(stage))
    order = sorted(named, key=lambda name: _ORDER.index(named[name]))
    finals = [name for name in order if named[name] == "final"]
    made = [_stage(name, named[name], [_of(row, name) for row in rows], table) for name in order]
    if not finals:  # the prompt gets the last list
        last = order[-1] if sum(role == "list" for role in named.values()) < len(named) else None
        lists = [_of(row, last) if last is not None else row.stages[-1] for row in rows]
        made.append(_stage("final", "final", lists, table))
    return tuple(made)


def _role(stage: StageRow) -> Role:
    return stage.role or _ROLES.get(stage.name.casefold(), "list")


def _of(row: TraceRow, name: str) -> StageRow | None:
    return next((stage for stage in row.stages if stage.name == name), None)


def _stage(name: str, role: Role, rows: Sequence[StageRow | None], table: TraceChunks) -> StageTable:
    flat: list[int] = []
    scores: list[float] = []
    offsets = [0]
    errors: dict[int, str] = {}
    deep: list[tuple[int, int, int]] = []
    elapsed = np.full(len(rows), np.nan)
    for query, row in enumerate(rows):
        if row is not None:
            seen: set[int] = set()
            for hit in row.hits:
                at = table.place(hit)
                if at not in seen:  # a repeated hit counts once, at its best rank
                    seen.add(at)
                    flat.append(at)
                    scores.append(np.nan if isinstance(hit, str) or hit.score is None else hit.score)
            deep += [(query, table.place(chunk), rank) for chunk, rank in row.deep.items()]
            if row.error is not None:
                errors[query] = row.error
            if row.elapsed_ms is not None:
                elapsed[query] = row.elapsed_ms
        offsets.append(len(flat))
    columns = np.array(deep, np.int64).reshape(len(deep), 3)
    return StageTable(
        name=name,
        role=role,
        offsets=np.array(offsets, np.int64),
        chunks=np.array(flat, np.int32),
        scores=np.array(scores, np.float64),
        errors=errors,
        elapsed_ms=None if np.isnan(elapsed).all() else np.nan_to_num(elapsed),
        deep_query=columns[:, 0].astype(np.int32),
        deep_chunk=columns[:, 1].astype(np.int32),
        deep_rank=columns[:, 2].copy(),
    )
