"""Retrieval tasks of the package ``mteb``, by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from assay.model.documents import Document
from assay.model.errors import Fault, InputError
from assay.store.imports.form import Form, Imported, Option, Options
from assay.store.imports.named import OPTIONS, imported, loading, nothing_detected, package_of


def _parse(path: Path, options: Options) -> Imported:
    name = path.as_posix()
    package = package_of("mteb", form="mteb", package="mteb", extra="mteb")
    try:
        task = package.get_task(name)
    except KeyError as error:
        what = f"there is no task {name!r}"
        raise InputError(Fault(where="import mteb", what=what, fix="mteb.get_tasks() lists them")) from error
    with loading("mteb", name):
        task.load_data()
    split = options["split"] or task.metadata.eval_splits[0]
    corpus, queries, judged = _parts(task, split, options["subset"])
    grades = {
        str(query): {str(document): float(grade) for document, grade in found.items()}
        for query, found in judged.items()
    }
    texts = [(query, text) for query, _, text in _rows(queries)]
    documents = (Document(id=key, text=text, title=title or None) for key, title, text in _rows(corpus))
    return imported(name, documents, texts, grades, options=options, form="mteb")


def _parts(task: Any, split: str, subset: str) -> tuple[Any, Any, Mapping[Any, Mapping[Any, Any]]]:  # noqa: ANN401 - an object of mteb
    """Return corpus, queries and judgements of a split, in either of the two forms that mteb has had."""
    whole = getattr(task, "dataset", None)
    if isinstance(whole, Mapping) and whole:  # since version 2: subset -> split -> parts
        subsets = cast("Mapping[str, Mapping[str, Mapping[str, Any]]]", whole)
        chosen = subset or ("default" if "default" in subsets else next(iter(subsets)))
        parts = _named(_named(subsets, chosen, "subset"), split, "split")
        return parts["corpus"], parts["queries"], parts["relevant_docs"]
    found = [getattr(task, part) for part in ("corpus", "queries", "relevant_docs")]
    if subset:
        found = [_named(part, subset, "subset") for part in found]
    corpus, queries, judged = (_named(part, split, "split") for part in found)
    return corpus, queries, judged


def _named(parts: Mapping[str, Any], name: str, what: str) -> Any:  # noqa: ANN401 - data of mteb
    if name not in parts:
        told = f"it has no {what} {name!r}"
        raise InputError(Fault(where="import mteb", what=told, fix=f"{what}=NAME: {', '.join(parts)}"))
    return parts[name]


def _rows(part: Any) -> Iterator[tuple[str, str, str]]:  # noqa: ANN401 - data of mteb
    """Yield id, title and text, from a mapping or from rows with ids."""
    if isinstance(part, Mapping):
        for key, value in cast("Mapping[object, object]", part).items():
            row = cast("Mapping[str, str]", value if isinstance(value, Mapping) else {"text": value})
            yield str(key), row.get("title") or "", row["text"]
    else:
        for row in cast("Iterable[Mapping[str, str]]", part):
            yield str(row.get("id") or row["_id"]), row.get("title") or "", row["text"]


FORM = Form(
    name="mteb",
    about="A retrieval task by its name in the package mteb: SciFact, NFCorpus, ...",
    detect=nothing_detected,
    parse=_parse,
    options={
        **OPTIONS,
        "split": Option(about="which split; the first that the task is evaluated on, when left out"),
        "subset": Option(about="which subset (a language, mostly); the default, when left out"),
    },
    by_name=True,
)
