"""Which chunks of a document cover a place: by intervals, never by searching text."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.model.ids import id_key as identity
from assay.model.relevance import Place
from assay.model.runs import ChunkTable

Positions = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class DocumentChunks:
    """The chunks of one document whose places are known, sorted by start."""

    positions: Positions
    """Positions in the chunk table."""
    starts: Positions
    ends: Positions
    longest: int
    """Length of the longest one: how far back a chunk may begin that still reaches a place."""

    def covering(self, place: Place) -> list[int]:
        """Return the positions of the chunks that hold the whole place, in the table's order."""
        low = np.searchsorted(self.starts, place.end - self.longest, side="left")
        high = np.searchsorted(self.starts, place.start, side="right")
        return sorted(self.positions[low:high][self.ends[low:high] >= place.end].tolist())

    def best_part(self, place: Place) -> float:
        """Return the largest part of the place that one chunk holds, 0 to 1."""
        low = np.searchsorted(self.starts, place.start - self.longest, side="left")
        high = np.searchsorted(self.starts, place.end, side="left")
        held = np.minimum(self.ends[low:high], place.end) - np.maximum(self.starts[low:high], place.start)
        return max(0, int(held.max(initial=0))) / (place.end - place.start)


class ChunkSpots:
    """The chunks of some documents, by document.

    Args:
        chunks: the chunk table.
        doc_ids: the documents that will be asked for.
    """

    def __init__(self, chunks: ChunkTable, doc_ids: Collection[str]) -> None:
        self._chunks = chunks
        keys = [identity(name) for name in chunks.doc_ids]
        wanted = {identity(name) for name in doc_ids}
        self._rows: dict[str, list[int]] = {}
        for row, key in enumerate(keys):
            if key in wanted:
                self._rows.setdefault(key, []).append(row)
        self._made: dict[str, DocumentChunks] = {}

    def rows(self, doc_id: str) -> Sequence[int]:
        """Return all positions of a document's chunks, with or without a place."""
        return self._rows.get(identity(doc_id), ())

    def of(self, doc_id: str) -> DocumentChunks:
        """Return the placed chunks of a document; none when it has none."""
        key = identity(doc_id)
        if key not in self._made:
            rows = np.array(self._rows.get(key, []), np.int64)
            rows = rows[self._chunks.starts[rows] >= 0]
            rows = rows[np.argsort(self._chunks.starts[rows], kind="stable")]
            starts, ends = self._chunks.starts[rows], self._chunks.ends[rows]
            longest = int((ends - starts).max(initial=0))
            self._made[key] = DocumentChunks(positions=rows, starts=starts, ends=ends, longest=longest)
        return self._made[key]

    def same_place(self, row: int) -> list[int]:
        """Return the positions of all chunks at the place of one chunk, itself included, in order."""
        start, end = int(self._chunks.starts[row]), int(self._chunks.ends[row])
        if start < 0:
            return [row]
        there = self.of(self._chunks.doc_ids[row])
        same = (there.starts == start) & (there.ends == end)
        return sorted(there.positions[same].tolist()) or [row]
