"""Equal keys in long columns, found by small tables that stay in the processor's cache.

Keys are 64 mixed bits. A sort would find the same; its speed differs tenfold between processors, and
every row would be moved for the few that are looked for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.store.rankings.ids import Keys, Positions
from assay.store.rankings.stretches import ranges

PIECE_ROWS = (1 << 16) - 2
"""Rows that are looked at together: their table fits the processor's cache."""
_TABLE_BITS_A_ROW = 4
"""A table of what is wanted has 16 places a key: one row in 16 passes, and is compared in vain."""
_LEVEL_BITS_A_ROW = 2
"""A table of rows has 4 to 8 places a row: one row in ten is beaten to its place, and tries another."""
_LEVEL_TURN = 13
_CONTESTED = {np.dtype(kind): np.iinfo(kind).max for kind in (np.uint16, np.uint32)}
"""Marks a place that several rows came to; more than any row's number."""
_FEWEST_BITS = 10
_MOST_OF_16 = np.iinfo(np.uint16).max


@dataclass(frozen=True, slots=True)
class Wanted:
    """Keys that are looked for, and a table of where they stand."""

    keys: Keys
    shift: np.uint64
    """A key's place in the table is what this shift leaves of it."""
    lead: NDArray[np.unsignedinteger]
    """At each place the number (from 1) of the key that it leads to, the last of several; 0 for none."""
    others: Positions
    """The keys that the table does not lead to ..."""
    further: Wanted | None
    """... and a table of them by other bits; None when there are none, or two keys are equal."""

    @staticmethod
    def of(keys: Keys) -> Wanted:
        """Return the table of some keys."""
        numbers = np.arange(1, len(keys) + 1, dtype=np.uint16 if len(keys) < _MOST_OF_16 else np.uint32)
        bits = max(_FEWEST_BITS, (len(keys) - 1).bit_length() + _TABLE_BITS_A_ROW)
        shift = np.uint64(64 - bits)
        slots = (keys >> shift).view(np.int64)
        lead = np.zeros(1 << bits, numbers.dtype)
        lead[slots] = numbers
        led = lead[slots]
        others = np.flatnonzero(led != numbers)
        further = None
        if len(others) and not (keys[others] == keys[led[others] - np.int64(1)]).any():
            further = Wanted.of(_turned(keys[others]))
        return Wanted(keys, shift, lead, others, further)

    @property
    def distinct(self) -> bool:
        """Whether no two of the keys are equal."""
        return not len(self.others) or (self.further is not None and self.further.distinct)

    def rows_in(self, keys: Keys) -> tuple[Positions, Positions]:
        """Return the rows whose key is wanted, ascending, and the place of each among the wanted."""
        if not self.distinct:
            return _searched(keys, self.keys)
        led = np.take(self.lead, (keys >> self.shift).view(np.int64))
        passing = np.flatnonzero(led != 0)
        some, place = keys[passing], led[passing] - np.int64(1)
        equal = self.keys[place] == some
        if self.further is not None:
            missed = np.flatnonzero(~equal)
            which, there = self.further.rows_in(_turned(some[missed]))
            place[missed[which]] = self.others[there]
            equal[missed[which]] = True
        chosen = np.flatnonzero(equal)
        return passing[chosen], place[chosen]


def wanted_rows_of_distinct(keys: Keys, wanted: Keys) -> tuple[Positions, Positions] | None:
    """Return what ``wanted_rows`` does, or None as soon as it is seen that two keys are equal.

    Every row is put into a table at the place that its key's first bits name. One that is beaten to its
    place by another row tries a smaller table with other bits, and so on. Equal keys always meet.
    """
    rows: Positions | None = None
    places: Positions | None = None
    found: list[tuple[Positions, Positions]] = []
    keys_left, wanted_left = keys, wanted
    while len(keys_left):
        n = len(keys_left)
        bits = max(_FEWEST_BITS, (n - 1).bit_length() + _LEVEL_BITS_A_ROW)
        shift = np.uint64(64 - bits)
        slots = (keys_left >> shift).view(np.int64)
        numbers = np.arange(1, n + 1, dtype=np.uint16 if n <= PIECE_ROWS else np.uint32)
        table = np.zeros(1 << bits, numbers.dtype)
        table[slots] = numbers
        winner = table[slots]
        beaten = np.flatnonzero(winner != numbers)
        beaten_keys = keys_left[beaten]
        if (beaten_keys == keys_left[winner[beaten] - np.int64(1)]).any():
            return None
        if len(wanted_left):
            at = (wanted_left >> shift).view(np.int64)
            candidate = table[at] - np.int64(1)  # -1, the last row, where nothing stands: compared in vain
            equal = keys_left[candidate] == wanted_left
            hit = np.flatnonzero(equal)
            row = candidate[hit]
            found.append((row if rows is None else rows[row], hit if places is None else places[hit]))
            # what is wanted and not there yet can only be at places where a row was beaten
            table[slots[beaten]] = _CONTESTED[numbers.dtype]
            rest = np.flatnonzero((table[at] == _CONTESTED[numbers.dtype]) & ~equal)
            wanted_left = _turned(wanted_left[rest])
            places = rest if places is None else places[rest]
        rows = beaten if rows is None else rows[beaten]
        keys_left = _turned(beaten_keys)
    row = np.concatenate([part for part, _ in found]) if found else np.zeros(0, np.intp)
    place = np.concatenate([part for _, part in found]) if found else row
    # numbers of 16 bits are ordered by their digits, which takes no comparing
    order = np.argsort(row.astype(np.uint16) if len(keys) <= PIECE_ROWS else row, kind="stable")
    row = row[order]
    if (row[1:] == row[:-1]).any():
        return None  # two wanted keys are equal, and lead to one row
    return row, place[order]


def distinct_keys(keys: Keys) -> bool:
    """Return whether no two keys are equal."""
    return wanted_rows_of_distinct(keys, keys[:0]) is not None


def _turned(keys: Keys) -> Keys:
    """Bring other bits to the front: one to one."""
    return (keys << np.uint64(_LEVEL_TURN)) | (keys >> np.uint64(64 - _LEVEL_TURN))


def _searched(keys: Keys, wanted: Keys) -> tuple[Positions, Positions]:
    """Return the rows whose key is wanted and the place of each, equal keys with all of theirs."""
    order = np.argsort(wanted)
    ascending = wanted[order]
    first = np.searchsorted(ascending, keys)
    many = np.searchsorted(ascending, keys, "right") - first
    rows = np.flatnonzero(many)
    return np.repeat(rows, many[rows]), order[ranges(first[rows], many[rows])]
