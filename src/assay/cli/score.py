"""``assay score``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from assay.cli.scored import measures_of, show


def command(
    *files: Path,
    measures: Annotated[tuple[str, ...], Parameter(name=["--measures", "-m"], consume_multiple=True)] = (),
    by: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    queries: Path | None = None,
    per_query: Annotated[bool, Parameter(name=["--per-query", "-q"], negative=())] = False,
    ties: Literal["trec", "given"] | None = None,
    duplicates: Literal["error", "first", "best"] = "error",
    judged_only: Annotated[bool, Parameter(negative=())] = False,
    lenient: Annotated[bool, Parameter(negative=())] = False,
    compat: str | None = None,
    run_form: str | None = None,
    qrels_form: str | None = None,
    cache: Path | None = None,
    engine: Literal["local", "spark"] = "local",
    json: bool = False,
) -> None:
    """Score runs against judgements, from files of any usual form.

    TREC, JSONL, JSON (query -> document -> number), CSV and TSV with a header, Parquet and Arrow; gzip and
    zstd as well. The means are over the judged queries: one that a run lacks scores 0; one with nothing
    relevant has no value, leaves the mean and is counted.

    Args:
        files: the runs, then the judgements (qrels) as the last.
        measures: as in nDCG@10 R@10 RR AP RBP(p=0.9); default nDCG@10 recall@10 recall@100 RR AP.
        by: columns to group by, of the judgements or of --queries.
        queries: a file that says more of each query (kind, language): a golden set, JSONL, CSV or Parquet.
        per_query: print the values of every query as well.
        ties: how equal scores stand: trec (document id down; default for TREC files), or given in the file.
        duplicates: a document that stands twice for a query: an error, or folded into its first or best row.
        judged_only: leave unjudged documents out of the lists.
        lenient: leave broken rows out, saying so, instead of refusing the file.
        compat: score as trec_eval, trec_eval-9, pytrec_eval, ir_measures, beir or ranx would.
        run_form: trec, jsonl, json, csv, parquet or arrow, where the names of the runs do not say it.
        qrels_form: the form of the judgements, likewise.
        cache: a folder for coded runs, so that scoring them again takes well under a second.
        engine: local, or spark (Parquet, partitioned by query, on an existing cluster).
        json: print one JSON object instead of the table.
    """
    from assay.flows.score import Scoring  # noqa: PLC0415 - the help needs none of this
    from assay.store.rankings.sources import as_form  # noqa: PLC0415

    scoring = Scoring(
        measures=measures_of(measures),
        ties=ties,
        duplicates=duplicates,
        judged_only=judged_only,
        lenient=lenient,
        by=by,
        queries=queries,
        compat=compat,
        run_form=as_form(run_form),
        qrels_form=as_form(qrels_form),
        cache=cache,
    )
    show(files, scoring, per_query=per_query, json=json, spark=engine == "spark")
