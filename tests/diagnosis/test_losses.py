from __future__ import annotations

from dataclasses import replace

import pytest

from assay.diagnosis.losses import find_losses
from assay.diagnosis.ranks import item_ranks
from assay.diagnosis.windows import hidden_anchors
from assay.model.findings import ItemLoss
from assay.model.relevance import Place, Relevance
from assay.model.runs import Run
from planted import planted_relevance, planted_run
from shared_data import load_cases, needs_shared

TEN = [f"n{i}" for i in range(10)]


def lost(run: Run, chunk: str = "g") -> ItemLoss:
    (loss,) = find_losses(run, planted_relevance({"q": {"a1": [chunk]}}))
    return loss


def whole(
    vector: list[str], fulltext: list[str], pool: list[str], reranked: list[str], final: list[str]
) -> Run:
    stages = {"vector": vector, "fulltext": fulltext, "pool": pool, "reranked": reranked, "final": final}
    return planted_run({name: {"q": chunks} for name, chunks in stages.items()}, k=2)


def test_an_item_in_the_final_list_is_found():
    loss = lost(whole(["g"], ["g"], ["g"], ["g"], ["g"]))
    assert loss.found
    assert loss.detail == "rank 1 of the final list"


def test_an_item_in_no_first_stage_list_was_lost_in_the_first_stage():
    loss = lost(whole(["a", "b"], ["a"], ["a", "b"], ["a", "b"], ["a", "b"]))
    assert loss.lost_at == "first stage"
    assert loss.ranks == {"vector": None, "fulltext": None, "pool": None, "reranked": None, "final": None}


def test_an_item_within_the_pools_size_in_one_list_but_not_in_the_pool_was_lost_in_fusion():
    run = planted_run(
        {
            "vector": {"q": ["a", "g"]},
            "fulltext": {"q": ["b", "c"]},
            "pool": {"q": ["a", "b"]},
            "final": {"q": ["a"]},
        },
        k=1,
        deep={"pool": {"q": {"g": 3}}},
    )
    assert lost(run).lost_at == "fusion"


def test_an_item_below_the_pools_size_in_every_list_was_lost_at_the_pools_cut():
    run = planted_run(
        {
            "vector": {"q": ["a", "b"]},
            "fulltext": {"q": ["b", "a"]},
            "pool": {"q": ["a", "b"]},
            "final": {"q": ["a"]},
        },
        k=1,
        deep={"vector": {"q": {"g": 8412}}, "pool": {"q": {"g": 51}}},
    )
    loss = lost(run)
    assert loss.lost_at == "pool cut"
    assert loss.ranks["vector"] == 8412


def test_an_item_pushed_below_the_cut_by_the_reranker_was_lost_there():
    loss = lost(whole(["g", "a", "b"], ["g"], ["g", "a", "b"], ["a", "b", "g"], ["a", "b"]))
    assert loss.lost_at == "reranker"
    assert "rank 3 in reranked (rank 1 before)" in loss.detail


def test_an_item_that_the_reranker_dropped_was_lost_there():
    assert lost(whole(["a", "b", "g"], [], ["a", "b", "g"], ["a", "b"], ["a", "b"])).lost_at == "reranker"


def test_an_item_below_the_cut_before_and_after_the_reranker_was_lost_at_the_final_cut():
    assert (
        lost(whole(["a", "b", "g"], [], ["a", "b", "g"], ["b", "a", "g"], ["b", "a"])).lost_at == "final cut"
    )


def test_an_item_that_diversity_pushed_out_was_lost_there():
    run = planted_run(
        {
            "vector": {"q": ["a", "g", "b"]},
            "pool": {"q": ["a", "g", "b"]},
            "reranked": {"q": ["a", "g", "b"]},
            "diverse": {"q": ["a", "b", "g"]},
            "final": {"q": ["a", "b"]},
        },
        k=2,
    )
    assert lost(run).lost_at == "diversity"


def test_an_item_within_the_cut_that_the_final_list_lacks_was_lost_to_the_token_budget():
    assert lost(whole(["a", "g"], [], ["a", "g"], ["a", "g"], ["a"])).lost_at == "token budget"


def test_a_failed_query_is_a_retriever_error_and_not_a_first_stage_loss():
    run = planted_run({"final": {"q": [], "p": ["g"]}}, k=2, errors={"q": "timed out after 5 s"})
    loss = lost(run)
    assert loss.lost_at == "retriever error"
    assert loss.detail == "timed out after 5 s"


def test_a_retriever_that_gives_one_list_loses_items_at_the_final_cut_or_before_it():
    run = planted_run({"final": {"q": ["a", "b"]}}, k=2, deep={"final": {"q": {"g": 7}}})
    assert lost(run).lost_at == "final cut"


@pytest.mark.parametrize("reason", ["not indexed", "stale label", "cut by the chunker"])
def test_an_item_that_no_chunk_holds_was_lost_before_any_search(reason: str):
    run = planted_run({"final": {"q": ["a"]}}, k=1)
    relevance = planted_relevance({"q": {}}, lost={"q": {"a1": reason}})  # pyright: ignore[reportArgumentType]
    (loss,) = find_losses(run, relevance)
    assert loss.lost_at == reason
    assert loss.chunk_id is None


def test_the_best_covering_chunk_speaks_for_an_item():
    run = planted_run({"vector": {"q": ["x", "g2", "g1"]}, "final": {"q": ["g1", "x", "g2"]}}, k=3)
    table = item_ranks(run, planted_relevance({"q": {"a1": ["g1", "g2"]}}))
    assert {name: column.tolist() for name, column in table.ranks.items()} == {"vector": [2], "final": [1]}
    assert run.chunks.ids[int(table.nearest[0])] == "g1"


