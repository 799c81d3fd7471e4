from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.comparison.matrix import compare_many
from assay.comparison.paired import compare_tables
from assay.model.comparison import Comparison
from assay.model.errors import InputError
from assay.model.scores import ScoreTable
from shared_data import load_cases, needs_shared

NAN = float("nan")


def table(
    scores: dict[str, float], *, measure: str = "recall@10", kinds: dict[str, str] | None = None
) -> ScoreTable:
    return ScoreTable(
        query_ids=tuple(scores),
        values={measure: np.array(list(scores.values()), dtype=np.float64)},
        groups={} if kinds is None else {"kind": tuple(kinds[query] for query in scores)},
    )


def numbered(scores: list[float], **options: Any) -> ScoreTable:
    return table({f"q{number:03}": score for number, score in enumerate(scores)}, **options)


def compare(base: list[float], candidate: list[float], **options: Any) -> Comparison:
    return compare_tables(numbered(base), numbered(candidate), by=None, draws=2_000, **options)


def codes(comparison: Comparison) -> list[str]:
    return [notice.code for notice in comparison.notices]


def eighty() -> tuple[list[float], list[float]]:
    """80 queries: 11 gained, 2 lost, 67 same; 57 to 66 of 80."""
    base = [1.0] * 55 + [0.0] * 12 + [0.0] * 11 + [1.0] * 2
    candidate = [1.0] * 55 + [0.0] * 12 + [1.0] * 11 + [0.0] * 2
    return base, candidate


def test_the_sentence_that_people_paste():
    base, candidate = eighty()
    row = compare_tables(numbered(base), numbered(candidate), by=None).row("recall@10")
    # exact: 2 * (C(13,0) + C(13,1) + C(13,2)) / 2^13 = 2 * 92 / 8192 = 0.02246
    assert row.p == 184 / 8192
    assert row.exact
    assert row.verdict == "better"
    assert row.sentence == (
        "recall@10 went 0.71 to 0.82 (+0.11, 95 % interval +0.04 to +0.21, p 0.022) on 80 queries: "
        "11 gained, 2 lost, 67 same."
    )


def test_figures_of_a_row_by_hand():
    row = compare([0.0, 0.5, 1.0, 1.0], [0.5, 0.5, 1.0, 0.0]).row("recall@10")
    assert (row.n, row.base, row.candidate, row.difference) == (4, 0.625, 0.5, -0.125)
    assert (row.wins, row.losses, row.ties, row.decided) == (1, 1, 2, 2)
    assert row.win_share == 0.5
    # differences 0.5, 0, 0, -1: mean -0.125; squares 0.390625 + 2 * 0.015625 + 0.765625 = 1.1875, over 3
    assert row.effect == pytest.approx(-0.125 / (1.1875 / 3) ** 0.5)
    # sums of +-0.5 +-1: 1.5, 0.5, -0.5, -1.5; all at least 0.5 out
    assert row.p == 1.0


def test_identical_runs_have_p_1_and_no_nan():
    comparison = compare([1.0, 0.0, 0.3], [1.0, 0.0, 0.3])
    row = comparison.row("recall@10")
    assert (row.p, row.p_holm, row.verdict) == (1.0, 1.0, "no difference seen")
    assert (row.effect, row.detectable, row.needed, row.win_share) == (None, None, None, None)
    assert row.interval is not None
    assert (row.interval.low, row.interval.high, row.interval.method) == (0.0, 0.0, "constant")
    assert row.sentence == (
        "recall@10 stayed at 0.43 (+0.00, 95 % interval +0.00 to +0.00, p 1) on 3 queries: "
        "0 gained, 0 lost, 3 same."
    )
    assert comparison.moved["recall@10"] == ()


def test_rounding_dust_is_a_tie():
    row = compare([0.1 + 0.2, 0.5], [0.3, 0.5]).row("recall@10")
    assert (row.wins, row.losses, row.ties, row.difference) == (0, 0, 2, 0.0)


def test_too_few_decided_queries_say_what_they_could_have_shown():
    row = compare([0.0] * 3 + [1.0] * 7, [1.0] * 10).row("recall@10")
    assert row.verdict == "not enough queries"
    # sd of three 1s in ten: sqrt(0.21 * 10 / 9) = 0.483; (2.262 + 0.883) * 0.483 / sqrt(10) = 0.48
    assert row.detectable == pytest.approx(0.48, abs=0.005)
    assert row.sentence.endswith(
        "3 gained, 0 lost, 7 same. 3 decided queries can never reach 0.05 (smallest p 1/4). "
        "This set could have shown a difference of 0.48; "
        f"to prove the one seen takes about {row.needed} queries."
    )


def test_a_difference_that_is_not_proven_says_so():
    base = [0.0] * 8 + [1.0] * 6 + [1.0] * 26
    candidate = [1.0] * 8 + [0.0] * 6 + [1.0] * 26
    row = compare(base, candidate).row("recall@10")
    assert row.verdict == "could be chance"
    assert "That could be chance. This set could have shown a difference of 0.27" in row.sentence


