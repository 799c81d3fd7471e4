"""Traces of other pipelines: the documented form, and spans as exporters and Phoenix write them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.model.errors import InputError
from assay.model.golden import GoldenSet, Query
from assay.store.trace_form import traces_schema
from assay.store.traces import ForeignTraces, read_traces

GOLDEN = GoldenSet(
    name="g",
    queries=(
        Query(id="q1", text="When do refunds arrive?"),
        Query(id="q2", text="What does E1207 mean?"),
        Query(id="q3", text="Who knows?"),
    ),
)
DOCUMENTS = frozenset({"docs/returns.md", "docs/errors.md", "a/same.md", "b/same.md"})


def write(folder: Path, value: Any, name: str = "traces.json") -> Path:
    path = folder / name
    text = value if isinstance(value, str) else json.dumps(value)
    path.write_text(text, encoding="utf-8")
    return path


def read(folder: Path, value: Any, name: str = "traces.json") -> ForeignTraces:
    return read_traces(write(folder, value, name), GOLDEN, DOCUMENTS)


def stages(foreign: ForeignTraces, query: str = "q1") -> dict[str, list[str]]:
    found = foreign.retrieved
    at = foreign.query_ids.index(query)
    return {
        stage.name: [found.chunks.ids[chunk] for chunk in stage.chunks[stage.hits_of(at)].tolist()]
        for stage in found.stages
    }


def roles(foreign: ForeignTraces) -> dict[str, str]:
    return {stage.name: stage.role for stage in foreign.retrieved.stages}


OWN = {
    "query": "q1",
    "stages": [
        {
            "name": "dense",
            "hits": [{"id": "x", "doc": "returns.md", "start": 0, "end": 9, "score": 0.5}, "y"],
        },
        {"name": "bm25", "hits": ["y", {"id": "z", "text": "Code E1207"}], "deep": {"x": 812}},
        {"name": "pool", "hits": ["y", "x", "z"]},
        {"name": "reranked", "hits": ["x", "y"]},
        {"name": "final", "hits": ["x"]},
    ],
}


def test_the_documented_form_gives_each_stage_its_role_and_its_list(tmp_path: Path):
    foreign = read(tmp_path, [OWN])
    assert roles(foreign) == {
        "dense": "list",
        "bm25": "list",
        "pool": "pool",
        "reranked": "rerank",
        "final": "final",
    }
    place = "docs/returns.md#0-9"  # a file's name alone is enough where one document has it
    assert stages(foreign) == {
        "dense": [place, "y"],
        "bm25": ["y", "z"],
        "pool": ["y", place, "z"],
        "reranked": [place, "y"],
        "final": [place],
    }
    table = foreign.retrieved.chunks
    assert table.texts[table.position["z"]] == "Code E1207"
    assert table.doc_ids[table.position[place]] == "docs/returns.md"
    bm25 = foreign.retrieved.stages[1]
    assert (bm25.deep_rank.tolist(), [table.ids[at] for at in bm25.deep_chunk]) == ([812], [place])
    assert np.isnan(bm25.scores).all()


def test_json_lines_a_list_an_object_and_gzip_are_the_same(tmp_path: Path):
    other = {"text": "what does  e1207 MEAN?", "stages": [{"name": "final", "hits": ["docs/errors.md#0-5"]}]}
    as_list = read(tmp_path, [OWN, other])
    as_lines = read(tmp_path, f"{json.dumps(OWN)}\n{json.dumps(other)}\n", "traces.jsonl")
    as_object = read(tmp_path, {"traces": [OWN, other], "name": "theirs", "k": 1, "reranker_sent": 3})
    packed = tmp_path / "traces.jsonl.gz"
    packed.write_bytes(gzip.compress((tmp_path / "traces.jsonl").read_bytes()))
    as_gzip = read_traces(packed, GOLDEN, DOCUMENTS)
    assert as_list.query_ids == ("q1", "q2")
    for one in (as_lines, as_object, as_gzip):
        assert stages(one) == stages(as_list)
        assert stages(one, "q2")["final"] == ["docs/errors.md#0-5"]
    assert (as_object.name, as_object.k, as_object.meta["reranker_sent"]) == ("theirs", 1, 3)
    assert as_gzip.name == "traces"


def test_without_a_final_stage_the_prompt_gets_the_last_list(tmp_path: Path):
    foreign = read(tmp_path, [{"query": "q1", "stages": [{"name": "search", "hits": ["a", "b"]}]}])
    assert stages(foreign) == {"search": ["a", "b"], "final": ["a", "b"]}


def test_a_repeated_hit_counts_once_and_an_error_is_the_querys(tmp_path: Path):
    rows = [
        {"query": "q1", "stages": [{"name": "final", "hits": ["a", "a", "b"]}]},
        {"query": "q2", "stages": [{"name": "final", "error": "timed out"}]},
    ]
    foreign = read(tmp_path, rows)
    assert stages(foreign)["final"] == ["a", "b"]
    assert foreign.retrieved.stages[0].errors == {1: "timed out"}


def test_a_name_that_two_documents_have_and_one_that_none_has_are_told(tmp_path: Path):
    hits = [{"doc": "same.md", "start": 0, "end": 5}, {"id": "u", "doc": "gone.md"}]
    foreign = read(tmp_path, [{"query": "q1", "stages": [{"name": "final", "hits": hits}]}])
    (notice,) = foreign.retrieved.notices
    assert notice.code == "unknown-documents"
    assert notice.ids == ("same.md#0-5", "u")


def test_queries_that_the_set_has_not_are_told_and_none_at_all_is_an_error(tmp_path: Path):
    strange = {"query": "q9", "stages": [{"name": "final", "hits": ["a"]}]}
    foreign = read(tmp_path, [OWN, strange])
    assert [notice.ids for notice in foreign.retrieved.notices if notice.code == "unknown-queries"] == [
        ("q9",)
    ]
    with pytest.raises(InputError, match="speaks of none of the 3 queries"):
        read(tmp_path, [strange])


def test_all_faults_of_a_file_come_at_once(tmp_path: Path):
    rows: list[Any] = [
        {
            "query": "q1",
            "stages": [{"name": "final", "hits": [{"doc": "x", "start": 5, "end": 5}, {"doc": "x"}]}],
        },
        {"stages": [{"name": "a"}, {"name": "a"}]},
        {"query": "q2", "stages": []},
    ]
    with pytest.raises(InputError) as caught:
        read(tmp_path, rows)
    told = [str(fault) for fault in caught.value.faults]
    assert len(told) == 5
    assert "traces.json[0] final, hit 1: goes from 5 to 5" in told[0]
    assert "hit 2: has no id, no text and no place" in told[1]
    assert "neither 'query' (an id) nor 'text'" in told[2]
    assert "two stages are called 'a'" in told[3]
    assert "there is no stage" in told[4]


def test_unknown_keys_are_errors(tmp_path: Path):
    with pytest.raises(InputError, match=r"traces.json\[0\].*unknown field 'stage'"):
        read(tmp_path, [{"query": "q1", "stage": [], "stages": []}])


def test_a_broken_line_is_named(tmp_path: Path):
    with pytest.raises(InputError, match=r"traces\.jsonl:2: not JSON"):
        read(tmp_path, f"{json.dumps(OWN)}\n{{\n", "traces.jsonl")


def documents(*rows: tuple[str, str, float]) -> list[dict[str, Any]]:
    return [
        {
            "document.id": name,
            "document.content": f"text of {name}",
            "document.score": score,
            "document.metadata": json.dumps({"file_path": f"/srv/app/{doc}"}),
        }
        for name, doc, score in rows
    ]


def flattened(prefix: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {f"{prefix}.{at}.{key}": value for at, row in enumerate(rows) for key, value in row.items()}


FIRST = documents(
    ("c1", "docs/returns.md", 0.9), ("c2", "docs/errors.md", 0.8), ("c3", "docs/errors.md", 0.7)
)
SENT, GAVE = FIRST[:2], [FIRST[1]]
QUESTION = "When do refunds arrive?"


def flat_spans() -> list[dict[str, Any]]:
    """As a span processor writes them: dotted keys, times as ISO text."""
    return [
        {
            "name": "query",
            "context": {"trace_id": "t1", "span_id": "s1"},
            "parent_id": None,
            "start_time": "2026-01-01T00:00:00+00:00",
            "end_time": "2026-01-01T00:00:01+00:00",
            "attributes": {"openinference.span.kind": "CHAIN", "input.value": QUESTION},
        },
        {
            "name": "VectorIndexRetriever",
            "context": {"trace_id": "t1", "span_id": "s2"},
            "parent_id": "s1",
            "start_time": "2026-01-01T00:00:00.100000+00:00",
            "end_time": "2026-01-01T00:00:00.350000+00:00",
            "attributes": {
                "openinference.span.kind": "RETRIEVER",
                "input.value": "refunds arrival time",  # rewritten: the span above has the question
                **flattened("retrieval.documents", FIRST),
            },
        },
        {
            "name": "CohereRerank",
            "context": {"trace_id": "t1", "span_id": "s3"},
            "parent_id": "s1",
            "start_time": "2026-01-01T00:00:00.400000+00:00",
            "end_time": "2026-01-01T00:00:00.500000+00:00",
            "attributes": {
                "openinference.span.kind": "RERANKER",
                "reranker.query": QUESTION,
                "reranker.top_k": 1,
                **flattened("reranker.input_documents", SENT),
                **flattened("reranker.output_documents", GAVE),
            },
        },
    ]


def otlp_value(value: object) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    return {"stringValue": str(value)}


def otlp(spans: list[dict[str, Any]]) -> dict[str, Any]:
    """The same as an OTLP export."""
    times = {"start_time": "startTimeUnixNano", "end_time": "endTimeUnixNano"}
    made = [
        {
            "traceId": span["context"]["trace_id"],
            "spanId": span["context"]["span_id"],
            "parentSpanId": span["parent_id"] or "",
            "name": span["name"],
            **{name: str(1767225600000000000 + at * 10**8) for name in times.values()},
            "attributes": [
                {"key": key, "value": otlp_value(held)} for key, held in span["attributes"].items()
            ],
            "status": {"code": 1},
        }
        for at, span in enumerate(spans)
    ]
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {"name": "x"}, "spans": made}]}]}


def nested(spans: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same with nested attributes and a kind beside them, as Phoenix keeps them."""
    rows: list[dict[str, Any]] = []
    for span in spans:
        plain = {
            key: value
            for key, value in span["attributes"].items()
            if not key.startswith(("retrieval", "reranker.input", "reranker.output", "openinference"))
        }
        kind = span["attributes"]["openinference.span.kind"]
        if kind == "RETRIEVER":
            plain["retrieval"] = {"documents": [{"document": _inner(row)} for row in FIRST]}
        if kind == "RERANKER":
            plain["reranker"] = {
                "input_documents": [{"document": _inner(row)} for row in SENT],
                "output_documents": [{"document": _inner(row)} for row in GAVE],
                "query": QUESTION,
            }
            plain.pop("reranker.query")
        rows.append({**span, "span_kind": kind, "attributes": plain})
    return rows


