from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.diagnosis.losses import find_losses
from assay.flows.diagnose import Diagnosed, decide, decisions_path, diagnose
from assay.flows.evaluate import evaluate
from assay.flows.project import load_project
from assay.model.errors import ConfigError, InputError, MissingExtraError, StoreError
from assay.model.findings import Decision, Finding
from assay.report.diagnosis import diagnosis_json
from assay.retrieval.models.registry import EMBEDDERS
from flows.headed_project import SETTINGS, make_headed
from small_project import make_project


@pytest.fixture(autouse=True)
def _only_hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever models are installed here, trials are those of a bare machine."""
    monkeypatch.setattr("assay.flows.trials.EMBEDDERS", {"hashing": EMBEDDERS["hashing"]})


@pytest.fixture
def headed(tmp_path: Path) -> Path:
    return make_headed(tmp_path / "plain")


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Diagnosed]:
    folder = make_headed(tmp_path_factory.mktemp("tried"), splits=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("assay.flows.trials.EMBEDDERS", {"hashing": EMBEDDERS["hashing"]})
        return folder, diagnose(load_project(folder), trials=True)


def recall(diagnosed: Diagnosed) -> float:
    (whole, *_) = diagnosed.diagnosis.waterfall
    assert whole.recall is not None
    return float(whole.recall)


def test_every_miss_has_a_finding_that_agrees_with_the_trace(headed: Path):
    found = diagnose(load_project(headed))
    losses = find_losses(found.evaluation.run, found.evaluation.relevance)
    missed = {(one.query_id, one.item_id): one.lost_at for one in losses if not one.found}
    assert missed
    assert {(one.query_id, one.item): one.lost_at for one in found.diagnosis.findings} == missed
    assert {one.kind for one in found.diagnosis.findings} == {"chunk-boundary"}
    assert {one.fix for one in found.diagnosis.findings} == {"contextual-chunk-headers"}


def test_a_stored_run_is_diagnosed_without_calling_anything(headed: Path, monkeypatch: pytest.MonkeyPatch):
    project = load_project(headed)
    run_id = evaluate(project).run.id

    def no_engine(*_: object, **__: object) -> None:
        raise AssertionError("an engine was called")

    monkeypatch.setattr("assay.retrieval.pipeline.Pipeline.__init__", no_engine)
    assert diagnose(project).diagnosis.run_id == run_id
    assert diagnose(project, run_id[:6]).diagnosis.run_id == run_id


def test_where_no_run_is_stored_one_is_made_and_kept(headed: Path):
    first = diagnose(load_project(headed)).diagnosis.run_id
    assert (headed / ".assay" / "runs" / first).is_dir()


def test_a_run_that_is_not_there_is_an_error(headed: Path):
    with pytest.raises(StoreError):
        diagnose(load_project(headed), "abcdef")


def test_the_waterfall_ends_in_recall_by_anchor(headed: Path):
    found = diagnose(load_project(headed))
    summary = found.evaluation.summary
    assert recall(found) == summary.units["anchor"]["recall@2"].mean
    by_kind = {one.group: one.recall for one in found.diagnosis.waterfall}
    assert (by_kind["plain"], by_kind["heading"]) == (1, 0)


def test_a_trial_that_helps_says_whom_and_what_it_costs(tried: tuple[Path, Diagnosed]):
    _, found = tried
    helped = [trial for trial in found.diagnosis.trials if trial.net and trial.net > 0]
    assert [trial.fix for trial in helped] == ["contextual-chunk-headers"]
    (one,) = helped
    assert one.change == {"chunker.context": "headings"}
    assert one.recovered
    assert not one.broken
    assert set(one.recovered) == {query for query, _ in one.recovered_items}
    assert one.net == len(one.recovered) / 16
    assert one.base == 0.5
    assert one.interval is not None
    assert one.net is not None
    assert one.interval.low <= one.net <= one.interval.high
    assert one.cost.rebuild
    assert one.cost.index_bytes > 0


def test_a_trial_that_recovers_no_miss_is_left_there(tried: tuple[Path, Diagnosed]):
    _, found = tried
    left = [trial for trial in found.diagnosis.trials if not trial.whole]
    assert left
    assert all((one.net, one.value, one.recovered, one.broken) == (None, None, (), ()) for one in left)


def test_each_miss_names_the_cheapest_fix_that_brought_it_back_or_none(tried: tuple[Path, Diagnosed]):
    _, found = tried
    back = {item for trial in found.diagnosis.trials for item in trial.recovered_items}
    assert len(found.diagnosis.remedies) == len(found.diagnosis.findings)
    for remedy in found.diagnosis.remedies:
        assert (remedy.fix is not None) == ((remedy.query_id, remedy.item) in back)


def test_the_claims_of_a_proposal_are_true_when_it_is_run(tried: tuple[Path, Diagnosed], tmp_path: Path):
    folder, found = tried
    proposal = found.diagnosis.proposal
    assert proposal is not None
    project = load_project(folder).with_settings(proposal.change)
    again = evaluate(project, save=False)
    assert again.run.id == proposal.run_id
    splits = {query.id: query.split for query in again.prepared.golden.queries}
    for gain in proposal.gains:
        ids = [query for query, split in splits.items() if split == gain.split]
        values = {loss.query_id: float(loss.found) for loss in again.losses}  # one anchor a query
        assert sum(values[query] for query in ids) / len(ids) == gain.value
        assert gain.queries == len(ids)
    trial = next(one for one in found.diagnosis.trials if one.fix == "contextual-chunk-headers")
    assert {loss.query_id for loss in again.losses if loss.found} >= set(trial.recovered)
    assert tmp_path.exists()


def test_the_proposed_diff_is_the_change_of_the_file(tried: tuple[Path, Diagnosed]):
    folder, found = tried
    proposal = found.diagnosis.proposal
    assert proposal is not None
    added = [line[1:] for line in proposal.diff.splitlines() if line[0] == "+" and line[:3] != "+++"]
    assert added == ['context = "headings"']
    text = (folder / "assay.toml").read_text()
    after = text.replace("max_chars = 70\n", f"max_chars = 70\n{added[0]}\n")
    assert tomllib.loads(after) == load_project(folder).with_settings(proposal.change).raw


def test_what_was_chosen_on_dev_is_reported_on_heldout_beside_it(tried: tuple[Path, Diagnosed]):
    _, found = tried
    proposal = found.diagnosis.proposal
    assert proposal is not None
    assert [gain.split for gain in proposal.gains] == ["dev", "heldout"]
    assert not proposal.optimistic
    dev, heldout = proposal.gains
    assert f"{dev.base:.3f} -> {dev.value:.3f} on dev" in proposal.sentence
    assert f"{heldout.base:.3f} -> {heldout.value:.3f} on heldout" in proposal.sentence


def test_without_a_split_the_gain_is_called_optimistic(headed: Path):
    proposal = diagnose(load_project(headed), trials=True).diagnosis.proposal
    assert proposal is not None
    assert proposal.optimistic
    assert "optimistic" in proposal.sentence
    assert [gain.split for gain in proposal.gains] == ["all"]


def test_the_json_is_the_same_bytes_every_time_and_times_stand_apart(headed: Path):
    project = load_project(headed)
    first = diagnosis_json(diagnose(project, trials=True).diagnosis)
    second = diagnose(project, trials=True).diagnosis
    assert diagnosis_json(second) == first
    values = json.loads(diagnosis_json(second, times=True))
    assert len(values["times"]["trials"]) == len(values["trials"])
    del values["times"]
    assert values == json.loads(first)


def test_a_fix_of_the_teams_own_is_tried(headed: Path):
    own = (
        SETTINGS + '\n[diagnosis.fixes.both]\nset = { "chunker.context" = "headings", "pipeline.pool" = 6 }\n'
    )
    (headed / "assay.toml").write_text(own)
    found = diagnose(load_project(headed), trials=True)
    (trial,) = [trial for trial in found.diagnosis.trials if trial.fix == "both"]
    assert trial.recovered


def test_a_kind_of_the_teams_own_is_asked_first(headed: Path):
    own = (
        '\n[diagnosis.kinds.beast]\nfix = "query-rewrite"\nabout = "Beasts are filed elsewhere."\n'
        'when = { query_matches = \'heron|walnut\', lost_at = ["pool cut", "first stage"] }\n'
        '\n[diagnosis.kinds.stony]\nfix = "better-embedder"\nwhen = "own_rules:stony"\n'
    )
    (headed / "assay.toml").write_text(SETTINGS + own)
    (headed / "own_rules.py").write_text(
        "def stony(case):\n    return 'Stones.' if 'granite' in case.query.text else None\n"
    )
    findings = {one.query_id: one for one in diagnose(load_project(headed)).diagnosis.findings}
    assert (findings["hard-0"].kind, findings["hard-0"].fix) == ("beast", "query-rewrite")
    assert findings["hard-0"].evidence.sentence == "Beasts are filed elsewhere."
    assert (findings["hard-1"].kind, findings["hard-1"].evidence.sentence) == ("stony", "Stones.")
    assert findings["hard-2"].kind == "chunk-boundary"


def test_all_faults_of_the_diagnosis_table_come_at_once(headed: Path):
    own = (
        "\n[diagnosis]\nkind = 1\n"
        '[diagnosis.kinds.a]\nfix = "query-rewriting"\nwhen = { lost_at = ["pool"] }\n'
        '[diagnosis.kinds.b]\nfix = "query-rewrite"\nwhen = "no_such_module:f"\n'
        "[diagnosis.fixes.c]\nset = { pool = 3 }\n"
    )
    (headed / "assay.toml").write_text(SETTINGS + own)
    with pytest.raises(ConfigError) as caught:
        diagnose(load_project(headed))
    told = str(caught.value)
    assert "[diagnosis] kind: there is no such setting\n  fix: did you mean 'kinds'?" in told
    assert "there is no fix 'query-rewriting'\n  fix: did you mean 'query-rewrite'?" in told
    assert "[diagnosis.kinds.a] when lost_at" in told
    assert "'no_such_module:f' cannot be loaded" in told
    assert "'pool' is no setting" in told


def test_decisions_survive_a_new_run_and_go_stale_when_the_trace_changes(headed: Path):
    project = load_project(headed)
    found = diagnose(project)
    first, *_ = found.diagnosis.findings
    found = decide(found, [_decision(first, "ranking")])
    assert found.diagnosis.agreement.reviewed == 1
    assert found.diagnosis.confirmed_kinds == {"ranking": 1}
    again = _finding(diagnose(project), first)
    assert (again.status, again.kind, again.by, again.stale) == ("changed", "ranking", "ada", False)
    other = project.with_settings({"pipeline.fusion.weights.fulltext": 0.1})
    evaluate(other)
    moved = diagnose(other)
    after = _finding(moved, first)
    if after.trace != first.trace:
        assert after.stale
        assert any(notice.code == "stale-decisions" for notice in moved.diagnosis.notices)


def test_a_decision_taken_back_is_gone(headed: Path):
    project = load_project(headed)
    found = diagnose(project)
    made = _decision(found.diagnosis.findings[0], "ranking")
    found = decide(decide(found, [made]), [], removed=[made])
    assert found.diagnosis.agreement.reviewed == 0
    assert all(one.status == "proposed" for one in found.diagnosis.findings)
    assert decisions_path(project).read_text() == ""


def test_a_decision_about_what_is_found_now_is_kept_and_said(headed: Path):
    project = load_project(headed)
    found = diagnose(project)
    stranger = replace(_decision(found.diagnosis.findings[0], "ranking"), query_id="easy-0")
    decide(found, [stranger])
    notices = diagnose(project).diagnosis.notices
    assert [notice.ids for notice in notices if notice.code == "resolved-decisions"] == [("easy-0",)]


def test_a_file_of_traces_is_diagnosed(headed: Path, tmp_path: Path):
    said = "One finds grey feathers beside shallow water in every case seen."
    stages: list[dict[str, Any]] = [
        {"name": "vector", "hits": [{"id": "c7", "doc": "page-3.md", "text": "# Notes about the saffron"}]},
        {"name": "fulltext", "hits": [{"id": "c9", "doc": "page-0.md", "text": said}]},
        {"name": "pool", "hits": ["c9", "c7"]},
        {"name": "reranked", "hits": ["c7"]},
    ]
    traces = tmp_path / "theirs.json"
    traces.write_text(json.dumps([{"query": "easy-0", "stages": stages}]))
    found = diagnose(load_project(headed), traces=traces)
    one = next(one for one in found.diagnosis.findings if one.query_id == "easy-0")
    assert (one.lost_at, one.kind) == ("reranker", "reranker-demotion")
    assert one.loss is not None
    assert one.loss.ranks == {"vector": None, "fulltext": 1, "pool": 1, "reranked": None, "final": None}
    others = [one for one in found.diagnosis.findings if one.query_id != "easy-0"]
    assert len(others) == 15
    assert {one.lost_at for one in others} == {"retriever error"}
    with pytest.raises(InputError, match="leave one of them out"):
        diagnose(load_project(headed), "latest", traces=traces)


def test_our_own_run_told_as_foreign_traces_loses_the_same_items_at_the_same_places(
    headed: Path, tmp_path: Path
):
    own = diagnose(load_project(headed))
    rows: list[dict[str, Any]] = []
    for trace in own.evaluation.run.traces():
        stages = [
            {"name": stage.name, "hits": [hit.chunk_id for hit in stage.hits], "deep": dict(stage.deep_ranks)}
            for stage in trace.stages
        ]
        rows.append({"query": trace.query_id, "stages": stages})
    traces = tmp_path / "own.jsonl"
    traces.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    foreign = diagnose(load_project(headed), traces=traces)

    def told(diagnosed: Diagnosed) -> list[tuple[object, ...]]:
        findings = diagnosed.diagnosis.findings
        return [(one.query_id, one.item, one.lost_at, one.kind, one.fix, one.loss) for one in findings]

    assert told(foreign) == told(own)
    assert foreign.diagnosis.waterfall == own.diagnosis.waterfall


def test_a_project_without_misses_says_so_and_tries_nothing(tmp_path: Path):
    found = diagnose(load_project(make_project(tmp_path)), trials=True)
    assert found.diagnosis.findings == ()
    assert found.diagnosis.trials == ()
    assert found.diagnosis.proposal is None


def _decision(finding: Finding, kind: str) -> Decision:
    return Decision(
        query_id=finding.query_id,
        item=finding.item,
        lost_at=finding.lost_at,
        kind=kind,
        proposed=finding.proposed,
        by="ada",
        when="2026-01-01T00:00:00Z",
        trace=finding.trace,
    )


def _finding(diagnosed: Diagnosed, like: Finding) -> Finding:
    return next(one for one in diagnosed.diagnosis.findings if one.query_id == like.query_id)


def test_embedders_that_need_a_choice_are_not_tried_and_absent_ones_are_said(
    headed: Path, monkeypatch: pytest.MonkeyPatch
):
    def absent(*_: object, **__: object) -> None:
        raise MissingExtraError("embedder 'minilm'", package="onnxruntime", extra="minilm")

    monkeypatch.setattr("assay.flows.trials.EMBEDDERS", EMBEDDERS)
    monkeypatch.setattr("assay.retrieval.models.resolving.resolve_minilm", absent)
    monkeypatch.setattr("assay.retrieval.models.resolving.resolve_static", absent)
    found = diagnose(load_project(headed), trials=True).diagnosis
    assert not [trial for trial in found.trials if trial.fix == "better-embedder"]
    (notice,) = [notice for notice in found.notices if notice.code == "not-installed"]
    assert "onnxruntime" in notice.text


def test_a_retriever_of_ones_own_is_diagnosed_and_tried_by_the_fixes_that_one_says(headed: Path):
    (headed / "own_search.py").write_text(
        "from pathlib import Path\n\n"
        "PAGES = sorted((Path(__file__).parent / 'docs').glob('*.md'))\n\n"
        "def by_word(query, k):\n"
        "    words = {word.strip('?.').lower() for word in query.split() if len(word) > 5}\n"
        "    hits = []\n"
        "    for page in PAGES:\n"
        "        text = page.read_text()\n"
        "        hits.append((-len(words & set(text.lower().replace('.', ' ').split())), page.name, text))\n"
        "    return [{'doc_id': name, 'text': text} for _, name, text in sorted(hits)][:k]\n\n"
        "def nothing(query, k):\n"
        "    return []\n"
    )
    own = (
        'retriever = "own_search:nothing"\n'
        + SETTINGS
        + '\n[diagnosis.fixes.by-word]\nset = { retriever = "own_search:by_word" }\n'
    )
    (headed / "assay.toml").write_text(own)
    found = diagnose(load_project(headed), trials=True).diagnosis
    assert len(found.findings) == 16
    (trial,) = found.trials
    assert (trial.fix, trial.base) == ("by-word", 0.0)
    assert trial.value is not None
    assert trial.value > 0.4


def test_a_retriever_of_ones_own_without_fixes_says_what_to_write(headed: Path):
    (headed / "none_search.py").write_text("def nothing(query, k):\n    return []\n")
    (headed / "assay.toml").write_text('retriever = "none_search:nothing"\n' + SETTINGS)
    found = diagnose(load_project(headed), trials=True).diagnosis
    assert not found.trials
    assert "no-knobs" in {notice.code for notice in found.notices}
