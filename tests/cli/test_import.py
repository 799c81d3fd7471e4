"""``assay import`` as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.cli import run

SQUAD = {
    "data": [
        {
            "title": "Moon",
            "paragraphs": [
                {
                    "context": "The moon rose at 9.",
                    "qas": [
                        {
                            "id": "s1",
                            "question": "When did it rise?",
                            "answers": [{"text": "at 9", "answer_start": 3}],
                        }
                    ],
                }
            ],
        }
    ]
}


@pytest.fixture
def squad(tmp_path: Path) -> Path:
    path = tmp_path / "moon.json"
    path.write_text(json.dumps(SQUAD), encoding="utf-8")
    return path


def test_a_set_becomes_a_folder_and_what_was_met_is_told(
    squad: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(squad.parent)
    assert run(["import", "auto", "moon.json"]) == 0
    told = capsys.readouterr().out
    assert told.startswith(
        "moon.json (squad) -> moon: 1 documents, 1 queries, 1 anchors, 1 paragraphs, 1 repaired\n"
    )
    assert "note: 1 anchor(s) stood elsewhere and were moved to the nearest occurrence: s1 a1" in told
    assert "Next: assay check moon, and assay run moon" in told
    assert (squad.parent / "moon" / "assay.toml").is_file()


def test_a_path_alone_is_guessed_and_choices_are_taken(
    squad: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    into = squad.parent / "out"
    arguments = ["import", str(squad), "--into", str(into), "--set", "documents=paragraph", "--json"]
    assert run(arguments) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["form"] == "squad"
    assert report["options"] == {"documents": "paragraph"}
    assert '"doc": "Moon/001.txt"' in (into / "golden.jsonl").read_text(encoding="utf-8")


def test_without_arguments_the_forms_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["import"]) == 0
    told = capsys.readouterr().out
    assert "beir" in told
    assert "--set wording=... (rewrite, lastturn, questions)" in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["squad"], "assay import takes a form and a source\n  fix: assay import squad PATH"),
        (["squad", "{set}", "--set", "anchors"], "--set anchors: a choice is written name=value"),
        (
            ["squad", "{set}", "--set", "anchor=x"],
            "there is no option 'anchor'\n  fix: did you mean 'anchors'?",
        ),
        (["squadd", "{set}"], "there is no form 'squadd'\n  fix: did you mean 'squad'?"),
        (["auto", "{set}.none"], "there is no such file or folder"),
    ],
)
def test_a_wrong_call_is_told_with_its_fix_and_exit_code_2(
    arguments: list[str], message: str, squad: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    into = squad.parent / "out"
    filled = [argument.replace("{set}", str(squad)) for argument in arguments]
    assert run(["import", *filled, "--into", str(into)]) == 2
    assert message in capsys.readouterr().err
    assert not into.exists()
