"""``assay golden pool``: candidates of several retrievers, judged blind; what the labels say, and leave open.

Rooms: store (runs, labels, golden set), retrieval and connectors (through ``retrieve``), matching (where
anchors stand), building (pools, bounds).
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.building.pool_bounds import PoolVerdict, bound_retrievers, pool_measure
from assay.building.pool_items import PooledQuery, pooled_queries
from assay.building.pools import RankedLists, lists_of, pool_id, pool_queries
from assay.building.standing import standings
from assay.corpus import Corpus
from assay.flows.golden_labels import login_name, project_labels
from assay.flows.prepare import load_corpus, prepare_asked
from assay.flows.project import Project
from assay.flows.retrieve import make_retriever, run_of
from assay.matching import Sources, locate
from assay.model.errors import ConfigError, InputError
from assay.model.golden import Query
from assay.model.labels import Pool
from assay.model.relevance import Place
from assay.store.golden import load_golden
from assay.store.runs import RunStore

Progress = Callable[[str, int, int], None]
CONTRASTS = ("pipeline.vector=false pipeline.reranker=none", "pipeline.fulltext=false pipeline.reranker=none")
"""What is pooled beside a project's own pipeline when nobody names anything: each first stage alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolWishes:
    """What the command line asks for."""

    name: str = "pool"
    runs: tuple[str, ...] = ()
    """Stored runs, by id or ``latest``."""
    variants: tuple[str, ...] = ()
    """Settings that make a retriever of their own: ``pipeline.reranker=none chunker.max_chars=400``."""
    depth: int = 10
    measure: str | None = None
    """None: recall at the project's k."""
    jobs: tuple[str, ...] = ()
    """Jobs whose drafts are pooled; none: the golden set and all drafts of logs that wait."""
    most: int = 50
    """How many labels are asked for next."""
    seed: int | None = None
    only_next: bool = False
    """Pool only the places whose grades could change who wins."""
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooling:
    """What was pooled, and what is known of it."""

    name: str
    pools: tuple[Pool, ...]
    sources: tuple[str, ...]
    verdict: PoolVerdict
    without_candidates: tuple[str, ...]
    """Queries that no retriever found anything for: labelled from the corpus, or said to have no answer."""
    unplaced: int
    """Hits whose place in a document is not known: they cannot be judged blind, and are left out."""
    stored: bool


def pool_project(
    project: Project, wishes: PoolWishes | None = None, *, progress: Progress | None = None
) -> Pooling:
    """Gather candidates for a project's queries, and say what the labels so far tell of the retrievers.

    Raises:
        ConfigError: a variant's settings are wrong.
        InputError: there is no query, a file is wrong, or the measure cannot be bounded.
        StoreError: a run is not there, or the label store cannot be opened or written.
    """
    wishes = wishes or PoolWishes()
    measure = pool_measure(wishes.measure or f"recall@{min(project.k, wishes.depth)}")
    if wishes.depth < measure.k:
        raise InputError(f"depth {wishes.depth} is below the cut of {measure}", fix=f"--depth {measure.k}")
    seed = project.seed if wishes.seed is None else wishes.seed
    corpus = load_corpus(project)
    with project_labels(project) as labels:
        decisions = labels.decisions(standing=True)
        known = standings(labels.judgements(standing=True), decisions)
        nowhere = {one.subject for one in decisions if one.verdict == "unanswerable"}
        drafts = [
            draft.query
            for draft in labels.drafts(undecided=True)
            if draft.job in wishes.jobs or (not wishes.jobs and draft.query.provenance.origin == "log")
        ]
        golden = [] if wishes.jobs else [*_golden_queries(project), *labels.queries()]
        queries = _asked([*golden, *drafts], nowhere)
        lists = _lists(project, corpus, queries, wishes, progress)
        pooled = pooled_queries(
            queries,
            lists,
            corpus.by_id,
            standings=known,
            anchors=_places(queries, corpus),
            depth=wishes.depth,
        )
        verdict = bound_retrievers(pooled, measure, most=wishes.most, seed=seed)
        pools = pool_queries(queries, lists, corpus.by_id, name=wishes.name, depth=wishes.depth, seed=seed)
        if wishes.only_next:
            pools = _deciding(pools, verdict)
        by = login_name()
        pools = [replace(pool, by=by) for pool in pools]
        if not wishes.dry_run:
            pools = list(labels.add_pools(pools))
    return Pooling(
        name=wishes.name,
        pools=tuple(pools),
        sources=tuple(one.name for one in lists),
        verdict=verdict,
        without_candidates=_without_candidates(pooled),
        unplaced=sum(hit.start is None for one in lists for hits in one.hits.values() for hit in hits),
        stored=not wishes.dry_run,
    )


