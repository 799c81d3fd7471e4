"""Columns of document ids: text where it came as text, whole numbers where the caller coded them.

A column answers three questions without saying how it is stored: which rows may be equal (``keys``),
which are (``same``), and how rows of equal score stand among each other (``places_down``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

Keys: TypeAlias = NDArray[np.uint64]
Positions: TypeAlias = NDArray[np.intp]

_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


class Docs(Protocol):
    """The document ids of some rows."""

    keys_tell: ClassVar[bool]
    """Whether unequal ids always have unequal keys, so that nothing else has to be compared."""

    def __len__(self) -> int: ...

    def keys(self) -> Keys:
        """Return 64 bits a row: equal ids have equal keys; unequal ones nearly never."""
        ...

    def take(self, rows: Positions) -> Docs:
        """Return the column of the rows, in their order."""
        ...

    def cut(self, start: int, stop: int) -> Docs:
        """Return the column of the rows from ``start`` up to, not including, ``stop``."""
        ...

    def below(self, others: Sequence[Docs]) -> Docs:
        """Return this column with others under it, stored as this one is."""
        ...

    def like(self, other: Docs) -> Docs:
        """Return the other column stored as this one is, so that keys and values can be compared."""
        ...

    def same(self, other: Docs) -> NDArray[np.bool_]:
        """Return, row by row, whether two columns of one kind and length hold the same id."""
        ...

    def places_down(self, group: Positions) -> Positions:
        """Return each row's place (from 0) in its group, ids down; groups stand together, ascending."""
        ...

    def texts(self) -> list[str]:
        """Return the ids as text."""
        ...


@dataclass(frozen=True, slots=True)
class ListDocs:
    """Ids as a Python list: for small files, where loading a table engine would cost more than the work."""

    keys_tell: ClassVar[bool] = False
    ids: list[str]

    def __len__(self) -> int:
        return len(self.ids)

    def keys(self) -> Keys:
        return np.fromiter(map(hash, self.ids), np.int64, len(self.ids)).view(np.uint64)

    def take(self, rows: Positions) -> ListDocs:
        ids = self.ids
        return ListDocs([ids[row] for row in rows.tolist()])

    def cut(self, start: int, stop: int) -> ListDocs:
        return ListDocs(self.ids[start:stop])

    def below(self, others: Sequence[Docs]) -> ListDocs:
        return ListDocs([text for column in (self, *others) for text in column.texts()])

    def like(self, other: Docs) -> ListDocs:
        return other if isinstance(other, ListDocs) else ListDocs(other.texts())

    def same(self, other: Docs) -> NDArray[np.bool_]:
        pairs = zip(self.ids, other.texts(), strict=True)
        return np.fromiter((mine == theirs for mine, theirs in pairs), np.bool_, len(self.ids))

    def places_down(self, group: Positions) -> Positions:
        # Python orders text by code point, which is the order of UTF-8 bytes.
        by_id = sorted(range(len(self.ids)), key=self.ids.__getitem__, reverse=True)
        return _places(np.array(by_id, np.intp), group)

    def texts(self) -> list[str]:
        return self.ids


@dataclass(frozen=True, slots=True)
class FrameDocs:
    """Ids as a column of a table."""

    keys_tell: ClassVar[bool] = False
    series: pl.Series
    known: Keys | None = None
    """The keys, where they were made already."""

    @staticmethod
    def hashed(series: pl.Series) -> FrameDocs:
        """Return the column with its keys, made by the thread that reads the file."""
        return FrameDocs(series, FrameDocs(series).keys())

    def __len__(self) -> int:
        return len(self.series)

    def keys(self) -> Keys:
        return self.series.hash(seed=0).to_numpy() if self.known is None else self.known

    def second_keys(self) -> Keys:
        """Return another 64 bits a row, independent of the first."""
        return self.series.hash(seed=0x9E3779B9).to_numpy()

    def take(self, rows: Positions) -> FrameDocs:
        return FrameDocs(self.series.gather(rows))

    def cut(self, start: int, stop: int) -> FrameDocs:
        return FrameDocs(self.series[start:stop], None if self.known is None else self.known[start:stop])

    def below(self, others: Sequence[Docs]) -> FrameDocs:
        import polars as pl  # noqa: PLC0415 - this column is one of polars' already

        columns = [self, *(self.like(other) for other in others)]
        known = [column.known for column in columns if column.known is not None]
        return FrameDocs(
            # in one piece, from which rows are taken several times as fast
            pl.concat([column.series for column in columns]).rechunk(),
            np.concatenate(known) if len(known) == len(columns) else None,
        )

    def like(self, other: Docs) -> FrameDocs:
        if isinstance(other, FrameDocs):
            return other
        import polars as pl  # noqa: PLC0415 - this column is one of polars' already

        return FrameDocs(pl.Series(other.texts(), dtype=pl.String))

    def same(self, other: Docs) -> NDArray[np.bool_]:
        return (self.series == self.like(other).series).to_numpy()

    def places_down(self, group: Positions) -> Positions:
        return _places(self.series.arg_sort(descending=True).to_numpy().astype(np.intp), group)

    def texts(self) -> list[str]:
        return self.series.to_list()


