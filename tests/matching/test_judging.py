"""Lists meet the relevance: ranks and grades in three units, and ideals that nothing exceeds."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.matching import (
    SpanCodes,
    find_relevance,
    golden_lists,
    judge,
)
from assay.matching.ideals import best_placing
from assay.measures.batch import ceilings, score
from assay.measures.spans import Spans, span_scores
from assay.measures.spec import parse_measure
from assay.model.golden import Anchor, GoldenSet
from assay.model.relevance import Judged, JudgedRows, QueryRelevance, Relevance, Unit
from assay.model.runs import ChunkTable, Run, StageTable
from matching.golden_by_hand import anchor, documents, golden, run, table, texts, windows
from shared_data import load_cases, needs_shared, value_of

UNITS: tuple[Unit, ...] = ("chunk", "anchor", "document")


def rows(columns: JudgedRows | None) -> list[tuple[int, int, float]]:
    assert columns is not None
    return list(zip(columns.query.tolist(), columns.rank.tolist(), columns.grade.tolist(), strict=True))


def value(judged: Judged, measure: str) -> list[float]:
    return score(judged, [parse_measure(measure)])[measure].tolist()


def judged(
    set_: GoldenSet, chunks: ChunkTable, made: tuple[StageTable, Run], unit: Unit, **docs: str
) -> Judged:
    return judge(*made, find_relevance(set_, documents(**docs), chunks), set_, unit)


@needs_shared
def test_one_anchor_that_stands_twice_is_earned_at_either_place():
    case = load_cases()["C08"]
    text, quote, expected = case["input"]["doc"], case["input"]["anchor"], case["expected"]
    spans = {**case["input"]["chunks"], "c5": [30, 50]}
    chunks = table(*[("doc", span[0], span[1]) for span in spans.values()], ids=list(spans))
    made = run(chunks, q=case["input"]["ranked"])
    free = judged(golden(q=anchor(quote)), chunks, made, "anchor", doc=text)
    assert value(free, "recall@1") == [value_of(expected["any_occurrence"]["recall@1"])]
    assert value(free, "RR") == [value_of(expected["any_occurrence"]["rr"])]
    start, end = expected["occurrences"][0]
    pin = judged(golden(q=anchor(quote, start=start, end=end)), chunks, made, "anchor", doc=text)
    assert value(pin, "recall@1") == [value_of(expected["pinned_to_first"]["recall@1"])]
    assert value(pin, "RR") == [pytest.approx(value_of(expected["pinned_to_first"]["rr"]))]


@needs_shared
def test_a_cut_anchor_scores_0_and_stays_in_the_mean():
    case = load_cases()["C01"]
    text = case["input"]["doc"]
    chunks = table(*windows("doc", text, 30))
    made = run(chunks, q=list(chunks.ids))
    for unit in ("chunk", "anchor"):
        one = judged(golden(q=anchor(case["input"]["anchor"])), chunks, made, unit, doc=text)
        assert value(one, "recall@10") == [value_of(case["expected"]["recall@k_when_empty"])]
        assert rows(one.ideal) == [(0, 1, 1.0)]
        assert rows(one.best) == []
        assert ceilings(one, [parse_measure("recall@10")])["recall@10"].tolist() == [0.0]


@needs_shared
def test_part_of_a_number_is_no_hit():
    case = load_cases()["C11"]
    text = "\n".join(case["input"]["chunks"].values())
    middle = text.index("\n")
    chunks = table(("doc", 0, middle), ("doc", middle + 1, len(text)), ids=["c1", "c2"])
    one = judged(
        golden(q=anchor(case["input"]["anchor"])), chunks, run(chunks, q=["c1", "c2"]), "chunk", doc=text
    )
    assert value(one, "RR") == [value_of(case["expected"]["rr"])]
    assert value(one, "P@1") == [value_of(case["expected"]["precision@1"])]


@needs_shared
def test_a_run_of_another_chunking_is_judged_by_the_text():
    case = load_cases()["D02"]
    text = case["input"]["doc"]
    chunks = table(*windows("doc", text, 50, 25))
    made = run(chunks, q=[f"doc#{start}-{end}" for start, end in case["input"]["run_B_returns"]])
    one = judged(golden(q=anchor(case["input"]["anchor"])), chunks, made, "chunk", doc=text)
    assert value(one, "recall@1") == [value_of(case["expected"]["B"]["recall@1"])]


@needs_shared
def test_unwinnable_queries_score_0_in_the_headline_and_stand_apart():
    case = load_cases()["D01"]
    n, hits = case["input"]["golden"], case["input"]["hits_among_the_other_8"]
    docs = {f"d{at}": f"The code of case {at} is here." for at in range(n)}
    docs["d1"] = "This page was rewritten."
    set_ = golden(**{f"q{at}": anchor(f"code of case {at} is", f"d{at}") for at in range(n)})
    chunks = table(*[(name, 0, len(text)) for name, text in docs.items() if name != "d0"])
    lists = {f"q{at}": [chunks.ids[at - 1]] if 2 <= at < 2 + hits else [] for at in range(n)}
    relevance = find_relevance(set_, documents(**docs), chunks)
    one = judge(*run(chunks, **lists), relevance, set_, "chunk")
    recall = np.array(value(one, "recall@10"))
    winnable = np.array([query.winnable for query in relevance.queries])
    assert recall.mean() == value_of(case["expected"]["headline_recall"])
    assert recall[winnable].mean() == value_of(case["expected"]["recall_on_winnable"])
    assert int((~winnable).sum()) == case["expected"]["unwinnable"]
    reasons = [why for query in relevance.queries for why in query.lost.values()]
    assert reasons == ["not indexed", "stale label"]
    missed = winnable & (recall == 0)
    assert int(missed.sum()) == case["expected"]["classes"]["retrieval miss"]


@needs_shared
def test_ids_are_text_with_their_leading_zeros():
    case = load_cases()["I01"]
    chunks = table(("7", -1, -1), ("007", -1, -1), ids=["7", "007"])
    set_ = golden(q1={"007": 1.0}, q2={"7": 1.0})
    made = run(chunks, q1=case["input"]["run_json"]["q1"], q2=[str(case["input"]["run_json_int"]["q2"][0])])
    for unit in UNITS:
        one = judge(*made, find_relevance(set_, [], chunks), set_, unit)
        assert value(one, "RR@2")[0] == value_of(case["expected"]["q1"]["rr@2"])
        assert value(one, "recall@1") == [
            value_of(case["expected"]["q1"]["recall@1"]),
            value_of(case["expected"]["q2"]["recall@1"]),
        ]


@needs_shared
def test_composed_and_decomposed_ids_are_one():
    case = load_cases()["I02"]
    composed, decomposed = "Z\u00fcrich guide.md", "Zu\u0308rich guide.md"
    chunks = table((decomposed, -1, -1), ids=[decomposed])
    set_ = golden(q1={composed: 1.0})
    made = run(chunks, q1=[decomposed])
    for unit in UNITS:
        one = judge(*made, find_relevance(set_, [], chunks), set_, unit)
        assert value(one, "recall@1") == [value_of(case["expected"]["recall@1"])]


@needs_shared
def test_two_absent_document_names_are_not_a_match():
    case = load_cases()["I04"]
    (wanted,), (returned,) = case["input"]["golden_docs"], case["input"]["retrieved_docs"]
    chunks = texts(hit=("", returned["text"]))
    set_ = golden(q=anchor(wanted["text"], ""))
    relevance = find_relevance(set_, documents(some="else"), chunks)
    one = judge(*run(chunks, q=["hit"]), relevance, set_, "chunk")
    assert value(one, "recall@1") == [0.0]
    assert relevance.queries[0].lost == {"a1": "not indexed"}
    # nor do they match as documents
    assert value(judge(*run(chunks, q=["hit"]), relevance, set_, "document"), "recall@1") == [0.0]


TEXT = "alpha one beta two gamma three"
"""The anchors stand at [0, 9), [10, 18) and [19, 30)."""


def test_a_hit_that_covers_two_new_anchors_earns_both_at_its_rank():
    set_ = golden(q=[anchor("alpha one"), anchor("beta two"), anchor("gamma three")])
    chunks = table(("doc", 0, 9), ("doc", 0, 18), ("doc", 10, 30))
    one = judged(
        set_, chunks, run(chunks, q=["doc#0-9", "doc#0-18", "doc#0-18", "doc#10-30"]), "anchor", doc=TEXT
    )
    # alpha at 1; beta at 2 (alpha again earns nothing); the repeat nothing; gamma at 4
    assert rows(one.found) == [(0, 1, 1.0), (0, 2, 1.0), (0, 4, 1.0)]
    assert rows(one.ideal) == [(0, 1, 1.0), (0, 1, 1.0), (0, 2, 1.0)]
    assert one.retrieved.tolist() == [4]
    expected = (1 + 1 / math.log2(3) + 1 / math.log2(5)) / (2 + 1 / math.log2(3))
    assert value(one, "nDCG@10") == [pytest.approx(expected)]
    chunk = judged(set_, chunks, run(chunks, q=["doc#0-18", "doc#0-18", "doc#0-9"]), "chunk", doc=TEXT)
    assert rows(chunk.found) == [(0, 1, 1.0), (0, 3, 1.0)]
    assert rows(chunk.ideal) == [(0, 1, 1.0), (0, 2, 1.0), (0, 3, 1.0)]


def test_a_lost_anchor_is_in_the_ideal_at_a_rank_of_its_own_and_not_in_the_best():
    set_ = golden(q=[anchor("alpha one"), anchor("beta two"), anchor("gone for good")])
    chunks = table(("doc", 0, 18))
    one = judged(set_, chunks, run(chunks, q=["doc#0-18"]), "anchor", doc=TEXT)
    assert rows(one.ideal) == [(0, 1, 1.0), (0, 1, 1.0), (0, 2, 1.0)]
    assert rows(one.best) == [(0, 1, 1.0), (0, 1, 1.0)]
    assert value(one, "recall@5") == [pytest.approx(2 / 3)]
    chunk = judged(set_, chunks, run(chunks, q=["doc#0-18"]), "chunk", doc=TEXT)
    assert rows(chunk.ideal) == [(0, 1, 1.0), (0, 2, 1.0)]
    assert rows(chunk.best) == [(0, 1, 1.0)]


def test_two_ids_of_one_place_are_one_chunk_and_the_second_earns_nothing():
    chunks = table(("doc", 0, 9), ("doc", 0, 9), ("doc", 10, 18), ids=["v", "w", "x"])
    for hits, expected in ((["v", "w"], [(0, 1, 1.0)]), (["x", "w", "v"], [(0, 2, 1.0)])):
        for unit in UNITS[:2]:
            one = judged(golden(q=anchor("alpha one")), chunks, run(chunks, q=hits), unit, doc=TEXT)
            assert rows(one.found) == expected
            assert rows(one.ideal) == [(0, 1, 1.0)]


def test_the_first_hit_of_a_document_earns_it_and_alternatives_are_one_item():
    set_ = golden(
        q=Anchor(
            id="a1",
            doc_id="d1",
            quote="one",
            alternatives=(Anchor(id="b", doc_id="d2", quote="two"),),
            grade=2,
        ),
        r=[anchor("one", "d1"), anchor("two", "d2")],
        s=[anchor("one", "d1"), anchor("two", "missing")],
    )
    chunks = table(("d1", 0, 3), ("d2", 0, 3), ("d2", 4, 7))
    made = run(
        chunks,
        q=["d2#0-3", "d1#0-3"],
        r=["d2#4-7", "d2#0-3", "d1#0-3"],
        s=["d2#0-3", "d1#0-3"],
        extra=["d1#0-3"],
    )
    one = judged(set_, chunks, made, "document", d1="one", d2="two too")
    assert rows(one.found) == [(0, 1, 2.0), (1, 1, 1.0), (1, 3, 1.0), (2, 2, 1.0)]
    assert rows(one.ideal) == [(0, 1, 2.0), (1, 1, 1.0), (1, 2, 1.0), (2, 1, 1.0), (2, 2, 1.0)]
    assert rows(one.best) == [(0, 1, 2.0), (1, 1, 1.0), (1, 2, 1.0), (2, 1, 1.0)]


def test_queries_stand_in_the_order_of_the_set_and_missing_ones_are_not_answered():
    set_ = golden(q1=anchor("alpha one"), q2=anchor("beta two"), q3=anchor("gamma three"))
    chunks = table(("doc", 0, 9), ("doc", 10, 18), ("doc", 19, 30))
    made = run(chunks, stray=["doc#0-9"], q3=["doc#0-9", "doc#19-30"], q1=["doc#0-9"])
    one = judged(set_, chunks, made, "chunk", doc=TEXT)
    assert one.query_ids == ("q1", "q2", "q3")
    assert rows(one.found) == [(0, 1, 1.0), (2, 2, 1.0)]
    assert one.retrieved.tolist() == [1, 0, 2]
    assert one.answered is not None
    assert one.answered.tolist() == [True, False, True]
    assert golden_lists(*made, set_).chunks.tolist() == [0, 0, 2]


def test_grades_of_0_and_below_are_judged_and_never_relevant():
    chunks = table(("a", 0, 1), ("b", 0, 1), ("c", 0, 1))
    set_ = golden(q={"a#0-1": 0.0, "b#0-1": 0.5, "c#0-1": -1.0})
    for unit in UNITS:
        one = judged(set_, chunks, run(chunks, q=["a#0-1", "b#0-1"]), unit, a="x", b="y", c="z")
        assert rows(one.found) == [(0, 1, 0.0), (0, 2, 0.5)]
        assert rows(one.ideal) == [(0, 1, 0.5)]
        assert one.nonrelevant is not None
        assert one.nonrelevant.tolist() == [2]


def test_an_empty_run_and_a_set_without_answers_are_judged_too():
    chunks = table()
    for unit in UNITS:
        one = judged(golden(q=anchor("alpha one")), chunks, run(chunks, q=[]), unit, doc=TEXT)
        assert rows(one.found) == []
        assert value(one, "recall@3") == [0.0]


def test_an_index_that_is_not_known_has_open_items_that_could_have_been_found():
    set_ = golden(q=[anchor("alpha one"), anchor("beta two")])
    chunks = table(("doc", 0, 9))
    relevance = find_relevance(set_, documents(doc=TEXT), chunks, whole_index=False)
    assert relevance.queries[0].lost == {}
    assert [notice.code for notice in relevance.notices] == ["index-not-known"]
    for unit in UNITS[:2]:
        one = judge(*run(chunks, q=["doc#0-9"]), relevance, set_, unit)
        assert value(one, "recall@5") == [0.5]
        assert len(rows(one.best)) == 2


def test_spans_are_one_place_an_item_and_the_one_that_was_held():
    set_ = golden(q=anchor("beta"), r=anchor("alpha"))
    text = "beta and alpha and beta"
    chunks = table(("doc", 0, 10), ("doc", 12, 23), ("doc", -1, -1))
    relevance = find_relevance(set_, documents(doc=text), chunks)
    codes = SpanCodes(chunks)
    retrieved = codes.retrieved(golden_lists(*run(chunks, q=["doc#12-23"], r=["doc#0-10"]), set_))
    anchors = codes.anchors(relevance, set_, retrieved)
    assert list(zip(anchors.start.tolist(), anchors.end.tolist(), strict=True)) == [(19, 23), (9, 14)]
    shown, wanted = (
        Spans(query=one.query, doc=one.doc, start=one.start, end=one.end) for one in (retrieved, anchors)
    )
    scores = span_scores(shown, wanted, 2)
    assert scores.recall.tolist() == [1.0, 0.2]  # of "alpha" [9, 14) the chunk [0, 10) holds one sign
    assert scores.precision.tolist() == [4 / 11, 0.1]
    assert len(codes.all_chunks().start) == 2


def gains(placed: list[list[float]]) -> list[float]:
    return [sum(earned) for earned in placed]


def best_by_trying(grades: dict[int, float], coverers: list[list[int]], k: int) -> float:
    return max(
        sum(
            sum(grades[item] for item in set(covered) - {item for before in some[:at] for item in before})
            / math.log2(at + 2)
            for at, covered in enumerate(some)
        )
        for some in itertools.permutations(coverers, min(k, len(coverers)))
    )


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(st.integers(0, 4), st.sampled_from([0.5, 1.0, 2.0]), min_size=5),
    st.lists(st.lists(st.integers(0, 4), unique=True, min_size=1, max_size=3), min_size=1, max_size=5),
)
def test_no_list_of_the_chunks_exceeds_the_ideal_at_any_cut(
    grades: dict[int, float], coverers: list[list[int]]
):
    placed = gains(best_placing(grades, coverers))
    for k in range(1, len(coverers) + 1):
        ideal = sum(gain / math.log2(at + 2) for at, gain in enumerate(placed[:k]))
        assert best_by_trying(grades, coverers, k) <= ideal + 1e-12
    assert sum(placed) == pytest.approx(
        sum(grades[item] for item in {one for some in coverers for one in some})
    )


def test_the_ideal_is_reached_where_one_list_is_best_at_every_cut():
    grades = dict.fromkeys(range(5), 1.0)
    coverers = [[0], [0, 1], [1, 2, 3], [4]]
    placed = gains(best_placing(grades, coverers, alone=[1.5]))
    assert placed == [3.0, 1.5, 1.0, 1.0]


def test_the_best_pair_need_not_hold_the_best_single_chunk():
    # alone [1, 2, 3, 4] earns most; together [0, 1, 2] and [3, 4, 5] earn all six
    coverers = [[0, 1, 2], [1, 2, 3, 4], [3, 4, 5]]
    assert gains(best_placing(dict.fromkeys(range(6), 1.0), coverers)) == [4.0, 2.0]


def test_twelve_anchors_in_a_chain_of_chunks_are_placed_without_trying_everything():
    coverers = [[at, at + 1, at + 2] for at in range(22)]
    placed = gains(best_placing(dict.fromkeys(range(24), 1.0), coverers))
    assert sum(placed) == 24
    assert placed[0] == 3


def test_ten_thousand_queries_of_200_hits_are_judged_in_a_moment():
    rng = np.random.default_rng(7)
    n, depth, size = 10_000, 200, 50_000
    chunks = table(*[(f"d{at % 5000}", at, at + 10) for at in range(size)])
    ids = chunks.ids
    relevance = Relevance(
        queries=tuple(
            QueryRelevance(
                query_id=f"q{at}",
                chunk_grades={ids[at]: 1.0, ids[at + 5000]: 1.0},
                anchor_grades={"a1": 1.0, "a2": 1.0},
                document_grades={f"d{at % 5000}": 1.0},
                covers={ids[at]: ("a1",), ids[at + 5000]: ("a1", "a2")},
            )
            for at in range(n)
        )
    )
    set_ = golden(**{f"q{at}": {"d": 1.0} for at in range(n)})
    hits = rng.integers(0, size, n * depth).astype(np.int32)
    hits[depth // 2 :: depth] = np.arange(n)
    stage = StageTable(
        name="final",
        role="final",
        offsets=np.arange(0, n * depth + 1, depth),
        chunks=hits,
        scores=np.zeros(n * depth),
    )
    made = run(chunks)[1]
    made = replace(run(chunks)[1], query_ids=tuple(f"q{at}" for at in range(n)), stages=(stage,))
    for unit in UNITS:
        one = judge(stage, made, relevance, set_, unit)
        assert len(one.found.rank) >= n
        assert (one.found.rank <= depth).all()
        assert (np.diff(one.found.query.astype(np.int64) * 1000 + one.found.rank) >= 0).all()
