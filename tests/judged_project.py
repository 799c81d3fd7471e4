"""A project whose label store holds pools, and grades of people and judges, for tests of judges."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from assay.flows.golden_labels import project_labels
from assay.flows.project import Project, load_project
from assay.model.labels import Candidate, Judgement, Pool
from small_project import SETTINGS, make_project

Grade = Callable[[int], float]


def make_judged_project(folder: Path, *, count: int, settings: str = "") -> Project:
    """Make a project with ``count`` pooled queries of one candidate each, of three kinds in turn."""
    project = load_project(make_project(folder, settings=SETTINGS + settings))
    pools = [
        Pool(
            id=f"p{number}",
            name="may",
            query_id=f"q{number}",
            query=f"question {number}?",
            kind=("factual", "lexical", "table")[number % 3],
            candidates=(candidate_of(number),),
        )
        for number in range(count)
    ]
    with project_labels(project) as store:
        store.add_pools(pools)
    return project


def candidate_of(number: int) -> Candidate:
    """Return the one candidate of a query."""
    return Candidate(
        doc_id="returns.md", start=number, end=number + 9, text=f"passage {number}", ranks={"bm25": 1}
    )


def grade(project: Project, numbers: range, by: str, grades: Grade, *, margin: float | None = None) -> None:
    """Let a person, or a judge (whose name has a stroke), grade the candidates of some queries."""
    is_judge = "/" in by
    rows = [
        Judgement(
            query_id=f"q{number}",
            doc_id="returns.md",
            start=number,
            end=number + 9,
            grade=grades(number),
            shown=f"passage {number}",
            by=by,
            origin="judge" if is_judge else "person",
            model=by.split("/", maxsplit=1)[0] if is_judge else None,
            pool_id=f"p{number}",
            margin=margin,
        )
        for number in numbers
    ]
    with project_labels(project) as store:
        store.add_judgements(rows)
