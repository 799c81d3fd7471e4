"""``assay diagnose --try``: the pipeline again, one knob turned.

Rooms: diagnosis (which knobs there are), retrieval (the pipeline and its cache), matching (relevance under
another chunker), stats (intervals), store (the proposal as a change of ``assay.toml``).

Trials share one cache: what two configurations have in common is computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Any, cast

import msgspec
import numpy as np

from assay.corpus import chunk_corpus
from assay.diagnosis.knobs import Knob, knobs
from assay.diagnosis.losses import find_losses
from assay.flows.evaluate import Evaluation
from assay.flows.prepare import Prepared, load_chunker
from assay.flows.project import FILE, Project
from assay.flows.retrieve import ReferenceRetriever, make_retriever, pipeline_settings
from assay.matching import find_relevance
from assay.model.comparison import Interval
from assay.model.documents import Chunk
from assay.model.errors import AssayError, ConfigError, MissingExtraError
from assay.model.findings import Cost, Finding, Gain, Proposal, Remedy, Trial
from assay.model.golden import Query
from assay.model.notices import Notice, listed
from assay.model.relevance import Relevance
from assay.model.runs import Run, chunk_table
from assay.retrieval.cache import Cache
from assay.retrieval.models.registry import EMBEDDERS
from assay.retrieval.settings import describe
from assay.stats.bootstrap import mean_interval
from assay.store.run_tables import content_id
from assay.store.toml_lines import changed_toml, toml_diff

Progress = Callable[[str, int, int], None]
_MOST_COMBINED = 6
"""Combinations that are run on the way to a proposal."""
_FAST = ("hashing", "wordllama")
"""Embedders that do thousands of chunks a second; the others do tens."""
_MANY = 4_000
"""Chunks from which on a slow embedder is tried only when it is asked for."""


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


@dataclass(frozen=True, kw_only=True)
class Tried:
    """What trials gave."""

    trials: tuple[Trial, ...]
    remedies: tuple[Remedy, ...]
    proposal: Proposal | None
    notices: tuple[Notice, ...]


class Bench:
    """Runs a project's pipeline under changed settings, and remembers what it found.

    Args:
        prepared: the project's inputs.
        cache: shared by all trials.
    """

    def __init__(self, prepared: Prepared, cache: Cache | None = None) -> None:
        self.prepared = prepared
        self.cache = Cache(prepared.project.home / "cache", most=4096) if cache is None else cache
        self._cut: dict[str, tuple[Prepared, Relevance]] = {}
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
        prepared, relevance = self._prepared(self.prepared.project.with_settings(change))
        project = prepared.project
        retriever = (
            ReferenceRetriever(prepared, pipeline_settings(project), cache=self.cache)
            if project.retriever is None
            else make_retriever(prepared)
        )
        asked = {query.id for query in queries}
        some = tuple(one for one in relevance.queries if one.query_id in asked)
        watch = {one.query_id: frozenset(one.chunk_grades) for one in some}
        retrieved = retriever.retrieve(queries, watch=watch)
        run = Run(
            id="",
            name=retriever.name,
            pipeline=retriever.settings,
            pipeline_digest=retriever.digest,
            golden_digest=prepared.golden.digest,
            corpus_digest=prepared.corpus.digest,
            k=project.k,
            query_ids=tuple(query.id for query in queries),
            chunks=retrieved.chunks,
            stages=retrieved.stages,
            seed=project.seed,
        )
        by_kind = project.measure.k_by_kind
        cuts = {query.id: by_kind[query.kind] for query in queries if query.kind in by_kind}
        if project.retriever is not None:
            relevance = find_relevance(
                prepared.golden,
                prepared.corpus.documents,
                run.chunks,
                whole_index=retriever.whole_index,
                twins=False,
            )
            some = tuple(one for one in relevance.queries if one.query_id in asked)
        losses = find_losses(run, Relevance(queries=some), cuts=cuts)
        return Outcome(
            found={(loss.query_id, loss.item_id): loss.found for loss in losses},
            cost=_cost(run, retriever, rebuild=rebuild),
            run_id=content_id(run),
        )

    def _prepared(self, project: Project) -> tuple[Prepared, Relevance]:
        """Return the inputs under a project's chunker, cut and matched once."""
        key = repr(sorted(project.chunker.items(), key=lambda pair: pair[0]))
        if key not in self._cut:
            own = self.prepared
            chunker, chunks = own.chunker, own.chunks
            if project.chunker != own.project.chunker:
                chunker = load_chunker(project)
                chunks = tuple[Chunk, ...](chunk_corpus(own.corpus.documents, chunker))
            relevance = find_relevance(own.golden, own.corpus.documents, chunk_table(chunks), twins=False)
            self._cut[key] = replace(own, project=project, chunker=chunker, chunks=chunks), relevance
        prepared, relevance = self._cut[key]
        return replace(prepared, project=project), relevance


