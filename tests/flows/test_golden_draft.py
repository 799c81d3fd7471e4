"""assay golden draft, from documents to a set that passes the check; killed on the way and started again."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from assay.building.reviewing import accept, blocked, marked, refuse
from assay.cli import run
from assay.flows.check import check_project
from assay.flows.golden_draft import DraftWishes, draft_project, draft_table
from assay.flows.golden_labels import project_labels
from assay.flows.project import load_project
from assay.model.errors import ConfigError
from assay.model.golden import Anchor, Provenance, Query
from assay.model.labels import Draft
from assay.store.golden import load_golden
from drafting_model import Careless, good_reply
from shared_data import DATASETS, needs_shared
from stand_in_model import Says, stand_in

LETTER = (
    "# {name}\n\nThe {name} committee meets on the {day} of every month in the long room above the old "
    "granary, where {count} chairs stand around a table of walnut.\n\n## Minutes of {name}\n\nWhoever chairs "
    "the {name} committee sends its minutes to the archive within {count} hours, sealed with the number "
    "{name}-{count}, and keeps no copy at home.\n"
)
NAMES = ("bridge", "harbour", "orchard", "market", "theatre", "granary", "quarry", "lantern")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    docs.mkdir()
    for at, name in enumerate(NAMES):
        text = LETTER.format(name=name, day=f"{at + 3}th", count=20 + at)
        (docs / f"{name}.md").write_text(text, encoding="utf-8")
    (tmp_path / "assay.toml").write_text('[corpus]\npath = "docs"\n', encoding="utf-8")
    return tmp_path


def always_good(body: dict[str, Any]) -> Says:
    return Says(content=json.dumps(good_reply(body)))


def answer_with(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def test_drafts_wait_for_a_persons_yes_and_then_the_set_passes_the_check(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("ASSAY_USER", "ada")
    with stand_in(Careless()) as model:
        asked = ["golden", "draft", str(folder), "--count", "6", "--model", "m", "--base-url", model.base_url]
        assert run([*asked, "--kinds", "factual", "lexical"]) == 0
    assert "6 drafts (3 of 3 factual, 3 of 3 lexical)" in capsys.readouterr().out
    assert not (folder / "golden.jsonl").exists()

    answer_with(monkeypatch, "y", "n", "too easy", "s", "y", "y", "q")
    assert run(["golden", "draft", str(folder), "--review"]) == 0
    shown = capsys.readouterr().out
    assert "3 accepted, 0 edited, 1 refused; 2 drafts left" in shown

    assert run(["golden", "export", "--project", str(folder)]) == 0
    golden = load_golden(folder / "golden.jsonl")
    assert len(golden.queries) == 3
    assert {query.provenance.verified_by for query in golden.queries} == {"ada"}
    assert {query.provenance.origin for query in golden.queries} == {"generated"}
    assert run(["check", str(folder)]) == 0


def test_an_edit_changes_the_question_and_another_phrase_is_checked(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    project = load_project(folder)
    report = draft_project(project, DraftWishes(count=1, kinds={"factual": 1.0}))
    document = report.drafts[0].query.anchors[0].doc_id
    text = (folder / "docs" / document).read_text(encoding="utf-8")
    phrase = text[text.index("sends its minutes") : text.index("and keeps no copy")].strip(" ,")
    answer_with(monkeypatch, "e", "Where do minutes go?", "", "no such phrase here", "e", "", "", phrase, "y")
    assert run(["golden", "draft", str(folder), "--review"]) == 0
    assert "paraphrase" in capsys.readouterr().out
    with project_labels(project) as labels:
        (query,) = labels.queries()
        (decision,) = labels.decisions()
    assert query.text == "Where do minutes go?"
    assert query.anchors[0].quote == phrase
    assert decision.verdict == "edited"


def test_a_draft_without_a_question_cannot_be_accepted_until_it_has_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    draft_project(load_project(folder), DraftWishes(count=1, kinds={"conceptual": 1.0}))
    answer_with(monkeypatch, "y", "u", "y", "e", "Which pen?", "", "y")
    assert run(["golden", "draft", str(folder), "--review"]) == 0
    shown = capsys.readouterr().out
    assert "not yet: the question is empty" in shown
    assert "no answer exists in the documents" in shown
    with project_labels(load_project(folder)) as labels:
        (query,) = labels.queries()
    assert (query.text, query.answerable, query.anchors) == ("Which pen?", False, ())


def test_a_document_cannot_steer_the_terminal(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    path = folder / "docs" / "bridge.md"
    hostile = "meets \x1b[2J\x1b]0;owned\x07 [bold]on[/bold] the \u202e"
    path.write_text(path.read_text(encoding="utf-8").replace("meets on the ", hostile), encoding="utf-8")
    draft_project(load_project(folder), DraftWishes(count=16, kinds={"factual": 1.0}))
    answer_with(monkeypatch, *["s"] * 16)
    assert run(["golden", "draft", str(folder), "--review"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "⟨U+001B⟩[2J" in out
    assert "[bold]on[/bold]" in out


def test_the_end_of_the_input_keeps_what_was_decided(folder: Path, monkeypatch: pytest.MonkeyPatch):
    draft_project(load_project(folder), DraftWishes(count=2, kinds={"factual": 1.0}))
    answer_with(monkeypatch, "y")
    assert run(["golden", "draft", str(folder), "--review"]) == 0
    with project_labels(load_project(folder)) as labels:
        assert len(labels.queries()) == 1
        assert len(labels.drafts(undecided=True)) == 1


def test_a_later_job_takes_other_passages(folder: Path):
    project = load_project(folder)
    first = draft_project(project, DraftWishes(count=4, kinds={"factual": 1.0}))
    second = draft_project(project, DraftWishes(count=4, kinds={"factual": 1.0}, seed=7))
    used = {place for draft in first.drafts for place in draft.evidence}
    assert used.isdisjoint(place for draft in second.drafts for place in draft.evidence)
    again = draft_project(project, DraftWishes(count=4, kinds={"factual": 1.0}))
    assert [draft.id for draft in again.drafts] == [draft.id for draft in first.drafts]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ("[draft]\ncount = 0\n", "should be at least 1"),
        ("[draft.kinds]\nfactaul = 1\n", "did you mean 'factual'"),
        ("[draft.kinds]\nfactual = 0\n", "no kind has a share"),
        ("[draft]\nbudget = 3\n", "did you mean"),
        ('[draft.model]\nmodel = "m"\n', "base_url"),
    ],
)
def test_wrong_settings_are_told_with_their_fix(
    folder: Path, settings: str, told: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    (folder / "assay.toml").write_text(f'[corpus]\npath = "docs"\n{settings}', encoding="utf-8")
    with pytest.raises(ConfigError, match=told):
        draft_table(load_project(folder), DraftWishes())


def test_the_command_line_comes_before_the_file(folder: Path):
    text = (
        '[corpus]\npath = "docs"\n[draft]\ncount = 5\n[draft.model]\nmodel = "a"\nbase_url = "http://h/v1"\n'
    )
    (folder / "assay.toml").write_text(text, encoding="utf-8")
    table = draft_table(load_project(folder), DraftWishes(count=7, model="b", calls=9))
    assert table.model is not None
    assert (table.count, table.model.model, table.model.base_url, table.budget_calls) == (
        7,
        "b",
        "http://h/v1",
        9,
    )


def test_json_tells_what_became_of_every_reply(folder: Path, capsys: pytest.CaptureFixture[str]):
    with stand_in(Careless()) as model:
        asked = ["golden", "draft", str(folder), "--model", "m", "--base-url", model.base_url]
        assert run([*asked, "--count", "4", "--calls", "5", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["calls"] == 5
    assert told["stopped"] == "the budget of 5 requests is spent"
    assert sum(told["wanted"].values()) == 4
    assert told["drafts"]


def test_a_job_killed_three_times_asks_nothing_twice_and_loses_no_reply(folder: Path):
    answered: list[str] = []

    def slowly(body: dict[str, Any]) -> Says:
        time.sleep(0.15)
        answered.append(json.dumps(body["messages"]))
        return always_good(body)

    with stand_in(slowly) as model:
        asked = [sys.executable, "-m", "assay", "golden", "draft", str(folder), "--count", "8"]
        asked += ["--model", "m", "--base-url", model.base_url, "--job", "night"]
        for replies in (1, 3, 5):
            process = subprocess.Popen(
                asked, stdout=subprocess.DEVNULL, env={**os.environ, "OPENAI_API_KEY": ""}
            )
            wait_for_replies(folder, replies, process)
            process.send_signal(signal.SIGKILL)
            process.wait()
        subprocess.run(asked, check=True, stdout=subprocess.DEVNULL)
    project = load_project(folder)
    with project_labels(project) as labels:
        kept = [reply for reply in labels.replies(job="night") if reply.status != "failed"]
        drafts = labels.drafts(job="night")
    assert len(drafts) == 8
    assert set(Counter(reply.task for reply in kept).values()) == {1}
    # A request that was under way when the process died is asked again; nothing else is.
    assert set(Counter(answered).values()) <= {1, 2}
    assert sum(count == 2 for count in Counter(answered).values()) <= 3


def wait_for_replies(folder: Path, count: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        if (folder / "labels.db").exists():
            with project_labels(load_project(folder)) as labels:
                if len(labels.replies(job="night")) >= count:
                    return
        assert process.poll() is None
        time.sleep(0.02)
    raise AssertionError("no reply came")


@needs_shared
@pytest.mark.parametrize("corpus", ["fastapi-docs", "squad-fulldoc/docs"])
def test_sixty_drafts_of_a_real_corpus_pass_the_check_after_review(
    tmp_path: Path, corpus: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    where = json.dumps(str(DATASETS / corpus))
    (tmp_path / "assay.toml").write_text(f"[corpus]\npath = {where}\n", encoding="utf-8")
    with stand_in(Careless()) as model:
        asked = ["golden", "draft", str(tmp_path), "--model", "m", "--base-url", model.base_url]
        assert run([*asked, "--workers", "2"]) == 0
    answer_with(monkeypatch, *["y"] * 60)
    assert run(["golden", "draft", str(tmp_path), "--review"]) == 0
    assert "60 accepted" in capsys.readouterr().out
    assert run(["golden", "export", "--project", str(tmp_path)]) == 0
    golden = load_golden(tmp_path / "golden.jsonl")
    assert Counter(query.kind for query in golden.queries) == {
        "factual": 15,
        "lexical": 15,
        "conceptual": 15,
        "multi-hop": 15,
    }
    assert run(["check", str(tmp_path)]) == 0
    checked = check_project(load_project(tmp_path))
    codes = Counter(finding.code for finding in checked.findings if finding.severity == "warning")
    assert checked.count("error") == 0
    assert set(codes) <= {"twins", "near-duplicate", "no-rare-term"}, codes


def test_a_yes_needs_a_question_and_an_anchor_but_for_queries_of_a_log():
    anchors = (Anchor(id="a1", doc_id="a.md", quote="x"),)
    assert blocked(Query(id="q", text="Who?", anchors=anchors)) is None
    assert "no anchor" in (blocked(Query(id="q", text="Who?")) or "")
    assert blocked(Query(id="q", text="Who?", answerable=False)) is None
    assert blocked(Query(id="q", text="Who?", provenance=Provenance(origin="log"))) is None
    with pytest.raises(ValueError, match="no anchor"):
        accept(Draft(job="j", query=Query(id="q", text="Who?"), by="m"), by="ada")


def test_a_ruling_carries_the_edit_that_follows_from_it():
    draft = Draft(job="j", query=Query(id="q", text="Who?", answerable=False), by="m")
    yes = accept(draft, by="ada")
    assert (yes.decision.verdict, yes.decision.subject, yes.decision.query) == ("accepted", draft.id, None)
    assert [(edit.action, edit.query_id, edit.by) for edit in yes.edits] == [("put", "q", "ada")]
    no = refuse(draft, by="ada", why="dull")
    assert (no.decision.verdict, no.decision.why, no.edits) == ("refused", "dull", ())


def test_a_passage_is_shown_with_its_anchors_marked_and_in_full():
    anchors = [Anchor(id="a1", doc_id="a", quote="gamma"), Anchor(id="a2", doc_id="a", quote="alpha beta")]
    pieces = marked("alpha beta, gamma, delta", anchors)
    assert [text for text, is_anchor in pieces if is_anchor] == ["alpha beta", "gamma"]
    assert "".join(text for text, _ in pieces) == "alpha beta, gamma, delta"
