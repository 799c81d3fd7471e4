from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assay.diagnosis.losses import find_losses
from assay.diagnosis.waterfall import waterfall, waterfalls
from assay.matching import judge
from assay.measures.batch import score
from assay.measures.spec import parse_measures
from assay.model.findings import PLACES, ItemLoss, LostAt
from assay.model.golden import GoldenSet, Query
from planted import planted_relevance, planted_run

ROWS = st.lists(
    st.tuples(st.sampled_from(["q1", "q2", "q3", "q4"]), st.sampled_from((None, *PLACES))), max_size=40
)


def losses_of(rows: list[tuple[str, LostAt | None]]) -> list[ItemLoss]:
    return [
        ItemLoss(query_id=query, item_id=f"a{place}", lost_at=lost_at)
        for place, (query, lost_at) in enumerate(rows)
    ]


@given(rows=ROWS)
def test_the_parts_add_up_to_the_final_recall_to_the_last_digit(rows: list[tuple[str, LostAt | None]]):
    losses = losses_of(rows)
    flow = waterfall(losses)
    lost = sum((part.lost for part in flow.parts), Fraction(0))
    queries = {loss.query_id for loss in losses}
    if not queries:
        assert flow.recall is None
        return
    by_hand = sum(
        (
            Fraction(sum(one.found for one in own), len(own))
            for own in ([loss for loss in losses if loss.query_id == query] for query in queries)
        ),
        Fraction(0),
    ) / len(queries)
    assert flow.recall == by_hand == 1 - lost
    assert sum(part.items for part in flow.parts) + flow.found == flow.items == len(losses)
    kept = [part.kept for part in flow.parts]
    assert kept == sorted(kept, reverse=True)


def test_two_queries_by_hand():
    # q1: 2 of 3 items found, one cut by the chunker; q2: its one item lost in fusion.
    losses = [
        ItemLoss(query_id="q1", item_id="a1", lost_at=None),
        ItemLoss(query_id="q1", item_id="a2", lost_at="cut by the chunker"),
        ItemLoss(query_id="q1", item_id="a3", lost_at=None),
        ItemLoss(query_id="q2", item_id="a1", lost_at="fusion"),
    ]
    flow = waterfall(losses)
    assert [(part.lost_at, part.lost, part.kept) for part in flow.parts] == [
        ("cut by the chunker", Fraction(1, 6), Fraction(5, 6)),
        ("fusion", Fraction(1, 2), Fraction(1, 3)),
    ]
    assert flow.recall == Fraction(1, 3)


def test_each_kind_has_its_own_and_a_declared_kind_without_queries_has_no_number():
    losses = [ItemLoss(query_id="q1", item_id="a1", lost_at="fusion")]
    flows = waterfalls(losses, {"q1": "factual"}, kinds=["lexical", "factual"])
    assert [(one.group, one.recall, one.queries) for one in flows] == [
        (None, Fraction(0), 1),
        ("lexical", None, 0),
        ("factual", Fraction(0), 1),
    ]


def test_the_end_of_the_waterfall_is_recall_in_the_anchor_unit():
    run = planted_run(
        {
            "vector": {"q1": ["g1", "x", "g2"], "q2": ["x", "y"], "q3": ["g3", "y"]},
            "final": {"q1": ["g1", "x"], "q2": ["x", "y"], "q3": ["g3", "y"]},
        },
        k=2,
    )
    relevance = planted_relevance(
        {
            "q1": {"a1": ["g1"], "a2": ["g2"]},
            "q2": {"a1": ["g9"]},
            "q3": {"a1": ["g3", "y"]},
            "q4": {"a1": ["g1"]},
        }
    )
    golden = GoldenSet(name="g", queries=tuple(Query(id=f"q{at}", text="") for at in range(1, 5)))
    flow = waterfall(find_losses(run, relevance))
    judged = judge(run.final, run, relevance, golden, "anchor")
    (column,) = score(judged, list(parse_measures(["recall@2"]))).values()
    assert flow.recall == Fraction(1 / 2) / 4 + Fraction(1, 4)  # q1 a half, q3 whole, q2 and q4 nothing
    assert flow.recall is not None
    assert float(flow.recall) == float(np.mean(column))
