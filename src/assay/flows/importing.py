"""``assay import``: a known golden set becomes a project folder.

Rooms: store (the forms, golden file, documents, runs), corpus (documents that stand elsewhere).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from assay.corpus import read_corpus
from assay.flows.project import FILE, HOME
from assay.model.errors import Fault, InputError
from assay.model.golden import GoldenSet
from assay.model.notices import Notice
from assay.store.atomic import new_folder, write_text
from assay.store.documents import write_documents
from assay.store.golden import save_golden
from assay.store.imports.form import Form, Imported
from assay.store.imports.known import FORMS, form_named, guess_form
from assay.store.imports.pins import place_quotes
from assay.store.runs import RunStore

AUTO = "auto"
REPORT = "import.json"
"""What was read and what was said of it, kept beside the golden set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import made, and what is worth knowing of the set."""

    form: str
    source: str
    folder: Path
    golden_digest: str
    counts: Mapping[str, int]
    """What was read: documents, queries, anchors, labels, and what the form adds."""
    notices: tuple[Notice, ...]
    documents: str | None
    """Where the documents are, relative to the folder; None when the set came without them."""
    runs: tuple[str, ...] = ()
    """Ids of ranked lists that lay beside the set: ``assay runs`` lists them."""
    options: Mapping[str, str] = field(default_factory=dict[str, str])


def list_forms() -> tuple[Form, ...]:
    """Return every form that can be imported, in the order in which ``auto`` tries them."""
    return tuple(FORMS.values())


def import_set(
    form: str,
    source: Path | str,
    into: Path | str,
    *,
    options: Mapping[str, str] | None = None,
    documents: Path | str | None = None,
) -> ImportReport:
    """Turn somebody's golden set into a project folder: documents, ``golden.jsonl``, ``assay.toml``.

    The folder appears whole or not at all. Labels that are not where they say they are get kept and told.

    Args:
        form: the name of a form, or ``auto``.
        source: the file or folder of the set.
        into: the folder to make; it may exist when it is empty.
        options: choices of the form, by name.
        documents: the set's documents, where they stand apart from it: a folder, glob or file; every quote
            is looked up in them, and they stay where they are.

    Raises:
        InputError: the set is wrong, looks like no form, or the folder holds something.
        StoreError: the folder cannot be written.
    """
    path, target = Path(source), Path(into)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InputError(
            Fault(
                where=str(target), what="is there and holds something", fix="name a folder that is not there"
            )
        )
    chosen = guess_form(path) if form == AUTO else form_named(form)
    imported = chosen.read(path, options)
    if documents is not None:
        imported = _placed(imported, Path(documents))
    _refuse_homeless(imported.golden, str(path))
    if target.is_dir():
        target.rmdir()
    with new_folder(target) as folder:
        save_golden(imported.golden, folder / "golden.jsonl")
        where = write_documents(imported.documents, folder) if imported.documents else None
        corpus = _relative(Path(documents), target) if documents is not None else where
        runs = tuple(RunStore(folder / HOME / "runs").save(run) for run in imported.runs)
        report = ImportReport(
            form=chosen.name,
            source=path.name,
            folder=target,
            golden_digest=imported.golden.digest,
            counts=imported.counts,
            notices=imported.notices,
            documents=corpus,
            runs=runs,
            options=dict(options or {}),
        )
        write_text(folder / REPORT, report_json(report))
        titled = any(document.title for document in imported.documents)
        write_text(folder / FILE, _settings(report, imported.golden, written=where, titled=titled))
    return report


def report_json(report: ImportReport) -> str:
    """Return a report as the JSON that is kept in ``import.json``."""
    record = {
        "form": report.form,
        "source": report.source,
        "options": dict(sorted(report.options.items())),
        "golden_digest": report.golden_digest,
        "documents": report.documents,
        "counts": dict(report.counts),
        "runs": list(report.runs),
        "notices": [
            {"code": notice.code, "text": notice.text, "ids": list(notice.ids)} for notice in report.notices
        ],
    }
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


def _placed(imported: Imported, documents: Path) -> Imported:
    corpus = read_corpus(documents)
    golden, pins, notices = place_quotes(imported.golden, corpus.documents)
    return replace(
        imported,
        golden=golden,
        notices=(*imported.notices, *notices),
        counts={**imported.counts, "documents": len(corpus), **pins.counts()},
    )


def _refuse_homeless(golden: GoldenSet, where: str) -> None:
    homeless = [
        f"{query.id} {anchor.id}" for query in golden.queries for anchor in query.anchors if not anchor.doc_id
    ]
    if homeless:
        raise InputError(
            Fault(
                where=where,
                what=f"{len(homeless)} quotes name no document (the first is {homeless[0]})",
                fix="name the column of the document (doc=COLUMN), or the documents to look them up in",
            )
        )


def _settings(report: ImportReport, golden: GoldenSet, *, written: str | None, titled: bool) -> str:
    """Return a first ``assay.toml``: what the set is, and the rest by default."""
    lines = [f"# Imported from {report.source} ({report.form}); {REPORT} says what was met."]
    lines += [f"name = {_quoted(golden.name)}", "", "[corpus]"]
    if report.documents is None:
        lines.append('# The set came without its documents. To run a retriever: path = "FOLDER"')
    else:
        lines.append(f"path = {_quoted(report.documents)}")
    if written is not None and written.endswith(".jsonl"):
        lines += ['id = "id"', 'text = "text"']
        lines += ['title = "title"'] if titled else []
    lines += ["", "[golden]", 'path = "golden.jsonl"', f"name = {_quoted(golden.name)}"]
    if golden.kinds:
        lines.append(f"kinds = [{', '.join(map(_quoted, golden.kinds))}]")
    if _has_labels_only(golden):
        lines += ["", "[measure]", 'unit = "document"             # the labels name whole documents']
    return "\n".join(lines) + "\n"


def _has_labels_only(golden: GoldenSet) -> bool:
    return not any(query.anchors for query in golden.queries) and any(
        query.labels for query in golden.queries
    )


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _relative(documents: Path, folder: Path) -> str:
    return Path(os.path.relpath(documents.resolve(), folder.resolve())).as_posix()
