"""``assay convert``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter


def command(
    source: Path,
    target: Path,
    *,
    qrels: Annotated[bool, Parameter(negative=())] = False,
    source_form: Annotated[str | None, Parameter(name=["--from"])] = None,
    target_form: Annotated[str | None, Parameter(name=["--to"])] = None,
    ties: Literal["trec", "given"] | None = None,
    duplicates: Literal["error", "first", "best"] = "error",
    lenient: Annotated[bool, Parameter(negative=())] = False,
    tag: str = "assay",
) -> None:
    """Write a run (or judgements) in another form.

    The rows of a run come out in the order of its ranking. What the other form cannot hold is refused: an id
    with a blank in TREC, an infinite score in JSON.

    Args:
        source: the file to read.
        target: the file to write; its name says the form (.run, .qrels, .jsonl, .json, .csv, .tsv, .parquet).
        qrels: the files are judgements, not a run.
        source_form: trec, jsonl, json, csv, parquet or arrow, where the name of the source does not say it.
        target_form: the same of the target.
        ties: how equal scores stand: trec (document id down; default for TREC files), or given in the file.
        duplicates: a document that stands twice for a query: an error, or folded into its first or best row.
        lenient: leave broken rows out, saying so, instead of refusing the file.
        tag: the last column of a TREC run.
    """
    from assay.flows.convert import convert_judgements, convert_run  # noqa: PLC0415 - the help needs none of this
    from assay.store.rankings.sources import as_form  # noqa: PLC0415

    if qrels:
        done = convert_judgements(
            source,
            target,
            source_form=as_form(source_form),
            target_form=as_form(target_form),
            duplicates=duplicates,
            lenient=lenient,
        )
    else:
        done = convert_run(
            source,
            target,
            source_form=as_form(source_form),
            target_form=as_form(target_form),
            ties=ties,
            duplicates=duplicates,
            lenient=lenient,
            tag=tag,
        )
    sys.stdout.write(f"{done.path}: {done.rows:,} rows of {done.queries:,} queries\n")
    for notice in done.notices:
        sys.stderr.write(f"note: {notice.text}\n")
