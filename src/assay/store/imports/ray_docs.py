"""The Ray documentation experiment: questions labelled page#section, and real ranked lists."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from assay.model.golden import GoldenSet, Provenance, Query
from assay.model.notices import Notice
from assay.model.runs import Run
from assay.store.imports.form import Form, Imported, Option, Options, counted
from assay.store.imports.lists import Item, run_of_lists
from assay.store.imports.records import read_as


class _Question(msgspec.Struct):
    query_id: str
    query: str
    gold_source: str


class _List(msgspec.Struct):
    query_id: str
    sources: list[str]


def _detect(path: Path) -> bool:
    queries = path / "queries.jsonl"
    if not (queries.is_file() and (path / "runs").is_dir()):
        return False
    with queries.open(encoding="utf-8", errors="replace") as file:
        return '"gold_source"' in file.readline()


def _parse(path: Path, options: Options) -> Imported:
    questions = [row for _, row in read_as(path / "queries.jsonl", _Question)]
    pages = options["labels"] == "page"
    golden = GoldenSet(
        name="ray-docs",
        queries=tuple(
            Query(
                id=row.query_id,
                text=row.query,
                labels={_page(row.gold_source) if pages else row.gold_source: 1.0},
                provenance=Provenance(origin="imported", source="ray-docs-runs"),
            )
            for row in questions
        ),
    )
    runs = tuple(_runs(path / "runs", golden))
    return Imported(
        golden=golden,
        notices=tuple(_notices(runs, golden)),
        counts=counted(
            golden,
            pages=len({_page(row.gold_source) for row in questions}),
            labels_without_section=sum("#" not in row.gold_source for row in questions),
            runs=len(runs),
        ),
        runs=runs,
    )


def _page(source: str) -> str:
    return source.split("#", maxsplit=1)[0]


def _runs(folder: Path, golden: GoldenSet) -> Iterator[Run]:
    for file in sorted(folder.glob("*.jsonl*")):
        lists = {
            row.query_id: [Item(id=source, doc_id=_page(source)) for source in row.sources]
            for _, row in read_as(file, _List)
        }
        yield run_of_lists(file.name.split(".jsonl")[0], lists, golden, source="ray-docs-runs")


def _notices(runs: tuple[Run, ...], golden: GoldenSet) -> Iterator[Notice]:
    repeated = 0
    total = 0
    found: set[str] = set()
    for run in runs:
        found.update(run.chunks.doc_ids)
        for query in range(len(run.query_ids)):
            items = run.final.chunks[run.final.hits_of(query)].tolist()
            repeated += len(items) - len(set(items))
            total += len(items)
    if repeated:
        text = f"{repeated} of {total} hits repeat a source above them: they keep their rank and earn nothing"
        yield Notice(code="repeated-hits", text=text)
    never = tuple(
        sorted({_page(label) for query in golden.queries for label in query.labels}.difference(found))
    )
    if runs and never:
        text = f"{len(never)} labelled pages are in no list of any run: {', '.join(never)}"
        yield Notice(code="never-retrieved", text=text, ids=never)


FORM = Form(
    name="ray-docs",
    about="The Ray documentation experiment: queries.jsonl (gold_source page#section), runs/*.jsonl.",
    detect=_detect,
    parse=_parse,
    options={
        "labels": Option(
            about="what counts as right: the section, or any part of its page",
            default="section",
            choices=("section", "page"),
        )
    },
)
