"""Made lists and the columns that they become, for the tests of measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from assay.model.relevance import Judged, JudgedRows


@dataclass(frozen=True)
class ListAndGrades:
    """One query: what was returned, and what is right."""

    ranked: Sequence[str]
    grades: Mapping[str, float]


def columns_of(queries: Sequence[ListAndGrades]) -> Judged:
    """Turn ranked lists and grades into the kernel's input, the slow and plain way."""
    found: list[tuple[int, int, float]] = []
    ideal: list[tuple[int, int, float]] = []
    for query, made in enumerate(queries):
        seen: set[str] = set()
        for rank, item in enumerate(made.ranked, start=1):
            if item in made.grades and item not in seen:
                seen.add(item)
                found.append((query, rank, made.grades[item]))
        best = sorted((grade for grade in made.grades.values() if grade > 0), reverse=True)
        ideal.extend((query, rank, grade) for rank, grade in enumerate(best, start=1))
    return Judged(
        query_ids=tuple(f"q{place}" for place in range(len(queries))),
        found=rows_of(found),
        ideal=rows_of(ideal),
        retrieved=np.array([len(made.ranked) for made in queries], np.int64),
        nonrelevant=np.array(
            [sum(grade <= 0 for grade in made.grades.values()) for made in queries], np.int64
        ),
        negative=np.array([sum(grade < 0 for grade in made.grades.values()) for made in queries], np.int64),
    )


def rows_of(rows: Sequence[tuple[int, int, float]]) -> JudgedRows:
    """Turn (query, rank, grade) triples into judged rows."""
    return JudgedRows(
        query=np.array([query for query, _, _ in rows], np.int32),
        rank=np.array([rank for _, rank, _ in rows], np.int32),
        grade=np.array([grade for _, _, grade in rows], np.float64),
    )


ITEMS = [f"d{place}" for place in range(12)]

whole_grades = st.integers(-2, 5).map(float)
any_grades = st.one_of(whole_grades, st.floats(-2, 8, allow_nan=False, width=64))


def lists_and_grades(grades: st.SearchStrategy[float] = any_grades) -> st.SearchStrategy[ListAndGrades]:
    """Lists with repeats, unjudged items and empty ones; grades of any sign; sometimes nothing relevant."""
    return st.builds(
        ListAndGrades,
        ranked=st.lists(st.sampled_from(ITEMS), max_size=16),
        grades=st.dictionaries(st.sampled_from(ITEMS), grades, max_size=10),
    )
