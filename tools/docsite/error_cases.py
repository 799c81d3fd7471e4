"""Errors that a user meets, each made on purpose: the page shows what is printed, a test makes every one."""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

SETTINGS = 'name = "shop"\nk = 2\n\n[corpus]\npath = "docs"\n\n[chunker]\nname = "paragraphs"\n\n[pipeline]\npool = 5\n'
QUERY = (
    '{"id": "q1", "query": "How long may goods be sent back?", "kind": "factual", '
    '"anchors": [{"doc": "returns.md", "quote": "Goods may be sent back within 30 days"}]}\n'
)
PROJECT: Mapping[str, str] = {
    "assay.toml": SETTINGS,
    "golden.jsonl": QUERY,
    "docs/returns.md": "# Returns\n\nGoods may be sent back within 30 days of delivery.\n\nRefunds take 14 days.\n",
    "run.txt": "q1 Q0 d1 1 0.9 x\n",
    "qrels.txt": "q1 0 d1 1\n",
}
"""The project that every case begins with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One mistake: what differs from a project that is in order, and the call that meets it."""

    title: str
    call: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    code: int = 2


def _toml(text: str) -> dict[str, str]:
    return {"assay.toml": SETTINGS + text}


def _golden(text: str) -> dict[str, str]:
    return {"golden.jsonl": text}


def _query(**changes: str) -> dict[str, str]:
    text = QUERY
    for old, new in changes.items():
        text = text.replace(_OLD[old], new)
    return _golden(text)


_OLD = {
    "doc": "returns.md",
    "quote": "Goods may be sent back within 30 days",
    "anchors": '"anchors"',
    "kind": '"factual"',
}
RUN, CHECK = ("run", "."), ("check", ".")
SCORE = ("score", "run.txt", "qrels.txt")

