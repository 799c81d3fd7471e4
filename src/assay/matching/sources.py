"""The documents that anchors are looked for in, each normalised at most once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.model.documents import Document
from assay.model.errors import Fault, InputError
from assay.model.ids import id_key as identity
from assay.model.text import NormalText, normalise


class Sources:
    """Documents by id, with their normal forms.

    Args:
        documents: the corpus; it is not copied.

    Raises:
        InputError: two ids are one after NFC, so that nobody can say which document is meant.
    """

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents
        self._by_id = {identity(document.id): document for document in documents}
        self._normal: dict[str, NormalText] = {}
        if len(self._by_id) < len(documents):
            raise InputError(_repeated(documents))

    def __len__(self) -> int:
        return len(self._documents)

    def __iter__(self) -> Iterator[Document]:
        return iter(self._documents)

    def document(self, doc_id: str) -> Document | None:
        """Return the document of that id, however its letters are composed; None when there is none."""
        return self._by_id.get(identity(doc_id))

    def normal(self, document: Document, *, keep: bool = True) -> NormalText:
        """Return the document's normal form.

        Args:
            document: one of these documents.
            keep: remember it for the next time.
        """
        known = self._normal.get(document.id)
        if known is None:
            known = normalise(document.text)
            if keep:
                self._normal[document.id] = known
        return known


def _repeated(documents: Sequence[Document]) -> list[Fault]:
    first: dict[str, str] = {}
    faults: list[Fault] = []
    for document in documents:
        key = identity(document.id)
        if key in first:
            what = f"two documents have the id {document.id!r}"
            if first[key] != document.id:
                what = f"the ids {first[key]!r} and {document.id!r} are one after Unicode composition"
            faults.append(Fault(where=document.id, what=what, fix="give each document an id of its own"))
        first.setdefault(key, document.id)
    return faults
