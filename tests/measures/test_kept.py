"""What is kept of the best lists belongs to these rows alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from assay.measures.batch import score
from assay.measures.spec import parse_measures
from assay.model.relevance import Judged, JudgedRows

MEASURES = parse_measures(["nDCG@10", "R@10", "P@5", "AP"])


def judged_with(ideal: JudgedRows) -> Judged:
    found = JudgedRows(query=np.zeros(1, np.int32), rank=np.array([2], np.int32), grade=np.ones(1))
    return Judged(query_ids=("q",), found=found, ideal=ideal, retrieved=np.array([10]))


def test_rows_made_from_others_keep_nothing_of_theirs() -> None:
    few = JudgedRows(query=np.zeros(1, np.int32), rank=np.ones(1, np.int32), grade=np.ones(1))
    first = score(judged_with(few), MEASURES)
    more = replace(
        few, query=np.zeros(4, np.int32), rank=np.arange(1, 5, dtype=np.int32), grade=np.full(4, 2.0)
    )
    assert more.kept == {}
    assert score(judged_with(more), MEASURES)["R@10"].tolist() == [0.25]
    again = score(judged_with(few), MEASURES)
    assert {name: value.tolist() for name, value in again.items()} == {
        name: value.tolist() for name, value in first.items()
    }
