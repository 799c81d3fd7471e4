"""Hits of other people's retrievers that say what they hold, but not where it stands."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from assay.matching.sources import Sources
from assay.model.documents import Document
from assay.model.ids import id_key as identity
from assay.model.notices import Notice, listed
from assay.model.phrases import find
from assay.model.runs import ChunkTable


def locate_texts(
    chunks: ChunkTable, documents: Sequence[Document] | Sources, *, only: Collection[str] | None = None
) -> tuple[ChunkTable, tuple[Notice, ...]]:
    """Find the places of chunks that came as text, in the documents that they name.

    Chunks that have a place already keep it. A text that stands more than once in its document gets its
    first place, and is counted. A text that stands nowhere stays without a place; its anchors can still be
    looked for in the text itself.

    Args:
        chunks: the chunks of a run.
        documents: the corpus.
        only: ids of the documents to look in (all by default).

    Returns:
        The chunks with the places that were found, and what is worth saying: ``located`` and
        ``not-located`` (with the ids of the chunks), ``located-twice``.
    """
    sources = documents if isinstance(documents, Sources) else Sources(documents)
    wanted = None if only is None else {identity(name) for name in only}
    starts, ends = chunks.starts.copy(), chunks.ends.copy()
    located: list[str] = []
    twice: list[str] = []
    nowhere: list[str] = []
    for row in np.flatnonzero(chunks.starts < 0).tolist():
        text, doc_id = chunks.texts[row], identity(chunks.doc_ids[row])
        if not text or (wanted is not None and doc_id not in wanted):
            continue
        document = sources.document(doc_id)
        spans = [] if document is None else find(text, sources.normal(document), whole_words=False)
        if spans:
            starts[row], ends[row] = spans[0]
        (located if spans else nowhere).append(chunks.ids[row])
        if len(spans) > 1:
            twice.append(chunks.ids[row])
    if not located and not nowhere:
        return chunks, ()
    return replace(chunks, starts=starts, ends=ends), tuple(_notices(located, twice, nowhere))


def _notices(located: list[str], twice: list[str], nowhere: list[str]) -> list[Notice]:
    notices: list[Notice] = []
    if located:
        text = f"{len(located)} chunks came without a place and were found in their documents by their text"
        notices.append(Notice(code="located", text=text, ids=tuple(located)))
    if twice:
        text = f"{len(twice)} of them stand more than once there; the first place counts: {listed(twice)}"
        notices.append(Notice(code="located-twice", text=text, ids=tuple(twice)))
    if nowhere:
        text = (
            f"{len(nowhere)} chunks came as text that does not stand in the document that they name: "
            f"{listed(nowhere)}; anchors are looked for in the text itself"
        )
        notices.append(Notice(code="not-located", text=text, ids=tuple(nowhere)))
    return notices
