"""AutoRAG: Parquet files of passages (doc_id, contents) and questions (qid, query, retrieval_gt)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from assay.model.documents import Document
from assay.model.errors import Fault, InputError
from assay.model.golden import Anchor, GoldenSet, Provenance, Query
from assay.model.notices import Notice, listed
from assay.model.runs import Run
from assay.store.imports.form import Form, Imported, Option, Options, absent_labels, counted
from assay.store.imports.lists import Item, run_of_lists

if TYPE_CHECKING:
    import polars as pl

_QUESTION_COLUMNS = {"qid", "query", "retrieval_gt"}
_PASSAGE_COLUMNS = {"doc_id", "contents"}
_RESULT_COLUMNS = {"retrieved_ids", "retrieve_scores"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    id: str
    text: str
    needed: tuple[tuple[str, ...], ...]
    """All of the outer, any one of the inner."""

    @property
    def ids(self) -> Iterator[str]:
        return (passage for any_of in self.needed for passage in any_of)


def _detect(path: Path) -> bool:
    if path.is_file():
        return path.suffix == ".parquet" and _columns(path) >= _QUESTION_COLUMNS
    return any(_columns(file) >= _QUESTION_COLUMNS for file in path.glob("*.parquet"))


def _columns(path: Path) -> set[str]:
    import polars as pl  # noqa: PLC0415 - only where Parquet is read
    from polars.exceptions import PolarsError  # noqa: PLC0415 - likewise

    try:
        return set(pl.read_parquet_schema(path))
    except (PolarsError, OSError):
        return set()


def _parse(path: Path, options: Options) -> Imported:
    file = _questions_file(path, options["questions"])
    questions = list(_questions(file))
    passages = _passages(file, questions)
    documents = tuple(_documents(passages))
    texts = {document.id: document.text for document in documents}
    alternatives = [question.id for question in questions if any(len(ids) > 1 for ids in question.needed)]
    golden = GoldenSet(
        name=file.stem,
        queries=tuple(_query(question, texts, anchored=bool(alternatives)) for question in questions),
    )
    runs = tuple(_runs(file.parent, questions, golden))
    return Imported(
        golden=golden,
        documents=documents,
        notices=(
            *absent_labels(golden, documents),
            *_inclusive_ends(passages),
            *_alternatives(alternatives),
        ),
        counts=counted(golden, documents, runs=len(runs)),
        runs=runs,
    )


def _questions_file(path: Path, chosen: str) -> Path:
    if path.is_file():
        return path
    files = [file for file in sorted(path.glob("*.parquet")) if _columns(file) >= _QUESTION_COLUMNS]
    fitting = [file for file in files if chosen in {"", file.name, file.stem}]
    if len(fitting) == 1:
        return fitting[0]
    names = ", ".join(file.name for file in files)
    what = (
        f"there are {len(files)} files of questions: {names}"
        if files
        else "no file has qid, query, retrieval_gt"
    )
    raise InputError(
        Fault(
            where=str(path),
            what=what,
            fix="choose one: questions=NAME" if files else "name the folder of AutoRAG's data",
        )
    )


def _questions(path: Path) -> Iterator[_Question]:
    for row in _rows(path):
        nested = cast("Sequence[Sequence[str]]", row["retrieval_gt"] or ())
        needed = tuple(tuple(str(passage) for passage in any_of) for any_of in nested if any_of)
        yield _Question(id=str(row["qid"]), text=str(row["query"]), needed=needed)


def _passages(file: Path, questions: Sequence[_Question]) -> list[Mapping[str, object]]:
    """Return the rows of the file beside the questions that holds most of the passages they name."""
    wanted = {passage for question in questions for passage in question.ids}
    found = [
        (sum(row["doc_id"] in wanted for row in rows), rows)
        for rows in (
            _rows(other)
            for other in sorted(file.parent.glob("*.parquet"))
            if _columns(other) >= _PASSAGE_COLUMNS
        )
    ]
    best = max(found, key=lambda one: one[0]) if found else None
    if best is None or not best[0]:
        what = "no file beside it holds a passage that the questions name"
        raise InputError(Fault(where=str(file), what=what, fix="put the corpus (doc_id, contents) beside it"))
    return best[1]


def _rows(path: Path) -> list[Mapping[str, object]]:
    import polars as pl  # noqa: PLC0415 - only where Parquet is read
    from polars.exceptions import PolarsError  # noqa: PLC0415 - likewise

    try:
        table: pl.DataFrame = pl.read_parquet(path)
    except (PolarsError, OSError) as error:
        raise InputError(
            Fault(
                where=str(path),
                what=f"not Parquet: {error}",
                fix="name the .parquet files that AutoRAG wrote",
            )
        ) from error
    return cast("list[Mapping[str, object]]", table.to_dicts())


def _documents(rows: Sequence[Mapping[str, object]]) -> Iterator[Document]:
    for row in rows:
        meta: dict[str, str] = {}
        if isinstance(row.get("path"), str):
            meta["file"] = str(row["path"]).rsplit("/", maxsplit=1)[-1]
        span = _span(row)
        if span is not None:
            meta |= {"start": str(span[0]), "end": str(span[1] + 1)}
        yield Document(id=str(row["doc_id"]), text=str(row["contents"]), meta=meta)


def _span(row: Mapping[str, object]) -> tuple[int, int] | None:
    span = row.get("start_end_idx")
    match span:
        case [int(start), int(end)]:
            return start, end
        case {"start": int(start), "end": int(end)}:
            return start, end
        case _:
            return None


def _query(question: _Question, texts: Mapping[str, str], *, anchored: bool) -> Query:
    """Labels where one passage is needed at each place; else anchors, which can say 'any of these'."""
    anchors: tuple[Anchor, ...] = ()
    labels: dict[str, float] = {}
    if anchored:
        anchors = tuple(_whole(f"a{place}", ids, texts) for place, ids in enumerate(question.needed, start=1))
    else:
        labels = dict.fromkeys(question.ids, 1.0)
    return Query(
        id=question.id,
        text=question.text,
        anchors=anchors,
        labels=labels,
        provenance=Provenance(origin="imported", source="autorag"),
    )


def _whole(name: str, ids: Sequence[str], texts: Mapping[str, str]) -> Anchor:
    """Return an anchor that is a whole passage, or any one of several."""
    first, *others = (_one(f"{name}.{place}" if place else name, one, texts) for place, one in enumerate(ids))
    return Anchor(
        id=name,
        doc_id=first.doc_id,
        quote=first.quote,
        start=first.start,
        end=first.end,
        alternatives=tuple(others),
    )


def _one(name: str, doc_id: str, texts: Mapping[str, str]) -> Anchor:
    text = texts.get(doc_id, "")
    if not text.strip():
        return Anchor(id=name, doc_id=doc_id, quote=f"(the passage {doc_id} is not there)")
    return Anchor(id=name, doc_id=doc_id, quote=text, start=0, end=len(text))


def _runs(folder: Path, questions: Sequence[_Question], golden: GoldenSet) -> Iterator[Run]:
    """Yield results that lie beside the set: rows without ids, in the order of the questions.

    Rows are taken for these questions only when their own recall figures come out as they are printed.
    """
    for file in sorted((folder / "retrieval_results").glob("*.parquet")):
        rows = _rows(file) if _columns(file) >= _RESULT_COLUMNS else []
        if len(rows) != len(questions) or not _agree(rows, questions):
            continue
        lists = {
            question.id: [
                Item(id=str(item), doc_id=str(item), score=float(score))
                for item, score in zip(
                    cast("Sequence[object]", row["retrieved_ids"]),
                    cast("Sequence[float]", row["retrieve_scores"]),
                    strict=True,
                )
            ]
            for question, row in zip(questions, rows, strict=True)
        }
        yield run_of_lists(file.stem, lists, golden, source="autorag")


def _agree(rows: Sequence[Mapping[str, object]], questions: Sequence[_Question]) -> bool:
    for row, question in zip(rows, questions, strict=True):
        retrieved = set(cast("Sequence[str]", row["retrieved_ids"]))
        earned = sum(any(passage in retrieved for passage in any_of) for any_of in question.needed)
        printed = row.get("retrieval_recall")
        if not isinstance(printed, float) or abs(printed - earned / max(len(question.needed), 1)) > 1e-9:
            return False
    return True


def _inclusive_ends(rows: Sequence[Mapping[str, object]]) -> Iterator[Notice]:
    placed = [row for row in rows if _span(row) is not None]
    if placed:
        text = (
            f"{len(placed)} passages say where they stood in their file, with an inclusive end: it was made "
            "exclusive; each passage stays a document of its own, because it is no verbatim slice"
        )
        yield Notice(code="inclusive-ends", text=text)


def _alternatives(ids: Sequence[str]) -> Iterator[Notice]:
    if ids:
        text = (
            f"{len(ids)} questions name passages any one of which is enough: all labels became anchors that "
            f"are whole passages, so index the passages uncut: {listed(ids)}"
        )
        yield Notice(code="whole-passages", text=text, ids=tuple(ids))


FORM = Form(
    name="autorag",
    about="AutoRAG: Parquet of passages (doc_id, contents) and of questions (qid, query, retrieval_gt).",
    detect=_detect,
    parse=_parse,
    options={"questions": Option(about="which file of questions, where a folder has several")},
)
