from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from assay.comparison.baseline import load_baseline, make_baseline, save_baseline
from assay.model.errors import InputError
from assay.model.scores import ScoreTable


def tables(*order: int) -> dict[str, ScoreTable]:
    places = list(order or (0, 1, 2))
    ids = ("q é", "q2", "q3")
    return {
        stage: ScoreTable(
            query_ids=tuple(ids[place] for place in places),
            values={
                "recall@10": np.array([1.0, 1 / 3, float("nan")])[places],
                "RR": np.array([0.1 + 0.2, 0.0, 1.0])[places],
            },
            groups={"kind": tuple(("a", "b", None)[place] for place in places)},
        )
        for stage in ("pool", "final")
    }


def test_a_baseline_comes_back_as_it_was(tmp_path: Path):
    path = tmp_path / "baselines" / "main.json"
    save_baseline(path, make_baseline(tables(), run="r1", digests={"golden": "abc"}))
    back = load_baseline(path)
    assert (back.name, back.run, back.digests) == ("main", "r1", {"golden": "abc"})
    assert list(back.tables) == ["pool", "final"]
    for stage, table in tables().items():
        assert back.tables[stage].query_ids == ("q é", "q2", "q3")
        assert back.tables[stage].groups == table.groups
        for measure in table.measures:
            for query in table.query_ids:
                assert back.tables[stage].value(measure, query) == table.value(measure, query)


def test_the_order_of_queries_does_not_change_the_file(tmp_path: Path):
    one, other = tmp_path / "1.json", tmp_path / "2.json"
    save_baseline(one, make_baseline(tables(0, 1, 2), run="r1"))
    save_baseline(other, make_baseline(tables(2, 0, 1), run="r1"))
    assert one.read_bytes() == other.read_bytes()


def test_the_file_is_plain_json_with_one_query_a_line(tmp_path: Path):
    path = tmp_path / "main.json"
    save_baseline(path, make_baseline(tables(), run="r1", measures=["RR"]))
    text = path.read_text(encoding="utf-8")
    assert json.loads(text)["means"]["final"] == {"RR": (0.1 + 0.2 + 1.0) / 3}
    assert sum(line.startswith('  "q') for line in text.splitlines()) == 3
    assert '"q é"' in text
    assert "recall@10" not in text


def test_a_baseline_without_queries_is_still_json(tmp_path: Path):
    path = tmp_path / "main.json"
    empty = ScoreTable(query_ids=(), values={"RR": np.zeros(0)})
    save_baseline(path, make_baseline({"final": empty}, run="r1"))
    assert load_baseline(path).tables["final"].average("RR").mean is None


def test_a_mean_edited_by_hand_is_an_error(tmp_path: Path):
    path = tmp_path / "main.json"
    save_baseline(path, make_baseline(tables(), run="r1"))
    record = json.loads(path.read_text(encoding="utf-8"))
    record["means"]["final"]["recall@10"] = 0.5
    path.write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(
        InputError, match=r"recall@10 is written as 0.5, and its queries give 0.666"
    ) as caught:
        load_baseline(path)
    assert len(caught.value.faults) == 1


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{", "no baseline"),
        ('{"form": 1, "name": "x", "run": "r", "means": {}, "queries": {}, "more": 1}', "more"),
        ('{"form": 2, "name": "x", "run": "r", "means": {}, "queries": {}}', "form 2"),
    ],
)
def test_a_file_that_is_no_baseline_is_refused(tmp_path: Path, text: str, what: str):
    path = tmp_path / "main.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=what):
        load_baseline(path)


def test_a_missing_baseline_says_how_to_write_one(tmp_path: Path):
    with pytest.raises(InputError, match="assay gate --update"):
        load_baseline(tmp_path / "main.json")
    with pytest.raises(InputError, match="cannot be read"):
        load_baseline(tmp_path)
