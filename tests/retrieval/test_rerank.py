from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.retrieval.models.protocols import Candidates, Reply, Window, visible_window
from assay.retrieval.stages.lists import Lists, lists_of
from assay.retrieval.stages.rerank import RerankStage, apply_reply
from assay.retrieval.terms import index_terms
from shared_data import load_cases, needs_shared

NO_CHUNKS = Candidates(chunks=(), terms=index_terms([]))


def reply(*rows: tuple[int, float]) -> Reply:
    return Reply(
        places=np.array([place for place, _ in rows], np.int64), scores=np.array([score for _, score in rows])
    )


def pool_of(*rows: Sequence[int]) -> Lists:
    return lists_of([(np.array(row, np.int32), np.linspace(1.0, 0.5, len(row))) for row in rows])


@dataclass
class FixedReranker:
    """Gives chunk ``i`` the score ``scores[i]``; fails on the query 'bad'."""

    scores: dict[int, float]
    window: Window | None = None

    def rerank(self, query: str, positions: NDArray[np.int32], candidates: Candidates) -> Reply:  # noqa: ARG002
        if query == "bad":
            raise RuntimeError("model crashed")
        rows = [(place, self.scores[chunk]) for place, chunk in enumerate(positions.tolist())]
        return reply(*[row for row in rows if row[1] != -1.0])


def test_equal_scores_keep_the_incoming_order():
    result = apply_reply(reply((2, 0.5), (0, 0.5), (1, 0.5)), sent=3, incoming=3, backfill=False)
    assert result.places.tolist() == [0, 1, 2]
    assert result.tied == 3


def test_missing_scores_go_last_in_their_incoming_order():
    result = apply_reply(
        reply((0, np.nan), (1, 0.1), (2, np.nan), (3, 0.9), (4, -np.inf)), sent=5, incoming=5, backfill=False
    )
    assert result.places.tolist() == [3, 1, 4, 0, 2]
    assert result.unscored == 2


def test_rows_that_do_not_come_back_are_dropped_and_counted():
    result = apply_reply(reply((3, 0.9), (1, 0.8)), sent=5, incoming=5, backfill=False)
    assert result.places.tolist() == [3, 1]
    assert (result.dropped, result.backfilled) == (3, 0)


def test_backfilling_follows_in_the_incoming_order_without_a_score():
    result = apply_reply(reply((3, 0.9), (1, 0.8)), sent=5, incoming=6, backfill=True)
    assert result.places.tolist() == [3, 1, 0, 2, 4, 5]
    assert np.isnan(result.scores[2:]).all()
    assert (result.dropped, result.backfilled) == (3, 4)


def test_rows_that_were_never_sent_or_come_twice_do_not_count():
    result = apply_reply(reply((1, 0.9), (1, 0.2), (7, 1.0), (0, 0.5)), sent=2, incoming=5, backfill=False)
    assert result.places.tolist() == [1, 0]
    assert result.scores.tolist() == [0.9, 0.5]


def test_only_the_top_of_the_pool_is_sent():
    stage = RerankStage(top_n=2, backfill=False)
    reranked, report = stage.run(
        ["q"], pool_of([7, 8, 9]), FixedReranker({7: 0.1, 8: 0.2, 9: 0.9}), NO_CHUNKS
    )
    assert reranked.chunks.tolist() == [8, 7]
    assert report.dropped_rows == 0


def test_a_reranker_that_fails_spoils_its_own_query_alone():
    stage = RerankStage(top_n=5, backfill=True)
    reranked, _ = stage.run(
        ["bad", "good"], pool_of([1, 2], [3, 4]), FixedReranker({3: 0.1, 4: 0.2}), NO_CHUNKS
    )
    assert reranked.offsets.tolist() == [0, 0, 2]
    assert reranked.chunks.tolist() == [4, 3]
    assert reranked.errors == {0: "reranker: RuntimeError: model crashed"}


def test_a_query_that_failed_before_stays_failed():
    pool = pool_of([], [3]).with_errors({0: "vector: no model"})
    reranked, _ = RerankStage(top_n=5, backfill=False).run(
        ["q1", "q2"], pool, FixedReranker({3: 1.0}), NO_CHUNKS
    )
    assert reranked.errors == {0: "vector: no model"}


