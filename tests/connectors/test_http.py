from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from assay.connectors.conformance import Conformance
from assay.connectors.registry import connect
from assay.model.errors import ConfigError, InputError, RetrieverError
from assay.model.golden import Query
from assay.model.runs import Retrieved
from conformance.small_corpus import NOTHING, QUERIES, TEXTS
from connectors.search_server import Server, running

ASKED = [Query(id=f"q{place}", text=text) for place, text in enumerate(QUERIES)]
HITS = "hits.hits[].{id: _id, doc: _source.file, text: _source.body, score: _score}"


@pytest.fixture
def server() -> Generator[Server]:
    with running() as state:
        yield state


def table(server: Server, **more: Any) -> dict[str, Any]:
    return {
        "type": "http",
        "url": f"{server.url}/search",
        "body": {"query": "{query}", "size": "{k}"},
        "hits": HITS,
        "backoff_s": 0.01,
        **more,
    }


def retrieve(values: dict[str, Any], folder: Path, *, k: int = 2) -> Retrieved:
    return connect(values, folder=folder)[0].retrieve(ASKED, k=k)


def ids(found: Retrieved, stage: int = -1, query: int = 0) -> list[str]:
    lists = found.stages[stage]
    return [found.chunks.ids[chunk] for chunk in lists.chunks[lists.hits_of(query)].tolist()]


class TestAnEndpoint(Conformance):
    queries = QUERIES
    documents = TEXTS
    nothing = NOTHING
    server: Server

    @pytest.fixture(autouse=True)
    def _serve(self, server: Server, tmp_path: Path) -> None:
        self.server, self.folder = server, tmp_path

    def make(self) -> object:
        return connect(table(self.server), folder=self.folder)[0]


class TestItsRecording(Conformance):
    """The same, from a file, when the server is gone."""

    queries = QUERIES
    documents = TEXTS
    nothing = NOTHING

    def make(self) -> object:
        values = {"type": "http", "url": "http://127.0.0.1:9/search", "hits": HITS, "record": "none"}
        body = {"query": "{query}", "size": "{k}"}
        return connect({**values, "body": body, "recording": self.file.name}, folder=self.file.parent)[0]

    @pytest.fixture(autouse=True)
    def _record(self, server: Server, tmp_path: Path) -> None:
        self.file = tmp_path / "search.jsonl"
        retriever = connect(table(server, recording="search.jsonl"), folder=tmp_path)[0]
        texts = [*QUERIES, NOTHING, *self.strange]
        for k in (1, 5):
            retriever.retrieve([Query(id=text, text=text) for text in texts], k=k)
        self.file.write_text(self.file.read_text().replace(server.url, "http://127.0.0.1:9"))


def test_lists_of_their_own_become_stages(server: Server, tmp_path: Path):
    found = retrieve(table(server, lists={"vector": "debug[].{id: _id, score: _score}"}), tmp_path)
    assert [(stage.name, stage.role) for stage in found.stages] == [("vector", "list"), ("final", "final")]
    assert ids(found, 0, 1) == ids(found, -1, 1)  # by score, though the server gave it upside down


