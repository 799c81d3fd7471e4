"""What an importer is, and what it hands over."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assay.model.documents import Document
from assay.model.errors import Fault, InputError, nearest
from assay.model.golden import GoldenSet
from assay.model.notices import Notice, listed
from assay.model.runs import Run

Options = Mapping[str, str]
"""What the user chose for a form, every option that it has, defaults filled in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """Another tool's golden set in our own nouns."""

    golden: GoldenSet
    documents: tuple[Document, ...] = ()
    """None when the set comes without its corpus: then its labels are ids alone."""
    notices: tuple[Notice, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    """What was read: documents, queries, anchors, labels, and what the form adds."""
    runs: tuple[Run, ...] = ()
    """Ranked lists that lay beside the set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One choice that a form leaves to the user."""

    about: str
    default: str = ""
    choices: tuple[str, ...] = ()
    """The words that it may be; none: any text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One form of set that can be imported."""

    name: str
    """What people type: ``beir``, ``squad``."""
    about: str
    """One sentence: whose form it is and how it looks on the disk."""
    detect: Callable[[Path], bool]
    """Whether a path looks like it; quick, and never raises for what lies there."""
    parse: Callable[[Path, Options], Imported]
    """Read a path; called with every option filled in."""
    options: Mapping[str, Option] = field(default_factory=dict[str, Option])
    by_name: bool = False
    """Whether a source is the name of a collection, which a package knows, and no path."""

    def read(self, path: Path, options: Options | None = None) -> Imported:
        """Return what lies at a path.

        Raises:
            InputError: an option is unknown, or what lies there is wrong; every fault at once.
        """
        if not self.by_name and not path.exists():
            raise InputError(
                Fault(
                    where=str(path),
                    what="there is no such file or folder",
                    fix="name the file or folder that was downloaded",
                )
            )
        return self.parse(path, self._filled(options or {}))

    def _filled(self, given: Options) -> Options:
        faults: list[Fault] = []
        for name, value in given.items():
            where = f"import {self.name}"
            if name not in self.options:
                near = nearest(name, list(self.options))
                known = ", ".join(self.options) or "it has none"
                hint = f"did you mean {near!r}?" if near else f"known options: {known}"
                faults.append(Fault(where=where, what=f"there is no option {name!r}", fix=hint))
                continue
            choices = self.options[name].choices
            if choices and value not in choices:
                what = f"{name} must be one of {', '.join(choices)}, not {value!r}"
                faults.append(Fault(where=where, what=what))
        if faults:
            raise InputError(faults)
        return {name: option.default for name, option in self.options.items()} | dict(given)


def counted(golden: GoldenSet, documents: Sequence[Document] = (), **more: int) -> dict[str, int]:
    """Return the counts that every import shows: documents, queries, anchors, labels.

    Alternatives of an anchor are not counted apart; unanswerable queries are, when there are any.
    """
    counts = {
        "documents": len(documents),
        "queries": len(golden.queries),
        "anchors": sum(len(query.anchors) for query in golden.queries),
        "labels": sum(len(query.labels) for query in golden.queries),
    }
    unanswerable = sum(not query.answerable for query in golden.queries)
    if unanswerable:
        counts["unanswerable"] = unanswerable
    return counts | more


def absent_labels(golden: GoldenSet, documents: Sequence[Document]) -> Iterator[Notice]:
    """Yield a notice of labels that name no document of the corpus, if there are any.

    They are kept: a right answer that is not indexed is a miss, and has to be seen as one.
    """
    known = {document.id for document in documents}
    absent = {label for query in golden.queries for label in query.labels if label not in known}
    if absent:
        ids = tuple(sorted(absent))
        queries = sum(any(label in absent for label in query.labels) for query in golden.queries)
        text = f"{len(ids)} label(s) of {queries} queries name no document that is there: {listed(ids)}"
        yield Notice(code="labels-absent", text=text, ids=ids)
