"""Collections that packages know by name: ir_datasets over files of the test; mteb by its two forms."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import ir_datasets
import pytest

from assay.flows.importing import import_set
from assay.flows.project import load_project
from assay.model.errors import InputError, MissingExtraError
from assay.store.imports.form import Imported
from assay.store.imports.known import form_named, guess_form

DOCUMENTS = {"d1": "Refunds reach the card.", "d2": "Parcels leave at six.", "d3": "Nobody judged this."}
QUERIES = {"q1": "when is the money back", "q2": "when do parcels leave", "q3": "nobody judged this either"}
GRADES = {"q1": {"d1": 2}, "q2": {"d2": 1, "d1": 0}}


@pytest.fixture
def collection(tmp_path: Path) -> str:
    """A collection of ir_datasets over three local files."""
    files: dict[str, str] = {
        "docs": "".join(f"{key}\t{text}\n" for key, text in DOCUMENTS.items()),
        "queries": "".join(f"{key}\t{text}\n" for key, text in QUERIES.items()),
        "qrels": "".join(
            f"{query} 0 {document} {grade}\n"
            for query, grades in GRADES.items()
            for document, grade in grades.items()
        ),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    made = ir_datasets.create_dataset(
        docs_tsv=str(tmp_path / "docs"),
        queries_tsv=str(tmp_path / "queries"),
        qrels_trec=str(tmp_path / "qrels"),
    )
    name = f"assay-tests/{tmp_path.name}/test"
    ir_datasets.registry.register(name, made)
    return name


def check(found: Imported) -> None:
    assert [document.id for document in found.documents] == ["d1", "d2", "d3"]
    assert {query.id: dict(query.labels) for query in found.golden.queries} == {
        "q1": {"d1": 2.0},
        "q2": {"d2": 1.0, "d1": 0.0},
    }
    assert [notice.code for notice in found.notices] == ["unjudged-queries"]
    assert found.counts["documents"] == 3


def test_a_collection_of_ir_datasets_is_read_by_its_name(collection: str):
    check(form_named("ir_datasets").read(Path(collection)))


def test_documents_that_nobody_judged_can_be_left_out(collection: str):
    found = form_named("ir_datasets").read(Path(collection), {"documents": "judged"})
    assert [document.id for document in found.documents] == ["d1", "d2"]


def test_it_becomes_a_project(collection: str, tmp_path: Path):
    report = import_set("ir_datasets", collection, tmp_path / "project")
    assert report.counts["queries"] == 2
    project = load_project(tmp_path / "project")
    assert project.measure.unit == "document"


def test_an_unknown_name_is_an_error_with_the_nearest(collection: str):
    with pytest.raises(InputError, match="did you mean 'vaswani'"):
        form_named("ir_datasets").read(Path("vaswanni"))


def test_no_path_looks_like_a_name(tmp_path: Path):
    (tmp_path / "beir").mkdir()
    with pytest.raises(InputError, match="looks like no known form"):
        guess_form(tmp_path / "beir")


@pytest.mark.parametrize("form", ["ir_datasets", "mteb"])
def test_a_missing_package_is_named(form: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, form, None)
    with pytest.raises(MissingExtraError, match="pip install"):
        form_named(form).read(Path("SciFact"))


def test_a_collection_that_cannot_be_fetched_is_told_in_one_line(
    collection: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "docs").unlink()
    with pytest.raises(InputError, match="cannot be loaded"):
        form_named("ir_datasets").read(Path(collection))

    class Unreachable(NewTask):
        def load_data(self) -> None:
            raise ConnectionError("Couldn't reach 'mteb/scifact' on the Hub")

    monkeypatch.setitem(sys.modules, "mteb", stand_in(Unreachable))
    with pytest.raises(InputError, match="SciFact cannot be loaded \\(Couldn't reach 'mteb/scifact'"):
        form_named("mteb").read(Path("SciFact"))


class OldTask(SimpleNamespace):
    """As mteb 1 has it: part -> split -> id -> value."""

    metadata = SimpleNamespace(eval_splits=["test"])

    def load_data(self) -> None:
        self.corpus = {"test": {key: {"title": "", "text": text} for key, text in DOCUMENTS.items()}}
        self.queries = {"test": QUERIES}
        self.relevant_docs = {"test": GRADES}


class NewTask(SimpleNamespace):
    """As mteb 2 has it: subset -> split -> part, with rows."""

    metadata = SimpleNamespace(eval_splits=["test"])

    def load_data(self) -> None:
        rows: dict[str, Any] = {
            "corpus": [{"id": key, "title": "", "text": text} for key, text in DOCUMENTS.items()],
            "queries": [{"id": key, "text": text} for key, text in QUERIES.items()],
            "relevant_docs": GRADES,
        }
        self.dataset = {"default": {"test": rows}}


def stand_in(task: type[SimpleNamespace]) -> ModuleType:
    module = ModuleType("mteb")

    def get_task(name: str) -> SimpleNamespace:
        if name != "SciFact":
            raise KeyError(name)
        return task()

    module.__dict__["get_task"] = get_task
    return module


@pytest.mark.parametrize("task", [OldTask, NewTask])
def test_a_task_of_mteb_is_read_in_both_forms(task: type[SimpleNamespace], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "mteb", stand_in(task))
    check(form_named("mteb").read(Path("SciFact")))
    with pytest.raises(InputError, match="it has no split 'dev'"):
        form_named("mteb").read(Path("SciFact"), {"split": "dev"})
    with pytest.raises(InputError, match="there is no task 'SciFac'"):
        form_named("mteb").read(Path("SciFac"))


def test_a_collection_of_documents_alone_is_no_set(tmp_path: Path):
    (tmp_path / "docs").write_text("d1\ta\n")
    name = f"assay-tests/{tmp_path.name}/bare"
    ir_datasets.registry.register(name, ir_datasets.create_dataset(docs_tsv=str(tmp_path / "docs")))
    with pytest.raises(InputError) as caught:
        form_named("ir_datasets").read(Path(name))
    assert str(caught.value) == (
        f"import ir_datasets: {name} has no queries, qrels\n"
        "  fix: name a part that has all three: its test split"
    )


def test_a_collection_whose_queries_are_gone_is_no_set(collection: str, tmp_path: Path):
    (tmp_path / "queries").write_text("")
    with pytest.raises(InputError) as caught:
        form_named("ir_datasets").read(Path(collection))
    assert str(caught.value) == (
        f"ir_datasets {collection}: it has no queries\n  fix: name a part that has them: its test split"
    )
