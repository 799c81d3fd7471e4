"""Converting keeps every row, number and order that the form can hold; fusing is the field's arithmetic."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.flows.convert import convert_judgements, convert_run, ranked_run
from assay.flows.fuse import Fusing, fuse_runs, fused
from assay.flows.score import Scoring, score_runs
from assay.model.errors import InputError
from assay.store.rankings.batch import Batch
from assay.store.rankings.reading import read_judgements, read_run
from shared_data import load_cases, needs_shared, value_of

FORMS = ["a.run", "a.run.gz", "a.jsonl", "a.json", "a.csv", "a.tsv", "a.parquet", "a.arrow", "a.jsonl.gz"]
RUN = {"q1": {"b": 0.1 + 0.2, "a": 0.1, "007": 1e-300}, "q2": {"x": -5.0}}


def rows(batch: Batch) -> list[tuple[str, str, float]]:
    assert batch.scores is not None
    lengths: list[int] = batch.lengths.tolist()
    queries = [query for query, length in zip(batch.queries, lengths, strict=True) for _ in range(length)]
    return list(zip(queries, batch.docs.texts(), batch.scores.tolist(), strict=True))


LINES = [(query, doc, score) for query, docs in RUN.items() for doc, score in docs.items()]


@pytest.mark.parametrize("name", FORMS)
def test_a_run_comes_back_from_every_form_to_the_last_bit(name: str, tmp_path: Path) -> None:
    done = convert_run(RUN, tmp_path / name)
    assert (done.queries, done.rows, done.notices) == (2, 4, ())
    assert rows(read_run(tmp_path / name)[0]) == LINES


@pytest.mark.parametrize("name", FORMS)
def test_judgements_come_back_from_every_form(name: str, tmp_path: Path) -> None:
    for qrels in ({"q1": {"a": 2, "b": 0, "c": -1}, "q2": {"x": 1}}, {"q1": {"a": 0.5}}):
        convert_judgements(qrels, tmp_path / name)
        found = read_judgements(tmp_path / name)
        places: list[int] = found.query.tolist()
        assert list(
            zip(
                [found.query_ids[place] for place in places],
                found.docs.texts(),
                found.grades.tolist(),
                strict=True,
            )
        ) == [(query, doc, grade) for query, docs in qrels.items() for doc, grade in docs.items()]


@given(
    st.dictionaries(
        st.text("qé\"',1", min_size=1, max_size=2),
        st.dictionaries(
            st.text("d\\/\"'ü", min_size=1, max_size=3),
            st.floats(allow_nan=False, allow_infinity=False),
            min_size=1,
        ),
        min_size=1, max_size=3,
    ),
    st.sampled_from(FORMS),
)  # fmt: skip
def test_any_run_gives_the_same_scores_in_every_form(
    tmp_path_factory: pytest.TempPathFactory, run: dict[str, dict[str, float]], name: str
) -> None:
    path = tmp_path_factory.mktemp("forms") / name
    done = convert_run(run, path)
    qrels = {query: dict.fromkeys(list(docs)[::2], 1) for query, docs in run.items()}
    scoring = Scoring(measures=["nDCG@5", "RR"], ties="given")
    before, after = (score_runs([source], qrels, scoring).runs[0].means for source in (run, path))
    assert before == after
    assert {notice.code for notice in done.notices} <= {"ties-moved"}


def test_a_trec_run_comes_out_in_the_order_of_its_ranking(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text("q Q0 a 9 1 t\nq Q0 b 1 1 t\nq Q0 c 2 5 t\n")
    convert_run(path, tmp_path / "b.jsonl")
    assert rows(read_run(tmp_path / "b.jsonl")[0]) == [("q", "c", 5.0), ("q", "b", 1.0), ("q", "a", 1.0)]


def test_ties_that_a_trec_reader_would_turn_round_are_said(tmp_path: Path) -> None:
    done = convert_run({"q": {"a": 1.0, "b": 1.0}, "r": {"b": 1.0, "a": 1.0}}, tmp_path / "a.run")
    assert [(notice.code, notice.ids) for notice in done.notices] == [("ties-moved", ("q",))]


def test_a_run_without_scores_gets_falling_ones(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text('{"id": "q", "ranked": ["b", "a"]}\n')
    convert_run(source, tmp_path / "a.run")
    assert (tmp_path / "a.run").read_text() == "q Q0 b 1 2.0 assay\nq Q0 a 2 1.0 assay\n"
    convert_run(source, tmp_path / "b.jsonl")
    assert (tmp_path / "b.jsonl").read_text() == '{"query":"q","doc":"b"}\n{"query":"q","doc":"a"}\n'


@pytest.mark.parametrize(
    ("run", "name", "what"),
    [
        ({"q": {"A B.pdf": 1.0}}, "a.run", "document id 'A B.pdf' holds a blank"),
        ({"q 1": {"a": 1.0}}, "a.run", "query id 'q 1' holds a blank"),
        ({"q": {"a": math.inf}}, "a.json", "JSON has no infinite"),
        ({"q": {"a": math.nan}}, "a.jsonl", "JSON has no infinite"),
        ({"q": {"a": 1.0}}, "a.xyz", "the name does not say the form"),
    ],
)
def test_what_a_form_cannot_hold_is_refused(run: Any, name: str, what: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=what):
        convert_run(run, tmp_path / name)
    assert not (tmp_path / name).exists()


# fusion


def listed(lists: dict[str, list[str]]) -> list[dict[str, dict[str, float]]]:
    return [{"q": {doc: -float(rank) for rank, doc in enumerate(docs)}} for docs in lists.values()]


def scores_of(batch: Batch) -> dict[str, float]:
    return {doc: score for _, doc, score in rows(batch)}


@needs_shared
def test_case_f01_an_absent_item_adds_nothing_and_ranks_start_at_1() -> None:
    case = load_cases()["F01"]
    batch, _ = fused(listed(case["input"]["lists"]), Fusing(k=case["input"]["k_rrf"]))
    assert batch.docs.texts() == case["expected"]["order"]
    for doc, value in case["expected"]["scores"].items():
        assert scores_of(batch)[doc] == pytest.approx(value_of(value), abs=1e-15)


@needs_shared
def test_case_f03_weights_count() -> None:
    case = load_cases()["F03"]
    for weights in case["input"]["weight_sets"]:
        expected = case["expected"][str(weights).replace(" ", "")]
        batch, _ = fused(listed(case["input"]["lists"]), Fusing(weights=weights))
        assert batch.docs.texts()[: len(expected["order"])] == expected["order"]
        for doc, value in expected["scores"].items():
            assert scores_of(batch)[doc] == pytest.approx(value_of(value), abs=1e-15)


@needs_shared
def test_case_f04_scaled_scores_and_distances() -> None:
    case = load_cases()["F04"]
    given_lists = [case["input"][name] for name in ("bm25", "vector")]
    runs = [{"q": {doc: float(score) for doc, score in scores.items()}} for scores in given_lists]
    weights = [float(weight) for weight in case["input"]["weights"]]
    batch, _ = fused(runs, Fusing(method="minmax", weights=weights))
    assert batch.docs.texts() == case["expected"]["order"]
    for doc, value in case["expected"]["fused"].items():
        assert scores_of(batch)[doc] == pytest.approx(value_of(value), abs=1e-15)
    far = {"q": {doc: float(score) for doc, score in case["input"]["distance_lower_is_better"].items()}}
    batch, _ = fused([far, {"q": {"d9": 1.0}}], Fusing(method="minmax", distances=True, weights=[1, 0]))
    for doc, value in case["expected"]["distance"].items():
        assert scores_of(batch)[doc] == value_of(value)


def test_queries_that_a_run_lacks_are_fused_from_the_others_and_said(tmp_path: Path) -> None:
    done = fuse_runs([{"q": {"a": 1.0}}, {"r": {"b": 1.0}, "q": {"b": 1.0}}], tmp_path / "f.jsonl")
    assert [(notice.code, notice.ids) for notice in done.notices] == [("missing-queries", ("r",))]
    assert rows(read_run(tmp_path / "f.jsonl")[0]) == [
        ("q", "a", 1 / 61),
        ("q", "b", 1 / 61),
        ("r", "b", 1 / 61),
    ]


def test_the_depth_cuts_each_list() -> None:
    batch, _ = fused([{"q": {"a": 2.0, "b": 1.0}}, {"q": {"c": 1.0}}], Fusing(depth=2))
    assert batch.docs.texts() == ["a", "c"]


def test_what_cannot_be_fused_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="two runs at least"):
        fused([{"q": {"a": 1.0}}], Fusing())
    with pytest.raises(InputError, match="3 weights for 2 runs"):
        fused([{"q": {"a": 1.0}}, {"q": {"a": 1.0}}], Fusing(weights=[1, 2, 3]))
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "q", "ranked": ["a"]}\n')
    with pytest.raises(InputError, match="run 1 has no scores to scale"):
        fused([path, {"q": {"a": 1.0}}], Fusing(method="minmax"))


def test_a_run_is_ranked_before_it_is_fused() -> None:
    batch, _ = ranked_run({"q": {"low": 1.0, "high": 2.0}})
    assert batch.docs.texts() == ["high", "low"]


@needs_shared
def test_case_f02_an_item_repeated_in_a_list_counts_once_at_its_best_rank() -> None:
    case = load_cases()["F02"]
    runs = [
        [{"query": "q", "doc": doc, "score": -float(rank)} for rank, doc in enumerate(docs)]
        for docs in case["input"]["lists"].values()
    ]
    with pytest.raises(InputError, match="'b' stands twice"):
        fused(runs, Fusing())
    batch, notices = fused(runs, Fusing(k=case["input"]["k_rrf"], duplicates="first"))
    assert batch.docs.texts() == case["expected"]["order"]
    for doc, value in case["expected"]["scores"].items():
        assert scores_of(batch)[doc] == pytest.approx(value_of(value), abs=1e-15)
    assert [notice.code for notice in notices] == ["repeats-folded"]
