"""A corpus: documents with ids that cannot be mistaken, and a digest of their content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from assay.model.documents import Document
from assay.model.errors import Fault, InputError, nearest
from assay.model.ids import id_key as id_key
from assay.model.notices import Notice, listed


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Documents in the order of their ids, and what was worth saying when they were read."""

    documents: tuple[Document, ...]
    digest: str
    """Content address: the same ids, texts, titles and metadata give the same digest, wherever they lay."""
    notices: tuple[Notice, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.documents)

    @cached_property
    def by_id(self) -> Mapping[str, Document]:
        """Document of each id (in composed form: NFC)."""
        return {document.id: document for document in self.documents}

    def find(self, doc_id: str) -> Document:
        """Return one document; ids are compared in composed form.

        Raises:
            InputError: there is no such document; the nearest id is named.
        """
        found = self.by_id.get(id_key(doc_id))
        if found is None:
            like = nearest(doc_id, list(self.by_id))
            raise InputError(
                f"no document is called {doc_id!r} among {len(self)}",
                fix=f"did you mean {like!r}?"
                if like
                else "its id is its path below the corpus, or the id of its record",
            )
        return found


def corpus_of(documents: Iterable[Document], *, notices: Sequence[Notice] = ()) -> Corpus:
    """Make a corpus of documents in memory; ``read_corpus`` makes one of files.

    Documents are put in the order of their ids, and ids are kept in composed form (NFC).

    Raises:
        InputError: there is no document, an id is empty, or two ids are (or become) the same; all of them.

    >>> corpus = corpus_of([Document(id="b", text="2"), Document(id="a", text="1")])
    >>> [document.id for document in corpus.documents]
    ['a', 'b']
    """
    given = list(documents)
    composed = [
        document if document.id == id_key(document.id) else replace(document, id=id_key(document.id))
        for document in given
    ]
    faults = _id_faults([document.id for document in given])
    if faults:
        raise InputError(faults)
    if not composed:
        raise InputError("the corpus holds no document", fix="give at least one document")
    ordered = tuple(sorted(composed, key=lambda document: document.id))
    return Corpus(documents=ordered, digest=_digest(ordered), notices=(*notices, *_content_notices(ordered)))


def _id_faults(ids: Sequence[str]) -> list[Fault]:
    first: dict[str, str] = {}
    faults: list[Fault] = []
    for doc_id in ids:
        key = id_key(doc_id)
        if not key.strip():
            faults.append(
                Fault(where="corpus", what="a document has an empty id", fix="give every document an id")
            )
        elif key not in first:
            first[key] = doc_id
        elif first[key] == doc_id:
            faults.append(
                Fault(where=doc_id, what="two documents have this id", fix="ids must be unique; rename one")
            )
        else:
            faults.append(
                Fault(
                    where=key,
                    what="two ids become the same after Unicode composition (NFC): "
                    f"{first[key]!a} and {doc_id!a}",
                    fix="rename one of the two",
                )
            )
    return faults


def _content_notices(documents: Sequence[Document]) -> list[Notice]:
    empty = [document.id for document in documents if not document.text.strip()]
    first: dict[str, str] = {}
    twins = [
        document.id for document in documents if first.setdefault(document.text, document.id) != document.id
    ]
    twins = [doc_id for doc_id in twins if doc_id not in set(empty)]
    notices: list[Notice] = []
    if empty:
        notices.append(
            Notice(
                code="empty-documents",
                text=f"{len(empty)} document(s) hold no text and give no chunk: {listed(empty)}",
                ids=tuple(empty),
            )
        )
    if twins:
        notices.append(
            Notice(
                code="twin-documents",
                text=f"{len(twins)} document(s) have the same text as another one: {listed(twins)}",
                ids=tuple(twins),
            )
        )
    return notices


def _digest(documents: Sequence[Document]) -> str:
    digest = hashlib.sha256()
    for document in documents:
        meta = [part for key in sorted(document.meta) for part in (key, document.meta[key])]
        # Each part with its length before it, so that no two corpora write the same bytes.
        for part in (document.id, document.text, document.title or "", *meta):
            data = part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "big"))
            digest.update(data)
        digest.update(len(meta).to_bytes(8, "big"))
    return digest.hexdigest()
