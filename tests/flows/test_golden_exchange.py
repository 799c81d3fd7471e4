from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.cli import run
from assay.flows.evaluate import evaluate
from assay.flows.golden_exchange import export_golden, import_golden
from assay.flows.golden_labels import project_labels
from assay.flows.project import Project, load_project
from assay.model.errors import ConfigError, InputError
from assay.model.golden import Anchor
from assay.model.judges import JudgeRecord
from assay.model.labels import Candidate, Decision, Edit, Judgement, Pool, settling
from assay.store.golden import load_golden
from assay.store.judges import save_judge
from shared_data import load_cases, needs_shared
from small_project import make_project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = load_project(make_project(tmp_path))
    import_golden(made, by="ada")
    return made


def rows(project: Project) -> dict[str, dict[str, object]]:
    lines = project.golden_path.read_text(encoding="utf-8").splitlines()
    return {row["id"]: row for row in map(json.loads, lines)}


def edit_file(project: Project, query_id: str, **changed: object) -> None:
    held = rows(project)
    held[query_id] |= changed
    text = "".join(f"{json.dumps(row)}\n" for row in held.values())
    project.golden_path.write_text(text, encoding="utf-8")


def test_an_export_of_what_was_imported_is_sorted_and_says_the_same(project: Project):
    before = load_golden(project.golden_path)
    done = export_golden(project)
    assert load_golden(project.golden_path).digest == before.digest
    assert done.told == {}
    first = project.golden_path.read_bytes()
    export_golden(project)
    assert project.golden_path.read_bytes() == first
    assert list(rows(project)) == ["q1", "q2", "q3"]


def test_a_hand_edit_comes_back_with_its_author_and_is_shown_field_by_field(project: Project):
    edit_file(project, "q2", query="What is E1207?")
    done = import_golden(project, by="bob")
    assert done.told == {"q2": ('query: "What does E1207 mean?" -> "What is E1207?"',)}
    with project_labels(project) as store:
        last = store.edits(query_id="q2")[-1]
    assert (last.by, last.action, last.why) == ("bob", "put", "edited by hand")
    assert import_golden(project).told == {}


def test_an_export_never_overwrites_a_hand_edit_that_was_not_imported(project: Project):
    edit_file(project, "q2", kind="identifier")
    with pytest.raises(InputError, match="was edited by hand"):
        export_golden(project)
    assert rows(project)["q2"]["kind"] == "identifier"
    export_golden(project, force=True)
    assert rows(project)["q2"]["kind"] == "lexical"


def test_what_changed_in_the_store_alone_waits_for_the_export(project: Project):
    anchor = Anchor(id="", doc_id="errors.md", quote="Code E1300 means that the basket was empty")
    with project_labels(project) as store:
        store.edit([Edit(query_id="q2", action="anchor", by="bob", anchor=anchor)])
    edit_file(project, "q1", kind="table")
    done = import_golden(project)
    assert (list(done.told), done.waiting, done.conflicts) == (["q1"], ("q2",), ())
    export_golden(project)
    held = rows(project)
    assert held["q1"]["kind"] == "table"
    assert len(held["q2"]["anchors"]) == 2  # type: ignore[arg-type]  # a list in the file


@pytest.mark.parametrize(("take", "kind"), [("file", "by file"), ("store", "by store")])
def test_what_changed_on_both_sides_is_left_alone_until_somebody_says_which_counts(
    project: Project, take: str, kind: str
):
    with project_labels(project) as store:
        (query,) = (one for one in store.queries() if one.id == "q1")
    edit_file(project, "q1", kind="by store")
    (ours,) = (one for one in load_golden(project.golden_path).queries if one.id == "q1")
    with project_labels(project) as store:
        store.edit([Edit(query_id="q1", action="put", by="bob", query=ours)])
    edit_file(project, "q1", kind="by file")
    for _ in range(2):  # an import that leaves a conflict open leaves it open the next time too
        done = import_golden(project)
        assert [one.query_id for one in done.conflicts] == ["q1"]
        assert done.told == {}
    import_golden(project, take=take)  # type: ignore[arg-type]  # one of two words
    export_golden(project)
    assert rows(project)["q1"]["kind"] == kind
    assert query.kind == "factual"


