from __future__ import annotations

from dataclasses import replace

from assay.diagnosis.findings import agreement, apply_decisions, distribution, trace_digest
from assay.model.findings import Decision, Evidence, Finding, ItemLoss, LostAt


def finding(
    query_id: str = "q1", *, kind: str | None = "ranking", lost_at: LostAt = "final cut", trace: str = "t1"
) -> Finding:
    return Finding(
        query_id=query_id,
        kind_of_query="factual",
        item="a1",
        lost_at=lost_at,
        kind=kind,
        fix="hybrid-weights" if kind else None,
        evidence=Evidence(sentence="So it is."),
        proposed=kind,
        trace=trace,
    )


def decision(
    query_id: str = "q1", *, kind: str | None = "ranking", lost_at: LostAt = "final cut", trace: str = "t1"
) -> Decision:
    return Decision(
        query_id=query_id,
        item="a1",
        lost_at=lost_at,
        kind=kind,
        proposed="ranking",
        by="ada",
        when="2026-01-02T03:04:05Z",
        trace=trace,
        note="seen",
    )


def test_a_confirmed_finding_keeps_its_kind_and_says_who_and_when():
    (one,) = apply_decisions([finding()], [decision()])
    assert (one.status, one.kind, one.fix, one.by, one.when, one.note, one.stale) == (
        "confirmed",
        "ranking",
        "hybrid-weights",
        "ada",
        "2026-01-02T03:04:05Z",
        "seen",
        False,
    )


def test_a_changed_finding_has_the_persons_kind_and_its_fix_and_remembers_the_proposal():
    (one,) = apply_decisions([finding()], [decision(kind="vocabulary-gap")])
    assert (one.status, one.kind, one.proposed, one.fix) == (
        "changed",
        "vocabulary-gap",
        "ranking",
        "better-embedder",
    )


def test_a_person_may_say_that_it_is_unexplained():
    (one,) = apply_decisions([finding()], [decision(kind=None)])
    assert (one.status, one.kind, one.fix) == ("changed", None, None)
    (same,) = apply_decisions([finding(kind=None)], [decision(kind=None)])
    assert same.status == "confirmed"


def test_a_kind_of_the_teams_own_brings_its_own_fix():
    (one,) = apply_decisions([finding()], [decision(kind="typo")], fix_of={"typo": "fuzzy"})
    assert one.fix == "fuzzy"


def test_a_decision_goes_stale_when_the_trace_changes_and_still_holds():
    (one,) = apply_decisions([finding(trace="t2")], [decision(kind="vocabulary-gap")])
    assert one.stale
    assert (one.status, one.kind) == ("changed", "vocabulary-gap")


def test_a_decision_about_another_place_of_loss_is_stale_and_the_proposal_stands():
    (one,) = apply_decisions([finding(lost_at="fusion", trace="t2")], [decision(kind="vocabulary-gap")])
    assert one.stale
    assert (one.status, one.kind, one.by) == ("proposed", "ranking", "ada")


def test_the_decision_for_this_place_counts_where_there_are_several():
    (one,) = apply_decisions(
        [finding()], [decision(lost_at="fusion", kind="vocabulary-gap"), decision(kind="ranking")]
    )
    assert (one.status, one.stale) == ("confirmed", False)


def test_agreement_counts_what_was_reviewed_and_leaves_stale_ones_out():
    findings = apply_decisions(
        [finding("q1"), finding("q2"), finding("q3"), finding("q4", trace="t2"), finding("q5")],
        [decision("q1"), decision("q2"), decision("q3", kind="vocabulary-gap"), decision("q4")],
    )
    found = agreement(findings)
    assert (found.reviewed, found.confirmed, found.share) == (3, 2, 2 / 3)
    assert found.interval is not None
    # Wilson for 2 of 3: centre (2/3 + z2/6) / (1 + z2/3), z = 1.96: 0.2077 to 0.9385
    assert (round(found.interval.low, 4), round(found.interval.high, 4)) == (0.2077, 0.9385)


def test_nothing_reviewed_has_no_share():
    found = agreement([finding()])
    assert (found.reviewed, found.share, found.interval) == (0, None, None)


def test_the_distribution_keeps_the_order_of_kinds_and_puts_the_unexplained_last():
    assert distribution([None, "b", "z", "a", "b"], ["a", "b", "c"]) == {
        "a": 1,
        "b": 2,
        "z": 1,
        "unexplained": 1,
    }


def test_the_digest_changes_with_place_ranks_chunk_and_top_hits():
    loss = ItemLoss(query_id="q", item_id="a1", lost_at="fusion", chunk_id="c", ranks={"pool": 7})
    digests = {
        trace_digest(loss, ["x"]),
        trace_digest(loss, ["y"]),
        trace_digest(replace(loss, lost_at="pool cut"), ["x"]),
        trace_digest(replace(loss, ranks={"pool": 8}), ["x"]),
        trace_digest(replace(loss, chunk_id="d"), ["x"]),
    }
    assert len(digests) == 5
    assert trace_digest(replace(loss, detail="in other words"), ["x"]) == trace_digest(loss, ["x"])
