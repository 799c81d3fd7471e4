"""The bundled demo: every miss has a finding that agrees with the trace, and trials claim what is so."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.diagnosis.losses import find_losses
from assay.flows.demo import copy_demo
from assay.flows.diagnose import Diagnosed, diagnose
from assay.flows.evaluate import Evaluation, evaluate
from assay.flows.project import load_project
from assay.retrieval.models.registry import EMBEDDERS


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Diagnosed]:
    folder = tmp_path_factory.mktemp("demo")
    copy_demo(folder / "demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("assay.flows.trials.EMBEDDERS", {"hashing": EMBEDDERS["hashing"]})
        return folder / "demo", diagnose(load_project(folder / "demo"), trials=True)


def found_by_query(evaluation: Evaluation) -> dict[str, dict[str, bool]]:
    found: dict[str, dict[str, bool]] = {}
    for loss in evaluation.losses:
        found.setdefault(loss.query_id, {})[loss.item_id] = loss.found
    return found


def test_every_miss_of_the_demo_has_a_finding_that_agrees_with_the_trace(demo: tuple[Path, Diagnosed]):
    _, found = demo
    losses = find_losses(found.evaluation.run, found.evaluation.relevance)
    missed = {(one.query_id, one.item_id): one.lost_at for one in losses if not one.found}
    assert missed
    assert {(one.query_id, one.item): one.lost_at for one in found.diagnosis.findings} == missed
    misses = {miss.query_id for miss in found.evaluation.summary.misses}
    assert {one.query_id for one in found.diagnosis.findings} == misses


def test_what_each_trial_of_the_demo_claims_is_so_when_its_settings_are_run(demo: tuple[Path, Diagnosed]):
    folder, found = demo
    project = load_project(folder)
    base = found_by_query(found.evaluation)
    for trial in found.diagnosis.trials:
        after = found_by_query(evaluate(project.with_settings(trial.change), save=False))
        back = [
            (query, item)
            for query, items in after.items()
            for item, there in items.items()
            if there and not base[query][item]
        ]
        gone = [
            query
            for query, items in after.items()
            if any(base[query][item] and not there for item, there in items.items())
        ]
        assert sorted(trial.recovered_items) == sorted(back), trial.change
        if trial.whole:
            assert list(trial.broken) == gone
            assert trial.value == pytest.approx(
                sum(sum(items.values()) / len(items) for items in after.values()) / len(after), abs=1e-12
            )


def test_the_demos_proposal_is_no_worse_where_it_was_chosen(demo: tuple[Path, Diagnosed]):
    _, found = demo
    proposal = found.diagnosis.proposal
    if proposal is not None:
        first = proposal.gains[0]
        assert first.net is not None
        assert first.net > 0
    else:
        assert all((trial.net or 0) <= 0 for trial in found.diagnosis.trials)
