"""Engines whose servers cannot be had here: each request and each answer is in the form that was recorded."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from assay.connectors.engines import Engine, Row
from assay.connectors.rest import ServerError
from conformance import stand_ins
from conformance.engine_kit import embed, fill, open_engine, rows
from conformance.recorded_server import Recorded, engines, recorded, shape, unknown_names
from conformance.stand_in import StandIn, serving

KEYS = ("00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002")
TEXTS = (
    "Refunds reach the card within 14 days of the return being scanned.",
    "Code E1207 means that the payment provider refused the card.",
)
ROWS = tuple(
    Row(
        key=key,
        chunk_id=f"{doc_id}#0-{len(text)}",
        doc_id=doc_id,
        start=0,
        end=len(text),
        text=text,
        searched=text,
        embedding=embedding,
    )
    for key, doc_id, text, embedding in zip(
        KEYS, ("returns.md", "errors.md"), TEXTS, ([0.6, 0.8], [0.0, 0.0]), strict=True
    )
)
VECTOR, TEXT, DEPTH = [0.6, 0.8], "Refunds: the card?", 3
ENTRIES = [(engine, entry) for engine in engines() for entry in recorded(engine)["entries"]]
STAND_INS: dict[str, type[StandIn]] = {
    "opensearch": stand_ins.OpenSearch,
    "elasticsearch": stand_ins.Elasticsearch,
    "qdrant": stand_ins.Qdrant,
    "weaviate": stand_ins.Weaviate,
    "vespa": stand_ins.Vespa,
    "typesense": stand_ins.Typesense,
    "meilisearch": stand_ins.Meilisearch,
}
CALLS = {"by_vector", "by_text", "by_both", "create", "keys", "add", "remove"}


def called(engine: Engine, call: str) -> Any:
    """Make one call of a connector, with what the recordings were made for."""
    calls: dict[str, Callable[[], Any]] = {
        "by_vector": lambda: engine.by_vector(VECTOR, DEPTH),
        "by_text": lambda: engine.by_text(TEXT, DEPTH),
        "by_both": lambda: engine.by_both(TEXT, VECTOR, DEPTH),
        "create": lambda: engine.create(2),
        "keys": engine.keys,
        "add": lambda: engine.add(ROWS),
        "remove": lambda: engine.remove(KEYS[:1]),
        "finish": engine.finish,
    }
    return calls[call]()


def named(pairs: Sequence[tuple[str, dict[str, Any]]]) -> list[Any]:
    return [
        pytest.param(engine, entry, id=f"{engine}: {entry['call']}, {entry['name']}")
        for engine, entry in pairs
    ]


@pytest.mark.parametrize(("engine", "entry"), named(ENTRIES))
def test_a_call_sends_what_was_recorded_and_its_answer_is_read(
    engine: str, entry: dict[str, Any], tmp_path: Path
):
    server = Recorded(exchanges=[dict(exchange) for exchange in entry["exchanges"]])
    with serving(server) as address:
        settings = {"type": engine, "url": f"{engine}+http://{address}", "retries": 0}
        opened = open_engine({**settings, **entry.get("settings", {})}, tmp_path)
        try:
            if "fails" in entry:
                with pytest.raises(ServerError, match=entry["fails"]):
                    called(opened, entry["call"])
                found: Any = None
            else:
                found = called(opened, entry["call"])
        finally:
            opened.close()
    assert server.wrong == []
    assert server.exchanges == []
    if "reads" in entry:
        assert [[hit.get("chunk_id", hit.get("_id")), hit["score"]] for hit in found] == entry["reads"]
    if "keys" in entry:
        assert found == set(entry["keys"])


@pytest.mark.parametrize("engine", ["weaviate", "meilisearch"])
def test_a_query_without_a_word_is_not_fused_with_every_document(engine: str, tmp_path: Path):
    (nearest,) = [
        entry
        for entry in recorded(engine)["entries"]
        if (entry["call"], entry["name"]) == ("by_vector", "the nearest")
    ]
    server = Recorded(exchanges=list(nearest["exchanges"]))
    with serving(server) as address:
        opened = open_engine({"type": engine, "url": f"{engine}+http://{address}", "retries": 0}, tmp_path)
        found = opened.by_both("?!", VECTOR, DEPTH)
        opened.close()
    assert [hit["chunk_id"] for hit in found] == [name for name, _ in nearest["reads"]]


@pytest.mark.parametrize(("engine", "entry"), named(ENTRIES))
def test_no_name_is_sent_that_the_specification_lacks(engine: str, entry: dict[str, Any]):
    forms = {(form["method"], form["path"]): form for form in recorded(engine)["forms"]}
    for request in (exchange["request"] for exchange in entry["exchanges"]):
        form = forms[request["method"], request["path"]]
        assert set(request.get("params", {})) <= set(form.get("params", ()))
        body = request.get("body")
        if "lines" in form:
            for line in lines_of(body):
                assert any(unknown_names(line, one) == [] for one in form["lines"]), line
        elif body is not None:
            assert unknown_names(body, form["body"]) == []


def lines_of(body: Any) -> list[Any]:
    return [json.loads(line) for line in body.splitlines()] if isinstance(body, str) else body


def test_a_name_that_is_misspelt_is_noticed():
    form = {"query": {"match": {"*": {"query": 0}}}, "list": [{"id": 0}]}
    assert unknown_names({"query": {"match": {"body": {"query": "a"}}}, "list": [{"id": 1}]}, form) == []
    assert unknown_names({"query": {"match": {"body": {"qery": "a"}}}}, form) == [".query.match.body.qery"]
    assert unknown_names({"list": [{"id": 1}, {"key": 1}]}, form) == [".list[].key"]


def test_arguments_of_weaviates_searches_are_in_its_documentation():
    known: dict[str, list[str]] = recorded("weaviate")["graphql"]
    sent = [
        exchange["request"]["body"]["query"]
        for entry in recorded("weaviate")["entries"]
        for exchange in entry["exchanges"]
        if exchange["request"]["path"] == "/v1/graphql"
    ]
    met: set[str] = set()
    for query in sent:
        found = re.search(r"limit: 3, (\w+): \{(.*)\}\) \{ chunk_id", query)
        assert found is not None
        met.add(found[1])
        assert set(re.findall(r"(?:^|, )(\w+): ", found[2])) <= set(known[found[1]])
    assert met == set(known)


@pytest.mark.parametrize("engine", engines())
def test_every_call_of_a_connector_is_recorded_with_its_source(engine: str):
    told = recorded(engine)
    assert told["versions"]
    assert told["forms_source"]
    assert {entry["call"] for entry in told["entries"]} >= CALLS
    for entry in told["entries"]:
        assert entry["source"]
        assert entry["version"]
        assert entry["form"] in {"seen", "described"}
    names = [(entry["call"], entry["name"]) for entry in told["entries"]]
    assert len(names) == len(set(names))


def test_every_engine_that_has_a_stand_in_is_recorded():
    assert set(engines()) == set(STAND_INS)


@pytest.mark.parametrize("engine", engines())
def test_a_stand_in_answers_with_no_name_that_the_engine_was_not_seen_to_give(engine: str, tmp_path: Path):
    known: set[str] = set()
    for entry in recorded(engine)["entries"]:
        for exchange in entry["exchanges"]:
            known |= shape(as_json(exchange["response"]))
    server = STAND_INS[engine]()
    answers: list[Any] = []
    answered = server.answer

    def noting(method: str, path: str, params: dict[str, str], body: Any) -> tuple[int, Any]:
        status, answer = answered(method, path, params, body)
        answers.append(answer)
        return status, answer

    server.answer = noting
    more = {"fused_profile": "fused"} if engine == "vespa" else {}
    with serving(server) as address:
        opened = open_engine(
            {"type": engine, "url": f"{engine}+http://{address}", "retries": 0, **more}, tmp_path
        )
        fill(opened, rows())
        opened.create(2)
        opened.keys()
        text = "When do refunds reach the card?"
        asked = embed([text])[0].tolist()
        for found in (opened.by_text(text, 5), opened.by_vector(asked, 5), opened.by_both(text, asked, 5)):
            assert found
        opened.remove([rows()[0].key])
        opened.close()
    given = {path for answer in answers for path in shape(as_json(answer))}
    assert given - known == set()


def as_json(answer: Any) -> Any:
    if not isinstance(answer, str):
        return answer
    return [json.loads(line) for line in answer.splitlines()]


def test_the_overview_says_what_was_recorded_of_each_engine():
    page = (Path(__file__).resolve().parents[2] / "docs" / "connectors.md").read_text(encoding="utf-8")
    for engine in engines():
        told = recorded(engine)
        seen = sum(entry["form"] == "seen" for entry in told["entries"])
        assert f"| {told['versions']} | {seen} | {len(told['entries']) - seen} |" in page, engine
