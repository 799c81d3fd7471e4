"""What a run of the pipeline has to say aloud: failed queries, dropped rows, texts that a model cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.model.notices import Notice, listed
from assay.retrieval.models.protocols import ModelReport
from assay.retrieval.stages.lists import Lists
from assay.retrieval.stages.rerank import RerankReport

_MODELS = ("vector", "fulltext", "reranked")


def stage_notices(lists: Mapping[str, Lists], query_ids: Sequence[str]) -> list[Notice]:
    """Say on which queries a stage failed."""
    found: list[Notice] = []
    for name, made in lists.items():
        failed = tuple(query_ids[query] for query in made.errors)
        if failed and name in _MODELS:
            first = next(iter(made.errors.values()))
            text = f"stage {name} failed on {len(failed)} queries ({listed(failed)}); the first with: {first}"
            found.append(Notice(code="stage-errors", text=text, ids=failed))
    return found


def rerank_notices(report: RerankReport, query_ids: Sequence[str]) -> list[Notice]:
    """Say which rows a reranker did not score, did not return, or did not read whole."""
    found: list[Notice] = []
    if report.unscored:
        queries = tuple(query_ids[query] for query in report.unscored)
        text = f"the reranker gave no number for some rows of {listed(queries)}; they stand last"
        found.append(Notice(code="reranker-unscored", text=text, ids=queries))
    if report.dropped_rows:
        queries = tuple(query_ids[query] for query in report.dropped)
        text = (
            f"the reranker did not return {report.dropped_rows} of the rows it was sent ({listed(queries)})"
        )
        found.append(Notice(code="reranker-dropped", text=text, ids=queries))
    if report.backfilled_rows:
        text = f"{report.backfilled_rows} rows back-filled after the reranker's own, as declared"
        found.append(Notice(code="reranker-backfilled", text=text))
    if report.read:
        queries = tuple(dict.fromkeys(query_ids[query] for query, _ in report.read))
        text = (
            f"the reranker's window cut {len(report.read)} rows ({listed(queries)}): their end was not read"
        )
        found.append(Notice(code="reranker-cut", text=text, ids=queries))
    if report.model.malformed:
        text = f"{report.model.malformed} replies of the reranker were not in the form asked for; none was "
        found.append(Notice(code="reranker-malformed", text=text + "read in any other way"))
    return found


def cut_notices(report: ModelReport, ids: Sequence[str], *, what: str) -> list[Notice]:
    """Say which texts an embedder did not read to their end.

    >>> report = ModelReport(cut=(1,), cut_tokens=30)
    >>> print(cut_notices(report, ["c1", "c2"], what="chunks")[0].text)
    the embedder's window cut 1 of 2 chunks (c2), 30 tokens in all: what stands there cannot be found by it
    """
    if not report.cut:
        return []
    cut = tuple(ids[place] for place in report.cut)
    lost = f", {report.cut_tokens:,} tokens in all" if report.cut_tokens else ""
    text = f"the embedder's window cut {len(cut)} of {len(ids)} {what} ({listed(cut)}){lost}: "
    return [Notice(code="embedder-cut", text=f"{text}what stands there cannot be found by it", ids=cut)]


def costs(reports: Mapping[str, ModelReport]) -> dict[str, Any]:
    """Return what was asked of servers, for the manifest of a run; nothing where none was asked.

    >>> costs({"embedder": ModelReport(requests=2, tokens=900, cost=0.5)})
    {'embedder': {'requests': 2, 'tokens': 900, 'cost': 0.5}}
    """
    told: dict[str, Any] = {}
    for name, report in reports.items():
        rows = {
            "requests": report.requests,
            "retries": report.retries,
            "kept": report.kept,
            "tokens": report.tokens,
            "malformed": report.malformed,
            "cost": report.cost,
        }
        if report.requests or report.kept:
            told[name] = {key: value for key, value in rows.items() if value}
    return told
