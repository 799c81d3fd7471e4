"""What must hold of any measure of ranked lists: one table of measures, one test an invariant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.measures.batch import ceilings, score
from assay.measures.single import score_list
from assay.measures.spec import FAMILIES, parse_measure
from assay.measures.worked import work
from assay.model.relevance import Judged
from measures.ranked_lists import ITEMS, ListAndGrades, columns_of, lists_and_grades

EVERY = [
    "nDCG@3", "nDCG", "nDCG(gain=exp)@5", "DCG@4", "recall@3", "recall(capped=true)@2", "recall(rel=2)",
    "precision@4", "precision(rel=2)@2", "hit@2", "hit", "complete@5", "RR", "RR@3", "AP", "AP@4",
    "AP(capped=true)@3", "Rprec", "F1@3", "bpref", "judged@3", "RBP(p=0.8)", "RBPresidual(p=0.8)@5", "ERR",
    "ERR(max=1)@4", "infAP", "SetP", "SetR", "SetF",
]  # fmt: skip

OF_RELEVANCE = [name for name in EVERY if not name.startswith(("judged", "RBPresidual"))]
"""Those that speak of what is relevant, not of what is judged."""

BY_RANK = [name for name in OF_RELEVANCE if not name.startswith(("Set", "recall(rel=2)")) and name != "hit"]
"""Those that look at ranks, not only at what was retrieved."""

PERFECT_IS_ONE = [
    "nDCG@3", "nDCG", "nDCG(gain=exp)@5", "recall", "recall(capped=true)@2", "hit@2", "RR", "AP",
    "AP(capped=true)@3", "Rprec", "bpref", "infAP", "SetP", "SetR", "SetF", "judged@3",
]  # fmt: skip
"""Those that a list of all the relevant items, best first and nothing else, brings to 1."""

NO_PENALTY_FOR_LENGTH = [name for name in OF_RELEVANCE if name not in {"SetP", "SetF"}]
"""Those that more unjudged hits at the end of a list do not lower."""

names = pytest.mark.parametrize("spelling", EVERY)
few = settings(max_examples=25, deadline=None)
made_lists = lists_and_grades()


def value(ranked: list[str], made: ListAndGrades, spelling: str) -> float | None:
    return score_list(ranked, made.grades, spelling)


def best_first(made: ListAndGrades) -> list[str]:
    relevant = [item for item, grade in made.grades.items() if grade > 0]
    return sorted(relevant, key=lambda item: -made.grades[item])


def test_every_family_is_in_the_table():
    assert {parse_measure(name).family for name in EVERY} == set(FAMILIES)


@names
@given(made=made_lists)
@few
def test_every_value_is_within_the_range_that_the_measure_declares(spelling: str, made: ListAndGrades):
    shown = value(list(made.ranked), made, spelling)
    high = parse_measure(spelling).family.high
    assert shown is None or (shown >= 0.0 and (high is None or shown <= high))


@names
@given(made=made_lists)
@few
def test_undefined_exactly_when_nothing_is_relevant(spelling: str, made: ListAndGrades):
    if spelling.startswith("judged"):
        nothing = not made.ranked or not made.grades
    else:
        least = parse_measure(spelling).rel or 0.0
        nothing = not any(grade > 0 and grade >= least for grade in made.grades.values())
    assert (value(list(made.ranked), made, spelling) is None) == nothing


@pytest.mark.parametrize("spelling", PERFECT_IS_ONE)
@given(made=made_lists)
@few
def test_a_perfect_list_scores_exactly_one(spelling: str, made: ListAndGrades):
    best = best_first(made)
    if best:
        # infAP smooths its estimates by 1e-5, so that one is only close
        assert value(best, made, spelling) == pytest.approx(1.0, abs=2e-5 if spelling == "infAP" else 0.0)


@pytest.mark.parametrize("spelling", OF_RELEVANCE)
@given(made=made_lists)
@few
def test_no_list_beats_the_ceiling(spelling: str, made: ListAndGrades):
    measure = parse_measure(spelling)
    judged = columns_of([made])
    reached = score(judged, [measure])[spelling][0]
    best = ceilings(judged, [measure])[spelling][0]
    slack = 2e-5 if spelling == "infAP" else 1e-12
    assert np.isnan(reached) == np.isnan(best)
    assert np.isnan(reached) or reached <= best + slack


@pytest.mark.parametrize("spelling", OF_RELEVANCE)
@given(made=made_lists, item=st.sampled_from(ITEMS))
@few
def test_a_relevant_hit_put_on_top_never_lowers_the_score(spelling: str, made: ListAndGrades, item: str):
    graded = ListAndGrades(made.ranked, {**made.grades, item: max(made.grades.values(), default=0.0) or 1.0})
    least = parse_measure(spelling).rel or 0.0
    if not (graded.grades[item] > 0 and graded.grades[item] >= least):
        return
    rest = [other for other in graded.ranked if other != item]
    before, after = value(rest, graded, spelling), value([item, *rest], graded, spelling)
    assert before is not None
    assert after is not None
    assert after >= before - 1e-12


@pytest.mark.parametrize("spelling", BY_RANK)
@given(made=made_lists)
@few
def test_an_unjudged_hit_put_on_top_never_raises_the_score(spelling: str, made: ListAndGrades):
    before, after = value(list(made.ranked), made, spelling), value(["new", *made.ranked], made, spelling)
    # bpref and infAP were made to forgive what is not judged, but do not reward it either
    assert before is None or (after is not None and after <= before + 1e-12)


@pytest.mark.parametrize("spelling", BY_RANK)
@given(made=made_lists, place=st.integers(0, 14))
@few
def test_to_swap_a_relevant_hit_with_an_unjudged_one_above_it_never_lowers_the_score(
    spelling: str, made: ListAndGrades, place: int
):
    ranked = list(dict.fromkeys(made.ranked))
    if place + 1 >= len(ranked):
        return
    above, below = ranked[place], ranked[place + 1]
    least = parse_measure(spelling).rel or 0.0
    if above in made.grades or not (made.grades.get(below, 0.0) > 0 and made.grades[below] >= least):
        return
    swapped = [*ranked[:place], below, above, *ranked[place + 2 :]]
    before, after = value(ranked, made, spelling), value(swapped, made, spelling)
    assert before is not None
    assert after is not None
    assert after >= before - 1e-12


@pytest.mark.parametrize("spelling", NO_PENALTY_FOR_LENGTH)
@given(made=made_lists, more=st.integers(1, 5))
@few
def test_unjudged_hits_at_the_end_change_nothing(spelling: str, made: ListAndGrades, more: int):
    longer = [*made.ranked, *(f"new{place}" for place in range(more))]
    assert value(longer, made, spelling) == value(list(made.ranked), made, spelling)


@pytest.mark.parametrize("spelling", [name for name in EVERY if "@" in name])
@given(made=made_lists)
@few
def test_what_stands_below_the_cut_changes_nothing(spelling: str, made: ListAndGrades):
    k = parse_measure(spelling).k
    assert value(list(made.ranked), made, spelling) == value(list(made.ranked[:k]), made, spelling)


@names
@given(made=made_lists)
@few
def test_names_of_items_do_not_matter(spelling: str, made: ListAndGrades):
    renamed = ListAndGrades(
        [f"other {item}" for item in made.ranked],
        {f"other {item}": grade for item, grade in made.grades.items()},
    )
    assert value(list(renamed.ranked), renamed, spelling) == value(list(made.ranked), made, spelling)


@names
@given(queries=st.lists(made_lists, min_size=2, max_size=5))
@few
def test_a_query_scores_the_same_in_any_company(spelling: str, queries: list[ListAndGrades]):
    measure = parse_measure(spelling)
    together = score(columns_of(queries), [measure])[spelling]
    backwards = score(columns_of(queries[::-1]), [measure])[spelling][::-1]
    alone = np.concatenate([score(columns_of([query]), [measure])[spelling] for query in queries])
    np.testing.assert_array_equal(together, backwards)
    np.testing.assert_array_equal(together, alone)


@names
@given(queries=st.lists(made_lists, max_size=3))
@few
def test_a_measure_scores_the_same_in_any_company(spelling: str, queries: list[ListAndGrades]):
    judged = columns_of(queries)
    among_all = score(judged, [parse_measure(name) for name in EVERY])[spelling]
    np.testing.assert_array_equal(among_all, score(judged, [parse_measure(spelling)])[spelling])


@names
def test_the_kernel_leaves_its_input_as_it_was(spelling: str):
    judged = columns_of([ListAndGrades(["a", "x", "b"], {"a": 1.0, "b": 3.0, "n": 0.0})])
    before = [column.copy() for column in columns_in(judged)]
    score(judged, [parse_measure(spelling)])
    ceilings(judged, [parse_measure(spelling)])
    for column, copy in zip(columns_in(judged), before, strict=True):
        np.testing.assert_array_equal(column, copy)


def columns_in(judged: Judged) -> list[np.ndarray]:
    found, ideal = judged.found, judged.ideal
    return [found.query, found.rank, found.grade, ideal.query, ideal.rank, ideal.grade, judged.retrieved]


GRADE_FREE: list[tuple[str, Callable[[float], float]]] = [
    ("doubled", lambda grade: 2 * grade),
    ("squared", lambda grade: grade * abs(grade)),
]


@pytest.mark.parametrize(
    "spelling", ["recall@3", "precision@2", "hit@2", "RR", "AP", "Rprec", "F1@3", "SetP"]
)
@pytest.mark.parametrize(("_", "change"), GRADE_FREE)
@given(made=lists_and_grades(st.integers(-2, 5).map(float)))
@few
def test_binary_measures_see_only_whether_a_grade_is_above_zero(
    spelling: str, _: str, change: Callable[[float], float], made: ListAndGrades
):
    changed = {item: change(grade) for item, grade in made.grades.items()}
    assert score_list(made.ranked, changed, spelling) == score_list(made.ranked, made.grades, spelling)


@given(made=lists_and_grades(st.integers(-2, 5).map(float)))
@few
def test_linear_ndcg_does_not_depend_on_the_unit_of_grades(made: ListAndGrades):
    doubled = {item: 2 * grade for item, grade in made.grades.items()}
    assert score_list(made.ranked, doubled, "nDCG@4") == score_list(made.ranked, made.grades, "nDCG@4")


@names
@given(made=made_lists)
@few
def test_the_explanation_shows_the_same_number(spelling: str, made: ListAndGrades):
    assert work(made.ranked, made.grades, spelling).value == value(list(made.ranked), made, spelling)


@pytest.mark.parametrize("spelling", OF_RELEVANCE)
@given(made=made_lists)
@few
def test_a_query_that_the_run_lacks_scores_zero(spelling: str, made: ListAndGrades):
    judged = replace(columns_of([replace(made, ranked=[])]), answered=np.array([False]))
    shown = score(judged, [parse_measure(spelling)])[spelling][0]
    assert np.isnan(shown) or shown == 0.0
