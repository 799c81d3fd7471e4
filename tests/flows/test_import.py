"""``assay import``: a folder that can be measured, whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.corpus import read_corpus
from assay.flows.importing import REPORT, import_set, list_forms
from assay.flows.prepare import load_corpus
from assay.flows.project import load_project
from assay.model.documents import Document
from assay.model.errors import InputError
from assay.store.documents import can_be_files, write_documents
from assay.store.golden import load_golden
from assay.store.imports.known import FORMS
from assay.store.runs import RunStore
from shared_data import DATASETS, needs_shared

SETS: list[tuple[str, dict[str, str]]] = [
    ("chroma-chunking", {}),
    ("squad-fulldoc", {}),
    ("squad-fulldoc/xquad/xquad.ar.json.gz", {"anchors": "sentence"}),
    ("scifact", {}),
    ("clapnq", {}),
    ("anthropic-docs", {}),
    ("aragog", {}),
    ("autorag-samples", {"questions": "qa_data_sample"}),
    ("autorag-samples/gen_qa.parquet", {}),
    ("ray-docs-runs", {}),
    ("mtrag-tasks", {}),
    ("classic-ir/adi", {}),
    ("classic-ir/med", {}),
]


@needs_shared
@pytest.mark.shared
@pytest.mark.parametrize(("place", "options"), SETS, ids=[place for place, _ in SETS])
def test_every_real_set_becomes_a_project_that_reads_back_alike(
    place: str, options: dict[str, str], tmp_path: Path
) -> None:
    into = tmp_path / "project"
    report = import_set("auto", DATASETS / place, into, options=options)
    imported = FORMS[report.form].read(DATASETS / place, options)
    golden = load_golden(into / "golden.jsonl")
    assert golden.digest == report.golden_digest == imported.golden.digest
    assert json.loads((into / REPORT).read_text(encoding="utf-8"))["counts"] == report.counts
    if imported.documents:
        project = load_project(into)
        corpus = load_corpus(project)
        given = sorted(imported.documents, key=lambda document: document.id)
        assert [(one.id, one.text) for one in corpus.documents] == [(one.id, one.text) for one in given]
        assert project.golden.kinds == list(imported.golden.kinds)
        assert project.measure.unit == ("chunk" if report.counts["anchors"] else "document")
    assert [run.id for run in RunStore(into / ".assay" / "runs").list()] or not report.runs
    for run_id in report.runs:
        assert RunStore(into / ".assay" / "runs").load(run_id).golden_digest == golden.digest


def write_set(folder: Path) -> Path:
    folder.mkdir()
    path = folder / "set.csv"
    path.write_text("id,question,quote\nq1,Who?,the owner\nq2,Why?,nobody said\n", encoding="utf-8")
    (folder / "docs").mkdir()
    (folder / "docs" / "a.md").write_text("Ask the owner first.", encoding="utf-8")
    return path


def test_quotes_are_looked_up_in_documents_that_stand_apart(tmp_path: Path) -> None:
    path = write_set(tmp_path / "theirs")
    into = tmp_path / "mine"
    report = import_set("columns", path, into, documents=tmp_path / "theirs" / "docs")
    anchor = load_golden(into / "golden.jsonl").queries[0].anchors[0]
    assert (anchor.doc_id, anchor.start, anchor.end) == ("a.md", 4, 13)
    assert report.documents == "../theirs/docs"
    assert load_corpus(load_project(into)).documents[0].id == "a.md"
    assert [notice.code for notice in report.notices] == ["columns", "quotes-nowhere"]
    assert report.counts["documents"] == 1


def test_quotes_without_any_document_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    path = write_set(tmp_path / "theirs")
    with pytest.raises(InputError, match="2 quotes name no document"):
        import_set("auto", path, tmp_path / "mine")
    assert [place.name for place in tmp_path.iterdir()] == ["theirs"]


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    path = write_set(tmp_path / "theirs")
    (tmp_path / "mine").mkdir()
    import_set("auto", path, tmp_path / "mine", options={"quote": "id", "doc": "question"})
    before = sorted(place.name for place in (tmp_path / "mine").iterdir())
    assert before == ["assay.toml", "golden.jsonl", "import.json"]
    with pytest.raises(InputError, match="is there and holds something"):
        import_set("auto", path, tmp_path / "mine")
    assert sorted(place.name for place in (tmp_path / "mine").iterdir()) == before


def test_the_forms_can_be_listed() -> None:
    assert [form.name for form in list_forms()][-1] == "columns"


@pytest.mark.parametrize(
    "names",
    [["a.md", "A.md"], ["a.txt", "a.txt/b.md"], ["/a.md"], ["a/../b.md"], [".a.md"], ["a:b.md"], ["a.pdf"],
     ["a\nb.md"], ["x" * 300 + ".md"], ["a /b.md"], ["./a.md"], []],
)  # fmt: skip
def test_ids_that_no_file_system_can_hold_become_records(names: list[str]) -> None:
    assert not can_be_files([Document(id=name, text="x") for name in names])


def test_documents_read_back_as_they_were_written(tmp_path: Path) -> None:
    plain = [Document(id="b/ü.md", text="one\r\ntwo\n\u2028three"), Document(id="a.txt", text="x")]
    assert write_documents(plain, tmp_path / "files") == "documents"
    assert list(read_corpus(tmp_path / "files" / "documents").documents) == sorted(
        plain, key=lambda document: document.id
    )
    titled = [Document(id="7", text="one\n\ntwo", title="Seven", meta={"lang": "de"})]
    assert write_documents(titled, tmp_path / "lines") == "documents.jsonl"
    assert list(read_corpus(tmp_path / "lines" / "documents.jsonl").documents) == titled
