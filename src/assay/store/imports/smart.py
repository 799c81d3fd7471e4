"""SMART collections (ADI, MED, CISI, Cranfield): NAME.ALL, NAME.QRY and NAME.REL with .I .T .A .W fields."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.model.documents import Document
from assay.model.errors import Fault, InputError
from assay.model.golden import GoldenSet, Provenance, Query
from assay.model.notices import Notice, listed
from assay.store.imports.form import Form, Imported, Option, Options, absent_labels, counted
from assay.store.jsonl import read_raw

_FIELD = re.compile(r"\.([A-Z])(?:\s+(\S+))?\s*$")
_SUFFIXES = {"documents": "ALL", "queries": "QRY", "relevance": "REL"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Record:
    id: str
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judgement:
    line: int
    query: str
    document: str
    grade: float
    """1 where the columns behind the document are SMART's zeros, which are no grade."""


def _file(path: Path, suffix: str) -> Path | None:
    for file in sorted(path.glob("*")):
        if file.name.removesuffix(".gz").upper().endswith(f".{suffix}"):
            return file
    return None


def _detect(path: Path) -> bool:
    return path.is_dir() and all(_file(path, suffix) for suffix in _SUFFIXES.values())


def _parse(path: Path, options: Options) -> Imported:
    files = {role: _file(path, suffix) for role, suffix in _SUFFIXES.items()}
    missing = [f"*.{_SUFFIXES[role]} ({role})" for role, file in files.items() if file is None]
    if missing:
        folders = [folder.name for folder in sorted(path.iterdir()) if folder.is_dir() and _detect(folder)]
        fix = f"name one of {', '.join(folders)}" if folders else "name the folder that holds all three"
        raise InputError(Fault(where=str(path), what=f"there is no {', no '.join(missing)}", fix=fix))
    found = {role: file for role, file in files.items() if file is not None}
    documents = tuple(_document(record) for record in _records(found["documents"]))
    queries = list(_records(found["queries"]))
    judgements = list(_judgements(found["relevance"]))
    key, by_place = _query_key(queries, judgements, found["relevance"])
    graded = _graded(judgements, options["grades"], found["relevance"])
    labels: dict[str, dict[str, float]] = defaultdict(dict)
    for judgement, grade in zip(judgements, graded, strict=True):
        labels[key[judgement.query]][judgement.document] = grade
    name = path.resolve().name.lower()
    golden = GoldenSet(
        name=name,
        queries=tuple(
            Query(
                id=record.id,
                text=" ".join(record.fields.get("W", "").split()),
                labels=labels.get(record.id, {}),
                provenance=Provenance(origin="imported", source=f"smart {name}"),
            )
            for record in queries
        ),
    )
    return Imported(
        golden=golden,
        documents=documents,
        notices=(
            *by_place,
            *_unjudged(golden),
            *absent_labels(golden, documents),
            *_empty(documents),
        ),
        counts=counted(golden, documents),
    )


def _records(path: Path) -> Iterator[_Record]:
    """Yield records; a field begins at a line that is its mark alone; blanks at line ends are dropped."""
    record_id: str | None = None
    fields: dict[str, list[str]] = {}
    current: list[str] = []
    for line in read_raw(path).decode("latin-1").replace("\r\n", "\n").split("\n"):
        mark = _FIELD.fullmatch(line)
        if mark and mark[1] == "I" and mark[2]:
            if record_id is not None:
                yield _finish(record_id, fields)
            record_id, fields = mark[2], {}
        elif mark and mark[2] is None:
            current = fields.setdefault(mark[1], [])
        elif record_id is not None:
            current.append(line.rstrip())
    if record_id is not None:
        yield _finish(record_id, fields)


def _finish(record_id: str, fields: Mapping[str, Sequence[str]]) -> _Record:
    return _Record(id=record_id, fields={name: "\n".join(lines).strip() for name, lines in fields.items()})


