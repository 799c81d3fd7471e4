from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from assay.model.errors import InputError
from assay.model.findings import Decision
from assay.store.findings import findings_schema, load_decisions, save_decisions

ONE = Decision(
    query_id="q1",
    item="a1",
    lost_at="fusion",
    kind="ranking",
    proposed="ranking",
    by="ada",
    when="2026-01-02T03:04:05Z",
    trace="0123456789abcdef",
)
TWO = replace(ONE, query_id="q2", kind=None, proposed=None, note="unclear: ask")


def test_what_is_saved_is_loaded(tmp_path: Path):
    path = tmp_path / "findings.jsonl"
    assert load_decisions(path) == ()
    assert save_decisions(path, [ONE, TWO]) == (ONE, TWO)
    assert load_decisions(path) == (ONE, TWO)


def test_a_later_decision_takes_the_place_of_the_earlier_one(tmp_path: Path):
    path = tmp_path / "findings.jsonl"
    save_decisions(path, [ONE, TWO])
    other = replace(ONE, kind="vocabulary-gap")
    assert save_decisions(path, [other]) == (other, TWO)


def test_the_same_item_lost_elsewhere_is_another_decision(tmp_path: Path):
    path = tmp_path / "findings.jsonl"
    assert len(save_decisions(path, [ONE, replace(ONE, lost_at="reranker")])) == 2


def test_what_somebody_else_decided_meanwhile_stays(tmp_path: Path):
    path = tmp_path / "findings.jsonl"
    save_decisions(path, [TWO])
    assert save_decisions(path, [ONE]) == (TWO, ONE)
    assert save_decisions(path, [], removed=[ONE.key]) == (TWO,)


def test_all_faults_are_told_with_their_lines(tmp_path: Path):
    path = tmp_path / "findings.jsonl"
    save_decisions(path, [ONE])
    good = json.loads(path.read_text())
    lines = [
        good,
        good,
        {**good, "query": "q3", "lost_at": "somewhere"},
        {**good, "query": "q4", "whom": "x"},
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    with pytest.raises(InputError) as caught:
        load_decisions(path)
    told = str(caught.value)
    assert f"{path}:2: query 'q1', item 'a1' at 'fusion' stands more than once" in told
    assert f"{path}:3: lost_at: expected one of" in told
    assert f"{path}:4: unknown key 'whom'" in told


def test_the_published_schema_is_current():
    path = Path(__file__).parents[2] / "docs" / "schemas" / "findings.schema.json"
    assert json.loads(path.read_text(encoding="utf-8")) == findings_schema()
