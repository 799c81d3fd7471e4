"""Whose chunks are these? Retrievers of others name documents by their own paths, or not at all.

A name that the corpus lacks is held against the ends of paths: ``/srv/docs/guide/setup.md`` is
``guide/setup.md`` where the corpus has it. A chunk that names no document of the corpus is looked for by its
text, through runs of its words, in one pass over the documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from assay.matching.sources import Sources
from assay.model.documents import Document
from assay.model.ids import id_key as identity
from assay.model.notices import Notice, listed
from assay.model.phrases import find
from assay.model.runs import ChunkTable
from assay.model.words import words

_RUN = 5
"""Words of a run: long enough to be rare, short enough to stand in any chunk."""


def name_documents(
    chunks: ChunkTable, documents: Sequence[Document] | Sources
) -> tuple[ChunkTable, tuple[Notice, ...]]:
    """Return the chunks with the documents of the corpus that they mean.

    Chunks whose document is in the corpus keep it; so do those for which nothing is found.

    Args:
        chunks: the chunks of a run.
        documents: the corpus.

    Returns:
        The chunks, and what is worth saying: ``documents-renamed`` (by the end of their path),
        ``documents-found`` (by their text), ``documents-unknown``, ``documents-ambiguous``.

    >>> import numpy as np
    >>> none = np.array([-1])
    >>> table = ChunkTable(ids=("1",), doc_ids=("/srv/a.md",), starts=none, ends=none, texts=("Pump",))
    >>> name_documents(table, [Document(id="a.md", text="Pump")])[0].doc_ids
    ('a.md',)
    """
    sources = documents if isinstance(documents, Sources) else Sources(documents)
    strange = [row for row, name in enumerate(chunks.doc_ids) if sources.document(name) is None]
    if not strange:
        return chunks, ()
    names = list(chunks.doc_ids)
    endings = _endings(sources)
    by_path: dict[str, str] = {}
    for row in strange:
        meant = next((endings[end] for end in _ends_of(names[row]) if endings.get(end)), None)
        if meant:
            by_path[names[row]] = meant
            names[row] = meant
    left = [row for row in strange if sources.document(names[row]) is None]
    found, several = _by_text({row: text for row in left if (text := chunks.texts[row])}, sources)
    for row, name in found.items():
        names[row] = name
    nowhere = sorted({names[row] for row in left if row not in found})
    ids = {row: chunks.ids[row] for row in found}
    return replace(chunks, doc_ids=tuple(names)), tuple(_notices(by_path, ids, several, nowhere))


def _endings(sources: Sources) -> Mapping[str, str]:
    """Return end of a path -> the document that it means; empty where it means several."""
    endings: dict[str, str] = {}
    for document in sources:
        for end in _ends_of(document.id):
            whole = end == identity(document.id)
            endings[end] = document.id if whole or end not in endings else ""
    return endings


def _ends_of(name: str) -> Iterator[str]:
    r"""Yield a name and the ends of it that begin behind a slash, the longest first.

    >>> list(_ends_of(r"docs\guide\a.md"))
    ['docs/guide/a.md', 'guide/a.md', 'a.md']
    """
    path = identity(name).replace("\\", "/")
    yield path
    while "/" in path:
        path = path.split("/", 1)[1]
        if path:
            yield path


def _by_text(texts: Mapping[int, str], sources: Sources) -> tuple[dict[int, str], list[int]]:
    """Return row -> the first document that holds its text, and the rows that several hold."""
    runs: dict[tuple[str, ...], list[int]] = {}
    short: list[int] = []
    for row, text in texts.items():
        spoken = words(text)
        # The first word may be cut in two; the run behind it is whole.
        (runs.setdefault(tuple(spoken[1 : 1 + _RUN]), []) if len(spoken) > _RUN else short).append(row)
    found: dict[int, str] = {}
    several: list[int] = []
    for document in sources:
        spoken = words(document.text) if runs else []
        at = range(len(spoken) - _RUN + 1)
        met = {run for place in at if (run := tuple(spoken[place : place + _RUN])) in runs}
        candidates = [*short, *(row for run in met for row in runs[run])]
        if not candidates:
            continue
        normal = sources.normal(document, keep=bool(met))
        for row in sorted(candidates):
            if find(texts[row], normal, whole_words=False):
                if row in found:
                    several.append(row)
                found.setdefault(row, document.id)
    return found, sorted(set(several))


def _notices(
    by_path: Mapping[str, str], found: Mapping[int, str], several: Sequence[int], nowhere: Sequence[str]
) -> Iterator[Notice]:
    if by_path:
        name, meant = next(iter(by_path.items()))
        were = "1 document was" if len(by_path) == 1 else f"{len(by_path)} documents were"
        text = f"{were} known by the end of the path ({name} is {meant})"
        yield Notice(code="documents-renamed", text=text, ids=tuple(by_path))
    if found:
        name = "1 chunk names" if len(found) == 1 else f"{len(found)} chunks name"
        text = f"{name} no document of the corpus; found by the text"
        yield Notice(code="documents-found", text=text, ids=tuple(found.values()))
    if several:
        ids = tuple(found[row] for row in several)
        text = f"{len(ids)} of them stand in several documents; the first counts: {listed(ids)}"
        yield Notice(code="documents-ambiguous", text=text, ids=ids)
    if nowhere:
        text = (
            f"{len(nowhere)} that the retriever names as documents are not in the corpus: {listed(nowhere)}; "
            "their hits earn nothing; [retriever.fields] document, or strip_prefix, says how it names them"
        )
        yield Notice(code="documents-unknown", text=text, ids=tuple(nowhere))
