"""assay golden import-log: from ten thousand rows to a plan, with nothing personal on the disk."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from assay.cli import run
from assay.flows.golden_labels import project_labels
from assay.flows.golden_log import LogWishes, import_log, log_table
from assay.flows.project import load_project
from assay.model.errors import ConfigError, MissingExtraError
from small_project import make_project

SECRETS = (
    "ada@example.org",
    "sk-proj-a8F3kLm29XcQ71bZp0R4tYw6",
    "+44 20 7946 0958",
    "10.20.30.40",
    "session-of-ada",
)
ROWS = [
    f"how do I reset the password of {SECRETS[0]},{SECRETS[4]},returns.md",
    "reset password,s2,",
    "Reset password please,s3,returns.md",
    f"key {SECRETS[1]} refused,s4,",
    f"call {SECRETS[2]} from {SECRETS[3]},s5,",
    "what does E1207 mean,s6,errors.md",
    "E1207,s7,",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_project(tmp_path)
    (tmp_path / "log.csv").write_text("\n".join(["query,session,clicked", *ROWS]), encoding="utf-8")
    return tmp_path


def test_nothing_personal_reaches_the_disk_or_the_screen(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["golden", "import-log", str(folder / "log.csv"), str(folder)]) == 0
    shown = capsys.readouterr().out
    written = b"".join(
        path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != "log.csv"
    )
    for secret in SECRETS:
        assert secret not in shown
        assert secret.encode() not in written
    assert "1 email, 1 ip, 1 key, 1 phone" in shown
    assert b"<email>" in written


def test_queries_of_a_log_wait_with_what_the_log_knows(folder: Path):
    found = import_log(load_project(folder), folder / "log.csv")
    assert (found.rows, found.distinct, found.stored) == (7, 6, True)
    with project_labels(load_project(folder)) as labels:
        drafts = {draft.query.text: draft for draft in labels.drafts(undecided=True)}
        assert labels.queries() == ()
    assert set(drafts) == {
        "how do I reset the password of <email>",
        "reset password",
        "key <key> refused",
        "call <phone> from <ip>",
        "what does E1207 mean",
        "E1207",
    }
    merged = drafts["reset password"]
    assert merged.query.provenance.origin == "log"
    assert merged.query.provenance.source == "log.csv"
    assert merged.query.meta == {"asked": "2"}
    assert merged.notes == (
        "asked 2 times",
        "also worded: Reset password please",
        "people opened: returns.md (1)",
    )
    again = import_log(load_project(folder), folder / "log.csv")
    assert [draft.seq for draft in again.drafts] == [draft.seq for draft in found.drafts]


def test_a_dry_run_stores_nothing_and_tells_the_plan(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["golden", "import-log", str(folder / "log.csv"), str(folder), "--dry-run", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert not (folder / "labels.db").exists()
    assert sum(row["picked"] for row in told["plan"]) == 6
    assert told["true_shares"] is True
    assert {row["kind"] for row in told["plan"]} == {"lexical", "how-to", "keywords"}


def test_own_kinds_and_shares_come_from_the_project(folder: Path):
    settings = (folder / "assay.toml").read_text(encoding="utf-8")
    own = '\n[log]\ncount = 2\n[log.kinds]\ncodes = "E\\\\d{4}"\n[log.shares]\ncodes = 1\n'
    (folder / "assay.toml").write_text(settings + own, encoding="utf-8")
    found = import_log(load_project(folder), folder / "log.csv", LogWishes(dry_run=True))
    assert {draft.query.kind for draft in found.drafts} == {"codes"}
    assert len(found.drafts) == 2
    assert not found.plan.true_shares


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ("[log]\ncounts = 3\n", "did you mean 'count'"),
        ("[log]\ncount = 0\n", "at least 1"),
        ('[log.kinds]\nx = "("\n', "no regular expression"),
        ("[log.shares]\nbilling = 1\n", "no query of the kind billing"),
        ("[log.shares]\nlexical = -1\n", "0 or more"),
    ],
)
def test_wrong_settings_are_told(folder: Path, settings: str, told: str):
    text = (folder / "assay.toml").read_text(encoding="utf-8")
    (folder / "assay.toml").write_text(f"{text}\n{settings}", encoding="utf-8")
    with pytest.raises(ConfigError, match=told):
        import_log(load_project(folder), folder / "log.csv")


def test_where_names_must_be_masked_and_nothing_finds_them_it_fails(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("assay.flows.golden_log.installed_detector", lambda: None)
    with pytest.raises(MissingExtraError, match="names of people"):
        import_log(load_project(folder), folder / "log.csv", LogWishes(names="required"))
    assert log_table(load_project(folder), LogWishes(names="off")).names == "off"


def test_ten_thousand_queries_become_a_plan_of_eighty(folder: Path):
    place = Path(__file__).parents[2] / "benchmarks" / "query_log.py"
    spec = importlib.util.spec_from_file_location("query_log", place)
    assert spec is not None
    assert spec.loader is not None
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    maker.write_log(folder / "big.jsonl", 10_000)
    found = import_log(load_project(folder), folder / "big.jsonl")
    assert (found.rows, found.plan.picked, len(found.drafts)) == (10_000, 80, 80)
    assert found.distinct < 5_000
    assert found.plan.half_width == pytest.approx(0.11, abs=0.01)
    shares = {stratum.kind: (stratum.share, stratum.picked / 80) for stratum in found.plan.strata}
    assert all(abs(share - picked) < 1 / 80 for share, picked in shares.values())
