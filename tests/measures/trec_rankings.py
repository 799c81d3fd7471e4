"""TREC files as lists and grades, read the plain way, for tests against other people's scorers."""

from __future__ import annotations

from pathlib import Path

from measures.ranked_lists import ListAndGrades


def read_qrels(path: Path) -> dict[str, dict[str, float]]:
    grades: dict[str, dict[str, float]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            query, _, item, grade = line.split()
            grades.setdefault(query, {})[item] = float(grade)
    return grades


def read_run(path: Path) -> dict[str, list[str]]:
    """Return each query's list as trec_eval orders it."""
    scores: dict[str, dict[str, float]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        query, _, item, _, value = line.split()[:5]
        scores.setdefault(query, {})[item] = float(value)
    return {query: trec_order(items) for query, items in scores.items()}


def trec_order(scores: dict[str, float]) -> list[str]:
    """Score down, equal scores by id down (bytes)."""
    return [
        item
        for _, _, item in sorted(
            ((score, item.encode(), item) for item, score in scores.items()), reverse=True
        )
    ]


def aligned(qrels: dict[str, dict[str, float]], run: dict[str, list[str]]) -> dict[str, ListAndGrades]:
    """Pair the queries of the judgements with their lists; an absent list is empty."""
    return {query: ListAndGrades(run.get(query, []), grades) for query, grades in qrels.items()}
