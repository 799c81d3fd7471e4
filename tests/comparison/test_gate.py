from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from assay.comparison.baseline import make_baseline
from assay.comparison.gate import check_gates, parse_gates
from assay.comparison.reachable import neighbours
from assay.model.errors import ConfigError
from assay.model.gates import Baseline, GateReport, GateResult
from assay.model.scores import ScoreTable
from shared_data import load_cases, needs_shared

NAN = float("nan")


def table(
    scores: list[float],
    *,
    measure: str = "recall@10",
    kinds: list[str] | None = None,
    ceilings: list[float] | None = None,
) -> ScoreTable:
    return ScoreTable(
        query_ids=tuple(f"q{number}" for number in range(len(scores))),
        values={measure: np.array(scores, dtype=np.float64)},
        ceilings={} if ceilings is None else {measure: np.array(ceilings)},
        groups={} if kinds is None else {"kind": tuple(kinds)},
    )


def check(rule: str, scores: list[float], *, key: str = "recall@10", **options: Any) -> GateResult:
    [result] = check_gates(parse_gates({key: rule}), {"final": table(scores)}, **options).results
    return result


def against(
    rule: str, before: ScoreTable, now: ScoreTable, *, name: str = "main", key: str = "recall@10"
) -> GateReport:
    baseline = make_baseline({"final": before}, name=name, run="r0")
    return check_gates(parse_gates({key: rule}), {"final": now}, baseline)


def baseline(scores: list[float]) -> Baseline:
    return make_baseline({"final": table(scores)}, run="r0")


def ids(result: GateResult) -> list[str]:
    return [cause.query_id for cause in result.causes]


def test_at_the_floor_it_passes_however_the_mean_rounds():
    # 1 + 1 + 1 + 1/2 + 0 over 5, and ten scores of 0.7 whose float sum is 6.999...
    assert check(">= 0.70", [1.0, 1.0, 1.0, 0.5, 0.0]).passed
    assert check(">= 0.70", [0.7 - 1e-16] * 10).passed
    assert check(">= 0.30", [0.1 + 0.2, 0.3, 0.3]).passed
    assert check("<= 0.30", [0.1 + 0.2, 0.3, 0.3]).passed
    assert check(">= 2/3", [1.0, 1.0, 0.0]).passed


def test_a_hair_below_the_floor_it_fails_and_shows_why():
    result = check(">= 0.80", [0.8, 0.8, 0.7999999])
    assert not result.passed
    assert result.shown == "0.79999997 < 0.80000000"


def test_a_failed_floor_names_the_queries_worst_first():
    result = check(">= 0.70", [1.0, 0.5, 0.0, 1.0])
    assert ids(result) == ["q2", "q1"]
    assert result.reason == "recall@10 is 0.6250, below the floor of 0.7000"
    assert (result.value, result.exact, result.n) == (0.625, Fraction(5, 8), 4)


def test_queries_that_fell_since_the_baseline_stand_before_old_misses():
    result = check(">= 0.70", [0.0, 0.5, 0.0, 1.0], baseline=baseline([0.0, 1.0, 0.0, 1.0]))
    assert [(cause.query_id, cause.before) for cause in result.causes] == [
        ("q1", 1.0),
        ("q0", 0.0),
        ("q2", 0.0),
    ]


def test_a_query_at_its_own_ceiling_is_no_cause():
    tables = {"final": table([0.5, 0.0], ceilings=[0.5, 1.0])}
    [result] = check_gates(parse_gates({"recall@10": ">= 0.5"}), tables).results
    assert ids(result) == ["q1"]


def test_a_query_that_no_retriever_can_win_is_a_cause_and_marked():
    scores = replace(table([0.5, 0.0], ceilings=[0.5, 0.0]), unwinnable=np.array([False, True]))
    [result] = check_gates(parse_gates({"recall@10": ">= 0.5"}), {"final": scores}).results
    assert [(cause.query_id, cause.unwinnable) for cause in result.causes] == [("q1", True)]


def test_a_floor_above_the_ceiling_says_that_nothing_can_reach_it():
    tables = {"final": table([0.1, 0.1], measure="P@10", ceilings=[0.1, 0.1])}
    [result] = check_gates(parse_gates({"P@10": ">= 0.5"}), tables).results
    assert result.lint == "no retriever can reach 0.5000 here: the ceiling of this set is 0.1000"


def test_at_exactly_the_tolerance_a_pin_passes():
    # 749 of 1000 is 0.729 + 0.020
    scores = [1.0] * 749 + [0.0] * 251
    assert check("0.729 within 0.02", scores).passed
    assert not check("0.729 within 0.0199", scores).passed
    assert check("0.3 within 0.1", [0.4, 0.4, 0.4]).passed
    assert check("0.3 within 0.1", [0.2, 0.2, 0.2]).passed


