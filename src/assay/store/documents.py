"""Writing documents so that they are read again as they are: as text files, or as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from assay.model.documents import Document
from assay.store.atomic import write_bytes

FOLDER = "documents"
FILE = "documents.jsonl"

_SUFFIXES = frozenset({".md", ".txt"})
_LONGEST_NAME = 200
_RESERVED = frozenset('<>:"\\|?*')


def write_documents(documents: Sequence[Document], folder: Path) -> str:
    """Write documents into a folder and return what they are in: ``documents`` or ``documents.jsonl``.

    They become text files when their ids are paths that every file system can hold and they have no title
    and no metadata; else one file of JSON lines.

    Raises:
        StoreError: the place cannot be written.
    """
    if can_be_files(documents):
        for document in documents:
            write_bytes(folder / FOLDER / document.id, document.text.encode("utf-8", "surrogatepass"))
        return FOLDER
    lines = (json.dumps(_record(document), ensure_ascii=False) + "\n" for document in documents)
    write_bytes(folder / FILE, "".join(lines).encode("utf-8", "surrogatepass"))
    return FILE


def can_be_files(documents: Sequence[Document]) -> bool:
    """Return whether each document can be a text file named by its id.

    >>> can_be_files([Document(id="guide/a.md", text="A")]), can_be_files([Document(id="../a.md", text="A")])
    (True, False)
    """
    paths = [PurePosixPath(document.id) for document in documents]
    names = {str(path).casefold() for path in paths}
    folders = {str(parent).casefold() for path in paths for parent in path.parents}
    return (
        bool(documents)
        and len(names) == len(documents)
        and not names & folders
        and all(_is_plain(document.id, path) for document, path in zip(documents, paths, strict=True))
        and not any(document.title or document.meta for document in documents)
    )


def _is_plain(name: str, path: PurePosixPath) -> bool:
    return (
        path.suffix in _SUFFIXES
        and str(path) == name
        and not path.is_absolute()
        and not _RESERVED & set(name)
        and name.isprintable()
        and all(
            part == part.strip(" .") and not part.startswith(".") and len(part.encode()) <= _LONGEST_NAME
            for part in path.parts
        )
    )


def _record(document: Document) -> dict[str, str]:
    record = {"id": document.id, "text": document.text}
    if document.title is not None:
        record["title"] = document.title
    return record | {key: document.meta[key] for key in sorted(document.meta) if key not in record}
