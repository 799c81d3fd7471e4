"""Mistakes in settings, calls and files, as the command line tells them: the place, the value and the fix."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from assay.cli import run
from small_project import QUERIES, make_project

LOG = "how do refunds work\nwhat is E1207\n"
BARE = "".join(json.dumps({**query, "anchors": []}) + "\n" for query in QUERIES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    call: tuple[str, ...]
    told: str
    settings: str = ""
    files: Mapping[str, str | bytes] = field(default_factory=dict[str, str | bytes])


MISTAKES = {
    "a share that is no number": Mistake(
        call=("golden", "draft", "--kinds", "factual=few"),
        told="--kinds factual=few: the share is no number\n  fix: factual=2",
    ),
    "a share below 0": Mistake(
        call=("golden", "draft", "--kinds", "factual=-1", "--kinds", "lexical=3"),
        told="assay.toml [draft] kinds: the share of factual is -1\n  fix: 0 or more",
    ),
    "a share without its kind": Mistake(
        call=("golden", "import-log", "log.csv", "--shares", "how-to"),
        files={"log.csv": f"query\n{LOG}"},
        told="--shares how-to: write kind=share\n  fix: --shares how-to=0.5 lexical=0.5",
    ),
    "fewer than none of a kind": Mistake(
        call=("golden", "import-log", "log.csv", "--least=-1"),
        files={"log.csv": f"query\n{LOG}"},
        told="assay.toml [log] least: should be 0 or more, not -1",
    ),
    "a chunker's setting without a value": Mistake(
        call=("check", "--chunkers", "recursive size"),
        told="--chunkers 'recursive size': 'size' has no value\n  fix: write name key=value",
    ),
    "nothing to export": Mistake(
        call=("golden", "export", "--project", "."),
        told="the label store holds no query yet\n  fix: assay golden import, or assay golden draft",
    ),
    "a batch of none": Mistake(
        call=("index", ".", "--into", "sqlite:///index.db", "--batch", "0"),
        told="batch must be at least 1, not 0",
    ),
    "an engine's file that is not TOML": Mistake(
        call=("index", ".", "--into", "engine.toml"),
        files={"engine.toml": "type = sqlite\n"},
        told="engine.toml: this is not TOML: Invalid value (at line 1, column 8)\n"
        "  fix: mend the line that is named; texts stand in quotes",
    ),
    "examples from nowhere": Mistake(
        call=("judge", "run"),
        settings='[judge]\nexamples = 3\ntrain = 0.0\nmodel = { base_url = "http://x/v1", model = "m" }\n',
        told="assay.toml [judge] train: examples come from the train part, which is empty\n"
        "  fix: train = 0.2, or examples = 0",
    ),
    "settings that are not UTF-8": Mistake(
        call=("run", "."),
        files={"assay.toml": 'name = "caf\xe9"\n'.encode("latin-1")},
        told="assay.toml: this is not TOML: 'utf-8' codec can't decode byte 0xe9 in position 11: "
        "invalid continuation byte\n  fix: save the file as UTF-8",
    ),
    "a table that is a number": Mistake(
        call=("run", "."),
        files={"assay.toml": "corpus = 3\n"},
        told="assay.toml corpus: should be a table, not 3",
    ),
    "a sweep over a set without labels": Mistake(
        call=("sweep", "--vary", "pipeline.pool=4,6", "--split", "all"),
        files={"golden.jsonl": BARE},
        told="no query of the golden set has anything to find\n  fix: add anchors to its queries",
    ),
    "a plan that is not TOML": Mistake(
        call=("sweep", "sweep.toml"),
        files={"sweep.toml": "[knobs\n"},
        told="sweep.toml: this is not TOML: Expected ']' at the end of a table declaration "
        "(at line 1, column 7)\n  fix: mend the line that is named; texts stand in quotes",
    ),
    "a value of one's own knob that is no table": Mistake(
        call=("sweep", "sweep.toml"),
        files={"sweep.toml": "[knobs.size]\nsmall = 4\n"},
        told="sweep.toml [knobs] size small: should be a table of settings\n  fix: small = {}",
    ),
    "a knob of one's own without values": Mistake(
        call=("sweep", "sweep.toml"),
        files={"sweep.toml": "[knobs.size]\n"},
        told="sweep.toml [knobs] size: has no values\n  fix: name two or more values to vary",
    ),
    "a column that nobody has": Mistake(
        call=("score", "run.txt", "qrels.txt", "--by", "kind"),
        files={"run.txt": "q1 Q0 d1 1 0.9 x\n", "qrels.txt": "q1 0 d1 1\n"},
        told="--by kind: neither qrels.txt nor a file of queries has this column\n"
        "  fix: give a file that says it of each query: --queries queries.jsonl",
    ),
    "a column whose name is nearly right": Mistake(
        call=("score", "run.txt", "qrels.txt", "--by", "kid", "--queries", "queries.jsonl"),
        files={
            "run.txt": "q1 Q0 d1 1 0.9 x\n",
            "qrels.txt": "q1 0 d1 1\n",
            "queries.jsonl": '{"id": "q1", "kind": "a"}\n',
        },
        told="--by kid: neither qrels.txt nor a file of queries has this column\n"
        "  fix: did you mean --by kind?",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_with_its_place_and_its_fix(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    mistake = MISTAKES[name]
    folder = make_project(tmp_path)
    if mistake.settings:
        file = folder / "assay.toml"
        file.write_text(f"{file.read_text(encoding='utf-8')}\n{mistake.settings}", encoding="utf-8")
    for path, data in mistake.files.items():
        (folder / path).write_bytes(data if isinstance(data, bytes) else data.encode())
    monkeypatch.chdir(folder)
    assert run(list(mistake.call)) == 2
    assert capsys.readouterr().err == f"error: {mistake.told}\n"
