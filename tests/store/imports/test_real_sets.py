"""Every importer on its real set: the figures of the set's own README, counted again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest

from assay.measures.recall import recall_at_k
from assay.model.errors import InputError
from assay.store.imports.form import Imported
from assay.store.imports.known import FORMS, guess_form
from shared_data import DATASETS, needs_shared

pytestmark = [needs_shared, pytest.mark.shared]


def read(form: str, place: str, **options: str) -> Imported:
    path = DATASETS / place
    assert guess_form(path).name == form
    return FORMS[form].read(path, options)


def codes(imported: Imported) -> Mapping[str, int]:
    return {notice.code: len(notice.ids) for notice in imported.notices}


def assert_pinned(imported: Imported) -> None:
    """Every anchor and alternative that is pinned holds its quote, to the letter."""
    texts = {document.id: document.text for document in imported.documents}
    for query in imported.golden.queries:
        for anchor in query.anchors:
            for one in anchor.any_of:
                assert one.start is not None
                assert texts[one.doc_id][one.start : one.end] == one.quote


def test_chroma_chunking() -> None:
    imported = read("chroma-chunking", "chroma-chunking")
    assert imported.counts == {
        "documents": 5,
        "queries": 472,
        "anchors": 790,
        "labels": 0,
        "exact_places": 790,
        "inside_words": 49,
        "repeated_quotes": 97,
    }
    assert sum(len(document.text) for document in imported.documents) == 1_444_328
    assert Counter(query.meta["corpus"] for query in imported.golden.queries) == {
        "state_of_the_union": 76,
        "wikitexts": 144,
        "chatlogs": 56,
        "finance": 97,
        "pubmed": 99,
    }
    repeated = next(notice for notice in imported.notices if notice.code == "repeated-quotes")
    assert sum(name.startswith("finance") for name in repeated.ids) == 96
    assert_pinned(imported)


def test_squad_in_whole_articles() -> None:
    imported = read("squad-fulldoc", "squad-fulldoc")
    assert imported.counts["documents"] == 48
    assert imported.counts["queries"] == imported.counts["anchors"] == imported.counts["exact_places"] == 1190
    assert sum(len(document.text) for document in imported.documents) == 1_602_550
    assert_pinned(imported)


def test_squad_with_the_sentence_around_each_answer_stands_once() -> None:
    imported = read("squad-fulldoc", "squad-fulldoc", anchors="sentence")
    answers = read("squad-fulldoc", "squad-fulldoc").golden.queries
    texts = {document.id: document.text for document in imported.documents}
    for query, answer in zip(imported.golden.queries, answers, strict=True):
        (sentence,) = query.anchors
        assert texts[sentence.doc_id].count(sentence.quote) == 1
        assert answer.anchors[0].quote in sentence.quote
    assert imported.counts["exact_places"] == 1190
    assert "repeated_quotes" not in imported.counts


@pytest.mark.parametrize(("language", "inside"), [("en", 1), ("ar", 23), ("de", 3), ("zh", 0)])
def test_xquad(language: str, inside: int) -> None:
    imported = read("squad", f"squad-fulldoc/xquad/xquad.{language}.json.gz")
    assert imported.counts["documents"] == 48
    assert imported.counts["paragraphs"] == 240
    assert imported.counts["queries"] == imported.counts["exact_places"] == 1190
    assert imported.counts.get("inside_words", 0) == inside
    assert_pinned(imported)
    paragraphs = read("squad", f"squad-fulldoc/xquad/xquad.{language}.json.gz", documents="paragraph")
    assert paragraphs.counts["documents"] == 240
    assert_pinned(paragraphs)


def test_a_folder_of_several_squad_files_names_them() -> None:
    with pytest.raises(InputError, match=r"one file is one set; here are: xquad\.ar\.json\.gz"):
        read("squad", "squad-fulldoc/xquad")


def test_scifact() -> None:
    imported = read("scifact", "scifact")
    assert imported.counts == {
        "documents": 5183,
        "queries": 300,
        "anchors": 366,
        "labels": 0,
        "rationales": 338,
        "exact_places": 366,
    }
    assert codes(imported) == {"unlabelled": 112}
    kinds = Counter(query.kind for query in imported.golden.queries)
    assert kinds["no evidence"] == 112
    assert sum(kinds.values()) - 112 == 188
    assert all(query.answerable for query in imported.golden.queries)
    assert_pinned(imported)


def test_clapnq() -> None:
    imported = read("clapnq", "clapnq")
    assert imported.counts["chosen_sentences"] == 1265
    assert imported.counts["queries"] == 600
    assert imported.counts["unanswerable"] == 300
    assert imported.counts["documents"] == 597
    assert imported.counts["anchors"] == imported.counts["exact_places"] == 893
    assert codes(imported) == {"shared-passages": 3, "unlabelled": 1}
    assert_pinned(imported)


def test_anthropic_docs() -> None:
    imported = read("anthropic-docs", "anthropic-docs")
    assert imported.counts == {"documents": 232, "queries": 100, "anchors": 0, "labels": 192, "pages": 45}
    blank_lines = 2 * (232 - 45)  # the README counts pages, their sections joined by blank lines
    assert sum(len(document.text) for document in imported.documents) + blank_lines == 858_820
    assert "labels-absent" not in codes(imported)
    assert {len(query.labels) for query in imported.golden.queries} <= {1, 2, 3, 4}


def test_aragog() -> None:
    imported = read("aragog", "aragog")
    assert imported.counts["queries"] == imported.counts["labels"] == 107
    assert imported.counts["documents"] == 5
    assert codes(imported) == {"labels-absent": 8, "results-left-out": 4}


def test_autorag_sample_with_its_three_lists() -> None:
    imported = read("autorag", "autorag-samples", questions="qa_data_sample")
    assert imported.counts == {"documents": 30, "queries": 10, "anchors": 0, "labels": 10, "runs": 3}
    assert [run.name for run in imported.runs] == [
        "hybrid_retrieval_0",
        "lexical_retrieval_0",
        "semantic_retrieval_0",
    ]
    for run in imported.runs:
        printed = pl.read_parquet(DATASETS / "autorag-samples" / "retrieval_results" / f"{run.name}.parquet")[
            "retrieval_recall"
        ]
        for query, wanted in zip(imported.golden.queries, printed, strict=True):
            hits = [hit.chunk_id for hit in run.trace(query.id).final.hits]
            assert recall_at_k(hits, set(query.labels), len(hits)) == wanted


def test_autorag_korean_chunks() -> None:
    imported = read("autorag", "autorag-samples/gen_qa.parquet")
    assert imported.counts == {"documents": 55, "queries": 20, "anchors": 0, "labels": 20, "runs": 0}
    assert codes(imported) == {"inclusive-ends": 0}
    first = imported.documents[0]
    assert (first.meta["start"], first.meta["end"]) == ("0", "505")


def test_a_folder_of_two_autorag_sets_asks_which() -> None:
    with pytest.raises(InputError, match=r"2 files of questions: gen_qa\.parquet, qa_data_sample\.parquet"):
        read("autorag", "autorag-samples")


def test_ray_docs_and_its_published_page_scores() -> None:
    imported = read("ray-docs", "ray-docs-runs", labels="page")
    assert imported.counts["queries"] == 177
    assert imported.counts["pages"] == 104
    assert imported.counts["labels_without_section"] == 40
    assert imported.counts["runs"] == 8
    assert codes(imported)["never-retrieved"] == 4
    published = pl.read_csv(DATASETS / "ray-docs-runs" / "published_scores.csv")
    scores = dict(zip(published["experiment"], published["published_retrieval_score"], strict=True))
    assert len(scores) == 8
    for run in imported.runs:
        found = [
            bool({hit.doc_id for hit in run.trace(query.id).final.hits} & set(query.labels))
            for query in imported.golden.queries
        ]
        assert sum(found) / len(found) == pytest.approx(scores[run.name], abs=5e-5)


def test_ray_docs_by_section_gives_the_exact_figures() -> None:
    imported = read("ray-docs", "ray-docs-runs")
    published = pl.read_csv(DATASETS / "ray-docs-runs" / "published_scores.csv")
    scores = dict(zip(published["experiment"], published["recomputed_exact_anchor_hit"], strict=True))
    for run in imported.runs:
        found = [
            bool({hit.chunk_id for hit in run.trace(query.id).final.hits} & set(query.labels))
            for query in imported.golden.queries
        ]
        assert sum(found) / len(found) == pytest.approx(scores[run.name], abs=1e-9)


@pytest.mark.parametrize("wording", ["rewrite", "lastturn", "questions"])
def test_mtrag(wording: str) -> None:
    imported = read("mtrag", "mtrag-tasks", wording=wording)
    assert imported.counts == {"documents": 0, "queries": 777, "anchors": 0, "labels": 2128}
    queries: Counter[str] = Counter()
    labels: Counter[str] = Counter()
    for query in imported.golden.queries:
        queries[query.meta["domain"]] += 1
        labels[query.meta["domain"]] += len(query.labels)
        assert "|user|" not in query.text
        assert "<::>" in query.id
    assert queries == {"clapnq": 208, "cloud": 188, "fiqa": 180, "govt": 201}
    assert labels == {"clapnq": 578, "cloud": 494, "fiqa": 535, "govt": 521}


def test_one_domain_of_mtrag() -> None:
    assert read("mtrag", "mtrag-tasks/cloud").counts["labels"] == 494
    assert read("mtrag", "mtrag-tasks", domain="govt").counts["queries"] == 201
    with pytest.raises(InputError, match="there is no domain 'cars'"):
        read("mtrag", "mtrag-tasks", domain="cars")


@pytest.mark.parametrize(
    ("place", "counts"),
    [
        ("classic-ir/adi", {"documents": 82, "queries": 35, "anchors": 0, "labels": 170}),
        ("classic-ir/med", {"documents": 1033, "queries": 30, "anchors": 0, "labels": 696}),
    ],
)
def test_smart_collections(place: str, counts: dict[str, int]) -> None:
    imported = read("smart", place)
    assert imported.counts == counts
    assert codes(imported) == {}
    assert {grade for query in imported.golden.queries for grade in query.labels.values()} == {1.0}


def test_a_smart_document_is_its_title_and_its_text_without_carriage_returns() -> None:
    first = read("smart", "classic-ir/adi").documents[0]
    assert first.title is not None
    assert first.title.startswith("the ibm dsd technical information center - a total systems approach")
    assert first.text.startswith(f"{first.title}\n\nthe ibm data systems division")
    assert first.meta == {"author": "H. S. WHITE"}
    assert "\r" not in first.text


def test_a_csv_of_questions_alone_is_read_in_columns() -> None:
    imported = read("columns", "awkward-text/ragas_hf_doc_qa_eval_mixed_eol.csv")
    assert imported.counts["queries"] == imported.counts["rows"] == 66


@pytest.mark.parametrize("place", ["fastapi-docs", "trec", "awkward-text"])
def test_what_is_no_golden_set_is_taken_for_none(place: str) -> None:
    with pytest.raises(InputError, match="looks like no known form"):
        guess_form(DATASETS / place)


def test_a_folder_of_sets_names_them() -> None:
    with pytest.raises(InputError, match="one of its folders does: adi, med"):
        guess_form(DATASETS / "classic-ir")


def test_every_form_reads_the_same_set_twice_alike() -> None:
    places: dict[str, Any] = {"scifact": "scifact", "clapnq": "clapnq", "ray-docs": "ray-docs-runs"}
    for form, place in places.items():
        one, two = read(form, place), read(form, place)
        assert one.golden.digest == two.golden.digest
        assert [run.id for run in one.runs] == [run.id for run in two.runs]
