"""What an explanation is made of: the worked value, and one list seen through one measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from assay.measures.family import Measure
from assay.measures.ranked import Relevant, grades_of, top
from assay.model.relevance import Judged, JudgedRows


@dataclass(frozen=True, slots=True, kw_only=True)
class Worked:
    """A value and how it came about."""

    description: str
    """What the value is, or a remark when there is no value."""
    value: float | None = None
    """None: a remark, or a measure that is undefined (the description says so)."""
    details: tuple[Worked, ...] = ()
    """The parts that it was made of, in the order in which they were added up."""
    mistake: bool = False
    """True: not a part, but what a usual mistake would have printed instead."""

    def lines(self) -> list[str]:
        """Return the explanation as plain lines, two blanks deeper for each level.

        >>> from assay.measures.worked import work
        >>> for line in work(["x", "d1"], {"d1", "d2"}, "recall@2").lines(): print(line)
        recall@2 = 1 of 2 relevant = 0.5000
          rank 2: d1
          not in the list of 2: d2
          a usual mistake, printing the hit rate under the name of recall = 1.0000
        """
        return list(self._lines())

    def _lines(self) -> Iterator[str]:
        shown = "" if self.value is None else f" = {self.value:.4f}"
        prefix = "a usual mistake, " if self.mistake else ""
        yield f"{prefix}{self.description}{shown}"
        for detail in self.details:
            yield from (f"  {line}" for line in detail.lines())


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One item at a rank: a relevant item in the list, or in the best list."""

    rank: int
    grade: float
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OneList:
    """One query's ranked list and the best list, with names for people."""

    met: tuple[Item, ...]
    """Judged items that the list holds, by rank; in the anchor unit several may share a rank."""
    ideal: tuple[Item, ...]
    """The items with grade above 0, best first."""
    retrieved: int
    """Length of the list."""
    nonrelevant: int = 0
    """Judged items with grade 0 and below in the set."""
    negative: int = 0
    """Of these, the ones with a grade below 0."""

    def judged(self) -> Judged:
        """Return the same as columns of one query."""
        return Judged(
            query_ids=("",),
            found=_rows(self.met),
            ideal=_rows(self.ideal),
            retrieved=np.array([self.retrieved], np.int64),
            nonrelevant=np.array([self.nonrelevant], np.int64),
            negative=np.array([self.negative], np.int64),
        )


def one_list(ranked: Sequence[str], relevant: Relevant) -> OneList:
    """Return a ranked list and what is relevant as the input of ``work_list``.

    Raises:
        InputError: the list is one string, or a grade is not finite.
    """
    grades = grades_of(relevant)
    places = {item: rank for rank, item in reversed(list(enumerate(top(ranked, None), start=1)))}
    met = [Item(rank=places[item], grade=grades[item], name=item) for item in grades if item in places]
    best = sorted((item for item in grades if grades[item] > 0), key=lambda item: (-grades[item], item))
    return OneList(
        met=tuple(sorted(met, key=lambda item: item.rank)),
        ideal=tuple(
            Item(rank=rank, grade=grades[item], name=item) for rank, item in enumerate(best, start=1)
        ),
        retrieved=len(ranked),
        nonrelevant=sum(grade <= 0 for grade in grades.values()),
        negative=sum(grade < 0 for grade in grades.values()),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One list seen through one measure: its threshold and its cut."""

    made: OneList
    measure: Measure
    value: float

    def passes(self, item: Item) -> bool:
        return item.grade > 0 and (self.measure.rel is None or item.grade >= self.measure.rel)

    def within(self, item: Item) -> bool:
        return self.measure.k is None or item.rank <= self.measure.k

    @property
    def relevant(self) -> list[Item]:
        return [item for item in self.made.ideal if self.passes(item)]

    @property
    def found(self) -> list[Item]:
        """Relevant items of the list, at any rank."""
        return [item for item in self.made.met if self.passes(item)]

    @property
    def counted(self) -> list[Item]:
        """Relevant items within the cut."""
        return [item for item in self.found if self.within(item)]

    @property
    def ideal(self) -> list[Item]:
        """The best list within the cut."""
        return [item for item in self.made.ideal if self.within(item)]

    @property
    def where(self) -> str:
        return "in the list" if self.measure.k is None else f"in the first {self.measure.k}"

    def result(self, how: str, details: Sequence[Worked]) -> Worked:
        return Worked(description=f"{self.measure} = {how}", value=self.value, details=tuple(details))

    def ranks(self) -> list[Worked]:
        """Return a line for each relevant item: its rank, or that it is not there."""
        lines = [Worked(description=f"rank {item.rank}: {item.name}") for item in self.counted]
        deeper = [item for item in self.found if not self.within(item)]
        lines += [
            Worked(description=f"rank {item.rank}: {item.name}, deeper than {self.measure.k}")
            for item in deeper
        ]
        there = {item.name for item in self.found}
        absent = [item.name for item in self.relevant if item.name not in there]
        if absent:
            lines.append(Worked(description=f"not in the list of {self.made.retrieved}: {', '.join(absent)}"))
        return lines


def _rows(items: Sequence[Item]) -> JudgedRows:
    return JudgedRows(
        query=np.zeros(len(items), np.int32),
        rank=np.array([item.rank for item in items], np.int32),
        grade=np.array([item.grade for item in items], np.float64),
    )
