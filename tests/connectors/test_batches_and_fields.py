from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from assay.connectors.callable import CallableRetriever
from assay.connectors.hits import HitForm
from assay.connectors.registry import connect
from assay.model.errors import ConfigError
from assay.model.golden import Query
from assay.model.runs import Retrieved

ASKED = [Query(id=f"q{place}", text=f"text {place}") for place in range(5)]


class Batched:
    """A retriever that can be asked several queries at once."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def search(self, query: str, k: int) -> list[str]:
        return [f"hit of {query}"][:k]

    def search_batch(self, queries: Sequence[str], k: int) -> list[list[str]]:
        self.sizes.append(len(queries))
        return [self.search(query, k) for query in queries]


def ids(found: Retrieved) -> list[str]:
    return [found.chunks.ids[chunk] for chunk in found.stages[-1].chunks.tolist()]


def test_batches_give_what_single_calls_give():
    target = Batched()
    done: list[int] = []
    found = CallableRetriever(target, batch=2).retrieve(ASKED, k=1, on_done=done.append)
    assert target.sizes == [2, 2, 1]
    assert done == [2, 4, 5]
    assert ids(found) == ids(CallableRetriever(target).retrieve(ASKED, k=1))


def test_batches_of_a_coroutine_run_side_by_side():
    class Later(Batched):
        async def search_batch(self, queries: Sequence[str], k: int) -> list[list[str]]:  # type: ignore[override] # on purpose
            return [self.search(query, k) for query in queries]

    found = CallableRetriever(Later(), batch=2, concurrency=3).retrieve(ASKED, k=1)
    assert ids(found) == [f"hit of {query.text}" for query in ASKED]


def test_a_batch_that_fails_fails_for_each_of_its_queries_and_no_other():
    class Failing(Batched):
        def search_batch(self, queries: Sequence[str], k: int) -> list[list[str]]:
            if "text 2" in queries:
                raise ConnectionError("refused")
            return super().search_batch(queries, k)

    found = CallableRetriever(Failing(), batch=2).retrieve(ASKED, k=1)
    assert found.stages[-1].errors == {2: "ConnectionError: refused", 3: "ConnectionError: refused"}


def test_a_batch_with_too_few_replies_is_a_failure_of_its_queries():
    class Short(Batched):
        def search_batch(self, queries: Sequence[str], k: int) -> list[list[str]]:
            return super().search_batch(queries, k)[:1]

    found = CallableRetriever(Short(), batch=2).retrieve(ASKED, k=1)
    assert found.stages[-1].errors[0] == "a batch of 2 queries gave 1 replies"
    assert 4 not in found.stages[-1].errors  # the last batch is one query


def test_batches_need_their_method():
    with pytest.raises(ConfigError, match="no method search_batch"):
        CallableRetriever(lambda query, k: [query][:k], batch=2)  # type: ignore[reportUnknownLambdaType] # plain


def test_fields_say_where_things_are_and_the_prefix_goes():
    def search(query: str, k: int) -> list[dict[str, Any]]:
        del query
        hit = {
            "source": "wrong.md",
            "deep": {"place": {"file": "/srv/docs/a.md"}},
            "at": 3,
            "to": 9,
            "points": 0.5,
        }
        return [hit][:k]

    form = HitForm(
        document="deep.place.file", start="at", end="to", score="points", strip_prefix="/srv/docs/"
    )
    found = CallableRetriever(search, form=form).retrieve(ASKED[:1], k=1)
    assert found.chunks.ids == ("a.md#3-9",)
    assert found.stages[-1].scores.tolist() == [0.5]


def test_fields_come_from_the_table_and_their_names_are_checked(tmp_path: Path):
    (tmp_path / "fields_search.py").write_text(
        "def search(query, k):\n    return [{'meta': {'where': 'docs/a.md'}, 'body': query}]\n"
    )
    table: dict[str, Any] = {"call": "fields_search:search", "strip_prefix": "docs/"}
    fields = {"document": "meta.where", "text": "body"}
    found = connect({**table, "fields": fields}, folder=tmp_path)[0].retrieve(ASKED[:1], k=1)
    assert (found.chunks.doc_ids, found.chunks.texts) == (("a.md",), ("text 0",))
    with pytest.raises(ConfigError, match="unknown field documnt"):
        connect({**table, "fields": {"documnt": "meta.where"}}, folder=tmp_path)
    with pytest.raises(ConfigError, match="fields"):
        connect({**table, "fields": {"document": 3}}, folder=tmp_path)


def test_replies_of_a_function_are_recorded_and_replayed(tmp_path: Path):
    module = tmp_path / "recorded_search.py"
    module.write_text("def search(query, k):\n    return {'vector': [('b', 0.25)], 'final': [('a', 0.5)]}\n")
    table = {"call": "recorded_search:search", "recording": "made/replies.jsonl"}
    first = connect(table, folder=tmp_path)[0].retrieve(ASKED, k=1)
    module.write_text("def search(query, k):\n    raise RuntimeError('gone')\n")
    again = connect({**table, "record": "none"}, folder=tmp_path)[0].retrieve(ASKED, k=1)
    assert again.chunks.ids == first.chunks.ids == ("b", "a")
    assert [stage.name for stage in again.stages] == ["vector", "final"]
    assert (tmp_path / "made" / "replies.jsonl").read_text().count("\n") == len(ASKED)


def test_an_id_alone_in_one_list_meets_the_whole_hit_of_another():
    def search(query: str, k: int) -> dict[str, Any]:
        whole = {"id": "7", "doc_id": "a.md", "text": query}
        return {"vector": ["7"], "final": [whole][:k]}

    found = CallableRetriever(search).retrieve(ASKED[:1], k=1)
    assert found.chunks.ids == ("7",)
    assert (found.chunks.doc_ids, found.chunks.texts) == (("a.md",), ("text 0",))


def test_a_cut_of_the_retrievers_own_is_told():
    def four(query: str, k: int) -> list[str]:
        return [f"{query} {place}" for place in range(min(k, 4))]

    codes = [notice.code for notice in CallableRetriever(four).retrieve(ASKED, k=10).notices]
    assert codes == ["short-lists"]
    assert not CallableRetriever(four).retrieve(ASKED, k=4).notices
    assert not CallableRetriever(four).retrieve(ASKED[:4], k=10).notices
