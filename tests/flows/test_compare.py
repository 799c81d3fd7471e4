from __future__ import annotations

from pathlib import Path

import pytest

from assay.flows.compare import Asked, compare_all_files, compare_all_runs, compare_files, compare_runs
from assay.flows.evaluate import evaluate
from assay.flows.looks import FILE
from assay.flows.project import Project, load_project
from assay.flows.score import Scoring
from assay.model.errors import InputError, StoreError
from empty_run import emptied
from small_project import QUERIES, make_project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return load_project(make_project(tmp_path))


def test_two_stored_runs_are_compared_with_the_lists_of_what_moved(project: Project):
    nothing = emptied(project)
    found = evaluate(project).run.id
    comparison = compare_runs(project, nothing[:8], "latest")
    row = comparison.row("recall@2")
    assert (row.base, row.candidate, row.wins, row.n) == (0.0, 1.0, 2, 2)
    assert comparison.base == f"nothing {nothing}"
    assert comparison.candidate.endswith(found)
    assert [row.group for row in comparison.rows if row.measure == "recall@2"] == [None, "factual", "lexical"]
    first = comparison.lists[0]
    assert (first.query_id, first.kind) == ("q1", "factual")
    assert first.base == ()
    assert [hit.chunk_id in first.relevant for hit in first.candidate] == [True, False]


def test_a_query_that_one_run_was_never_asked_is_left_out_and_said(tmp_path: Path):
    small = load_project(make_project(tmp_path, queries=QUERIES[:1]))
    first = evaluate(small).run.id
    whole = load_project(make_project(tmp_path))
    comparison = compare_runs(whole, first, evaluate(whole).run.id)
    assert comparison.row("recall@2").n == 1
    assert comparison.only_candidate == ("q2", "q3")
    codes = [notice.code for notice in comparison.notices]
    assert codes == ["golden-sets-differ", "golden-changed"]


def test_a_look_at_held_out_queries_leaves_a_mark_once_a_pair(tmp_path: Path):
    queries = [{**query, "split": "heldout" if query["id"] == "q2" else "dev"} for query in QUERIES]
    project = load_project(make_project(tmp_path, queries=queries))
    nothing, found = emptied(project), evaluate(project).run.id
    tuned = compare_runs(project, nothing, found, Asked(split="dev"))
    assert tuned.row("recall@2").n == 1
    assert not (tmp_path / FILE).exists()
    looked = compare_runs(project, nothing, found)
    assert looked.row("recall@2").n == 2
    assert "looked at once, over 2 runs" in looked.notices[-1].text
    compare_runs(project, nothing, found, Asked(split="heldout"))
    again = compare_all_runs(project, [nothing, found, nothing])
    assert "looked at once, over 2 runs" in again.notices[-1].text
    assert len((tmp_path / FILE).read_text(encoding="utf-8").splitlines()) == 1
    other = compare_runs(project, found, found)
    assert "looked at 2 times, over 2 runs" in other.notices[-1].text


def test_a_broken_file_of_looks_is_said(tmp_path: Path):
    queries = [{**query, "split": "heldout"} for query in QUERIES]
    project = load_project(make_project(tmp_path, queries=queries))
    found = evaluate(project).run.id
    (tmp_path / FILE).write_text('{"runs": 3}\n', encoding="utf-8")
    with pytest.raises(InputError, match=f"{FILE}:1"):
        compare_runs(project, found, found)


def test_an_unknown_split_or_run_is_said(project: Project):
    found = evaluate(project).run.id
    with pytest.raises(InputError, match="no query is in split 'train'"):
        compare_runs(project, found, found, Asked(split="train"))
    with pytest.raises(StoreError, match="no run 'zz'"):
        compare_runs(project, found, "zz")


QRELS = {f"q{number}": {"d1": 1} for number in range(8)}
BASE = {f"q{number}": {"d2": 2.0, "d1": 1.0} for number in range(8)}
CANDIDATE = {f"q{number}": {"d1": 2.0, "d2": 1.0} for number in range(8)}


def test_run_files_are_compared_under_the_same_judgements(tmp_path: Path):
    for name, lists in (("a.run", BASE), ("b.run", CANDIDATE)):
        rows = [
            f"{query} Q0 {doc} 0 {score} x" for query, hits in lists.items() for doc, score in hits.items()
        ]
        (tmp_path / name).write_text("\n".join(rows) + "\n", encoding="utf-8")
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("".join(f"{query} 0 d1 1\n" for query in QRELS), encoding="utf-8")
    comparison = compare_files(
        tmp_path / "a.run", tmp_path / "b.run", qrels, Asked(measures=["RR", "P@1"], by=None)
    )
    assert comparison.measures == ("RR", "P@1")
    assert comparison.base.endswith("a.run")
    row = comparison.row("RR")
    # all eight won by a half: p = 2 / 2^8
    assert (row.base, row.candidate, row.p) == (0.5, 1.0, 2 / 256)


def test_run_files_are_grouped_by_a_column_of_the_queries(tmp_path: Path):
    queries = tmp_path / "queries.csv"
    rows = [f"q{number},{'de' if number < 3 else 'en'}\n" for number in range(8)]
    queries.write_text("id,language\n" + "".join(rows), encoding="utf-8")
    comparison = compare_files(
        BASE, CANDIDATE, QRELS, Asked(measures=["RR"], by="language"), Scoring(queries=queries)
    )
    assert [(row.group, row.n) for row in comparison.rows] == [(None, 8), ("de", 3), ("en", 5)]


def test_several_runs_make_a_matrix():
    matrix = compare_all_files([BASE, CANDIDATE, BASE], QRELS, Asked(measures=["RR"], by=None))
    assert len(matrix.names) == len(set(matrix.names)) == 3
    assert matrix.means["RR"] == (0.5, 1.0, 0.5)
