from __future__ import annotations

from collections import Counter

import pytest

from assay.diagnosis.findings import find_findings
from assay.model.findings import FIXES, KINDS, PLACES
from diagnosis.planted_misses import MAKERS, library_of, losses_of, plant

PLANTED = plant()
LIBRARY, RUN = library_of(PLANTED)
FINDINGS = {finding.query_id: finding for finding in find_findings(losses_of(LIBRARY), LIBRARY)}


def test_every_planted_miss_has_one_finding_and_nothing_else_has():
    assert len(PLANTED) == 60
    assert set(FINDINGS) == {f"{one.name}-{one.topic.number}" for one in PLANTED}


def test_every_planted_miss_is_told_where_it_was_lost():
    told = {name: finding.lost_at for name, finding in FINDINGS.items()}
    assert told == {f"{one.name}-{one.topic.number}": one.lost_at for one in PLANTED}


def test_at_least_95_percent_of_the_planted_kinds_are_named_right():
    right = [FINDINGS[f"{one.name}-{one.topic.number}"].kind == one.kind for one in PLANTED]
    explained = [one for one in PLANTED if one.kind is not None]
    assert len(explained) >= 40
    assert sum(right) / len(right) >= 0.95


@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__name__.strip("_"))
def test_each_sort_of_miss_gets_its_kind_and_its_fix(maker: object):
    for one in PLANTED:
        if one.name == PLANTED[MAKERS.index(maker) * 5].name:  # pyright: ignore[reportArgumentType]
            finding = FINDINGS[f"{one.name}-{one.topic.number}"]
            assert (finding.kind, finding.lost_at) == (one.kind, one.lost_at), finding.evidence.sentence
            assert one.fix is None or finding.fix == one.fix


def test_kinds_fixes_and_places_are_those_that_are_published():
    assert {finding.kind for finding in FINDINGS.values()} - {None} == set(KINDS)
    assert {finding.fix for finding in FINDINGS.values()} - {None} <= set(FIXES)
    assert {finding.lost_at for finding in FINDINGS.values()} <= set(PLACES)


def test_what_no_rule_speaks_of_stays_unexplained_and_names_no_fix():
    unexplained = Counter(finding.query_id.split("-")[0] for finding in FINDINGS.values() if not finding.kind)
    assert unexplained == {"unexplained": 5, "diversity": 5, "stale": 5}
    assert all(finding.fix is None for finding in FINDINGS.values() if finding.kind is None)


def test_the_order_of_queries_does_not_change_a_finding():
    library, _ = library_of(PLANTED[::-1])
    assert {finding.query_id: finding for finding in find_findings(losses_of(library), library)} == FINDINGS
