"""Pools: one entry a place, blind; and what the labels that are missing could still change."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.building.pool_bounds import (
    PoolMeasure,
    bound_retrievers,
    difference_range,
    pool_measure,
    relevant_in,
)
from assay.building.pool_items import PooledQuery, PoolItem, pooled_queries
from assay.building.pools import RankedLists, Spot, pool_queries, shuffled
from assay.model.documents import Document, chunk_id
from assay.model.errors import InputError
from assay.model.golden import Query
from assay.model.labels import Standing
from assay.model.relevance import Place
from assay.model.runs import Hit
from shared_data import load_cases, needs_shared, value_of

TEXT = "".join(f"Sentence {at:03} of the long document. " for at in range(100))
DOCUMENTS = {"a.md": Document(id="a.md", text=TEXT), "b.md": Document(id="b.md", text=TEXT[::-1])}


def hits(*spans: tuple[str, int, int]) -> list[Hit]:
    return [
        Hit(rank=rank, chunk_id=chunk_id(*span), doc_id=span[0], start=span[1], end=span[2], score=None)
        for rank, span in enumerate(spans, start=1)
    ]


def lists(name: str, **by_query: Sequence[Hit]) -> RankedLists:
    return RankedLists(name=name, hits=by_query)


# Pools


def test_overlapping_spans_of_two_chunkers_are_one_place_with_all_that_they_cover():
    one = lists("one", q1=hits(("a.md", 0, 400), ("b.md", 0, 400)))
    two = lists("two", q1=hits(("a.md", 200, 500), ("a.md", 450, 800), ("b.md", 0, 100)))
    (pool,) = pool_queries([Query(id="q1", text="?")], [one, two], DOCUMENTS, name="p", depth=9, seed=0)
    shown = {candidate.place: dict(candidate.ranks) for candidate in pool.candidates}
    # 200-400 is two thirds of 200-500; 450-500 is a seventh of 450-800; b.md 0-100 lies inside 0-400.
    assert shown == {
        "a.md#0-500": {"one": 1, "two": 1},
        "b.md#0-400": {"one": 2, "two": 3},
        "a.md#450-800": {"two": 2},
    }
    for candidate in pool.candidates:
        assert candidate.text == DOCUMENTS[candidate.doc_id].text[candidate.start : candidate.end]


def test_places_do_not_grow_in_a_chain():
    spans = [("a.md", at * 40, at * 40 + 100) for at in range(10)]
    (pool,) = pool_queries(
        [Query(id="q1", text="?")], [lists("one", q1=hits(*spans))], DOCUMENTS, name="p", depth=20, seed=0
    )
    assert max(candidate.end - candidate.start for candidate in pool.candidates) <= 200


def test_only_the_first_hits_of_each_list_are_taken_and_hits_without_a_place_are_not():
    found = hits(*(("a.md", at * 100, at * 100 + 90) for at in range(9)))
    nowhere = Hit(rank=1, chunk_id="x", doc_id="a.md", start=None, end=None, score=None, text="somewhere")
    pools = pool_queries(
        [Query(id="q1", text="?")],
        [lists("one", q1=found), lists("two", q1=[nowhere])],
        DOCUMENTS,
        name="p",
        depth=3,
        seed=0,
    )
    assert len(pools[0].candidates) == 3


def test_the_order_is_shuffled_by_the_seed_and_shows_nothing_of_the_ranks():
    found = lists("one", q1=hits(*(("a.md", at * 100, at * 100 + 90) for at in range(30))))
    queries = [Query(id="q1", text="?"), Query(id="q2", text="!")]

    def order(seed: int, asked: Sequence[Query] = queries) -> list[int]:
        pools = pool_queries(asked, [found], DOCUMENTS, name="p", depth=30, seed=seed)
        return [candidate.ranks["one"] for candidate in pools[0].candidates]

    assert order(0) == order(0) == order(0, queries[:1])
    assert order(0) != order(1)
    assert order(0) != sorted(order(0))
    assert sorted(order(0)) == list(range(1, 31))
    assert shuffled(30, 0, "q1") != shuffled(30, 0, "q2")


def test_the_same_pooling_has_the_same_id_and_another_has_another():
    found = lists("one", q1=hits(("a.md", 0, 90)))

    def identity(name: str, depth: int) -> str:
        return pool_queries([Query(id="q1", text="?")], [found], DOCUMENTS, name=name, depth=depth, seed=0)[
            0
        ].id

    assert identity("p", 5) == identity("p", 5)
    assert len({identity("p", 5), identity("r", 5), identity("p", 6)}) == 3


@needs_shared
def test_queries_without_candidates_can_be_labelled_and_count():
    case = load_cases()["B05"]
    given_, expected = case["input"], case["expected"]
    count, empty = given_["logged_queries"], given_["with_no_candidates"]
    queries = [Query(id=f"q{at}", text="?") for at in range(count)]
    by_query = {
        query.id: hits(("a.md", 100 * at, 100 * at + 90)) if at >= empty else []
        for at, query in enumerate(queries)
    }
    found = RankedLists(name="one", hits=by_query)
    pools = pool_queries(queries, [found], DOCUMENTS, name="p", depth=5, seed=0)
    assert len(pools) == expected["labelled"]
    assert sum(not pool.candidates for pool in pools) == empty
    # All ten have an answer: five where it was found, five elsewhere in the corpus.
    right = given_["labelled_hits_among_other_6"]
    anchors = {
        query.id: [(Place(doc_id="a.md", start=100 * at + 10, end=100 * at + 60), 1.0)]
        if empty <= at < empty + right
        else [(Place(doc_id="b.md", start=10, end=60), 1.0)]
        for at, query in enumerate(queries)
    }
    pooled = pooled_queries(queries, [found], DOCUMENTS, anchors=anchors, depth=5)
    verdict = bound_retrievers(pooled, pool_measure("recall@5"))
    assert verdict.queries == expected["labelled"]
    assert verdict.retrievers[0].measured == pytest.approx(value_of(expected["recall@5"]))
    # Said to have no answer, they leave the mean instead.
    nowhere = [Query(id=query.id, text="?", answerable=at >= empty) for at, query in enumerate(queries)]
    rest = pooled_queries(nowhere, [found], DOCUMENTS, anchors=anchors, depth=5)
    assert bound_retrievers(rest, pool_measure("recall@5")).retrievers[0].measured == pytest.approx(5 / 6)


# What is known


def test_a_place_is_judged_by_a_grade_for_what_it_shares_half_with_or_by_an_anchor_inside():
    found = lists("one", q1=hits(("a.md", 0, 100), ("a.md", 200, 300), ("a.md", 400, 500), ("b.md", 0, 100)))
    standings = [
        Standing(query_id="q1", place="a.md#0-120", grade=0.0),
        Standing(query_id="q1", place="b.md#40-160", grade=2.0),
        Standing(query_id="q1", place="b.md#900-950", grade=1.0),
        Standing(query_id="q1", place="a.md#400-500", grade=None),
        Standing(query_id="q2", place="a.md#200-300", grade=1.0),
    ]
    anchors = {
        "q1": [
            (Place(doc_id="a.md", start=210, end=260), 1.0),
            (Place(doc_id="a.md", start=380, end=420), 1.0),
        ]
    }
    (query,) = pooled_queries(
        [Query(id="q1", text="?")], [found], DOCUMENTS, standings=standings, anchors=anchors, depth=5
    )
    grades = {item.place: item.grade for item in query.items}
    assert grades == {
        "a.md#0-100": 0.0,
        "a.md#200-300": 1.0,
        "a.md#400-500": None,  # holds a part of an anchor: unknown
        "b.md#0-100": 2.0,  # 60 of 100 in common
        "b.md#900-950": 1.0,  # judged, and nobody found it
        "a.md#380-420": 1.0,  # an anchor that nobody found
    }
    assert query.lists == {"one": (0, 1, 2, 3)}
    assert query.known == 4


# Bounds


def pooled(grades: Sequence[float | None], **ranked: Sequence[int]) -> PooledQuery:
    items = tuple(PoolItem(place=f"d#{at}-{at + 1}", grade=grade) for at, grade in enumerate(grades))
    return PooledQuery(
        query_id="q1", items=items, lists={name: tuple(places) for name, places in ranked.items()}
    )


def test_best_and_worst_case_stand_beside_the_measured_value():
    # Places 0 and 3 are relevant, 1 is not, 2 and 4 are unknown; A holds 0 1 2, B holds 3 4 1.
    query = pooled([1, 0, None, 1, None], A=[0, 1, 2], B=[3, 4, 1])
    verdict = bound_retrievers([query], pool_measure("recall@3"))
    a = next(one for one in verdict.retrievers if one.name == "A")
    assert a.judged == pytest.approx(2 / 3)
    assert a.unjudged == 1
    assert a.measured == 1 / 2  # of 0 and 3 it has 0
    assert a.best == 2 / 3  # 2 is relevant, 4 is not
    assert a.worst == 1 / 3  # 4 is relevant, 2 is not
    precision = bound_retrievers([query], pool_measure("precision@3"))
    bounds = {one.name: (one.worst, one.measured, one.best) for one in precision.retrievers}
    assert bounds["A"] == pytest.approx((1 / 3, 1 / 3, 2 / 3))
    reciprocal = bound_retrievers([query], pool_measure("MRR@3"))
    assert {one.name: one.best for one in reciprocal.retrievers} == {"A": 1.0, "B": 1.0}


def test_queries_with_nothing_relevant_known_are_in_no_mean_and_are_asked_for():
    known = pooled([1, None], A=[0, 1], B=[1, 0])
    unknown = PooledQuery(
        query_id="q2",
        items=(PoolItem(place="d#7-8", grade=None), PoolItem(place="d#9-10", grade=0.0)),
        lists={"A": (0,), "B": (1,)},
    )
    verdict = bound_retrievers([known, unknown], pool_measure("recall@2"))
    assert (verdict.queries, verdict.open_queries) == (1, 1)
    assert [one.measured for one in verdict.retrievers] == [1.0, 1.0]
    assert "q2" in {label.query_id for label in verdict.next_labels}


def test_a_winner_that_no_label_can_change_is_said_to_stand_and_nothing_is_asked():
    query = pooled([1, 1, None], A=[0, 1], B=[2])
    verdict = bound_retrievers([query], pool_measure("recall@2"))
    # At best B has 1 of 3, and A has 2 of 3 then.
    assert (verdict.leader, verdict.open_against, verdict.next_labels) == ("A", (), ())


def test_labels_are_asked_by_their_swing_and_those_at_the_same_rank_never():
    # precision@2: 1 is in both lists, 2 only in B, 3 in none of the two tops.
    query = pooled([1, None, None, None], A=[0, 1, 3], B=[2, 1])
    verdict = bound_retrievers([query], pool_measure("precision@2"))
    assert verdict.leader == "A"
    assert verdict.open_against == ("B",)
    assert [(label.place, label.swing) for label in verdict.next_labels] == [("d#2-3", 0.5)]
    reciprocal = bound_retrievers([query], pool_measure("MRR@2"))
    assert reciprocal.next_labels[0].place == "d#2-3"


def test_giving_the_labels_that_are_asked_for_settles_who_wins():
    queries = [
        PooledQuery(
            query_id=f"q{at}",
            items=tuple(PoolItem(place=f"d#{n}-{n + 1}", grade=1.0 if n == 0 else None) for n in range(6)),
            lists={"A": (0, 1, 2), "B": (3, 4, 0), "C": (5, 0, 1)},
        )
        for at in range(4)
    ]
    measure = pool_measure("precision@3")
    for _ in range(40):
        verdict = bound_retrievers(queries, measure)
        if not verdict.next_labels:
            break
        label = verdict.next_labels[0]
        queries = [
            PooledQuery(
                query_id=query.query_id,
                items=tuple(
                    PoolItem(place=item.place, grade=float(item.place in {"d#3-4", "d#4-5"}))
                    if (query.query_id, item.place) == (label.query_id, label.place)
                    else item
                    for item in query.items
                ),
                lists=query.lists,
            )
            for query in queries
        ]
    verdict = bound_retrievers(queries, measure)
    assert (verdict.leader, verdict.open_against) == ("B", ())


@settings(max_examples=150)
@given(
    st.lists(st.sampled_from([None, None, 1.0, 0.0]), min_size=1, max_size=7),
    st.randoms(use_true_random=False),
    st.sampled_from(["hit", "recall", "precision", "MRR"]),
    st.integers(1, 5),
)
def test_ranges_are_those_of_every_grading_that_there_is(
    grades: list[float | None],
    random: object,
    name: str,
    k: int,
):
    order = list(range(len(grades)))
    random.shuffle(order)  # type: ignore[attr-defined] # hypothesis' own random
    first = order[: max(1, len(order) // 2 + 1)]
    random.shuffle(order)  # type: ignore[attr-defined] # hypothesis' own random
    query = pooled(grades, A=first, B=order[: max(1, len(order) - 2)])
    measure = PoolMeasure(name=name, k=k)
    known, unjudged = relevant_in(query), sorted(query.unjudged)
    gradings = [
        known | set(some)
        for size in range(len(unjudged) + 1)
        for some in itertools.combinations(unjudged, size)
    ]
    differences = [
        measure.value(query.lists["A"], relevant) - measure.value(query.lists["B"], relevant)
        for relevant in gradings
    ]
    assert difference_range(query, "A", "B", measure) == pytest.approx((min(differences), max(differences)))
    if query.known:
        for one in bound_retrievers([query], measure).retrievers:
            values = [measure.value(query.lists[one.name], relevant) for relevant in gradings]
            assert (one.worst, one.best) == pytest.approx((min(values), max(values)))
            assert one.worst is not None
            assert one.measured is not None
            assert one.best is not None
            assert one.worst <= one.measured <= one.best


@pytest.mark.parametrize("spelling", ["nDCG@10", "recall", "recall@0", "hits@3", ""])
def test_a_measure_that_cannot_be_bounded_is_refused(spelling: str):
    with pytest.raises(InputError, match="cannot be bounded"):
        pool_measure(spelling)


def test_spans_of_other_documents_are_never_one_place():
    assert Spot(doc_id="a", start=0, end=9).meets(Spot(doc_id="b", start=0, end=9)) == 0.0
    assert Spot(doc_id="a", start=0, end=9).meets(Spot(doc_id="a", start=9, end=12)) == 0.0
