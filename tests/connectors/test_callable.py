from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.connectors.callable import CallableRetriever, load
from assay.connectors.protocol import Search
from assay.model.errors import ConfigError, RetrieverError
from assay.model.golden import Query
from assay.model.runs import Retrieved
from shared_data import load_cases, needs_shared, value_of

QUERIES = [Query(id="q1", text="pump"), Query(id="q2", text="valve")]


def retrieve(replies: dict[str, Any], *, k: int = 10, **options: Any) -> Retrieved:
    def search(query: str, k: int) -> Any:
        reply = replies[query]
        if isinstance(reply, Exception):
            raise reply
        return reply

    return CallableRetriever(search, **options).retrieve(QUERIES[: len(replies)], k=k)


def ids(found: Retrieved, stage: int = -1, query: int = 0) -> list[str]:
    table = found.stages[stage]
    return [found.chunks.ids[chunk] for chunk in table.chunks[table.hits_of(query)].tolist()]


def test_a_list_of_pairs_becomes_a_final_stage_ordered_by_score_and_cut_to_k():
    found = retrieve({"pump": [("a", 0.1), ("b", 0.9), ("c", 0.5)], "valve": ["a"]}, k=2)
    assert [(stage.name, stage.role) for stage in found.stages] == [("final", "final")]
    assert ids(found) == ["b", "c"]
    assert ids(found, query=1) == ["a"]
    assert np.isnan(found.stages[-1].scores[2])
    assert [notice.code for notice in found.notices] == ["long-lists"]
    assert found.notices[0].ids == ("q1",)


def test_a_mapping_of_lists_becomes_stages_that_are_not_cut():
    found = retrieve(
        {
            "pump": {"final": ["b"], "vector": ["a", "b", "c"], "reranked": ["b", "a"]},
            "valve": {"final": ["c"], "vector": ["c"]},
        },
        k=1,
    )
    assert [(stage.name, stage.role) for stage in found.stages] == [
        ("vector", "list"),
        ("reranked", "rerank"),
        ("final", "final"),
    ]
    assert ids(found, 0) == ["a", "b", "c"]
    assert found.stages[1].offsets.tolist() == [0, 2, 2]


def test_failures_are_data_of_their_query():
    found = retrieve({"pump": ConnectionError("refused"), "valve": ["a"]})
    assert found.stages[-1].errors == {0: "ConnectionError: refused"}
    assert found.stages[-1].offsets.tolist() == [0, 0, 1]
    assert found.notices[0].code == "retriever-errors"


def test_a_reply_of_the_wrong_shape_is_a_failure_with_its_fix():
    found = retrieve({"pump": None, "valve": ["a"]})
    assert "return an empty list when nothing was found" in found.stages[-1].errors[0]


def test_when_every_query_fails_nothing_was_measured():
    with pytest.raises(RetrieverError, match=r"every query failed; the first \(q1\) with: KeyError"):
        retrieve({"pump": KeyError("index"), "valve": KeyError("index")})


def test_an_empty_list_is_an_answer_and_no_failure():
    found = retrieve({"pump": [], "valve": []})
    assert found.stages[-1].offsets.tolist() == [0, 0, 0]
    assert found.notices == ()


def test_a_repeated_hit_keeps_its_slot_and_is_said():
    found = retrieve({"pump": ["a", "b", "a"]})
    assert ids(found) == ["a", "b", "a"]
    assert [notice.code for notice in found.notices] == ["repeated-hits"]


def test_hits_with_nan_scores_stand_last_and_are_said():
    found = retrieve({"pump": [("a", float("nan")), ("b", 0.1)]})
    assert ids(found) == ["b", "a"]
    assert [notice.code for notice in found.notices] == ["unscored-hits"]


def test_texts_and_places_are_kept_for_matching():
    found = retrieve(
        {"pump": [{"doc": "a.md", "start": 5, "text": "pump"}, {"doc": "a.md", "text": "somewhere"}]}
    )
    table = found.chunks
    assert (table.doc_ids, table.texts) == (("a.md", "a.md"), ("pump", "somewhere"))
    assert (table.starts.tolist(), table.ends.tolist()) == ([5, -1], [9, -1])
    assert table.ids[0] == "a.md#5-9"
    assert re.fullmatch(r"a\.md#[0-9a-f]{16}", table.ids[1])


def test_a_retrievers_own_ids_stay_where_they_are_clear():
    found = retrieve(
        {
            "pump": [
                {"id": "c1", "doc": "a.md", "start": 0, "end": 4},
                # One id at two places says nothing: both go by their places.
                {"id": "c2", "doc": "a.md", "start": 4, "end": 8},
                {"id": "c2", "doc": "b.md", "start": 4, "end": 8},
            ]
        }
    )
    assert ids(found) == ["c1", "a.md#4-8", "b.md#4-8"]


def test_a_hit_by_id_alone_meets_the_same_id_with_a_place():
    place = {"id": "c1", "doc": "a.md", "start": 0, "end": 4}
    found = retrieve({"pump": {"vector": [place], "fulltext": ["c1"], "final": ["c1"]}})
    assert len(found.chunks) == 1
    assert [ids(found, stage) for stage in range(3)] == [["c1"]] * 3


