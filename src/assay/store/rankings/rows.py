"""Rows read one by one: what is wrong is gathered with its line, and nothing is half-read."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field

import numpy as np

from assay.model.errors import Fault, InputError
from assay.model.notices import Notice, listed
from assay.store.rankings.batch import Batch, Duplicates
from assay.store.rankings.ids import ListDocs

MOST_FAULTS = 200
"""So many faults are named one by one; the others are counted."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf(inity)?|nan)", re.IGNORECASE)


@dataclass(slots=True, kw_only=True)
class Rows:
    """Rows that were read, with all that was wrong on the way."""

    where: str
    """The name of the file, for its faults."""
    duplicates: Duplicates = "error"
    queries: list[str] = field(default_factory=list[str])
    docs: list[str] = field(default_factory=list[str])
    scores: list[float | None] = field(default_factory=list["float | None"])
    """The score or the grade; None on every row of lists that come without scores."""
    faults: list[Fault] = field(default_factory=list[Fault])
    left_out: list[int] = field(default_factory=list[int])
    """Lines with faults."""
    spare_words: int = 0
    """Lines with words after the run tag, which are ignored."""
    _uncounted: int = 0
    _seen: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    _spelt: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    def fault(self, line: int, what: str, fix: str | None = None) -> None:
        """Note that a line is wrong."""
        self.left_out.append(line)
        if len(self.faults) < MOST_FAULTS:
            self.faults.append(Fault(where=f"{self.where}:{line}", what=what, fix=fix))
        else:
            self._uncounted += 1

    def add(self, line: int, query: str, doc: str, score: float | None) -> None:
        """Take one row; its ids are compared after NFC."""
        if not (query and doc):
            noun = "document" if query else "query"
            self.fault(line, f"the {noun} id is empty", "fill it in, or remove the row")
            return
        query, doc = self._composed(line, query, "query"), self._composed(line, doc, "document")
        if self.duplicates == "error":
            first = self._seen.get((query, doc))
            if first is not None:
                place = f"first in line {first}" if first != line else "in the same line"
                self.fault(
                    line,
                    f"document {doc!r} stands twice for query {query!r} ({place})",
                    "remove one, or fold them: --duplicates first (or best)",
                )
                return
            self._seen[query, doc] = line
        self.queries.append(query)
        self.docs.append(doc)
        self.scores.append(score)

    def batch(self, *, lenient: bool = False) -> Batch:
        """Return the rows, or raise all faults.

        Raises:
            InputError: something is wrong, and leaving it out was not asked for.
        """
        bare = self.scores.count(None)
        if 0 < bare < len(self.scores):
            what = f"{bare} of {len(self.scores)} rows have no score"
            fix = "give every row a score, or none: then their order counts"
            raise InputError([*self.faults, Fault(where=self.where, what=what, fix=fix)])
        if self.faults and not lenient:
            raise InputError(self._all_faults())
        previous = [None, *self.queries[:-1]]
        fresh = [query != before for query, before in zip(self.queries, previous, strict=False)]
        starts = np.flatnonzero(np.array(fresh, np.bool_))
        return Batch(
            queries=[self.queries[start] for start in starts.tolist()],
            lengths=np.diff(np.append(starts, len(self.queries))).astype(np.int64),
            docs=ListDocs(self.docs),
            scores=None if bare or not self.scores else np.array(self.scores, np.float64),
        )

    def notices(self) -> tuple[Notice, ...]:
        """Say what a lenient reading left out, and what was read past."""
        found: list[Notice] = []
        if self.left_out:
            lines = [str(line) for line in self.left_out]
            text = (
                f"{self.where}: broken rows left out: {len(lines):,} (lines {listed(lines, most=10)}); "
                "the figures are without them"
            )
            found.append(Notice(code="rows-left-out", text=text, ids=tuple(lines)))
        if self.spare_words:
            text = f"{self.where}: words after the run tag are ignored (lines: {self.spare_words:,})"
            found.append(Notice(code="spare-words", text=text))
        return tuple(found)

    def _all_faults(self) -> list[Fault]:
        if not self._uncounted:
            return self.faults
        more = f"{self._uncounted} more faults, lines {listed([str(n) for n in self.left_out[MOST_FAULTS:]])}"
        return [
            *self.faults,
            Fault(where=self.where, what=more, fix="mend these first, or leave them out: --lenient"),
        ]

    def _composed(self, line: int, text: str, noun: str) -> str:
        if text.isascii():
            return text
        composed = unicodedata.normalize("NFC", text)
        before = self._spelt.setdefault((noun, composed), text)
        if before != text:
            self.fault(
                line,
                f"{noun} id {composed!r} is spelt in two ways ({before!a} and {text!a}), "
                "which are one id after Unicode composition (NFC)",
                "write each id in one way",
            )
        return composed


def is_number(text: str) -> bool:
    """Return whether a text is a number as files write them: ``1``, ``-2.5e-3``, ``inf``, ``NaN``.

    >>> is_number("1e-3"), is_number("1_000"), is_number("Q0")
    (True, False, False)
    """
    return text.isascii() and _NUMBER.fullmatch(text) is not None


def excerpt(text: str) -> str:
    """Return a text for a message: quoted, and cut when it is long."""
    return repr(text if len(text) <= 60 else text[:57] + "...")