def test_a_query_that_was_removed_by_hand_leaves_the_set_and_its_history_stays(project: Project):
    held = rows(project)
    del held["q3"]
    project.golden_path.write_text("".join(f"{json.dumps(row)}\n" for row in held.values()))
    assert import_golden(project, by="bob").told == {"q3": ("removed",)}
    with project_labels(project) as store:
        assert [one.id for one in store.queries()] == ["q1", "q2"]
        assert [one.action for one in store.edits(query_id="q3")] == ["put", "remove"]
    export_golden(project)
    assert list(rows(project)) == ["q1", "q2"]


# Labels of places.

PLACE = {"doc_id": "delivery.md", "start": 12, "end": 71}
KEY = "delivery.md#12-71"


def pooled(project: Project, *grades: tuple[str, float]) -> None:
    """Pool one query from a log, and let people and judges grade its one candidate."""
    with project_labels(project) as store:
        store.add_pools(
            [
                Pool(
                    id="p1",
                    name="log",
                    query_id="log-1",
                    query="When do parcels leave?",
                    candidates=(Candidate(text="Parcels leave ...", **PLACE),),  # type: ignore[arg-type]
                )
            ]
        )
        store.add_judgements(
            [
                Judgement(
                    query_id="log-1",
                    grade=grade,
                    by=by,
                    origin="judge" if "/" in by else "person",
                    pool_id="p1",
                    **PLACE,  # type: ignore[arg-type]  # the place
                )
                for by, grade in grades
            ]
        )


def test_a_pooled_query_enters_the_set_once_a_person_has_labelled_it(project: Project):
    pooled(project)
    export_golden(project)
    assert "log-1" not in rows(project)
    pooled(project, ("ada", 2.0), ("bob", 2.0))
    export_golden(project)
    row = rows(project)["log-1"]
    assert row["relevant"] == {KEY: 2}
    assert row["provenance"] == {"origin": "log", "source": "log", "verified_by": "ada, bob"}


def test_places_in_dispute_are_in_no_label_until_they_are_settled(project: Project):
    pooled(project, ("ada", 1.0), ("bob", 0.0))
    done = export_golden(project)
    assert "log-1" not in rows(project)
    assert [notice.code for notice in done.notices] == ["label-conflicts"]
    with project_labels(project) as store:
        store.decide([Decision(subject=settling("log-1", KEY), verdict="settled", by="eve", grade=1.0)])
        assert len(store.judgements()) == 2  # both voices are kept
    assert not export_golden(project).notices
    assert rows(project)["log-1"]["relevant"] == {KEY: 1}


def test_a_grade_that_is_edited_by_hand_settles_the_place(project: Project):
    pooled(project, ("ada", 1.0))
    export_golden(project)
    edit_file(project, "log-1", relevant={KEY: 0})
    import_golden(project, by="bob")
    export_golden(project)
    assert rows(project)["log-1"]["relevant"] == {KEY: 0}
    edit_file(project, "log-1", relevant={})
    import_golden(project, by="bob")
    export_golden(project)
    assert "relevant" not in rows(project)["log-1"]
    with project_labels(project) as store:
        assert [(one.by, one.grade) for one in store.decisions()] == [("bob", 0.0), ("bob", None)]


def licence(project: Project, judge: str, *, right: int) -> None:
    save_judge(
        project.golden_path.with_name("judges.jsonl"),
        JudgeRecord(
            judge=judge,
            model="tale",
            positives=50,
            true_positives=right,
            negatives=50,
            true_negatives=right,
            labels="x",
            looks=1,
            by="ada",
            at="2026-01-01T00:00:00+00:00",
        ),
    )