def test_a_pin_that_fell_and_one_that_rose_say_so():
    fell = check("0.729 within 0.02", [0.7, 0.7])
    assert fell.shown == "0.7000 is 0.0290 from 0.7290, more than 0.0200"
    assert fell.reason is not None
    assert "fell" in fell.reason
    assert ids(fell) == ["q0", "q1"]
    rose = check("0.5 within 0.02", [1.0, 1.0], baseline=baseline([1.0, 0.0]))
    assert rose.reason is not None
    assert "if that is meant, pin it at 1.0000" in rose.reason
    assert ids(rose)[0] == "q1"


def test_a_pin_that_no_run_can_meet_is_said():
    result = check("0.5 within 0.01", [1.0, 1.0, 0.0])
    assert result.lint is not None
    assert result.lint.endswith("the nearest are 0.3333 and 0.6667")


def test_gates_by_kind_and_by_stage():
    tables = {
        "pool": table([1.0, 1.0, 1.0, 0.0], measure="recall@50"),
        "final": table([1.0, 1.0, 0.0, 0.0], kinds=["a", "a", "b", "b"]),
    }
    gates = parse_gates({"recall@10 [a]": ">= 1", "recall@10 [b]": ">= 0.5", "pool: recall@50": ">= 3/4"})
    report = check_gates(gates, tables, run="r1")
    assert [result.passed for result in report.results] == [True, False, True]
    assert [result.n for result in report.results] == [2, 2, 4]
    assert [result.gate.key for result in report.failed] == ["recall@10 [b]"]
    assert (report.passed, report.exit_code) == (False, 1)
    assert ids(report.failed[0]) == ["q2", "q3"]


def test_a_gate_finds_its_measure_under_another_spelling():
    assert check(">= 0.5", [1.0], key="R@10").passed


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("pol: recall@10", "no stage 'pol' was measured (did you mean 'pool'?)"),
        ("recall@20", "recall@20 was not measured (did you mean 'recall@10'?)"),
        ("recall@10 [facts]", "no queries evaluated: none has kind 'facts' (did you mean 'factual'?)"),
        ("recall@10 [tenant=x]", "the queries have no column 'tenant' (there is kind)"),
        ("pool: recall@10", "no query has a value: 2 have nothing relevant"),
    ],
)
def test_nothing_measured_fails_and_says_why(key: str, reason: str):
    tables = {"pool": table([NAN, NAN]), "final": table([1.0, 1.0], kinds=["factual", "factual"])}
    [result] = check_gates(parse_gates({key: "<= 1"}), tables).results
    assert (result.passed, result.value, result.reason) == (False, None, reason)


def test_no_gate_at_all_is_an_error():
    with pytest.raises(ConfigError, match="holds no gate"):
        check_gates((), {"final": table([1.0])})
    assert not GateReport(results=()).passed


def test_undefined_scores_leave_the_mean():
    result = check(">= 1", [1.0, NAN])
    assert (result.passed, result.n) == (True, 1)


def test_failed_retrievals_are_counted_and_marked():
    result = check(">= 0.8", [1.0, 0.0, 0.5], errors={"q1": "timeout", "elsewhere": "no"})
    assert result.errors == 1
    assert result.reason is not None
    assert result.reason.endswith("; 1 of 3 queries failed and score 0")
    assert result.causes[0].error == "timeout"


def test_no_worse_passes_at_exactly_the_tolerance():
    before, now = table([1.0] * 8 + [0.0] * 2), table([1.0] * 7 + [0.0] * 3)
    assert against("no worse than main by more than 0.1", before, now).passed
    report = against("no worse than main by more than 0.09", before, now)
    [result] = report.results
    assert not result.passed
    assert result.shown == "0.7000 is 0.1000 below the baseline's 0.8000, more than 0.0900"
    assert ids(result) == ["q7"]
    assert report.baseline == "main"
    assert against("no worse", before, before).results[0].shown == "0.8000 is equal to the baseline's 0.8000"
    assert against("no worse", now, before).passed


def test_no_worse_stands_on_the_queries_in_common():
    before = table([1.0, 1.0])
    now = ScoreTable(query_ids=("q1", "q9"), values={"recall@10": np.array([1.0, 0.0])})
    report = against("no worse", before, now)
    assert report.passed
    assert [notice.code for notice in report.notices] == ["golden-sets-differ"]


def test_significantly_worse_on_one_kind_fails_and_names_it():
    kinds = ["lexical"] * 12 + ["factual"] * 12
    before = table([1.0] * 24, kinds=kinds)
    now = table([0.0] * 10 + [1.0] * 14, kinds=kinds)
    report = against("not significantly worse on any kind", before, now)
    [result] = report.results
    assert not result.passed
    assert result.shown == "significantly worse overall, on lexical"
    assert ids(result) == [f"q{number}" for number in range(10)]
    assert against("not significantly worse on any kind", now, before).passed


def test_too_few_moved_queries_pass_and_say_that_nothing_can_be_told():
    report = against("not significantly worse", table([1.0] * 9), table([1.0] * 6 + [0.0] * 3))
    assert report.passed
    assert [notice.code for notice in report.notices] == ["cannot-tell"]


