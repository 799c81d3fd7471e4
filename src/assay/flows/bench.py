"""Where fixes are tried: the project's retriever under changed settings, what it found, and what that gains.

Rooms: retrieval (the pipeline and its cache), diagnosis (what became of each item), stats (intervals).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Any

import numpy as np

from assay.diagnosis.losses import find_losses
from assay.flows.prepare import Prepared
from assay.flows.rerun import Cuts, ask, retriever_over
from assay.flows.retrieve import ReferenceRetriever, Retriever
from assay.model.findings import Cost, Gain
from assay.model.golden import Query
from assay.model.runs import Run
from assay.retrieval.cache import Cache
from assay.stats.bootstrap import mean_interval
from assay.store.run_tables import content_id

_CUTS = 64
"""Chunkers whose cuts are kept: more than a diagnosis tries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one configuration found, for the queries that it was asked."""

    found: Mapping[tuple[str, str], bool]
    """(query id, item) -> whether it reached the prompt."""
    cost: Cost
    run_id: str

    @property
    def recall(self) -> dict[str, float]:
        """Query id -> its recall, counted in items."""
        held: dict[str, list[bool]] = {}
        for (query, _), found in self.found.items():
            held.setdefault(query, []).append(found)
        return {query: sum(found) / len(found) for query, found in held.items()}


class Bench:
    """Runs a project's pipeline under changed settings, and remembers what it found.

    Args:
        prepared: the project's inputs.
        cache: shared by all trials.
    """

    def __init__(self, prepared: Prepared, cache: Cache | None = None) -> None:
        self.prepared = prepared
        shared = Cache(prepared.project.home / "cache", most=4096) if cache is None else cache
        self._cuts = Cuts(prepared.corpus, prepared.golden, cache=lambda: shared, most=_CUTS, known=prepared)
        self._outcomes: dict[tuple[str, tuple[str, ...]], Outcome] = {}

    def measure(self, change: Mapping[str, Any], queries: Sequence[Query], *, rebuild: bool) -> Outcome:
        """Return what the pipeline finds with some settings changed.

        Raises:
            ConfigError: the settings do not fit together.
            MissingExtraError: a model is not installed.
        """
        key = repr(sorted(change.items(), key=lambda pair: pair[0])), tuple(query.id for query in queries)
        if key not in self._outcomes:
            self._outcomes[key] = self._measured(change, queries, rebuild=rebuild)
        return self._outcomes[key]

    def _measured(self, change: Mapping[str, Any], queries: Sequence[Query], *, rebuild: bool) -> Outcome:
        project = self.prepared.project.with_settings(change)
        cut = self._cuts.of(project)
        prepared = replace(self.prepared, project=project, chunker=cut.chunker, chunks=cut.chunks)
        retriever = retriever_over(prepared, cut)
        run, relevance = ask(prepared, cut, retriever, queries, watching=True)
        by_kind = project.measure.k_by_kind
        cuts = {query.id: by_kind[query.kind] for query in queries if query.kind in by_kind}
        losses = find_losses(run, relevance, cuts=cuts)
        return Outcome(
            found={(loss.query_id, loss.item_id): loss.found for loss in losses},
            cost=_cost(run, retriever, rebuild=rebuild),
            run_id=content_id(run),
        )


def _cost(run: Run, retriever: Retriever, *, rebuild: bool) -> Cost:
    index = retriever.pipeline.build() if isinstance(retriever, ReferenceRetriever) else None
    timed = [stage.elapsed_ms for stage in run.stages if stage.elapsed_ms is not None]
    return Cost(
        rebuild=rebuild,
        chunks=len(run.chunks),
        index_bytes=index.bytes if index else 0,
        build_ms=index.build_ms if index else None,
        query_ms=fsum(float(one.mean()) for one in timed) if timed and run.query_ids else None,
    )


def gain_of(base: Outcome, outcome: Outcome, split: str, among: Collection[str] | None, *, seed: int) -> Gain:
    """Return what an outcome has over another.

    Args:
        base: what was.
        outcome: what is, over the same queries at least.
        split: what the queries are called.
        among: the queries that count; None: all of the base's.
        seed: of the interval.
    """
    before, after = base.recall, outcome.recall
    ids = [query for query in before if among is None or query in among]
    differences = np.array([after[query] - before[query] for query in ids])
    lost = {query for (query, item), found in outcome.found.items() if not found and base.found[query, item]}
    won = {query for (query, item), found in outcome.found.items() if found and not base.found[query, item]}
    return Gain(
        split=split,
        queries=len(ids),
        base=mean_of(before[query] for query in ids),
        value=mean_of(after[query] for query in ids),
        net=mean_of(differences.tolist()),
        interval=mean_interval(differences, np.random.default_rng(seed)),
        recovered=tuple(query for query in ids if query in won and query not in lost),
        broken=tuple(query for query in ids if query in lost),
    )


def mean_of(values: Iterable[float]) -> float | None:
    """Return the mean; None of nothing."""
    held = list(values)
    return fsum(held) / len(held) if held else None