def test_labels_of_a_judge_count_only_with_a_licence_and_carry_their_mark(project: Project):
    pooled(project, ("tale/1a2b", 1.0))
    done = export_golden(project)
    assert "log-1" not in rows(project)
    assert [notice.code for notice in done.notices] == ["unvalidated-judge"]
    licence(project, "tale/1a2b", right=49)
    export_golden(project)
    row = rows(project)["log-1"]
    assert row["relevant"] == {KEY: 1}
    assert row["provenance"] == {"origin": "log", "source": "log", "judged_by": "tale/1a2b"}
    pooled(project, ("ada", 0.0))
    export_golden(project)
    assert rows(project)["log-1"]["provenance"] == {"origin": "log", "source": "log", "verified_by": "ada"}


def test_an_unvalidated_judge_is_marked_in_every_number_and_can_be_refused(
    project: Project, capsys: pytest.CaptureFixture[str]
):
    pooled(project, ("tale/1a2b", 1.0))
    export_golden(project, with_unvalidated=True)
    assert import_golden(project).told == {}  # the mark is no hand edit
    summary = evaluate(project, save=False).summary
    (mark,) = (notice for notice in summary.notices if notice.code == "unvalidated-judge")
    assert mark.ids == ("log-1",)
    assert "1 of 4 queries" in mark.text
    assert summary.counts["unvalidated"] == 1
    assert run(["run", "-p", str(project.folder), "--no-save", "--require-validated"]) == 2
    assert "labelled by a judge that is not validated: tale/1a2b" in capsys.readouterr().err
    licence(project, "tale/1a2b", right=49)
    assert run(["run", "-p", str(project.folder), "--no-save", "--require-validated"]) == 0
    assert evaluate(project, save=False).summary.counts["unvalidated"] == 0


def test_the_bar_is_the_project_s(project: Project):
    licence(project, "tale/1a2b", right=49)
    pooled(project, ("tale/1a2b", 1.0))
    strict = project.with_settings({"judge.bar": 0.9})
    # The lower bound of 49 of 50 is 0.8935 (Clopper-Pearson): above 0.8, below 0.9.
    assert [notice.code for notice in export_golden(strict).notices] == ["unvalidated-judge"]
    with pytest.raises(ConfigError, match="should be from 0 to 1"):
        export_golden(project.with_settings({"judge.bar": 80}))


@needs_shared
def test_queries_that_returned_nothing_can_be_labelled_and_lower_the_recall(tmp_path: Path):
    case = load_cases()["B05"]
    given, expected = case["input"], case["expected"]
    queries = given["logged_queries"]
    texts = {f"d{number}": f"Fact {number} stands here." for number in range(queries)}
    (tmp_path / "docs").mkdir()
    for name, text in texts.items():
        (tmp_path / "docs" / f"{name}.md").write_text(text)
    settings = 'retriever = "logged:search"\nk = 5\n[corpus]\npath = "docs"\n[measure]\nnames = ["recall"]\n'
    (tmp_path / "assay.toml").write_text(settings)
    empty = given["with_no_candidates"]
    answered = given["labelled_hits_among_other_6"]
    returned = {
        f"question {number}": [] if number < empty else [f"d{number if number < empty + answered else 0}"]
        for number in range(queries)
    }
    code = f"RETURNED = {returned!r}\nTEXTS = {texts!r}\n\n\ndef search(query, k):\n"
    code += "    return [{'doc_id': f'{d}.md', 'start': 0, 'end': len(TEXTS[d])} for d in RETURNED[query]]\n"
    (tmp_path / "logged.py").write_text(code)
    project = load_project(tmp_path)
    with project_labels(project) as store:
        for number in range(queries):
            name, text = f"d{number}", texts[f"d{number}"]
            shown = tuple(
                Candidate(doc_id=f"{d}.md", start=0, end=len(texts[d]), text=texts[d])
                for d in returned[f"question {number}"]
            )
            (pool,) = store.add_pools(
                [
                    Pool(
                        id=f"p{number}",
                        name="log",
                        query_id=name,
                        query=f"question {number}",
                        candidates=shown,
                    )
                ]
            )
            # What was shown, where it answers; else the place, found in the corpus by hand.
            hand = name not in returned[f"question {number}"]
            store.add_judgements(
                [
                    Judgement(
                        query_id=name,
                        doc_id=f"{name}.md",
                        start=0,
                        end=len(text),
                        grade=1.0,
                        by="ada",
                        pool_id=None if hand else pool.id,
                    )
                ]
            )
    assert export_golden(project).queries == expected["labelled"]
    summary = evaluate(project, save=False).summary
    average = summary.measures["recall@5"]
    assert average.n == expected["labelled"]
    assert average.mean == pytest.approx(expected["recall@5"]["value"])


