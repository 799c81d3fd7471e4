"""``assay init``: a first ``assay.toml`` for a folder of documents.

Rooms: corpus (to see that the documents can be read), store (atomic writes).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from assay.corpus import Corpus, read_corpus
from assay.flows.project import FILE
from assay.model.documents import Document
from assay.model.errors import Fault, InputError
from assay.store.atomic import write_bytes

TEMPLATE = """\
# What is measured: these documents, these queries, this retriever. `assay run` reads this file.
name = {name}
k = 10                        # how many chunks reach the prompt

[corpus]
path = {path}                    # a folder, a glob, a JSONL or CSV file; relative to this file
{include}
[golden]
path = "golden.jsonl"         # one query a line, each tied to verbatim phrases of documents
kinds = ["factual", "lexical", "conceptual"]

[chunker]
name = "paragraphs"           # or: markdown, recursive, sentences, tokens, characters
max_chars = 800
context = "none"              # or: title, headings - put before a chunk for search

# Your own retriever in place of the reference pipeline: a Python callable search(query, k) -> hits.
# Write it above the first table:  retriever = "my_app.search:retrieve"

[pipeline]                    # the reference pipeline: hashing vectors + BM25 -> RRF -> lexical reranker
pool = 50

[gate]                        # `assay gate` fails when one of these falls
# "recall@10" = ">= 0.70"
"""


@dataclass(frozen=True, kw_only=True)
class Started:
    """What ``assay init`` found and wrote."""

    file: Path
    corpus: Corpus
    example: str
    """A first line for the golden file, made of a phrase that stands in one of the documents."""


def start_project(documents: Path, *, project: Path | None = None) -> Started:
    """Write an ``assay.toml`` for some documents, into their folder or into the one that is named.

    Raises:
        InputError: there are no documents, or the file is there already; nothing is overwritten.
    """
    folder = project or (documents if documents.is_dir() else documents.parent)
    file = folder / FILE
    if file.exists():
        raise InputError(Fault(where=str(file), what="is there already", fix="edit it, or move it away"))
    corpus = read_corpus(documents)
    inside = folder.resolve() == documents.resolve()
    path = "." if inside else _relative(documents, folder)
    text = TEMPLATE.format(
        name=json.dumps(folder.resolve().name),
        path=json.dumps(path),
        include='# include = ["**/*.md"]     # globs; every text file when it is left out\n',
    )
    write_bytes(file, text.encode())
    return Started(file=file, corpus=corpus, example=_example(corpus.documents))


def _relative(documents: Path, folder: Path) -> str:
    import os  # noqa: PLC0415

    return Path(os.path.relpath(documents, folder)).as_posix()


def _example(documents: tuple[Document, ...]) -> str:
    """Make a line for the golden file out of the first plain sentence of the first document that has one."""
    for document in documents:
        for line in document.text.splitlines():
            words = line.split()
            if 8 <= len(words) and words[0][:1].isalpha():  # noqa: SIM300 - it reads as the range that it is
                anchor = {"doc": document.id, "quote": " ".join(words[: min(len(words), 12)])}
                row = {"id": "q1", "query": "...", "kind": "factual", "anchors": [anchor]}
                return json.dumps(row, ensure_ascii=False)
    return json.dumps(
        {"id": "q1", "query": "...", "kind": "factual", "anchors": [{"doc": "...", "quote": "..."}]}
    )
