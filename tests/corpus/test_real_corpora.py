"""Every chunker on every real corpus: exact places, nothing lost, the same each time."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import pytest

from assay.corpus import CHUNKERS, chunk_corpus, chunking_notices, make_chunker, read_corpus
from shared_data import DATASETS, needs_shared

FOLDERS = ["awkward-text", "fastapi-docs", "chroma-chunking/corpora", "squad-fulldoc/docs"]
SHAPES: list[tuple[str, Mapping[str, object]]] = [
    *((name, {"context": "headings"}) for name in sorted(CHUNKERS)),
    ("recursive", {"unit": "estimate", "size": 100, "overlap": 20}),
    ("paragraphs", {"max_chars": 400, "overlap": 80}),
]


@needs_shared
@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize(("name", "values"), SHAPES)
def test_real_text_is_cut_whole(folder: str, name: str, values: Mapping[str, object]):
    documents = read_corpus(DATASETS / folder).documents
    chunker = make_chunker(name, values)
    chunks = chunk_corpus(documents, chunker)
    texts = {document.id: document.text for document in documents}
    assert all(texts[chunk.doc_id][chunk.start : chunk.end] == chunk.text for chunk in chunks)
    assert all(one.doc_id != two.doc_id or one.end < two.end for one, two in pairwise(chunks))
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    assert chunking_notices(documents, chunks, chunker) == ()
    assert chunk_corpus(documents, chunker) == chunks


@needs_shared
def test_sections_of_real_pages_carry_their_path():
    corpus = read_corpus(DATASETS / "fastapi-docs")
    page = corpus.find("tutorial/body.md")
    chunks = make_chunker("markdown", {"context": "headings"}).chunk(page)
    [recap] = [chunk for chunk in chunks if chunk.text.startswith("## Import Pydantic")]
    assert recap.context == "Request Body"
