"""The chunks that foreign traces speak of, under one identity.

A chunk is its document and its place; where neither is told, the pipeline's own id; without one, its text.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import PurePosixPath
from typing import Any
from unicodedata import normalize

import numpy as np

from assay.model.documents import chunk_id
from assay.model.notices import Notice, listed
from assay.model.runs import ChunkTable
from assay.store.trace_form import HitRow

_PLACE = re.compile(r"(?P<doc>.+)#(?P<start>\d+)-(?P<end>\d+)\Z", re.DOTALL)


@dataclass(slots=True)
class _Row:
    id: str
    doc_id: str
    start: int
    end: int
    text: str | None


@dataclass(slots=True)
class TraceChunks:
    """The chunks that traces speak of, under one identity."""

    documents: Collection[str]
    rows: list[_Row] = field(default_factory=list[_Row])
    by_key: dict[tuple[Any, ...], int] = field(default_factory=dict[tuple[Any, ...], int])
    by_id: dict[str, int] = field(default_factory=dict[str, int])
    by_name: dict[str, list[str]] | None = None
    homeless: dict[str, None] = field(default_factory=dict[str, None])

    def place(self, hit: HitRow | str) -> int:
        """Return the position of a hit's chunk, made when it is new."""
        one = HitRow(id=hit) if isinstance(hit, str) else hit
        own = None if one.id is None else normalize("NFC", str(one.id))
        doc = self._document(None if one.doc is None else str(one.doc), own)
        start, end = one.start, one.end
        spot = _PLACE.match(own) if own is not None and start is None else None
        if spot is not None and (one.doc is None or self._document(spot["doc"], None) == doc):
            doc, start, end = self._document(spot["doc"], None), int(spot["start"]), int(spot["end"])
        if start is not None and end is not None and doc:
            key: tuple[Any, ...] = (doc, start, end)
            name = chunk_id(doc, start, end)
        elif own is not None and own in self.by_id:
            return self._known(self.by_id[own], one.text, doc)
        elif own is not None:
            key, name, start, end = ("id", own), own, None, None
        else:
            digest = blake2b((one.text or "").encode(), digest_size=8).hexdigest()
            key, name, start, end = ("text", doc, digest), f"{doc or 'text'}#{digest}", None, None
        at = self.by_key.get(key)
        if at is None and own is not None and own in self.by_id:
            at = self._placed(self.by_id[own], key, start, end)
        if at is None:
            at = self.by_key[key] = len(self.rows)
            self.rows.append(
                _Row(
                    id=name,
                    doc_id=doc,
                    start=-1 if start is None else start,
                    end=-1 if end is None else end,
                    text=one.text if start is None else None,
                )
            )
        if own is not None:
            self.by_id.setdefault(own, at)
        return self._known(at, one.text, doc)

    def chunks(self) -> ChunkTable:
        """Return the chunks in columns."""
        return ChunkTable(
            ids=tuple(row.id for row in self.rows),
            doc_ids=tuple(row.doc_id for row in self.rows),
            starts=np.array([row.start for row in self.rows], np.int64),
            ends=np.array([row.end for row in self.rows], np.int64),
            texts=tuple(row.text for row in self.rows),
        )

    def notices(self, file: str) -> list[Notice]:
        """Say which hits name no document of the corpus."""
        if not self.homeless or not self.documents:
            return []
        names = list(self.homeless)
        text = f"{file}: {len(names)} chunks name no document of the corpus: {listed(names)}"
        return [Notice(code="unknown-documents", text=text, ids=tuple(names))]

    def _placed(self, at: int, key: tuple[Any, ...], start: int | None, end: int | None) -> int | None:
        """Give a chunk that was known by its id alone the place that another list tells."""
        row = self.rows[at]
        if row.start >= 0 or start is None or end is None:
            return None
        row.doc_id, row.start, row.end, row.text = str(key[0]), start, end, None
        self.by_key[key] = at
        return at

    def _known(self, at: int, text: str | None, doc: str) -> int:
        """Add to a chunk what one list tells of it and another did not."""
        row = self.rows[at]
        if row.start < 0 and row.text is None:
            row.text = text
        if not row.doc_id:
            row.doc_id = doc
        if not row.doc_id or (self.documents and row.doc_id not in self.documents):
            self.homeless[row.id] = None
        else:
            self.homeless.pop(row.id, None)
        return at

    def _document(self, said: str | None, own: str | None) -> str:
        """Return the corpus' id of the document that a hit names; as it was said where none is known."""
        for one in filter(None, (said, own)):
            name = normalize("NFC", one).replace("\\", "/")
            if name in self.documents:
                return name
            if self.by_name is None:
                self.by_name = {}
                for document in self.documents:
                    self.by_name.setdefault(PurePosixPath(document).name, []).append(document)
            alike = [
                document
                for document in self.by_name.get(PurePosixPath(name).name, ())
                if name.endswith(f"/{document}") or document.endswith(f"/{name}") or "/" not in name
            ]
            if len(alike) == 1:
                return alike[0]
        return normalize("NFC", said) if said is not None else ""
