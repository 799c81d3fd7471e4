"""MTRAG: multi-turn questions of four domains in three wordings, BEIR judgements, no corpora."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from assay.model.errors import Fault, InputError
from assay.model.golden import GoldenSet, Query
from assay.model.notices import Notice
from assay.store.imports.form import Form, Imported, Option, Options, counted
from assay.store.imports.qrels import QueryLine, labelled, read_qrels, unmatched
from assay.store.imports.records import read_as

_WORDINGS = ("rewrite", "lastturn", "questions")
_QRELS = "qrels_dev.tsv"
_SPEAKER = re.compile(r"^\|user\|: ?", re.MULTILINE)


def _domains(path: Path) -> list[Path]:
    return [path] if (path / _QRELS).is_file() else sorted(file.parent for file in path.glob(f"*/{_QRELS}"))


def _detect(path: Path) -> bool:
    return any(any(domain.glob("*_rewrite.jsonl")) for domain in _domains(path))


def _parse(path: Path, options: Options) -> Imported:
    wording = options["wording"]
    domains = [domain for domain in _domains(path) if options["domain"] in {"", domain.resolve().name}]
    if not domains:
        names = ", ".join(domain.name for domain in _domains(path))
        raise InputError(Fault(where=str(path), what=f"there is no domain {options['domain']!r}", fix=names))
    queries: list[Query] = []
    notices: list[Notice] = []
    for domain in domains:
        name = domain.resolve().name
        file = domain / f"{name}_{wording}.jsonl"
        rows = [(str(row.id), _plain(row.text)) for _, row in read_as(file, QueryLine)]
        judged = read_qrels(domain / _QRELS)
        queries.extend(labelled(rows, judged, source=f"mtrag {wording}", meta={"domain": name}))
        notices.extend(unmatched(rows, judged, where=str(domain)))
    golden = GoldenSet(name=f"mtrag-{wording}", queries=tuple(queries))
    return Imported(golden=golden, notices=(*notices, *_no_corpus()), counts=counted(golden))


def _plain(text: str) -> str:
    """Return the turns without the marks of who speaks: they are the user's, all of them."""
    return _SPEAKER.sub("", text).strip()


def _no_corpus() -> Iterator[Notice]:
    text = "the set comes without its corpora: its labels can score runs that were made elsewhere"
    yield Notice(code="no-corpus", text=text)


FORM = Form(
    name="mtrag",
    about="MTRAG's retrieval tasks: a folder a domain with three wordings and qrels_dev.tsv.",
    detect=_detect,
    parse=_parse,
    options={
        "wording": Option(
            about="the question rewritten to stand alone, the last turn as it was, or all turns",
            default="rewrite",
            choices=_WORDINGS,
        ),
        "domain": Option(about="one domain; all of them when left out"),
    },
)