def _inner(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": row["document.id"],
        "content": row["document.content"],
        "score": row["document.score"],
        "metadata": json.loads(row["document.metadata"]),
    }


def table(spans: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same as rows of a table of spans."""
    rows: list[dict[str, Any]] = []
    for span in spans:
        kind = span["attributes"]["openinference.span.kind"]
        rows.append(
            {
                "context.span_id": span["context"]["span_id"],
                "context.trace_id": span["context"]["trace_id"],
                "parent_id": span["parent_id"],
                "name": span["name"],
                "span_kind": kind,
                "start_time": 1767225600000 + len(rows),
                "end_time": 1767225600000 + len(rows) + 50,
                "status_code": "OK",
                "attributes.input.value": span["attributes"].get("input.value"),
                "attributes.retrieval.documents": FIRST if kind == "RETRIEVER" else None,
                "attributes.reranker.query": QUESTION if kind == "RERANKER" else None,
                "attributes.reranker.input_documents": SENT if kind == "RERANKER" else None,
                "attributes.reranker.output_documents": GAVE if kind == "RERANKER" else None,
            }
        )
    return rows


FORMS: dict[str, Any] = {
    "flattened": flat_spans(),
    "page": {"data": flat_spans(), "next_cursor": None},
    "otlp": otlp(flat_spans()),
    "nested": nested(flat_spans()),
    "table": table(flat_spans()),
}


@pytest.mark.parametrize("form", FORMS)
def test_spans_of_every_form_give_the_same_stages(tmp_path: Path, form: str):
    foreign = read(tmp_path, FORMS[form])
    assert foreign.query_ids == ("q1",)
    assert roles(foreign) == {
        "VectorIndexRetriever": "list",
        "reranker input": "pool",  # it was sent two of three: the cut before it is a stage
        "CohereRerank": "rerank",
        "final": "final",
    }
    assert stages(foreign) == {
        "VectorIndexRetriever": ["c1", "c2", "c3"],
        "reranker input": ["c1", "c2"],
        "CohereRerank": ["c2"],
        "final": ["c2"],
    }
    chunks = foreign.retrieved.chunks
    assert chunks.doc_ids == ("docs/returns.md", "docs/errors.md", "docs/errors.md")
    assert chunks.texts[0] == "text of c1"
    assert foreign.retrieved.stages[0].scores.tolist() == [0.9, 0.8, 0.7]
    assert not foreign.retrieved.notices
    assert foreign.meta["traces"] == "spans"


def test_json_lines_of_spans_and_of_otlp_batches_are_read(tmp_path: Path):
    lines = "".join(f"{json.dumps(span)}\n" for span in flat_spans())
    assert stages(read(tmp_path, lines, "spans.jsonl"))["final"] == ["c2"]
    batches = f"{json.dumps(otlp(flat_spans()[:2]))}\n{json.dumps(otlp(flat_spans()[2:]))}\n"
    assert stages(read(tmp_path, batches, "otlp.jsonl"))["CohereRerank"] == ["c2"]


def retriever(
    span_id: str, parent: str | None, name: str, at: int, ids: list[str], **more: Any
) -> dict[str, Any]:
    rows = [{"document.id": one, "document.content": one} for one in ids]
    return {
        "name": name,
        "context": {"trace_id": "t1", "span_id": span_id},
        "parent_id": parent,
        "start_time": f"2026-01-01T00:00:0{at}+00:00",
        "attributes": {
            "openinference.span.kind": "RETRIEVER",
            "input.value": QUESTION,
            **flattened("retrieval.documents", rows),
        },
        **more,
    }


def test_a_retriever_above_others_is_the_pool_that_joins_them(tmp_path: Path):
    spans = [
        retriever("p", None, "QueryFusionRetriever", 0, ["b", "a"]),
        retriever("v", "p", "VectorIndexRetriever", 1, ["a", "c"]),
        retriever("w", "p", "BM25Retriever", 2, ["b"]),
    ]
    foreign = read(tmp_path, spans)
    assert roles(foreign) == {
        "VectorIndexRetriever": "list",
        "BM25Retriever": "list",
        "QueryFusionRetriever": "pool",
        "final": "final",
    }
    assert stages(foreign)["final"] == ["b", "a"]


def test_lists_that_nothing_joins_are_taken_in_turn_and_that_is_said(tmp_path: Path):
    spans = [
        retriever("v", None, "search", 1, ["a", "c", "d"]),
        retriever("w", None, "search", 2, ["b", "a"]),
    ]
    foreign = read(tmp_path, spans)
    assert stages(foreign) == {
        "search": ["a", "c", "d"],
        "search 2": ["b", "a"],
        "final": ["a", "b", "c", "d"],
    }
    assert "no span joins their lists" in foreign.retrieved.notices[0].text


def test_a_failed_span_is_an_error_of_its_query(tmp_path: Path):
    failed = retriever("v", None, "search", 1, [], status_code="ERROR", status_message="no connection")
    foreign = read(tmp_path, [failed])
    assert foreign.retrieved.stages[-1].errors == {0: "no connection"}


def test_a_query_inside_json_input_is_found(tmp_path: Path):
    span = retriever("v", None, "search", 1, ["a"])
    span["attributes"]["input.value"] = json.dumps({"str_or_query_bundle": QUESTION})
    span["attributes"]["input.mime_type"] = "application/json"
    assert read(tmp_path, [span]).query_ids == ("q1",)


def test_the_last_time_a_query_was_asked_counts_and_strange_ones_are_counted(tmp_path: Path):
    first, again = retriever("v", None, "search", 1, ["a"]), retriever("w", None, "search", 5, ["b"])
    again["context"]["trace_id"] = "t2"
    strange = retriever("x", None, "search", 6, ["c"])
    strange["context"]["trace_id"] = "t3"
    strange["attributes"]["input.value"] = "something else"
    foreign = read(tmp_path, [again, first, strange])
    assert stages(foreign)["final"] == ["b"]
    told = [notice.text for notice in foreign.retrieved.notices]
    assert any("asked more than once" in text for text in told)
    assert any("1 retrieval spans belong to no query" in text for text in told)


def test_opentelemetrys_own_retrieval_spans_are_read(tmp_path: Path):
    span = {
        "name": "retrieval my-store",
        "traceId": "t",
        "spanId": "s",
        "attributes": [
            {"key": "gen_ai.operation.name", "value": {"stringValue": "retrieval"}},
            {"key": "gen_ai.retrieval.query.text", "value": {"stringValue": QUESTION}},
            {
                "key": "gen_ai.retrieval.documents",
                "value": {
                    "stringValue": json.dumps([{"id": "c1", "score": 0.9}, {"id": "c2", "score": 0.1}])
                },
            },
        ],
    }
    assert stages(read(tmp_path, [span]))["final"] == ["c1", "c2"]


def test_the_published_schema_is_current():
    path = Path(__file__).parents[2] / "docs" / "schemas" / "traces.schema.json"
    assert json.loads(path.read_text(encoding="utf-8")) == traces_schema()


def test_a_file_without_a_trace_and_ranks_from_0_are_faults(tmp_path: Path):
    path = tmp_path / "traces.jsonl"
    path.write_text("\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_traces(path, GOLDEN)
    assert str(caught.value) == f"{path}: holds no trace\n  fix: write one trace a line, one for each query"
    row = {"query": "q1", "stages": [{"name": "final", "hits": ["c1"], "deep": {"c2": 0, "c3": 11}}]}
    path.write_text(f"{json.dumps(row)}\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_traces(path, GOLDEN)
    assert str(caught.value) == f"{path} final: ranks start at 1: c2\n  fix: add 1 to the ranks of deep"