def _cost(run: Run, retriever: object, *, rebuild: bool) -> Cost:
    index = retriever.pipeline.build() if isinstance(retriever, ReferenceRetriever) else None
    timed = [stage.elapsed_ms for stage in run.stages if stage.elapsed_ms is not None]
    return Cost(
        rebuild=rebuild,
        chunks=len(run.chunks),
        index_bytes=index.bytes if index else 0,
        build_ms=index.build_ms if index else None,
        query_ms=fsum(float(one.mean()) for one in timed) if timed and run.query_ids else None,
    )


def run_trials(
    evaluation: Evaluation,
    findings: Sequence[Finding],
    *,
    own: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    slow: bool = False,
    bench: Bench | None = None,
    progress: Progress | None = None,
) -> Tried:
    """Try every fix that applies, first on the misses, then over the whole set.

    Args:
        evaluation: the run that was diagnosed.
        findings: its misses.
        own: a team's own fixes.
        slow: whether embedders are tried that take minutes on this corpus.
        bench: where trials run; by default one with the project's cache.
        progress: told how many trials are done.
    """
    session = _Session(evaluation, bench or Bench(evaluation.prepared), progress, slow=slow)
    return session.run(findings, own or {})


class _Session:
    def __init__(
        self, evaluation: Evaluation, bench: Bench, progress: Progress | None, *, slow: bool
    ) -> None:
        self.project = evaluation.project
        self.slow = slow
        self.bench = bench
        self.progress = progress
        self.queries = [
            query
            for query in evaluation.prepared.golden.queries
            if evaluation.relevance.by_query[query.id].labelled
        ]
        self.notices: list[Notice] = []
        # The run itself asks every query, also those without an answer: so its id is that of `assay run`.
        self.everything = evaluation.prepared.golden.queries
        self.base = bench.measure({}, self.everything, rebuild=False)

    def run(self, findings: Sequence[Finding], own: Mapping[str, Sequence[Mapping[str, Any]]]) -> Tried:
        turned = list(self._knobs(own))
        missed = {query for (query, _), found in self.base.found.items() if not found}
        some = [query for query in self.queries if query.id in missed]
        trials: list[tuple[Knob, Trial]] = []
        absent: list[str] = []
        for place, knob in enumerate(turned if some else []):
            self._tell(place, len(turned))
            try:
                trials.append((knob, self._trial(knob, some)))
            except MissingExtraError as error:
                absent.append(str(error.faults[0].what))
            except ConfigError as error:
                text = f"{knob.fix} {dict(knob.change)} does not fit: {error.faults[0].what}"
                self.notices.append(Notice(code="trial-left-out", text=text))
        self._tell(len(turned), len(turned))
        if absent:
            text = f"left out, because nothing is installed for it: {listed(list(dict.fromkeys(absent)))}"
            self.notices.append(Notice(code="not-installed", text=text))
        return Tried(
            trials=tuple(trial for _, trial in trials),
            remedies=_remedies(findings, [trial for _, trial in trials]),
            proposal=self._proposal(trials),
            notices=tuple(self.notices),
        )

    def _tell(self, done: int, of: int) -> None:
        if self.progress is not None and of:
            self.progress("trials", done, of)

    def _knobs(self, own: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[Knob]:
        reference = self.project.retriever is None
        prepared = self.bench.prepared
        pipeline: Mapping[str, Any] = {}
        embedders: list[str] = []
        if reference:
            settings = pipeline_settings(self.project)
            balance = settings.balance
            pipeline = {**describe(settings), "mmr": "off" if balance is None else balance}
            if settings.vector.enabled:
                embedders = self._embedders(settings.embedder.name)
        elif not own:
            text = (
                "trials turn knobs of the reference pipeline; for a retriever of your own, say what to try "
            )
            text += "under [diagnosis.fixes]"
            self.notices.append(Notice(code="no-knobs", text=text))
        chunker = cast("Mapping[str, Any]", prepared.chunker.describe().get("settings") or {})
        yield from knobs(
            pipeline,
            chunker,
            embedders=embedders,
            own=own,
            reference=reference,
        )

    def _embedders(self, own: str) -> list[str]:
        """Return the embedders to try: those that name no model to choose, so that nothing is fetched."""
        names = [name for name, kind in EMBEDDERS.items() if name != own and _complete(kind.settings)]
        chunks = len(self.bench.prepared.chunks)
        slow = [name for name in names if name not in _FAST and chunks > _MANY and not self.slow]
        if slow:
            text = (
                f"embedding {chunks:,} chunks takes minutes: {listed(slow)} left out (--slow tries them too)"
            )
            self.notices.append(Notice(code="slow-embedders", text=text, ids=tuple(slow)))
        return [name for name in names if name not in slow]

    def _trial(self, knob: Knob, missed: Sequence[Query]) -> Trial:
        first = self.bench.measure(knob.change, missed, rebuild=knob.rebuild)
        back = tuple(
            item for item, found in first.found.items() if found and not self.base.found.get(item, True)
        )
        base = _mean(self.base.recall.values())
        if not back:
            return Trial(
                fix=knob.fix,
                change=dict(knob.change),
                recovered=(),
                broken=(),
                recovered_items=(),
                base=base,
                value=None,
                net=None,
                interval=None,
                cost=first.cost,
                whole=False,
            )
        whole = self.bench.measure(knob.change, self.everything, rebuild=knob.rebuild)
        gain = self._gain("all", whole, None)
        return Trial(
            fix=knob.fix,
            change=dict(knob.change),
            recovered=gain.recovered,
            broken=gain.broken,
            recovered_items=back,
            base=gain.base,
            value=gain.value,
            net=gain.net,
            interval=gain.interval,
            cost=whole.cost,
        )

    def _gain(self, split: str, outcome: Outcome, among: Collection[str] | None) -> Gain:
        base, value = self.base.recall, outcome.recall
        ids = [query for query in base if among is None or query in among]
        differences = np.array([value[query] - base[query] for query in ids])
        lost = {
            query
            for (query, item), found in outcome.found.items()
            if not found and self.base.found[query, item]
        }
        won = {
            query
            for (query, item), found in outcome.found.items()
            if found and not self.base.found[query, item]
        }
        return Gain(
            split=split,
            queries=len(ids),
            base=_mean(base[query] for query in ids),
            value=_mean(value[query] for query in ids),
            net=_mean(differences.tolist()),
            interval=self._interval(differences),
            recovered=tuple(query for query in ids if query in won and query not in lost),
            broken=tuple(query for query in ids if query in lost),
        )

    def _interval(self, differences: np.ndarray[Any, np.dtype[np.float64]]) -> Interval | None:
        return mean_interval(differences, np.random.default_rng(self.project.seed))

    def _proposal(self, trials: Sequence[tuple[Knob, Trial]]) -> Proposal | None:
        """Join the best knob of each fix, as long as recall rises on the queries that it is chosen on."""
        splits = {query.id: query.split for query in self.queries}
        dev = {query for query, split in splits.items() if split == "dev"}
        heldout = {query for query, split in splits.items() if split == "heldout"}
        split = bool(dev) and bool(heldout)
        among = dev if split else set(splits)
        best: dict[str, tuple[float, Knob]] = {}
        for knob, trial in trials:
            if trial.whole:
                outcome = self.bench.measure(knob.change, self.everything, rebuild=knob.rebuild)
                net = self._gain("", outcome, among).net or 0.0
                if net > 0 and (knob.fix not in best or net > best[knob.fix][0]):
                    best[knob.fix] = (net, knob)
        joined: list[Knob] = []
        reached = _mean(self.base.recall[query] for query in among if query in self.base.recall) or 0.0
        outcome = self.base
        for _, knob in sorted(best.values(), key=lambda pair: (-pair[0], pair[1].price))[:_MOST_COMBINED]:
            if any(path in one.change for one in joined for path in knob.change):
                continue
            try:
                other = self._measure_joined([*joined, knob])
            except AssayError:  # two knobs that do not fit together
                continue
            value = self._gain("", other, among).value or 0.0
            if value > reached:
                joined, reached, outcome = [*joined, knob], value, other
        if not joined:
            return None
        gains = [self._gain("dev" if split else "all", outcome, among)]
        gains += [self._gain("heldout", outcome, heldout)] if split else []
        change = _joined_change(joined)
        return Proposal(
            fixes=tuple(knob.fix for knob in joined),
            change=change,
            diff=_diff(self.project, change),
            gains=tuple(gains),
            optimistic=not split,
            sentence=_sentence(joined, gains, split=split),
            cost=outcome.cost,
            run_id=outcome.run_id,
        )

    def _measure_joined(self, joined: Sequence[Knob]) -> Outcome:
        rebuild = any(knob.rebuild for knob in joined)
        return self.bench.measure(_joined_change(joined), self.everything, rebuild=rebuild)


def _complete(settings: type[msgspec.Struct]) -> bool:
    """Whether an embedder's settings name no model that would have to be chosen, or fetched."""
    fields = {field.name: field for field in msgspec.structs.fields(settings)}
    model = fields.get("model")
    return not any(field.required for field in fields.values()) and (model is None or model.default is None)


def _joined_change(joined: Sequence[Knob]) -> dict[str, Any]:
    change: dict[str, Any] = {}
    for knob in joined:
        change |= knob.change
    return change


def _remedies(findings: Sequence[Finding], trials: Sequence[Trial]) -> tuple[Remedy, ...]:
    """Return the cheapest trial that brought each miss back; trials stand in the order of their price."""
    remedies: list[Remedy] = []
    for finding in findings:
        item = finding.query_id, finding.item
        helped = next((trial for trial in trials if item in trial.recovered_items), None)
        remedies.append(
            Remedy(
                query_id=finding.query_id,
                item=finding.item,
                fix=helped.fix if helped else None,
                change=helped.change if helped else {},
            )
        )
    return tuple(remedies)


def _diff(project: Project, change: Mapping[str, Any]) -> str:
    """Return the change as a diff of ``assay.toml``; as ``--set`` options where it cannot be edited."""
    path = project.folder / FILE
    text = path.read_text(encoding="utf-8-sig") if path.is_file() else ""
    after = changed_toml(text, change)
    if after is not None:
        return toml_diff(text, after, FILE)
    return "".join(f"--set {key}={value}\n" for key, value in change.items())


def _sentence(joined: Sequence[Knob], gains: Sequence[Gain], *, split: bool) -> str:
    told = [f"{gain.base:.3f} -> {gain.value:.3f} on {gain.split} ({gain.queries} queries)" for gain in gains]
    fixes = " + ".join(knob.fix for knob in joined)
    interval = gains[-1].interval
    chance = " That could be chance." if interval is None or interval.low <= 0 else ""
    if split:
        return f"{fixes}: recall {told[0]}, where it was chosen; {told[1]}, where it was not.{chance}"
    return (
        f"{fixes}: recall {told[0]}.{chance} It was chosen and measured on the same queries, so the gain is "
        "optimistic: mark queries as dev and heldout (split) to see what is left of it."
    )


def _mean(values: Iterable[float]) -> float | None:
    held = list(values)
    return fsum(held) / len(held) if held else None