def test_a_query_without_an_answer_can_be_said_to_have_none(project: Project):
    with project_labels(project) as store:
        store.add_pools([Pool(id="p2", name="log", query_id="log-2", query="Who is the founder?")])
        store.decide([Decision(subject="log-2", verdict="unanswerable", by="ada")])
    export_golden(project)
    assert rows(project)["log-2"]["answerable"] is False


def test_the_commands_speak_and_exit_as_they_should(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(project.folder)
    assert run(["golden", "export"]) == 0
    assert capsys.readouterr().out == "golden.jsonl: 3 queries, 0 changed\n"
    edit_file(project, "q1", kind="table")
    assert run(["golden", "export"]) == 2
    assert "fix: assay golden import" in capsys.readouterr().err
    assert run(["golden", "import", "--dry-run", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["changed"] == {"q1": ['kind: "factual" -> "table"']}
    assert run(["golden", "import"]) == 0
    assert "1 of 3 queries taken into the store" in capsys.readouterr().out
    (project.folder / "docs" / "returns.md").write_text(
        "# Returns\n\nRefunds reach the card within 30 days.\n"
    )
    assert run(["golden", "drift"]) == 1
    assert "[-14-]{+30+} days" in capsys.readouterr().out
    assert run(["golden"]) == 0


def test_drift_mends_offsets_on_their_own_line_alone(project: Project, capsys: pytest.CaptureFixture[str]):
    text = (project.folder / "docs" / "returns.md").read_text()
    quote = "Opened software cannot be returned"
    start = text.index(quote)
    anchors = [{"doc": "returns.md", "quote": quote, "start": start, "end": start + len(quote)}]
    odd = '{"query":  "What does E1207 mean?", "id": "q2", "relevant": ["errors.md"]}\n'
    line = json.dumps({"id": "q1", "query": "May software go back?", "anchors": anchors})
    project.golden_path.write_text(f"{odd}{line}\r\n")
    (project.folder / "docs" / "returns.md").write_text("Preface.\n" + text)
    assert run(["golden", "drift", "-p", str(project.folder)]) == 0
    assert "1 moved; 1 mended" in capsys.readouterr().out
    first, second = project.golden_path.read_bytes().decode().split("\n")[:2]
    assert first + "\n" == odd
    assert second.endswith("\r")
    assert json.loads(second)["anchors"][0]["start"] == start + len("Preface.\n")
    assert run(["golden", "drift", "-p", str(project.folder)]) == 0
    assert "all where they should be" in capsys.readouterr().out


def test_repair_writes_quotes_as_their_documents_do(project: Project, capsys: pytest.CaptureFixture[str]):
    edit_file(
        project, "q1", anchors=[{"doc": "returns.md", "quote": "refunds  reach the card within 14 days"}]
    )
    assert run(["golden", "repair", "--dry-run", "-p", str(project.folder)]) == 0
    assert "could be mended" in capsys.readouterr().out
    assert run(["golden", "repair", "-p", str(project.folder)]) == 0
    assert "Refunds reach the card within 14 days" in project.golden_path.read_text()