@dataclass(frozen=True, slots=True)
class StoredDocs:
    """Ids that were coded before: 128 bits a row tell them apart, their text is read when asked for."""

    keys_tell: ClassVar[bool] = False
    first: Keys
    second: Keys
    rows: Positions | None
    """Which rows of the stored text these are; None: all of them."""
    ends: NDArray[np.int64]
    """Where the text of each stored row ends, in bytes."""
    text: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.first)

    def keys(self) -> Keys:
        return self.first

    def take(self, rows: Positions) -> StoredDocs:
        inner = rows if self.rows is None else self.rows[rows]
        return StoredDocs(self.first[rows], self.second[rows], inner, self.ends, self.text)

    def cut(self, start: int, stop: int) -> StoredDocs:
        if (start, stop) == (0, len(self)):
            return self
        inner = np.arange(start, stop) if self.rows is None else self.rows[start:stop]
        return StoredDocs(self.first[start:stop], self.second[start:stop], inner, self.ends, self.text)

    def below(self, others: Sequence[Docs]) -> FrameDocs:
        return no_docs().below([self, *others])

    def like(self, other: Docs) -> FrameDocs:
        return no_docs().like(other)

    def same(self, other: Docs) -> NDArray[np.bool_]:
        others = self.like(other)
        return (self.first == others.keys()) & (self.second == others.second_keys())

    def places_down(self, group: Positions) -> Positions:
        return ListDocs(self.texts()).places_down(group)

    def texts(self) -> list[str]:
        rows = np.arange(len(self.ends)) if self.rows is None else self.rows
        stops = self.ends[rows].tolist()
        starts = np.where(rows > 0, self.ends[rows - 1], 0).tolist()
        return [self.text[start:stop].tobytes().decode() for start, stop in zip(starts, stops, strict=True)]


def no_docs() -> FrameDocs:
    """Return an empty column of the table engine's."""
    import polars as pl  # noqa: PLC0415 - stored columns are the table engine's already

    return FrameDocs(pl.Series([], dtype=pl.String))


@dataclass(frozen=True, slots=True)
class CodeDocs:
    """Ids that the caller has coded as whole numbers; a larger number is a later id."""

    keys_tell: ClassVar[bool] = True
    codes: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.codes)

    def keys(self) -> Keys:
        # one to one, and the high bits, by which rows are cut, depend on all of the number
        return self.codes.view(np.uint64) * _SPREAD

    def take(self, rows: Positions) -> CodeDocs:
        return CodeDocs(self.codes[rows])

    def cut(self, start: int, stop: int) -> CodeDocs:
        return CodeDocs(self.codes[start:stop])

    def below(self, others: Sequence[Docs]) -> CodeDocs:
        return CodeDocs(np.concatenate([self.codes, *(self.like(other).codes for other in others)]))

    def like(self, other: Docs) -> CodeDocs:
        if isinstance(other, CodeDocs):
            return other
        return CodeDocs(np.array([int(text) for text in other.texts()], np.int64))

    def same(self, other: Docs) -> NDArray[np.bool_]:
        return self.codes == self.like(other).codes

    def places_down(self, group: Positions) -> Positions:
        return _places(np.argsort(self.codes)[::-1], group)

    def texts(self) -> list[str]:
        return [str(code) for code in self.codes.tolist()]


def joined(columns: Sequence[Docs]) -> Docs:
    """Put columns one under the other; all become the kind of the first."""
    return columns[0].below(columns[1:]) if len(columns) > 1 else columns[0]


def scattered(numbers: NDArray[np.integer]) -> Keys:
    """Spread whole numbers over 64 bits (splitmix64): one to one, and near numbers end far apart."""
    return mixed((numbers.astype(np.uint64) + np.uint64(1)) * _SPREAD)


def mixed(bits: Keys) -> Keys:
    """Mix 64 bits so that each changes all (the finish of splitmix64): one to one."""
    bits = (bits ^ (bits >> np.uint64(30))) * _MIX[0]
    bits = (bits ^ (bits >> np.uint64(27))) * _MIX[1]
    return bits ^ (bits >> np.uint64(31))


def _places(order: Positions, group: Positions) -> Positions:
    """Turn an order of all rows into places inside groups; groups stand together, ascending."""
    order = order[np.argsort(group[order], kind="stable")]
    sizes = np.bincount(group)
    starts = np.cumsum(sizes) - sizes
    places = np.empty(len(group), np.intp)
    places[order] = np.arange(len(group)) - starts[group]
    return places