def test_equal_ids_of_two_documents_are_two_chunks():
    found = retrieve({"pump": [{"id": "1", "doc": "a.md"}, {"id": "1", "doc": "b.md"}]})
    assert len(set(ids(found))) == 2
    assert found.chunks.doc_ids == ("a.md", "b.md")


def test_plain_ids_are_their_own_documents():
    found = retrieve({"pump": ["d3", "guide.md#0-4"]})
    assert found.chunks.doc_ids == ("d3", "guide.md")
    assert found.chunks.starts.tolist() == [-1, 0]


def test_results_are_the_same_with_any_number_of_calls_at_a_time():
    queries = [Query(id=f"q{place}", text=str(place)) for place in range(20)]

    def search(query: str, k: int) -> list[tuple[str, float]]:
        return [(f"d{(int(query) * 7 + place) % 13}", 1.0 / (place + 1)) for place in range(k)]

    outputs = set[tuple[object, ...]]()
    for concurrency in (1, 2, 8):
        found = CallableRetriever(search, concurrency=concurrency).retrieve(queries, k=5)
        final = found.stages[-1]
        outputs.add((found.chunks.ids, final.chunks.tobytes(), final.scores.tobytes()))
    assert len(outputs) == 1


MODULE = """
import missing_package_of_this_test as nothing
"""


def write(folder: Path, name: str, text: str) -> None:
    (folder / f"{name}.py").write_text(text, encoding="utf-8")


def test_a_callable_is_found_by_its_place_in_the_projects_folder(tmp_path: Path):
    write(tmp_path, "assay_test_app", "class App:\n    def search(self, q, k): return ['d1']\napp = App()\n")
    for place in ("assay_test_app:app", "assay_test_app:app.search"):
        retriever = CallableRetriever(place, folder=tmp_path)
        assert retriever.name == place
        assert ids(retriever.retrieve(QUERIES, k=1)) == ["d1"]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("my_app.search", "this is not a place in Python"),
        ("no_such_module_here:search", "there is no module 'no_such_module_here'"),
        ("assay_broken_import:search", "needs 'missing_package_of_this_test', which is missing"),
        ("assay_failing_import:search", "fails when it is imported: ZeroDivisionError"),
        ("json:load_s", "did you mean 'loads'?"),
        ("json:JSONDecoder", "this is a class"),
        ("json:__name__", "this is str, which cannot be called"),
        ("os:getcwd", "and is called as search\\(query, k\\)"),
    ],
)
def test_a_place_that_leads_nowhere_says_why_and_what_mends_it(place: str, message: str, tmp_path: Path):
    write(tmp_path, "assay_broken_import", MODULE)
    write(tmp_path, "assay_failing_import", "1 / 0\n")
    with pytest.raises(ConfigError, match=message):
        CallableRetriever(place, folder=tmp_path)


def test_loading_leaves_the_search_path_as_it_was(tmp_path: Path):
    import sys  # noqa: PLC0415

    before = list(sys.path)
    load("json:loads", folder=tmp_path)
    assert sys.path == before


def test_k_may_be_asked_for_by_name():
    def by_top_k(query: str, *, top_k: int) -> list[str]:
        return [query] * top_k

    async def by_limit(query: str, *, limit: int = 3) -> list[str]:
        return [query] * limit

    for search in (by_top_k, by_limit):
        assert ids(CallableRetriever(search).retrieve(QUERIES, k=2)) == ["pump", "pump"]


def test_a_retrieve_method_is_called_where_an_object_has_no_search():
    class Index:
        def retrieve(self, query: str, k: int) -> list[str]:
            return [query][:k]

    retriever = CallableRetriever(Index())
    assert ids(retriever.retrieve(QUERIES, k=1)) == ["pump"]
    assert isinstance(retriever.search, Search)


def test_senseless_bounds_are_refused_together():
    with pytest.raises(ConfigError) as caught:
        CallableRetriever(print, concurrency=0, timeout_s=-1.0)
    assert len(caught.value.faults) == 2


@needs_shared
def test_case_f05_one_chunk_under_three_ids_and_two_that_look_alike():
    from assay.retrieval.stages.fuse import reciprocal_rank_fusion  # noqa: PLC0415

    case = load_cases()["F05"]
    same = case["input"]["same_chunk"]
    doc, start = same["place"]
    lists = {
        name: [{"id": own, "doc": doc, "start": start, "end": start + 90}]
        for name, own in same["ids"].items()
    }
    found = retrieve({"pump": {**lists, "final": []}})
    assert len(found.chunks) == case["expected"]["same_chunk"]["rows"]
    assert [notice.code for notice in found.notices] == ["several-ids"]
    fused = reciprocal_rank_fusion(
        {stage.name: stage.chunks.tolist() for stage in found.stages[:-1]}, k=same["k_rrf"]
    )
    assert list(fused.values()) == pytest.approx([value_of(case["expected"]["same_chunk"]["score"])])

    alike = [
        {"doc": doc, "start": start, "text": "x" * 200 + str(start)}
        for doc, start in case["input"]["look_alike"]["places"]
    ]
    assert len(retrieve({"pump": alike}).chunks) == case["expected"]["look_alike"]["rows"]