@pytest.mark.parametrize(
    ("rule", "name", "measure", "reason"),
    [
        (
            "no worse than release by more than 0.1",
            "main",
            "recall@10",
            "the rule speaks of baseline 'release'",
        ),
        ("no worse", "main", "RR", "the baseline 'main' has no recall@10"),
    ],
)
def test_an_unfit_baseline_fails_and_says_why(rule: str, name: str, measure: str, reason: str):
    [result] = against(rule, table([1.0], measure=measure), table([1.0]), name=name).results
    assert not result.passed
    assert result.reason is not None
    assert reason in result.reason


def test_a_missing_baseline_fails_and_says_how_to_write_one():
    result = check("no worse", [1.0])
    assert not result.passed
    assert result.reason == "recall@10: there is no baseline; write one with: assay gate --update"
    strangers = ScoreTable(query_ids=("x",), values={"recall@10": np.ones(1)})
    [other] = against("no worse", strangers, table([1.0])).results
    assert other.reason == "recall@10: no query is in both the run and the baseline"


def test_reachable_values_follow_the_steps_of_the_scores():
    assert neighbours([1.0, 0.0, 1.0, 0.0], Fraction("0.6")) == (Fraction(1, 2), Fraction(3, 4))
    assert neighbours([1.0, 0.5, 1.0, 0.0], Fraction("0.6")) == (Fraction(1, 2), Fraction(5, 8))
    assert neighbours([1.0, 0.0], Fraction("0.5")) is None
    assert neighbours([0.6309297535714575, 1.0], Fraction("0.5")) is None
    assert neighbours([], Fraction("0.5")) is None


def test_a_floor_between_two_values_of_finer_steps_shows_both():
    result = check(">= 0.6", [1.0, 0.5, 1.0, 0.0])
    assert result.reachable == (0.5, 0.625)
    assert result.lint == (
        "with 4 queries a floor of 0.6 lies between two values that they can score: 0.5000 and 0.6250"
    )


def test_a_floor_that_means_the_first_query_suggests_nothing():
    assert check(">= 0.10", [0.0, 1.0]).lint == "with 2 queries a floor of 0.10 means 1 of 2"


@needs_shared
def test_case_g02_the_rounded_figure_is_never_compared():
    case = load_cases()["G02"]
    hits, n = case["input"]["hits"], case["input"]["queries"]
    result = check(f">= {case['input']['floor']}", [1.0] * hits + [0.0] * (n - hits))
    assert not result.passed
    assert result.exact == Fraction(case["expected"]["value"]["exact"])
    assert result.value == case["expected"]["value"]["value"]
    assert result.shown == case["expected"]["shown"]


@needs_shared
def test_case_g03_a_floor_no_run_can_sit_near():
    case = load_cases()["G03"]
    hits, n = case["input"]["hits"], case["input"]["queries"]
    result = check(f">= {case['input']['floor']}", [1.0] * hits + [0.0] * (n - hits))
    reachable = [value["value"] for value in case["expected"]["reachable_values"]]
    assert not result.passed
    assert result.exact == Fraction(case["expected"]["value"]["exact"])
    assert result.reachable == (reachable[2], reachable[3])
    assert result.lint == case["expected"]["lint"]


@needs_shared
def test_case_g04_nothing_was_measured():
    case = load_cases()["G04"]
    given, expected = case["input"], case["expected"]
    [(measure, floor)] = given["suite_empty"]["floors"].items()
    empty = check_gates(parse_gates({measure: f">= {floor}"}), {"final": table([], measure=measure)})
    assert (empty.results[0].value, empty.exit_code) == (None, 1)
    assert empty.results[0].reason == expected["suite_empty"]["reason"]

    errors = {f"q{number}": "timeout" for number in range(given["suite_all_errors"]["errors"])}
    broken = check(">= 0", [0.0] * given["suite_all_errors"]["attempted"], errors=errors)
    assert not broken.passed
    assert broken.reason == "every retrieval failed: 5 of 5 queries"

    one = given["suite_one_error"]
    ranks = [float(Fraction(value)) for value in one["rr"]]
    result = check(
        f">= {one['floor_mrr']}", [*ranks, 0.0], errors={f"q{len(ranks)}": "timeout"}, key="recall@10"
    )
    assert not result.passed
    assert result.exact == Fraction(expected["suite_one_error"]["mrr"]["exact"])
    assert result.errors == expected["suite_one_error"]["errors_shown"]


@needs_shared
def test_case_g05_at_the_floor_the_total_order_passes():
    case = load_cases()["G05"]
    order = sorted(case["input"]["first_stage"], key=lambda chunk: -case["input"]["scores"][chunk])
    score = 1.0 / (order.index(case["input"]["relevant"][0]) + 1)
    result = check(f">= {case['input']['floor_mrr']}", [score])
    assert (result.value, result.passed) == (case["expected"]["rr"]["value"], True)
