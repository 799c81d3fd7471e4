"""Collections of the package ``ir_datasets``: TREC, BEIR, MS MARCO and many more, by name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.model.documents import Document
from assay.model.errors import Fault, InputError, nearest
from assay.store.imports.form import Form, Imported, Options
from assay.store.imports.named import OPTIONS, imported, loading, nothing_detected, package_of

_TEXTS = ("text", "body", "abstract", "contents", "passage")


def _parse(path: Path, options: Options) -> Imported:
    name = path.as_posix()
    package = package_of("ir_datasets", form="ir_datasets", package="ir-datasets", extra="collections")
    try:
        dataset = package.load(name)
    except KeyError as error:
        close = nearest(name, list(package.registry))
        fix = f"did you mean {close!r}?" if close else "https://ir-datasets.com lists them"
        raise InputError(Fault(where="import ir_datasets", what=f"there is no {name!r}", fix=fix)) from error
    missing = [part for part in ("docs", "queries", "qrels") if not getattr(dataset, f"has_{part}")()]
    if missing:
        what = f"{name} has no {', '.join(missing)}"
        raise InputError(
            Fault(where="import ir_datasets", what=what, fix="name a part that has all three: its test split")
        )
    with loading("ir_datasets", name):
        judged: dict[str, dict[str, float]] = {}
        for row in dataset.qrels_iter():
            judged.setdefault(str(row.query_id), {})[str(row.doc_id)] = float(row.relevance)
        queries = [(str(row.query_id), _query_text(row)) for row in dataset.queries_iter()]
        return imported(name, _documents(dataset), queries, judged, options=options, form="ir_datasets")


def _documents(dataset: Any) -> Iterator[Document]:  # noqa: ANN401 - an object of ir_datasets
    for row in dataset.docs_iter():
        text = next((value for field in _TEXTS if (value := getattr(row, field, None))), None)
        if text is None:
            text = row.default_text() if hasattr(row, "default_text") else ""
        yield Document(id=str(row.doc_id), text=str(text), title=getattr(row, "title", None) or None)


def _query_text(row: Any) -> str:  # noqa: ANN401 - an object of ir_datasets
    return str(getattr(row, "text", None) or getattr(row, "title", None) or row.default_text())


FORM = Form(
    name="ir_datasets",
    about="A collection by its name in the package ir_datasets: beir/scifact/test, vaswani, ...",
    detect=nothing_detected,
    parse=_parse,
    options=OPTIONS,
    by_name=True,
)