@pytest.mark.parametrize(
    ("anchor", "visible", "flag"),
    [
        ((0, 3), True, None),
        ((499, 502), True, None),
        ((500, 503), False, "anchor cut by reranker window (ends at word 503, budget 503)"),
        ((503, 506), False, "anchor beyond reranker window (starts at word 503, budget 503)"),
    ],
)
def test_an_anchor_is_visible_only_whole_within_the_window(
    anchor: tuple[int, int],
    visible: bool,  # noqa: FBT001
    flag: str | None,
):
    sight = visible_window(Window(max_length=512), query_tokens=6, anchor=anchor)
    assert (sight.visible, sight.flag) == (visible, flag)


def test_a_query_longer_than_the_window_leaves_nothing_to_see():
    assert Window(max_length=16).budget(40) == 0


@needs_shared
def test_case_r01_equal_scores():
    case = load_cases()["R01"]
    names = case["input"]["first_stage"]
    given = case["input"]["rerank_scores"]
    result = apply_reply(
        reply(*[(place, given[name]) for place, name in enumerate(names)]),
        sent=len(names),
        incoming=len(names),
        backfill=False,
    )
    order = [names[place] for place in result.places]
    assert order == case["expected"]["order"]
    changed = "nothing" if order == names else "the order"
    assert f"{result.tied} tied; reranker changed {changed}" == case["expected"]["report"]


@needs_shared
def test_case_r02_a_long_chunk_is_cut_before_its_anchor():
    case = load_cases()["R02"]
    given, expected = case["input"], case["expected"]
    window = Window(max_length=given["max_length"], special_tokens=given["special_tokens"])
    first, last = given["anchor_words_at"]
    sight = visible_window(window, query_tokens=given["query_words"], anchor=(first, last))
    assert sight.budget == expected["document_budget"]
    assert sight.visible is expected["anchor_visible"]
    assert sight.flag == expected["flag"]


@needs_shared
def test_case_r04_fewer_rows_than_asked_and_rows_out_of_order():
    case = load_cases()["R04"]
    candidates, returned = case["input"]["candidates"], case["input"]["returned"]
    rows = reply(*[(candidates.index(name), 1.0 - place / 10) for place, name in enumerate(returned)])
    for backfill, key in ((False, "as_delivered"), (True, "if_backfilled")):
        result = apply_reply(rows, sent=len(candidates), incoming=len(candidates), backfill=backfill)
        assert [candidates[place] for place in result.places] == case["expected"][key]["list"]
    assert f"{result.backfilled} rows back-filled" == case["expected"]["if_backfilled"]["must_say"]
    unsorted = reply(*[(place, score) for place, score in case["input"]["unsorted_reply"]])
    result = apply_reply(unsorted, sent=3, incoming=3, backfill=False)
    assert result.places[: case["input"]["top_n"]].tolist() == case["expected"]["unsorted_reply"]["order"]


@needs_shared
def test_case_r05_what_is_cut_before_the_reranker_is_not_its_loss():
    case = load_cases()["R05"]
    names = case["input"]["first_stage"]
    gold = names.index("g")
    scores = dict.fromkeys(range(len(names)), 0.5) | {0: 1.0, gold: 0.9}
    for sent, recall in ((case["input"]["sent_to_reranker"], 0.0), (len(names), 1.0)):
        stage = RerankStage(top_n=sent, backfill=False)
        reranked, _ = stage.run(["q"], pool_of(range(len(names))), FixedReranker(scores), NO_CHUNKS)
        top = reranked.chunks[: case["input"]["k"]].tolist()
        assert float(gold in top) == recall
    assert top.index(gold) + 1 == case["input"]["reranker_would_place_g_at"]


@needs_shared
def test_case_g05_ties_leave_one_possible_ranking():
    case = load_cases()["G05"]
    names = case["input"]["first_stage"]
    scores = {place: case["input"]["scores"][name] for place, name in enumerate(names)}
    outputs = {
        RerankStage(top_n=9, backfill=False)
        .run(["q"], pool_of(range(len(names))), FixedReranker(scores), NO_CHUNKS)[0]
        .chunks.tobytes()
        for _ in range(case["input"]["repeats"])
    }
    assert len(outputs) == case["expected"]["distinct_outputs"]
    order = np.frombuffer(outputs.pop(), np.int32).tolist()
    assert [names[place] for place in order] == names