def test_a_cut_of_its_own_for_a_query_is_respected():
    run = planted_run({"final": {"q": ["a", "b", "g"]}}, k=3)
    relevance = planted_relevance({"q": {"a1": ["g"]}})
    assert find_losses(run, relevance)[0].found
    assert find_losses(run, relevance, cuts={"q": 2})[0].lost_at == "final cut"


@needs_shared
def test_case_r05_the_loss_belongs_to_the_cut_before_the_reranker():
    case = load_cases()["R05"]["input"]
    first, sent = case["first_stage"], case["sent_to_reranker"]
    run = planted_run(
        {
            "vector": {"q": first},
            "pool": {"q": first[:sent]},
            "reranked": {"q": first[:sent]},
            "final": {"q": first[:sent]},
        },
        k=case["k"],
        deep={"pool": {"q": {"g": first.index("g") + 1}}},
    )
    loss = lost(run)
    assert loss.lost_at == "pool cut"
    assert loss.detail == "rank 8 in pool (rank 8 before); k = 5"


@needs_shared
def test_case_r04_rows_that_the_reranker_did_not_return_are_lost_there():
    case = load_cases()["R04"]["input"]
    candidates, returned = case["candidates"], case["returned"]
    run = planted_run(
        {
            "vector": {"q": candidates},
            "pool": {"q": candidates},
            "reranked": {"q": returned},
            "final": {"q": returned},
        },
        k=case["k"],
    )
    assert lost(run, chunk=case["relevant"][0]).lost_at == "reranker"


def test_an_item_of_a_query_that_the_run_lacks_is_a_retriever_error():
    run = planted_run({"final": {"q": ["g"]}}, k=1)
    losses = find_losses(run, planted_relevance({"q": {"a1": ["g"]}, "absent": {"a1": ["g"]}}))
    assert [(one.query_id, one.lost_at) for one in losses] == [("q", None), ("absent", "retriever error")]
    assert losses[1].detail == "the run has no such query"


def test_an_item_below_what_the_reranker_was_sent_was_lost_at_the_pools_cut():
    lists = {"vector": ["a", "b", "g"], "pool": ["a", "b", "g"], "reranked": ["b", "a"], "final": ["b", "a"]}
    run = planted_run({name: {"q": chunks} for name, chunks in lists.items()}, k=2)
    assert lost(run).lost_at == "reranker"
    told = replace(run, pipeline={"pipeline": {"reranker": {"name": "lexical", "top_n": 2}}})
    assert lost(told).lost_at == "pool cut"
    assert lost(told).detail == "rank 3 before reranked, which was sent 2; k = 2"
    assert lost(replace(run, meta={"reranker_sent": 2})).lost_at == "pool cut"


@needs_shared
def test_case_r02_the_anchor_lay_beyond_the_rerankers_window():
    case = load_cases()["R02"]
    given, expected = case["input"], case["expected"]
    words = [f"w{at}" for at in range(given["chunk_words"])]
    text = " ".join(words)
    first, last = given["anchor_words_at"]
    start = len(" ".join(words[:first])) + 1
    place = Place(doc_id="d.md", start=start, end=start + len(" ".join(words[first : last + 1])))
    chunk = f"d.md#0-{len(text)}"
    run = planted_run(
        {
            "vector": {"q": [chunk, "a"]},
            "pool": {"q": [chunk, "a"]},
            "reranked": {"q": ["a", chunk]},
            "final": {"q": ["a"]},
        },
        k=1,
    )
    window = {"max_length": given["max_length"], "special_tokens": given["special_tokens"]}
    run = replace(run, meta={"reranker_window": window})
    (one,) = planted_relevance({"q": {"a1": [chunk]}}).queries
    relevance = Relevance(queries=(replace(one, places={"a1": (place,)}),))
    query = " ".join("query" for _ in range(given["query_words"]))
    hidden = hidden_anchors(run, relevance, texts={"d.md": text}, queries={"q": query})
    assert hidden == {("q", "a1"): expected["flag"]}
    (loss,) = find_losses(run, relevance, hidden=hidden)
    assert loss.lost_at == "reranker"
    assert loss.detail.startswith(expected["flag"])
    assert hidden_anchors(replace(run, meta={}), relevance, texts={"d.md": text}, queries={"q": query}) == {}


CUT = "anchor cut by reranker window (starts at sign 800, 820 of the chunk's 1000 were read)"
BEYOND = "anchor beyond reranker window (starts at sign 800, 700 of the chunk's 1000 were read)"


def test_how_far_the_reranker_read_decides_where_the_run_says_it():
    chunk = "d.md#100-1100"
    run = planted_run(
        {"vector": {"q": [chunk]}, "pool": {"q": [chunk]}, "reranked": {"q": []}, "final": {"q": []}}, k=1
    )
    (one,) = planted_relevance({"q": {"a1": [chunk]}}).queries
    place = Place(doc_id="d.md", start=900, end=950)
    relevance = Relevance(queries=(replace(one, places={"a1": (place,)}),))
    for read, expected in (
        (850, {}),
        (820, {("q", "a1"): CUT}),
        (700, {("q", "a1"): BEYOND}),
    ):
        told = replace(
            run,
            meta={
                "reranker_window": {"max_length": 9, "special_tokens": 3},
                "reranker_read": {"q": {chunk: read}},
            },
        )
        assert hidden_anchors(told, relevance, texts={"d.md": "x" * 1200}, queries={"q": "?"}) == expected
