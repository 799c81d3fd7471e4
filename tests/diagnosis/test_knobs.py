from __future__ import annotations

from typing import Any

from assay.diagnosis.knobs import CHEAPEST_FIRST, knobs
from assay.retrieval.settings import describe, read_pipeline

CHUNKER = {"context": "none", "max_chars": 800, "overlap": 0}


def turned(pipeline: dict[str, Any] | None = None, **more: Any) -> dict[str, list[Any]]:
    plain = describe(read_pipeline(pipeline or {}).in_force)
    found: dict[str, list[Any]] = {}
    for knob in knobs(plain, more.pop("chunker", CHUNKER), **more):
        found.setdefault(knob.fix, []).append(dict(knob.change))
    return found


def test_each_knob_of_the_default_pipeline_is_turned_the_cheapest_first():
    found = turned(embedders=["other"])
    assert list(found) == list(CHEAPEST_FIRST)
    assert found["smaller-chunks"] == [
        {"chunker.max_chars": 400},
        {"chunker.max_chars": 400, "chunker.overlap": 100},
        {"chunker.overlap": 400},
    ]
    assert [change["pipeline.fusion.weights.fulltext"] for change in found["hybrid-weights"]] == [
        0.25,
        0.5,
        2.0,
        4.0,
    ]
    assert found["better-embedder"] == [
        {"pipeline.embedder": {"name": "other"}},
        {"pipeline.embedder": {"name": "other"}, "pipeline.reranker": "none"},
        {
            "pipeline.embedder": {"name": "other"},
            "pipeline.reranker": "none",
            "pipeline.fusion.weights.fulltext": 0.25,
        },
    ]
    assert found["larger-pool"] == [{"pipeline.pool": 100}]


def test_what_stands_there_already_is_not_tried():
    found = turned(
        {"mmr": "off", "reranker": "none", "rewrite": "prf"},
        chunker={"context": "headings", "max_chars": 12},
    )
    assert set(found) == {"hybrid-weights", "larger-pool"}


def test_a_weight_that_is_set_is_left_out_of_the_grid_and_none_is_in_it():
    grid = turned({"fusion": {"weights": {"fulltext": 2.0}}})["hybrid-weights"]
    assert [change["pipeline.fusion.weights.fulltext"] for change in grid] == [0.25, 0.5, 4.0, 1.0]


def test_a_pool_that_outgrows_the_lists_deepens_them():
    assert turned({"pool": 150})["larger-pool"] == [{"pipeline.pool": 300, "pipeline.depth": 300}]


def test_one_list_alone_has_no_weights():
    assert "hybrid-weights" not in turned({"fulltext": False})


def test_for_a_foreign_retriever_only_the_teams_own_fixes_apply():
    own = {"deeper": [{"retriever.depth": 100}]}
    assert turned(own=own, reference=False) == {"deeper": [{"retriever.depth": 100}]}


def test_a_new_index_is_told_from_other_numbers():
    told = {knob.fix: knob.rebuild for knob in knobs(describe(read_pipeline({})), CHUNKER, embedders=["x"])}
    rebuilt = {fix for fix, rebuild in told.items() if rebuild}
    assert rebuilt == {"contextual-chunk-headers", "smaller-chunks", "better-embedder"}


def test_what_goes_by_words_is_what_an_embedder_is_also_tried_without():
    assert turned({"reranker": "none", "fulltext": False}, embedders=["x"])["better-embedder"] == [
        {"pipeline.embedder": {"name": "x"}}
    ]
