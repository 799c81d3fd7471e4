"""Equal keys in long lists, found by small tables that stay in the processor's cache.

Keys are 64 mixed bits. A sort would find the same; its speed differs tenfold between processors, and
every row would be moved for the few that are looked for. The first table gives each list a stretch of its
own, so that what is looked at together lies together; what is beaten to its place there is few, and is
looked for in tables that all lists share.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.store.rankings.ids import Keys, Positions, scattered
from assay.store.rankings.stretches import ranges

PIECE_ROWS = (1 << 16) - 2
"""Rows that are looked at together: 16 bits number them."""
_WANTED_BITS = 4
"""A table of what is wanted has 16 places a key or more: one row in 16 passes, and is compared in vain."""
_ROWS_BITS = 2
"""A table of rows has 4 to 8 places a row: one row in ten is beaten to its place, and tries another."""
_ROOM = 2
"""What is left to look for is few, and done sooner with four times the places."""
_TURN = 25
_CONTESTED = {np.dtype(kind): np.iinfo(kind).max for kind in (np.uint16, np.uint32)}
"""Marks a place that several rows came to; more than any row's number."""
_MOST_OF_16 = np.iinfo(np.uint16).max


@dataclass(frozen=True, slots=True)
class Listed:
    """Keys of lists that stand one after the other; only keys of one list are compared."""

    keys: Keys
    lengths: NDArray[np.int64]
    """Of the lists."""
    room: int = 0
    """Tables of them have ``2**room`` times the places of others."""

    def __len__(self) -> int:
        return len(self.keys)

    def bits(self, more: int) -> int:
        """Return how many bits give a list of mean length ``2**more`` places a key or more."""
        return max(1, (len(self) // max(1, len(self.lengths))).bit_length() + more + self.room)

    def places(self, bits: int) -> Positions:
        """Return each key's place in a table that has ``2**bits`` places for each list."""
        places = (self.keys >> np.uint64(64 - bits)).view(np.int64)
        first = np.arange(len(self.lengths)) << bits
        if len(places) and (self.lengths == self.lengths[0]).all():
            # lists of one length need no column of what is the same for all of a list
            by_list = places.reshape(len(first), -1)
            by_list |= first[:, np.newaxis]
        else:
            places |= np.repeat(first, self.lengths)
        return places

    def lists(self) -> Positions:
        """Return the list of each key."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def mixed(self) -> Keys:
        """Return keys that are equal in two lists nearly never."""
        return self.keys ^ np.repeat(scattered(np.arange(len(self.lengths))), self.lengths)

    def shared(self, rows: Positions, lists: Positions) -> Listed:
        """Return some of the keys as one list, by other bits than here.

        Args:
            rows: which keys.
            lists: the list of each.
        """
        keys = self.keys[rows] ^ scattered(lists)
        turned = (keys << np.uint64(_TURN)) | (keys >> np.uint64(64 - _TURN))
        return Listed(turned, np.array([len(rows)]), room=_ROOM)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Keys that are looked for, and a table of where they stand."""

    listed: Listed
    bits: int
    """Each list has ``2**bits`` places in the table."""
    lead: NDArray[np.unsignedinteger]
    """At each place the number (from 1) of the key that it leads to, the last of several; 0 for none."""
    others: Positions
    """The keys that the table does not lead to ..."""
    lists: Positions
    """... the list of each ..."""
    crowded: NDArray[np.bool_]
    """... which keys stand in their places ..."""
    further: Wanted | None
    """... and a table of them by other bits; None when there are none, or two keys are equal."""

    @staticmethod
    def of(listed: Listed) -> Wanted:
        """Return the table of some keys."""
        n, bits, keys = len(listed), listed.bits(_WANTED_BITS), listed.keys
        numbers = np.arange(1, n + 1, dtype=np.uint16 if n < _MOST_OF_16 else np.uint32)
        places = listed.places(bits)
        lead = np.zeros(len(listed.lengths) << bits, numbers.dtype)
        lead[places] = numbers
        led = np.take(lead, places)
        others = np.flatnonzero(led != numbers)
        winners = led[others] - np.int64(1)
        lists = places[others] >> bits
        crowded = np.zeros(n, np.bool_)
        crowded[winners] = True
        further = None
        if len(others) and not (keys[others] == keys[winners]).any():
            further = Wanted.of(listed.shared(others, lists))
        return Wanted(listed, bits, lead, others, lists, crowded, further)

    @property
    def distinct(self) -> bool:
        """Whether no two of the keys are equal."""
        return not len(self.others) or (self.further is not None and self.further.distinct)

    def rows_in(self, rows: Listed) -> tuple[Positions, Positions]:
        """Return the rows whose key is wanted, ascending, and the place of each among the wanted.

        Args:
            rows: as many lists as are wanted of.
        """
        if not self.distinct:
            return _searched(rows, self.listed)
        places = rows.places(self.bits)
        led = np.take(self.lead, places)
        passing = np.flatnonzero(led != 0)
        some, place = rows.keys[passing], led[passing] - np.int64(1)
        equal = self.listed.keys[place] == some
        if self.further is not None:
            missed = np.flatnonzero(~equal & self.crowded[place])
            row = passing[missed]
            lists = places[row] >> self.bits
            which, there = self.further.rows_in(rows.shared(row, lists))
            same = lists[which] == self.lists[there]
            found = missed[which[same]]
            place[found] = self.others[there[same]]
            equal[found] = True
        chosen = np.flatnonzero(equal)
        return passing[chosen], place[chosen]


def wanted_rows_of_distinct(rows: Listed, wanted: Listed) -> tuple[Positions, Positions] | None:
    """Return what ``Wanted.rows_in`` does, or None as soon as it is seen that two keys are equal."""
    found = _pairs(rows, wanted)
    if found is None:
        return None
    row, place = found
    # numbers of 16 bits are ordered by their digits, which takes no comparing
    order = np.argsort(row.astype(np.uint16) if len(rows) <= PIECE_ROWS else row, kind="stable")
    row = row[order]
    if (row[1:] == row[:-1]).any():
        return None  # two wanted keys are equal, and lead to one row
    return row, place[order]


def distinct_keys(rows: Listed) -> bool:
    """Return whether no two keys of a list are equal."""
    return _pairs(rows, Listed(rows.keys[:0], np.zeros(len(rows.lengths), np.int64))) is not None


def _pairs(rows: Listed, wanted: Listed) -> tuple[Positions, Positions] | None:
    """Return rows and wanted places of equal keys, in no order; None when two keys of rows are equal.

    Every row is put into a table at the place that its key's first bits name. One that is beaten to its
    place by another row tries a smaller table with other bits, and so on. Equal keys always meet.
    """
    if not len(rows):
        return np.zeros(0, np.intp), np.zeros(0, np.intp)
    n, bits = len(rows), rows.bits(_ROWS_BITS)
    places = rows.places(bits)
    numbers = np.arange(1, n + 1, dtype=np.uint16 if n <= PIECE_ROWS else np.uint32)
    table = np.zeros(len(rows.lengths) << bits, numbers.dtype)
    table[places] = numbers
    winner = np.take(table, places)
    beaten = np.flatnonzero(winner != numbers)
    if (rows.keys[beaten] == rows.keys[winner[beaten] - np.int64(1)]).any():
        return None
    at = wanted.places(bits)
    leads = np.take(table, at)
    candidate = leads - np.int64(1)  # -1, the last row, where nothing stands: compared in vain
    equal = (rows.keys[candidate] == wanted.keys) & (leads != 0)
    hit = np.flatnonzero(equal)
    row = candidate[hit]
    # what is wanted and not there yet can only be at places where a row was beaten
    contested = _CONTESTED[numbers.dtype]
    table[places[beaten]] = contested
    rest = np.flatnonzero((np.take(table, at) == contested) & ~equal)
    row_lists, rest_lists = places[beaten] >> bits, at[rest] >> bits
    further = _pairs(rows.shared(beaten, row_lists), wanted.shared(rest, rest_lists))
    if further is None:
        return None
    which, there = further
    same = row_lists[which] == rest_lists[there]
    return np.concatenate([row, beaten[which[same]]]), np.concatenate([hit, rest[there[same]]])


def _searched(rows: Listed, wanted: Listed) -> tuple[Positions, Positions]:
    """Return the rows whose key is wanted and the place of each, equal keys with all of theirs."""
    keys, asked = rows.mixed(), wanted.mixed()
    order = np.argsort(asked)
    ascending = asked[order]
    first = np.searchsorted(ascending, keys)
    many = np.searchsorted(ascending, keys, "right") - first
    found = np.flatnonzero(many)
    row, place = np.repeat(found, many[found]), order[ranges(first[found], many[found])]
    same = rows.lists()[row] == wanted.lists()[place]
    return row[same], place[same]
