"""``assay diagnose --try``: the pipeline again, one knob turned.

Rooms: diagnosis (which knobs there are), retrieval (the pipeline, by ``bench``). The best of them together
become a proposal (``proposal``).

Trials share one cache: what two configurations have in common is computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import msgspec

from assay.diagnosis.knobs import Knob, knobs
from assay.flows.bench import Bench, gain_of, mean_of
from assay.flows.evaluate import Evaluation
from assay.flows.proposal import propose
from assay.flows.retrieve import pipeline_settings
from assay.model.errors import ConfigError, MissingExtraError
from assay.model.findings import Finding, Proposal, Remedy, Trial
from assay.model.golden import Query
from assay.model.notices import Notice, listed
from assay.retrieval.models.registry import EMBEDDERS
from assay.retrieval.settings import describe

Progress = Callable[[str, int, int], None]
_FAST = ("hashing", "wordllama")
"""Embedders that do thousands of chunks a second; the others do tens."""
_MANY = 4_000
"""Chunks from which on a slow embedder is tried only when it is asked for."""


@dataclass(frozen=True, kw_only=True)
class Tried:
    """What trials gave."""

    trials: tuple[Trial, ...]
    remedies: tuple[Remedy, ...]
    proposal: Proposal | None
    notices: tuple[Notice, ...]


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
            proposal=propose(self.bench, self.base, self.everything, self.queries, trials),
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
            pipeline = describe(settings.in_force)
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
        base = mean_of(self.base.recall.values())
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
        gain = gain_of(self.base, whole, "all", None, seed=self.project.seed)
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


def _complete(settings: type[msgspec.Struct]) -> bool:
    """Whether an embedder's settings name no model that would have to be chosen, or fetched."""
    fields = {field.name: field for field in msgspec.structs.fields(settings)}
    model = fields.get("model")
    return not any(field.required for field in fields.values()) and (model is None or model.default is None)


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
