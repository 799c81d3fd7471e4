"""Redis: a real server with its query engine, started here."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.connectors.rest import ServerError
from conformance.engine_kit import EngineKit, fill, open_engine, rows
from conformance.redis_server import redis_url

TABLE = "words_of_all_kinds"


class TestRedis(EngineKit):
    __test__ = True

    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"type": "redis", "url": redis_url("kit")}

    def test_an_index_that_is_not_there_is_an_error_of_each_query(self):
        with pytest.raises(ServerError, match=r"another: .*[Ii]ndex"):
            self.connected(table="another").search("refunds", 5)

    @pytest.mark.parametrize("field", ["vector_field", "fulltext_field"])
    def test_a_field_that_the_index_has_not_is_an_error_and_no_empty_list(self, field: str):
        with pytest.raises(ServerError, match="assay_chunks has no field 'body'; it has searched, embedding"):
            self.connected(**{field: "body"}).search("refunds", 5)

    def test_a_field_that_is_not_searched_may_be_missing(self):
        found = self.connected(vector_field="body", lists=["fulltext"]).search("refunds", 5)
        assert found


@pytest.fixture
def filled(tmp_path: Path) -> Generator[Any]:
    """Give an engine with a row whose vector is zero, beside the usual ones."""
    engine = open_engine({"type": "redis", "url": redis_url("kit"), "table": TABLE}, tmp_path)
    every = rows()
    nowhere = replace(
        every[0],
        key="00000000-0000-4000-8000-999999999999",
        chunk_id="rule.md#0-3",
        doc_id="rule.md",
        start=0,
        end=3,
        text="---",
        searched="---",
        embedding=[0.0] * len(every[0].embedding),
    )
    fill(engine, [*every, nowhere])
    yield engine
    engine.remove(list(engine.keys()))
    engine.close()


def test_stop_words_side_by_side_hide_no_other_word(filled: Any):
    """RediSearch 2.10 finds 'card' alone for card|and|or|refunds, unless stop words are told to be words."""
    alone = {hit["chunk_id"] for hit in filled.by_text("refunds", 10)}
    among = {hit["chunk_id"] for hit in filled.by_text("Rotterdam and or refunds", 10)}
    assert alone
    assert alone < among


def test_stop_words_at_the_head_of_a_query_leave_the_server_running(filled: Any):
    """RediSearch 2.10 crashes over and|or|card, unless stop words are told to be words."""
    assert filled.by_text("and or the card", 10)[0]["score"] > 0
    assert filled.by_text("E1207", 10)[0]["doc_id"] == "errors.md"


def test_a_query_of_stop_words_or_of_signs_finds_nothing(filled: Any):
    assert filled.by_text("and or the", 10) == []
    assert filled.by_text("_ __", 10) == []


def test_a_text_without_a_word_is_kept_but_is_near_nothing(filled: Any):
    every = rows()
    assert filled.keys() == {*(row.key for row in every), "00000000-0000-4000-8000-999999999999"}
    near = filled.by_vector(every[0].embedding, 50)
    assert near[0]["chunk_id"] == every[0].chunk_id
    assert {hit["chunk_id"] for hit in near} == {row.chunk_id for row in every}


def test_a_vector_of_zeros_that_others_put_in_is_near_nothing(filled: Any):
    import redis  # noqa: PLC0415 - an extra

    dimensions = len(rows()[0].embedding)
    client: Any = redis.Redis.from_url(redis_url("kit"))
    client.hset(f"{TABLE}:zero", mapping={"chunk_id": "zero", "embedding": b"\0" * 4 * dimensions})
    near = filled.by_vector(rows()[0].embedding, 50)
    assert len(near) == len(rows())
    assert "zero" not in {hit["chunk_id"] for hit in near}


class Replying:
    """A client whose server replies as RediSearch 2.10.5 did when it had 1 ms for 60,000 hashes."""

    def __init__(self, reply: Any) -> None:
        self.reply = reply

    def execute_command(self, name: str, *given: Any) -> Any:
        del given
        if name == "FT.INFO":
            fields = [{b"identifier": name, b"attribute": name} for name in (b"searched", b"embedding")]
            return {b"index_name": b"assay_chunks", b"attributes": fields}
        return self.reply


def answered(reply: Any, tmp_path: Path) -> Any:
    engine: Any = open_engine({"type": "redis", "url": "redis://127.0.0.1:1/0"}, tmp_path)
    engine._client = Replying(reply)
    return engine.by_text("refunds", 3)


HIT: dict[bytes, Any] = {
    b"id": b"assay_chunks:1",
    b"score": 6.211059468632146,
    b"extra_attributes": {b"chunk_id": b"returns.md#0-66", b"doc_id": b"returns.md"},
    b"values": [],
}
REPLY: dict[bytes, Any] = {
    b"attributes": [],
    b"total_results": 1,
    b"format": b"STRING",
    b"results": [HIT],
    b"warning": [],
}


def test_an_answer_in_resp3_is_read(tmp_path: Path):
    wanted = {"chunk_id": "returns.md#0-66", "doc_id": "returns.md", "score": 6.211059468632146}
    assert answered(REPLY, tmp_path) == [wanted]


def test_a_search_that_ran_out_of_time_is_an_error_and_no_shorter_list(tmp_path: Path):
    late = {**REPLY, b"warning": [b"Timeout limit was reached"]}
    with pytest.raises(ServerError, match="the list is not whole: Timeout limit was reached"):
        answered(late, tmp_path)


def test_an_answer_in_resp2_is_refused(tmp_path: Path):
    """There, the same late search looks like a whole one: 699 of 60,000 hashes were looked at."""
    flat = [699, b"assay_chunks:1", b"6.211059468632146", [b"chunk_id", b"returns.md#0-66"]]
    with pytest.raises(ServerError, match=r"not in RESP3: that needs Redis 7\.2"):
        answered(flat, tmp_path)
