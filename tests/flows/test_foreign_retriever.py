from __future__ import annotations

from pathlib import Path

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from assay.flows.evaluate import evaluate
from assay.flows.project import load_project
from assay.model.errors import ConfigError, RetrieverError
from small_project import DOCUMENTS, SETTINGS, make_project

MODULE = '''
DOCS = {
    "returns.md": "Refunds reach the card within 14 days of the return being scanned.",
    "errors.md": "Code E1207 means that the payment provider refused the card.",
}

def texts(query, k):
    """The document and the text, without a place."""
    doc = "errors.md" if "E1207" in query else "returns.md"
    return [{"doc_id": doc, "id": "x1", "text": DOCS[doc]}]

def places(query, k):
    return [{"doc_id": "returns.md", "start": 0, "end": 77, "text": "..."}]

async def slow(query, k):
    return texts(query, k)

def broken(query, k):
    raise RuntimeError("index is offline")

def flaky(query, k):
    if "E1207" in query:
        raise RuntimeError("index is offline")
    return texts(query, k)
'''


def project_with(folder: Path, call: str, more: str = "") -> Path:
    (folder / "my_search.py").write_text(MODULE, encoding="utf-8")
    return make_project(folder, settings=f'retriever = "my_search:{call}"\n{SETTINGS}{more}')


def test_a_retriever_that_gives_texts_is_measured_by_anchor(tmp_path: Path):
    evaluation = evaluate(load_project(project_with(tmp_path, "texts")))
    assert evaluation.unit == evaluation.summary.unit == "anchor"
    assert "anchor" not in evaluation.summary.units  # those are the other units
    assert evaluation.summary.measures["recall@2"].mean == 1.0
    assert "unit" in [notice.code for notice in evaluation.notices]


def test_an_async_retriever_gives_the_same_numbers(tmp_path: Path):
    summary = evaluate(load_project(project_with(tmp_path, "slow"))).summary
    assert summary.measures["recall@2"].mean == 1.0


def test_a_retriever_over_the_projects_own_chunks_is_measured_by_chunk(tmp_path: Path):
    folder = project_with(tmp_path, "places")
    settings = (folder / "assay.toml").read_text().split("\n", 1)[1]
    table = '[retriever]\ncall = "my_search:places"\nwhole_index = true\n'
    (folder / "assay.toml").write_text(f"{settings}\n{table}", encoding="utf-8")
    evaluation = evaluate(load_project(folder))
    assert evaluation.unit == "chunk"
    # q1 is found at rank 1, q2 is not: the mean of 1 and 0.
    assert evaluation.summary.measures["recall@2"].mean == 0.5
    assert [miss.lost_at for miss in evaluation.summary.misses] == ["first stage"]


def test_a_failure_is_data_and_scores_0(tmp_path: Path):
    summary = evaluate(load_project(project_with(tmp_path, "flaky"))).summary
    assert summary.measures["recall@2"].mean == 0.5
    assert list(summary.failed) == ["q2"]
    assert "index is offline" in summary.failed["q2"]
    assert [(miss.query_id, miss.lost_at) for miss in summary.misses] == [("q2", "retriever error")]


def test_a_retriever_that_always_fails_is_an_error(tmp_path: Path):
    with pytest.raises(RetrieverError, match="index is offline"):
        evaluate(load_project(project_with(tmp_path, "broken")))


def test_a_retriever_that_cannot_be_found_is_an_error_with_a_fix(tmp_path: Path):
    with pytest.raises(ConfigError, match="my_search"):
        evaluate(load_project(project_with(tmp_path, "txets")))


def test_an_unknown_connector_gets_the_nearest(tmp_path: Path):
    folder = make_project(tmp_path, settings=f"{SETTINGS}\n[retriever]\ntype = 'calable'\ncall = 'a:b'\n")
    with pytest.raises(ConfigError, match="did you mean 'callable'"):
        evaluate(load_project(folder))


def test_a_retriever_is_taken_as_it_is_without_a_line_of_settings(tmp_path: Path):

    class Mine(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: object) -> list[Document]:
            del run_manager
            name = "errors.md" if "E1207" in query else "returns.md"
            return [Document(page_content=DOCUMENTS[name], metadata={"source": f"/srv/shop/docs/{name}"})]

    project = load_project(make_project(tmp_path))
    evaluation = evaluate(project, retriever=Mine())
    assert evaluation.summary.measures["recall@2"].mean == 1.0
    assert evaluation.run.name == "Mine"
    codes = [notice.code for notice in evaluation.notices]
    assert "documents-renamed" in codes  # /srv/shop/docs/errors.md is errors.md
    assert "located" in codes
    plain = evaluate(project, retriever=one_document)
    assert plain.summary.measures["recall@2"].mean == 0.0


def one_document(query: str, k: int) -> list[str]:
    return [name for name in ["returns.md"] if query][:k]


def test_texts_without_a_document_are_found_in_the_corpus(tmp_path: Path):
    def texts(query: str, k: int) -> list[dict[str, str]]:
        found = [DOCUMENTS["errors.md"], f"somewhere else {query}"]
        return [{"text": text} for text in found][:k]

    evaluation = evaluate(load_project(make_project(tmp_path)), retriever=texts)
    assert evaluation.summary.measures["recall@2"].mean == 0.5
    assert "documents-found" in [notice.code for notice in evaluation.notices]