def read_variant(text: str) -> dict[str, Any]:
    """Read the settings of a variant.

    Raises:
        ConfigError: a setting has no value.

    >>> read_variant("pipeline.reranker=none chunker.max_chars=400")
    {'pipeline.reranker': 'none', 'chunker.max_chars': 400}
    """
    settings: dict[str, Any] = {}
    for pair in text.split():
        key, mark, value = pair.partition("=")
        if not mark or not key:
            raise ConfigError(f"--variant {text!r}: {pair!r} has no value", fix="pipeline.reranker=none")
        try:
            settings[key] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            settings[key] = value
    return settings


def _asked(queries: Sequence[Query], nowhere: set[str]) -> list[Query]:
    """Return the queries to pool, each id once, without those that have no answer."""
    first: dict[str, Query] = {}
    for query in queries:
        if query.answerable and query.text.strip() and query.id not in nowhere:
            first.setdefault(query.id, query)
    if not first:
        raise InputError("there is no query to pool", fix="assay golden import-log, or write golden.jsonl")
    return list(first.values())


def _golden_queries(project: Project) -> Sequence[Query]:
    return load_golden(project.golden_path).queries if project.golden_path.is_file() else ()


def _lists(
    project: Project, corpus: Corpus, queries: Sequence[Query], wishes: PoolWishes, progress: Progress | None
) -> list[RankedLists]:
    store = RunStore(project.home / "runs")
    lists = [lists_of(store.load(run), run) for run in wishes.runs]
    variants = list(wishes.variants)
    if not wishes.runs and not variants:
        variants = [""] if project.retriever is not None else ["", *CONTRASTS]
    for variant in variants:
        changed = project.with_settings({"k": wishes.depth, **read_variant(variant)})
        lists.append(_retrieved(changed, corpus, queries, variant or project.name, progress))
    return lists


def _retrieved(
    project: Project, corpus: Corpus, queries: Sequence[Query], name: str, progress: Progress | None
) -> RankedLists:
    prepared = prepare_asked(project, corpus, queries)
    retriever = make_retriever(prepared)
    found = retriever.retrieve(queries, watch={}, progress=progress)
    return lists_of(run_of(prepared, retriever, queries, found), name)


def _places(queries: Sequence[Query], corpus: Corpus) -> dict[str, list[tuple[Place, float]]]:
    """Return where the anchors of each query stand; of alternatives, the first that is there."""
    sources = Sources(corpus.documents)
    found: dict[str, list[tuple[Place, float]]] = {}
    for query in queries:
        for anchor in query.anchors:
            located = next((places for one in anchor.any_of if (places := locate(one, sources).places)), ())
            found.setdefault(query.id, []).extend((place, anchor.grade) for place in located[:1])
    return found


def _deciding(pools: Sequence[Pool], verdict: PoolVerdict) -> list[Pool]:
    """Return pools of those places alone whose grades could change who wins."""
    wanted = {(one.query_id, one.place) for one in verdict.next_labels}
    found: list[Pool] = []
    for pool in pools:
        kept = tuple(one for one in pool.candidates if (pool.query_id, one.place) in wanted)
        if kept:
            smaller = replace(pool, name=f"{pool.name} next", candidates=kept)
            found.append(replace(smaller, id=pool_id(smaller)))
    return found


def _without_candidates(pooled: Sequence[PooledQuery]) -> tuple[str, ...]:
    return tuple(query.query_id for query in pooled if not any(query.lists.values()))