def test_secrets_are_sent_and_stand_in_no_file(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SEARCH_TOKEN", "hunter2-secret")
    headers = {"Authorization": "Bearer ${SEARCH_TOKEN}"}
    values = table(server, headers=headers, params={"key": "${SEARCH_TOKEN}"}, recording="r.jsonl")
    retrieve(values, tmp_path)
    assert server.asked[0]["headers"]["Authorization"] == "Bearer hunter2-secret"
    assert server.asked[0]["path"] == "/search?key=hunter2-secret"
    recorded = (tmp_path / "r.jsonl").read_text()
    assert "hunter2" not in recorded  # although the server's answer repeats the header
    assert '"token":"Bearer ${SEARCH_TOKEN}"' in recorded


def test_a_query_that_looks_like_a_secret_stays_text(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SEARCH_TOKEN", "hunter2")
    values = table(server, params={"q": "{query}"})
    connect(values, folder=tmp_path)[0].retrieve([Query(id="q", text="${SEARCH_TOKEN} {k}")], k=1)
    assert server.asked[0]["path"] == "/search?q=%24%7BSEARCH_TOKEN%7D+%7Bk%7D"


def test_a_secret_that_is_not_set_is_an_error_before_anything_is_sent(server: Server, tmp_path: Path):
    with pytest.raises(ConfigError, match=r"headers: the environment variable NO_SUCH_TOKEN is not set"):
        connect(table(server, headers={"X": "${NO_SUCH_TOKEN}"}), folder=tmp_path)
    assert not server.asked


@pytest.mark.parametrize("status", [429, 503])
def test_passing_errors_are_asked_again(server: Server, tmp_path: Path, status: int):
    server.answers += [(status, {"Retry-After": "0"}, {}), (status, {}, {})]
    found = retrieve(table(server, retries=2), tmp_path)
    assert not found.stages[-1].errors
    assert len(server.asked) == len(ASKED) + 2


def test_other_errors_are_data_at_once(server: Server, tmp_path: Path):
    server.answers += [(400, {}, {"error": "no such index"}), (200, {}, "<html>")]
    found = retrieve(table(server), tmp_path)
    assert found.stages[-1].errors[0].startswith("ServerError: 400 Bad Request")
    assert "no such index" in found.stages[-1].errors[0]
    assert "not JSON" in found.stages[-1].errors[1]
    assert len(server.asked) == len(ASKED)


def test_a_server_that_is_too_slow_is_data(server: Server, tmp_path: Path):
    server.delay_s = 0.5
    with pytest.raises(RetrieverError, match="ReadTimeout"):
        retrieve(table(server, timeout_s=0.1, retries=0, concurrency=3), tmp_path)


def test_a_server_that_is_not_there_is_data(tmp_path: Path):
    values = {"type": "http", "url": "http://127.0.0.1:9/", "hits": "hits", "retries": 0}
    with pytest.raises(RetrieverError, match="ConnectError"):
        retrieve(values, tmp_path)


def test_hits_that_are_not_where_they_should_be_are_an_error_and_not_an_empty_list(
    server: Server, tmp_path: Path
):
    with pytest.raises(RetrieverError, match="nothing stands at 'results'"):
        retrieve(table(server, hits="results"), tmp_path)


def test_a_wrong_path_is_an_error_before_anything_is_sent(server: Server, tmp_path: Path):
    with pytest.raises(ConfigError, match="this is not JMESPath"):
        connect(table(server, hits="hits[", lists={"vector": "a b"}), folder=tmp_path)


def test_a_recording_does_not_depend_on_who_came_first(server: Server, tmp_path: Path):
    retrieve(table(server, recording="one.jsonl"), tmp_path)
    retrieve(table(server, recording="four.jsonl", concurrency=4), tmp_path)
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "four.jsonl").read_bytes()


def test_only_what_the_recording_lacks_is_asked_for(server: Server, tmp_path: Path):
    values = table(server, recording="r.jsonl")
    first = retrieve(values, tmp_path)
    assert ids(retrieve(values, tmp_path)) == ids(first)
    assert len(server.asked) == len(ASKED)
    retrieve({**values, "record": "all"}, tmp_path)
    assert len(server.asked) == 2 * len(ASKED)


def test_a_question_that_was_not_recorded_is_data(server: Server, tmp_path: Path):
    retrieve(table(server, recording="r.jsonl"), tmp_path)
    values = table(server, recording="r.jsonl", record="none")
    queries = [*ASKED, Query(id="new", text="something else")]
    found = connect(values, folder=tmp_path)[0].retrieve(queries, k=2)
    assert list(found.stages[-1].errors) == [len(ASKED)]
    assert "not in r.jsonl" in found.stages[-1].errors[len(ASKED)]


def test_a_recording_that_was_cut_off_is_read_up_to_there(server: Server, tmp_path: Path):
    retrieve(table(server, recording="r.jsonl"), tmp_path)
    file = tmp_path / "r.jsonl"
    file.write_text(file.read_text()[:-30])
    retrieve(table(server, recording="r.jsonl"), tmp_path)
    assert len(server.asked) == len(ASKED) + 1
    assert [json.loads(line)["asked"]["method"] for line in file.read_text().splitlines()] == ["POST"] * 3


def test_a_recording_with_a_wrong_line_is_an_error_with_its_place(tmp_path: Path):
    (tmp_path / "r.jsonl").write_text("{}\n{}\n")
    values = {"type": "http", "url": "http://127.0.0.1:9/", "hits": "hits", "recording": "r.jsonl"}
    with pytest.raises(InputError, match=r"r\.jsonl:1: this is not a line of a recording"):
        connect(values, folder=tmp_path)


def test_nothing_may_be_asked_and_there_is_no_recording(tmp_path: Path):
    values = {"type": "http", "url": "http://x/", "hits": "h", "recording": "r.jsonl", "record": "none"}
    with pytest.raises(InputError, match="there is no recording"):
        connect(values, folder=tmp_path)


def test_a_recording_is_read_without_the_secrets(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SEARCH_TOKEN", "hunter2")
    values = table(server, params={"key": "${SEARCH_TOKEN}"}, recording="r.jsonl")
    first = retrieve(values, tmp_path)
    monkeypatch.delenv("SEARCH_TOKEN")
    assert ids(retrieve({**values, "record": "none"}, tmp_path)) == ids(first)