def test_a_loss_is_worse():
    base, candidate = eighty()
    assert compare(candidate, base).row("recall@10").verdict == "worse"


def test_a_measure_that_is_better_low_turns_the_verdict_round():
    low = numbered([0.1] * 10, measure="RBP_residual@10")
    high = numbered([0.5] * 10, measure="RBP_residual@10")
    assert compare_tables(low, high, by=None).rows[0].verdict == "worse"
    assert compare_tables(high, low, by=None).rows[0].verdict == "better"


def test_an_undefined_score_in_both_runs_is_out_without_a_word():
    comparison = compare([NAN, 1.0, 0.0], [NAN, 1.0, 1.0])
    assert comparison.row("recall@10").n == 2
    assert codes(comparison) == []


def test_an_undefined_score_in_one_run_is_out_and_said():
    comparison = compare([NAN, 1.0, 0.0], [0.5, 1.0, 1.0])
    assert comparison.row("recall@10").n == 2
    assert codes(comparison) == ["undefined-in-one"]
    assert comparison.notices[0].ids == ("q000",)
    assert [moved.query_id for moved in comparison.moved["recall@10"]] == ["q002"]


def test_nothing_defined_is_nothing_to_compare():
    row = compare([NAN, NAN], [NAN, NAN]).row("recall@10")
    assert (row.n, row.base, row.interval, row.p, row.verdict) == (0, None, None, 1.0, "nothing to compare")


def test_one_query_has_no_interval():
    row = compare([0.0], [1.0]).row("recall@10")
    assert row.interval is None
    assert row.sentence.startswith("recall@10 went 0.00 to 1.00 (+1.00, p 1) on 1 query: 1 gained")


def test_kinds_stand_below_the_whole_and_share_holms_correction():
    base, candidate = eighty()
    kinds = {f"q{number:03}": ("factual" if number < 40 else "conceptual") for number in range(80)}
    comparison = compare_tables(numbered(base, kinds=kinds), numbered(candidate, kinds=kinds))
    assert [row.group for row in comparison.rows] == [None, "factual", "conceptual"]
    assert comparison.by == "kind"
    assert comparison.tests == 3
    overall, factual, conceptual = comparison.rows
    assert factual.verdict == "no difference seen"
    assert conceptual.p == overall.p
    assert overall.p_holm == pytest.approx(3 * 184 / 8192)
    assert overall.verdict == "could be chance"
    assert "p 0.067 after Holm's correction over 3 tests" in overall.sentence
    assert conceptual.sentence.startswith("recall@10 [conceptual] went 0.42 to 0.65")


def test_a_missing_column_is_said():
    comparison = compare_tables(numbered([0.0, 1.0]), numbered([1.0, 1.0]), by="language")
    assert codes(comparison) == ["no-groups"]
    assert comparison.by is None


def test_a_query_that_changed_its_kind_is_said():
    base = table({"a": 1.0, "b": 0.0}, kinds={"a": "x", "b": "x"})
    candidate = table({"a": 1.0, "b": 1.0}, kinds={"a": "x", "b": "y"})
    comparison = compare_tables(base, candidate)
    assert codes(comparison) == ["regrouped"]
    assert comparison.row("recall@10", "y").wins == 1


def test_queries_that_moved_stand_most_first():
    comparison = compare([0.0, 0.5, 1.0, 0.2], [0.3, 0.5, 0.0, 0.5])
    moved = comparison.moved["recall@10"]
    assert [(query.query_id, query.base, query.candidate) for query in moved] == [
        ("q002", 1.0, 0.0),
        ("q000", 0.0, 0.3),
        ("q003", 0.2, 0.5),
    ]


def test_the_order_of_queries_changes_nothing():
    rng = np.random.default_rng(1)
    base: list[float] = rng.random(40).tolist()
    candidate: list[float] = rng.random(40).tolist()
    ids = [f"q{number}" for number in range(40)]
    forth = compare_tables(
        table(dict(zip(ids, base, strict=True))), table(dict(zip(ids, candidate, strict=True))), by=None
    )
    order: list[int] = rng.permutation(40).tolist()
    back = compare_tables(
        table({ids[place]: base[place] for place in order}),
        table(dict(zip(ids, candidate, strict=True))),
        by=None,
    )
    assert forth == back


def test_one_more_measure_changes_no_other_figure_but_the_correction():
    rng = np.random.default_rng(2)
    ids = tuple(f"q{number}" for number in range(60))
    base = ScoreTable(query_ids=ids, values={"RR": rng.random(60), "nDCG@10": rng.random(60)})
    candidate = ScoreTable(query_ids=ids, values={"RR": rng.random(60), "nDCG@10": rng.random(60)})
    alone = compare_tables(base, candidate, ["nDCG@10"], by=None).row("nDCG@10")
    among = compare_tables(base, candidate, by=None).row("nDCG@10")
    assert (alone.p, alone.interval) == (among.p, among.interval)


scores = st.sampled_from([0.0, 1 / 3, 0.5, 2 / 3, 0.7, 1.0])
pairs = st.lists(st.tuples(scores, scores), min_size=1, max_size=30)


