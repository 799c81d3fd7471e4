"""Ids as they stand in the bytes of a file: compared and coded eight bytes at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.store.rankings.ids import Docs, Keys, ListDocs, Positions, mixed

WORD = 8
_MASKS = np.array([(1 << (8 * length)) - 1 for length in range(WORD + 1)], np.uint64)


@dataclass(frozen=True, slots=True)
class PackedDocs:
    """Ids as spans of bytes."""

    keys_tell: ClassVar[bool] = False
    data: bytes
    """The file, and at least ``WORD`` bytes after it."""
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts)

    def keys(self) -> Keys:
        keys = self.lengths.astype(np.uint64)
        for offset in range(0, int(self.lengths.max(initial=0)), WORD):
            inside = self.lengths > offset
            if inside.all():
                keys = mixed(keys ^ self._word(offset))
            else:
                keys = np.where(inside, mixed(keys ^ self._word(offset)), keys)
        return keys

    def take(self, rows: Positions) -> PackedDocs:
        return PackedDocs(self.data, self.starts[rows], self.lengths[rows])

    def cut(self, start: int, stop: int) -> PackedDocs:
        return PackedDocs(self.data, self.starts[start:stop], self.lengths[start:stop])

    def below(self, others: Sequence[Docs]) -> PackedDocs:
        columns = [self, *(self.like(other) for other in others)]
        shifts = np.cumsum([0, *(len(column.data) for column in columns[:-1])]).tolist()
        return PackedDocs(
            b"".join(column.data for column in columns),
            np.concatenate([column.starts + shift for column, shift in zip(columns, shifts, strict=True)]),
            np.concatenate([column.lengths for column in columns]),
        )

    def like(self, other: Docs) -> PackedDocs:
        return other if isinstance(other, PackedDocs) else packed(other.texts())

    def same(self, other: Docs) -> NDArray[np.bool_]:
        others = self.like(other)
        equal = self.lengths == others.lengths
        for offset in range(0, int(self.lengths[equal].max(initial=0)), WORD):
            equal &= self._word(offset) == others._word(offset)  # noqa: SLF001 - of the same kind
        return equal

    def places_down(self, group: Positions) -> Positions:
        return ListDocs(self.texts()).places_down(group)

    def texts(self) -> list[str]:
        data = self.data
        stops: list[int] = (self.starts + self.lengths).tolist()
        return [data[start:stop].decode() for start, stop in zip(self.starts.tolist(), stops, strict=True)]

    def _word(self, offset: int) -> Keys:
        """Return eight bytes of each id from ``offset``, zeros beyond its end."""
        every = np.ndarray((len(self.data) - WORD + 1,), "<u8", self.data, strides=(1,))
        left = np.clip(self.lengths - offset, 0, WORD)
        # an id that is over reads from anywhere, and keeps nothing of it
        at = np.minimum(self.starts + offset, len(every) - 1)
        return every[at].astype(np.uint64) & _MASKS[left]


def packed(texts: Sequence[str]) -> PackedDocs:
    """Pack ids that are text."""
    parts = [text.encode() for text in texts]
    lengths = np.fromiter(map(len, parts), np.int64, len(parts))
    return PackedDocs(b"".join(parts) + bytes(WORD), np.cumsum(lengths) - lengths, lengths)
