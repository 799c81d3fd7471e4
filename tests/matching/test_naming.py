from __future__ import annotations

import numpy as np

from assay.matching import locate_texts, name_documents
from assay.model.documents import Document
from assay.model.runs import ChunkTable

GUIDE = Document(
    id="guide/setup.md", text="Alpha beta gamma delta epsilon zeta eta. Fill the tank to the upper mark."
)
OTHER = Document(id="other/setup.md", text="Nothing of it stands here, not even the tank.")
NOTES = Document(id="notes.txt", text="Short note.")
CORPUS = (GUIDE, OTHER, NOTES)


def table(*rows: tuple[str, str | None]) -> ChunkTable:
    """Chunks by document and text, without places."""
    nowhere = np.full(len(rows), -1, np.int64)
    return ChunkTable(
        ids=tuple(f"c{place}" for place in range(len(rows))),
        doc_ids=tuple(name for name, _ in rows),
        starts=nowhere,
        ends=nowhere.copy(),
        texts=tuple(text for _, text in rows),
    )


def named(*rows: tuple[str, str | None]) -> tuple[list[str], list[str]]:
    """Return the documents that were found, and the codes of what was said."""
    chunks, notices = name_documents(table(*rows), CORPUS)
    return list(chunks.doc_ids), [notice.code for notice in notices]


def test_documents_of_the_corpus_are_left_alone_and_nothing_is_said():
    assert named(("guide/setup.md", "x"), ("notes.txt", None)) == (["guide/setup.md", "notes.txt"], [])


def test_a_longer_path_is_known_by_its_end():
    found, codes = named(("/srv/docs/guide/setup.md", None), ("C:\\docs\\notes.txt", None))
    assert found == ["guide/setup.md", "notes.txt"]
    assert codes == ["documents-renamed"]


def test_a_shorter_path_is_known_where_it_means_one_document_only():
    found, codes = named(
        ("setup.md", None),
    )
    assert found == ["setup.md"]  # guide/setup.md or other/setup.md: nobody can say
    assert codes == ["documents-unknown"]


def test_a_chunk_that_names_no_document_is_found_by_its_words_even_cut_inside_one():
    found, codes = named(("text#1", "ta gamma delta epsilon zeta eta. Fill the tank to"))
    assert found == ["guide/setup.md"]
    assert codes == ["documents-found"]


def test_a_short_text_is_found_too():
    assert named(("text#1", "Short note."))[0] == ["notes.txt"]


def test_a_text_that_stands_in_several_documents_counts_in_the_first_and_is_told():
    found, codes = named(("text#1", "the tank"))
    assert found == ["guide/setup.md"]
    assert codes == ["documents-found", "documents-ambiguous"]


def test_words_that_stand_apart_are_no_find():
    assert named(("text#1", "Alpha beta gamma delta epsilon zeta eta and the tank")) == (
        ["text#1"],
        ["documents-unknown"],
    )


def test_what_was_named_can_be_located():
    chunks, _ = name_documents(table(("text#1", "Fill the tank to the upper mark")), CORPUS)
    located, _ = locate_texts(chunks, CORPUS)
    start = GUIDE.text.index("Fill")
    assert (located.starts[0], located.ends[0]) == (start, start + len("Fill the tank to the upper mark"))