@settings(max_examples=60)
@given(pairs)
def test_swapping_the_runs_turns_every_sign_and_no_p(both: list[tuple[float, float]]):
    base, candidate = map(list, zip(*both, strict=True))
    forth = compare(base, candidate).row("recall@10")
    back = compare(candidate, base).row("recall@10")
    assert forth.difference is not None
    assert back.difference == pytest.approx(-forth.difference)
    assert (back.p, back.wins, back.losses) == (forth.p, forth.losses, forth.wins)


@settings(max_examples=60)
@given(pairs)
def test_a_row_always_adds_up(both: list[tuple[float, float]]):
    base, candidate = map(list, zip(*both, strict=True))
    row = compare(base, candidate).row("recall@10")
    assert row.wins + row.losses + row.ties == row.n == len(both)
    assert row.difference == pytest.approx(np.mean(candidate) - np.mean(base))
    assert 0.0 < row.p <= row.p_holm <= 1.0
    if row.interval is not None:
        assert row.interval.low <= row.interval.high


def test_faults_of_a_call_are_said():
    with pytest.raises(InputError, match="no query in common"):
        compare_tables(table({"a": 1.0}), table({"b": 1.0}))
    with pytest.raises(InputError, match="not measured in every run: MRR"):
        compare_tables(table({"a": 1.0}), table({"a": 1.0}), ["MRR"])
    with pytest.raises(InputError, match="share no measure"):
        compare_tables(table({"a": 1.0}), table({"a": 1.0}, measure="RR"))
    with pytest.raises(KeyError):
        compare([1.0], [1.0]).row("RR")


def test_several_runs_are_compared_each_with_each_under_one_correction():
    base, candidate = eighty()
    matrix = compare_many(
        {"old": numbered(base), "new": numbered(candidate), "same": numbered(candidate)}, draws=1_000
    )
    assert list(matrix.pairs) == [("old", "new"), ("old", "same"), ("new", "same")]
    assert matrix.means["recall@10"] == (57 / 80, 66 / 80, 66 / 80)
    first = matrix.pairs["old", "new"].row("recall@10")
    assert first.p_holm == pytest.approx(3 * first.p)
    assert matrix.pairs["new", "same"].row("recall@10").verdict == "no difference seen"
    assert matrix.pairs["old", "new"].tests == 3


def test_a_matrix_stands_on_the_queries_that_all_runs_have():
    matrix = compare_many(
        {
            "a": table({"1": 1.0, "2": 0.0, "3": 1.0}),
            "b": table({"2": 1.0, "3": 1.0}),
            "c": table({"3": NAN, "2": 0.5, "4": 1.0}),
        }
    )
    assert matrix.n == 2
    assert matrix.means["recall@10"] == (0.0, 1.0, 0.5)  # query 3 has no value in c
    assert [notice.code for notice in matrix.notices] == ["golden-sets-differ", "undefined-in-one"]
    with pytest.raises(InputError, match="two runs or more"):
        compare_many({"a": table({"1": 1.0})})


@needs_shared
def test_case_s01_verdicts():
    case = load_cases()["S01"]
    a, b = ([float(Fraction(value)) for value in case["input"][name]] for name in "AB")
    same, expected = compare(a, b).row("recall@10"), case["expected"]["A_vs_B"]
    assert (same.difference, same.p) == (expected["mean_difference"]["value"], expected["p"]["value"])
    assert (same.wins, same.losses, same.ties) == (expected["wins"], expected["losses"], expected["ties"])
    assert same.verdict == expected["verdict"]
    gains = [float(Fraction(value)) for value in case["input"]["C_minus_A_constant"]]
    levels = [0.6, 0.2, 0.3, 0.7, 0.1]
    constant = compare(levels, [level + gain for level, gain in zip(levels, gains, strict=True)]).row(
        "recall@10"
    )
    assert constant.p == case["expected"]["constant"]["p"]["value"]
    assert constant.verdict == "not enough queries"


@needs_shared
def test_case_s03_says_what_too_few_queries_can_never_reach():
    row = compare([0.0, 0.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0]).row("recall@10")
    assert load_cases()["S03"]["expected"]["must_say"] in row.sentence


@needs_shared
def test_case_s04_the_golden_set_changed_between_the_runs():
    case = load_cases()["S04"]
    base, candidate = table(case["input"]["baseline"]), table(case["input"]["candidate"])
    expected = case["expected"]
    comparison = compare_tables(base, candidate, by=None)
    row = comparison.row("recall@10")
    assert row.n == len(expected["paired_queries"])
    assert row.difference == expected["paired_difference"]["value"]
    assert list(comparison.only_base) == expected["only_in_baseline"]
    assert list(comparison.only_candidate) == expected["only_in_candidate"]
    means = expected["whole_set_means"]
    assert base.average("recall@10").mean == means["baseline"]["value"]
    assert candidate.average("recall@10").mean == means["candidate"]["value"]
    assert codes(comparison) == ["golden-sets-differ"]
    assert "cannot be compared" in comparison.notices[0].text
