"""The Python FAQ as a golden set: 160-odd questions that people really ask, each answered by one section.

    apt-get install python3.11-doc
    python benchmarks/published/python_faq.py project FOLDER    # documents, golden.jsonl, assay.toml
    python benchmarks/published/python_faq.py                   # the table of RESULTS.md

A section of the documentation is a document. Headings of the FAQ are the questions: they are taken out of its
documents, since a question must not find itself. The tutorial and the how-to guides stand beside, headings
and all: 2 of 3 chunks are theirs, and none of them is right.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import WORK, keep, measured, table, with_interval

from assay.flows.evaluate import Evaluation
from assay.flows.project import load_project
from assay.store.atomic import write_text

SOURCE = Path("/usr/share/doc/python3.11/html/_sources")
_UNDERLINE = re.compile(r"([=\-~^*\"'#+])\1{2,}\s*")
_NOISE = re.compile(
    r"^\.\. _[^\n]*:\s*$"  # the name of a place
    r"|^\.\. only:: html\n\n(?:[ \t]+[^\n]*\n)+"  # a table of contents
    r"|^:tocdepth:[^\n]*$"
    r"|^\.\. (?:highlight|index|sectionauthor|moduleauthor)::[^\n]*\n(?:[ \t]+[^\n]*\n)*",
    re.MULTILINE,
)
SETTINGS = """\
name = "python-faq"
k = 10

[corpus]
path = "docs"

[golden]
path = "golden.jsonl"

[chunker]
name = "paragraphs"
max_chars = 800