CASES: Mapping[str, tuple[Case, ...]] = {
    "The command line": (
        Case(title="A command that does not exist", call=("runn", ".")),
        Case(title="An option that does not exist", call=("run", ".", "--missses", "3")),
        Case(title="A value of the wrong sort", call=("run", ".", "--misses", "few")),
        Case(title="A setting without a value", call=("run", ".", "--set", "k")),
        Case(title="A verb of a group that does not exist", call=("golden", "drfit")),
    ),
    "`assay.toml`": (
        Case(title="No project there", call=("run", "nowhere")),
        Case(title="Not TOML", call=RUN, files={"assay.toml": "k = \n"}),
        Case(title="A setting that does not exist", call=RUN, files=_toml("pol = 7\n")),
        Case(title="A table that does not exist", call=RUN, files=_toml("[chunkr]\nname = 'tokens'\n")),
        Case(title="A chunker that does not exist", call=("run", ".", "--set", "chunker.name=paragraph")),
        Case(
            title="A chunk overlap that never goes forward",
            call=("run", ".", "--set", "chunker.overlap=9999"),
        ),
        Case(
            title="An embedder that does not exist", call=("run", ".", "--set", "pipeline.embedder=minilmm")
        ),
        Case(title="A reranker that does not exist", call=("run", ".", "--set", "pipeline.reranker=lexicon")),
        Case(title="Stages that do not fit", call=("run", ".", "--set", "pipeline.pool=1")),
        Case(
            title="No list at all",
            call=("run", ".", "-s", "pipeline.vector=false", "-s", "pipeline.fulltext=false"),
        ),
        Case(title="A measure that does not exist", call=("run", ".", "--set", 'measure.names=["ndgc"]')),
        Case(title="A cut below 1", call=("run", ".", "--set", "k=0")),
        Case(title="k inside a table", call=RUN, files=_toml("k = 7\n")),
    ),
    "Documents": (
        Case(title="No folder there", call=("run", ".", "--set", "corpus.path=dcos")),
        Case(title="No documents in it", call=("run", ".", "--set", 'corpus.include=["*.pdf"]')),
        Case(
            title="Two documents of one id",
            call=("run", ".", "--set", "corpus.path=docs.jsonl"),
            files={"docs.jsonl": '{"id": "a", "text": "one"}\n{"id": "a", "text": "two"}\n'},
        ),
        Case(
            title="A line that is not JSON",
            call=("run", ".", "--set", "corpus.path=docs.jsonl"),
            files={"docs.jsonl": '{"id": "a", "text": "one"}\nnot json\n'},
        ),
    ),
    "The golden set": (
        Case(title="No file there", call=("run", ".", "--set", "golden.path=gold.jsonl")),
        Case(title="A line that is not JSON", call=CHECK, files=_golden("{not json}\n")),
        Case(title="A key that does not exist", call=CHECK, files=_query(anchors='"anchor"')),
        Case(title="An id twice", call=CHECK, files=_golden(QUERY + QUERY)),
        Case(
            title="A quote that is not in its document",
            call=CHECK,
            files=_query(quote="Goods may be returned in 30 days"),
            code=1,
        ),
        Case(title="A document that is not there", call=CHECK, files=_query(doc="return.md"), code=1),
        Case(
            title="`start` without `end`",
            call=CHECK,
            files=_golden(QUERY.replace('"quote"', '"start": 3, "quote"')),
        ),
        Case(
            title="An anchor on a query without an answer",
            call=CHECK,
            files=_golden(QUERY.replace('"kind"', '"answerable": false, "kind"')),
        ),
        Case(title="An empty set", call=RUN, files=_golden("\n")),
    ),
    "Retrievers": (
        Case(
            title="A function that does not exist",
            call=RUN,
            files={"assay.toml": 'retriever = "search:find"\n' + SETTINGS},
        ),
        Case(
            title="A function that fails on every query",
            call=RUN,
            files={
                "assay.toml": 'retriever = "broken:find"\n' + SETTINGS,
                "broken.py": "def find(query, k):\n    raise TimeoutError('the index is asleep')\n",
            },
        ),
        Case(
            title="A connector that does not exist",
            call=RUN,
            files={"assay.toml": SETTINGS + '\n[retriever]\ntype = "elastik"\n'},
        ),
        Case(
            title="An environment variable that is not set",
            call=RUN,
            files={
                "assay.toml": SETTINGS
                + '\n[retriever]\ntype = "http"\nurl = "http://127.0.0.1:9/search"\nhits = "hits"\n'
                + 'headers = { Authorization = "Bearer ${SHOP_SEARCH_KEY}" }\n'
            },
        ),
    ),
    "Stored runs": (
        Case(title="No run of that name", call=("show", "latest")),
        Case(title="Nothing stored to explain", call=("explain", "q1", "--project", ".")),
        Case(title="Runs that are not there", call=("compare", "aaaa", "bbbb")),
        Case(title="One run to compare", call=("compare", "latest")),
    ),
    "Gates": (
        Case(
            title="A rule that cannot be read",
            call=("gate", "."),
            files=_toml('\n[gate]\n"recall@2" = "0.7 or so"\n'),
        ),
        Case(
            title="A measure that the run does not have",
            call=("gate", "."),
            files=_toml('\n[gate]\n"recal@2" = ">= 0.7"\n'),
        ),
        Case(
            title="A gate that falls",
            call=("gate", "."),
            files=_toml('\n[gate]\n"precision@2" = ">= 0.9"\n'),
            code=1,
        ),
        Case(title="Nothing to check", call=("gate", ".")),
    ),
    "Runs and judgements of other tools": (
        Case(title="A file that is not there", call=("score", "rum.txt", "qrels.txt")),
        Case(title="Columns in another order", call=SCORE, files={"run.txt": "q1 d1 Q0 1 0.9 x\n"}),
        Case(title="A score that is no number", call=SCORE, files={"run.txt": "q1 Q0 d1 1 high x\n"}),
        Case(title="A document twice", call=SCORE, files={"run.txt": "q1 Q0 d1 1 0.9 x\nq1 Q0 d1 2 0.8 x\n"}),
        Case(title="A grade that is no number", call=SCORE, files={"qrels.txt": "q1 0 d1 yes\n"}),
        Case(title="No query in common", call=SCORE, files={"run.txt": "q9 Q0 d1 1 0.9 x\n"}),
        Case(title="A measure that does not exist", call=(*SCORE, "-m", "ngcd@10")),
        Case(title="A measure without its cut", call=(*SCORE, "-m", "P")),
        Case(title="A tool that is not imitated", call=(*SCORE, "--compat", "ranks")),
        Case(title="A form that cannot be written", call=("convert", "run.txt", "run.docx")),
    ),
    "Sweeps": (
        Case(title="A knob that does not exist", call=("sweep", "--vary", "chunker.max_char=400,800")),
        Case(title="Nothing to vary", call=("sweep",)),
    ),
    "Imports": (
        Case(title="A form that does not exist", call=("import", "beeir", "docs", "--into", "new")),
        Case(
            title="A file that holds something else",
            call=("import", "squad", "golden.jsonl", "--into", "new"),
        ),
    ),
}


def _exit_code(main: Callable[[Sequence[str]], None], call: Sequence[str]) -> int:
    try:
        main(call)
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def outcome(case: Case) -> tuple[int, str]:
    """Make the mistake in an empty folder, and return the exit code and all that is printed."""
    from assay.cli import main

    before, told = Path.cwd(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**PROJECT, **case.files}.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
                code = _exit_code(main, list(case.call))
        finally:
            os.chdir(before)
        text = told.getvalue().replace(str(Path(folder).resolve()), "SOMEWHERE").replace(folder, "SOMEWHERE")
    return code, re.sub(r"\x1b\[[0-9;]*m", "", text).strip()