def _document(record: _Record) -> Document:
    """The title stands before the text, as these collections are indexed, unless the text repeats it."""
    title = " ".join(record.fields.get("T", "").split())
    body = record.fields.get("W", "")
    whole = body if not title or " ".join(body.split()).startswith(title) else f"{title}\n\n{body}".strip()
    author = " ".join(record.fields.get("A", "").split())
    return Document(id=record.id, text=whole, title=title or None, meta={"author": author} if author else {})


def _judgements(path: Path) -> Iterator[_Judgement]:
    faults: list[Fault] = []
    for number, line in enumerate(read_raw(path).decode("latin-1").splitlines(), start=1):
        cells = line.split()
        if not cells:
            continue
        try:
            if len(cells) not in {3, 4}:
                raise ValueError(f"{len(cells)} columns")  # noqa: TRY301 - one place says what is wrong
            grade = 1.0 if [float(cell) for cell in cells[2:]] in ([0.0, 0.0], [0.0]) else float(cells[2])
        except ValueError as error:
            what = f"not query, document and grade: {error}"
            faults.append(
                Fault(where=f"{path}:{number}", what=what, fix="three or four numbers, parted by blanks")
            )
            continue
        yield _Judgement(line=number, query=cells[0].lstrip("0"), document=cells[1].lstrip("0"), grade=grade)
    if faults:
        raise InputError(faults)


def _query_key(
    queries: Sequence[_Record], judgements: Sequence[_Judgement], path: Path
) -> tuple[dict[str, str], list[Notice]]:
    """Return judged number -> query id, which is the query's place where the ids have gaps.

    In Cranfield the queries are numbered 001, 002, 004, ... 365 and judged as 1 to 225: to join the two
    as they stand finds partners for most, and nearly all of them are the wrong ones.
    """
    by_id = {record.id.lstrip("0"): record.id for record in queries}
    judged = {judgement.query for judgement in judgements}
    if judged <= set(by_id):
        return by_id, []
    by_place = {str(place): record.id for place, record in enumerate(queries, start=1)}
    if judged <= set(by_place):
        text = (
            f"{path.name} numbers queries by their place (1 to {len(queries)}), not by their ids "
            f"({queries[0].id} to {queries[-1].id}): they were joined by place"
        )
        return by_place, [Notice(code="joined-by-place", text=text)]
    unknown = sorted(judged.difference(by_id))
    raise InputError(
        Fault(
            where=str(path),
            what=f"judges queries that are not there: {listed(unknown)}",
            fix="name the judgements of these queries",
        )
    )


def _graded(judgements: Sequence[_Judgement], way: str, path: Path) -> list[float]:
    grades = [judgement.grade for judgement in judgements]
    if not way and set(grades) <= {0.0, 1.0}:
        return grades
    if not way:
        kinds = ", ".join(f"{grade:g}" for grade in sorted(set(grades)))
        raise InputError(
            Fault(
                where=str(path),
                what=f"has the grades {kinds}, and does not say which end is best",
                fix="choose: grades=high-is-best, grades=low-is-best or grades=binary (above 0 is relevant)",
            )
        )
    if way == "low-is-best":
        top = max(grades) + 1
        return [top - grade if grade > 0 else grade for grade in grades]
    return [float(grade > 0) for grade in grades] if way == "binary" else grades


def _unjudged(golden: GoldenSet) -> Iterator[Notice]:
    ids = tuple(query.id for query in golden.queries if not query.labels)
    if ids:
        text = f"{len(ids)} queries have no judgement: they have no value and leave the mean: {listed(ids)}"
        yield Notice(code="unlabelled", text=text, ids=ids)


def _empty(documents: Sequence[Document]) -> Iterator[Notice]:
    ids = tuple(document.id for document in documents if not document.text.strip())
    if ids:
        yield Notice(code="empty-documents", text=f"{len(ids)} documents are empty: {listed(ids)}", ids=ids)


FORM = Form(
    name="smart",
    about="SMART collections (ADI, MED, CISI, Cranfield): *.ALL, *.QRY and *.REL.",
    detect=_detect,
    parse=_parse,
    options={
        "grades": Option(
            about="which end of the grades is best, where there are several",
            choices=("", "high-is-best", "low-is-best", "binary"),
        )
    },
)