[measure]
names = ["hit", "MRR", "recall", "nDCG"]
unit = "document"
"""


@dataclass(frozen=True, kw_only=True)
class Section:
    """A heading, and what stands below it up to the next."""

    heading: str
    body: str


def sections(text: str) -> Iterator[Section]:
    """Yield the sections of a page in reStructuredText."""
    lines = text.splitlines()
    heading, body = "", list[str]()
    place = 0
    while place < len(lines):
        line = lines[place]
        under = lines[place + 1] if place + 1 < len(lines) else ""
        titled = line.strip() and line[0].strip() and not _UNDERLINE.fullmatch(line)
        if titled and _UNDERLINE.fullmatch(under) and len(under.rstrip()) >= len(line.rstrip()):
            if body and _UNDERLINE.fullmatch(body[-1]):
                body.pop()  # the line over a title
            yield Section(heading=heading, body="\n".join(body))
            heading, body = line.strip(), []
            place += 2
            continue
        body.append(line)
        place += 1
    yield Section(heading=heading, body="\n".join(body))


def make_project(folder: Path, source: Path = SOURCE) -> int:
    """Write the project and return how many questions it has.

    Raises:
        SystemExit: the documentation is not there.
    """
    if not source.is_dir():
        raise SystemExit(f"{source} is not there: apt-get install python3.11-doc")
    rows: list[dict[str, Any]] = []
    for path in sorted(source.glob("faq/*.rst.txt")):
        page = path.name.removesuffix(".rst.txt")
        for number, section in enumerate(sections(_NOISE.sub("", path.read_text(encoding="utf-8"))), start=1):
            if section.heading.endswith("?") and section.body.strip():
                name = f"faq/{page}-{number:02}.txt"
                write_text(folder / "docs" / name, section.body.strip() + "\n")
                rows.append(
                    {
                        "id": f"{page}-{number:02}",
                        "query": plain(section.heading),
                        "kind": page,
                        "relevant": {name: 1},
                        "provenance": {"origin": "imported", "source": "python3.11-doc"},
                    }
                )
    for part in ("tutorial", "howto"):
        for path in sorted(source.glob(f"{part}/*.rst.txt")):
            page = path.name.removesuffix(".rst.txt")
            text = _NOISE.sub("", path.read_text(encoding="utf-8"))
            for number, section in enumerate(sections(text), start=1):
                if section.body.strip():
                    body = f"{section.heading}\n\n{section.body.strip()}\n".lstrip()
                    write_text(folder / "docs" / part / f"{page}-{number:02}.txt", body)
    write_text(folder / "golden.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    write_text(folder / "assay.toml", SETTINGS)
    return len(rows)


def plain(heading: str) -> str:
    """Return a heading without its markup: ``:mod:`socket``` becomes ``socket``.

    >>> plain("Why are default values of :class:`dict` *shared*?")
    'Why are default values of dict shared?'
    """
    named = re.sub(r":[\w:+-]+:`~?([^`<]*?)\s*(?:<[^`>]*>)?`", r"\1", heading)
    return re.sub(r"(?<!\w)[*`|]+|[*`|]+(?!\w)", "", named).replace("\\", "")


VECTOR: dict[str, Any] = {"pipeline.fulltext": False}
ALONE: dict[str, Any] = {"pipeline.reranker": "none", "pipeline.mmr": "off"}
PIPELINES: dict[str, dict[str, Any]] = {
    "BM25": {**ALONE, "pipeline.vector": False},
    "hashing vectors": {**ALONE, **VECTOR},
    "static vectors (wordllama)": {**ALONE, **VECTOR, "pipeline.embedder": {"name": "wordllama"}},
    "MiniLM": {**ALONE, **VECTOR, "pipeline.embedder": {"name": "minilm"}},
    "BM25 + MiniLM, RRF": {**ALONE, "pipeline.embedder": {"name": "minilm"}},
    "BM25 + MiniLM, BM25 weighed 0.25": {
        **ALONE,
        "pipeline.embedder": {"name": "minilm"},
        "pipeline.fusion.weights.fulltext": 0.25,
    },
    "BM25 + MiniLM, lexical reranker": {
        **ALONE,
        "pipeline.embedder": {"name": "minilm"},
        "pipeline.reranker": {"name": "lexical"},
    },
    "BM25 + MiniLM, MaxSim over the top 20": {
        **ALONE,
        "pipeline.embedder": {"name": "minilm"},
        "pipeline.reranker": {"name": "maxsim", "top_n": 20},
    },
    "MiniLM, MaxSim over the top 20": {
        **ALONE,
        **VECTOR,
        "pipeline.embedder": {"name": "minilm"},
        "pipeline.reranker": {"name": "maxsim", "top_n": 20},
    },
}
REPORTED = {
    "BM25": (0.613, 0.426),
    "static vectors (wordllama)": (0.690, 0.431),
    "MiniLM": (0.911, 0.712),
    "BM25 + MiniLM, RRF": (0.845, 0.636),
    "BM25 + MiniLM, MaxSim over the top 20": (0.887, 0.757),
}
"""hit@10 and MRR of an earlier attempt, with another cut of the same pages (2,674 chunks)."""


def main(arguments: Sequence[str]) -> int:
    if arguments and arguments[0] == "project":
        print(f"{make_project(Path(arguments[1]))} questions in {arguments[1]}")
        return 0
    folder = WORK / "python-faq"
    if not (folder / "assay.toml").is_file():
        make_project(folder)
    project = load_project(folder)
    found = {name: measured(project, changes) for name, changes in PIPELINES.items()}
    keep("python-faq", "\n".join(section(found)))
    return 0


def section(found: dict[str, Evaluation]) -> Iterator[str]:
    first = next(iter(found.values()))
    yield "## The Python FAQ: questions to sections\n"
    yield "`apt-get install python3.11-doc && python benchmarks/published/python_faq.py`. "
    prepared = first.prepared
    yield f"{len(prepared.golden.queries)} questions, {len(prepared.corpus.documents):,} sections, "
    yield f"{len(prepared.chunks):,} chunks; a document counts at its first chunk; 95 % intervals over"
    yield "questions. The last two columns are an earlier attempt on another cut of the same pages.\n"
    rows: list[list[str]] = []
    for name, evaluation in found.items():
        scores = evaluation.scores
        before = REPORTED.get(name)
        cells = [with_interval(scores, "hit@10"), with_interval(scores, "MRR@10")]
        rows.append([name, *cells, *([f"{value:.3f}" for value in before] if before else ["", ""])])
    yield table(("pipeline", "hit@10", "MRR@10", "hit@10 before", "MRR before"), rows)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
