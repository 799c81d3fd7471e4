"""Collections that a package knows by name: their documents, queries and judgements as a golden set."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from assay.model.documents import Document
from assay.model.errors import Fault, InputError, MissingExtraError
from assay.model.golden import GoldenSet
from assay.store.imports.form import Imported, Option, Options, absent_labels, counted
from assay.store.imports.qrels import labelled, unmatched

OPTIONS: Mapping[str, Option] = {
    "documents": Option(
        about="whether every document comes, or those alone that are judged",
        default="all",
        choices=("all", "judged"),
    ),
}


def nothing_detected(path: Path) -> bool:
    """Say that no path looks like it: it is known by name alone."""
    del path
    return False


def package_of(module: str, *, form: str, package: str, extra: str) -> Any:  # noqa: ANN401 - a module of somebody else's
    """Import the package that knows the collections.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"import {form}", package=package, extra=extra) from error


@contextmanager
def loading(form: str, name: str) -> Generator[None]:
    """Say in one line what the package could not load: it fetches what it does not have.

    Raises:
        InputError: its source cannot be reached, or is not what the package expects.
    """
    try:
        yield
    except (OSError, RuntimeError) as error:
        # ir_datasets gives its sentence first, and then every attempt.
        why = str(error.args[0] if isinstance(error, RuntimeError) and error.args else error)
        raise InputError(
            Fault(
                where=f"import {form}",
                what=f"{name} cannot be loaded ({why})",
                fix="load it once where its source can be reached: the package keeps it",
            )
        ) from error


def imported(
    name: str,
    documents: Iterable[Document],
    queries: Iterable[tuple[str, str]],
    judged: Mapping[str, Mapping[str, float]],
    *,
    options: Options,
    form: str,
) -> Imported:
    """Return a collection as a golden set of labels.

    Args:
        name: the collection.
        documents: all of them; read once.
        queries: id and text.
        judged: query -> document -> grade.
        options: what the user chose.
        form: the name of the form, for the provenance.

    Raises:
        InputError: it has no queries, or no query is judged.
    """
    texts = list(queries)
    if not texts:
        raise InputError(f"{form} {name}: it has no queries", fix="name a part that has them: its test split")
    wanted = {document for grades in judged.values() for document in grades}
    kept = tuple(document for document in documents if options["documents"] == "all" or document.id in wanted)
    golden = GoldenSet(
        name=name.replace("/", "-"), queries=tuple(labelled(texts, judged, source=f"{form} {name}"))
    )
    return Imported(
        golden=golden,
        documents=kept,
        notices=(*unmatched(texts, judged, where=f"{form} {name}"), *absent_labels(golden, kept)),
        counts=counted(golden, kept),
    )
