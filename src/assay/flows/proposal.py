"""The best of what was tried, together, as one change of ``assay.toml``.

Rooms: diagnosis (knobs), store (the change as a diff).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from assay.diagnosis.knobs import Knob
from assay.flows.bench import Bench, Outcome, gain_of, mean_of
from assay.flows.project import FILE, Project
from assay.model.errors import AssayError
from assay.model.findings import Gain, Proposal, Trial
from assay.model.golden import Query
from assay.store.toml_lines import changed_toml, toml_diff

_MOST_COMBINED = 6
"""Combinations that are run on the way to a proposal."""


def propose(
    bench: Bench,
    base: Outcome,
    everything: Sequence[Query],
    labelled: Sequence[Query],
    trials: Sequence[tuple[Knob, Trial]],
) -> Proposal | None:
    """Join the best knob of each fix, as long as recall rises on the queries that it is chosen on.

    Args:
        bench: where the trials ran; what ran before is remembered.
        base: what the project finds as it is.
        everything: every query of the golden set.
        labelled: those of them that count.
        trials: what was tried.
    """
    project = bench.prepared.project

    def gain(split: str, outcome: Outcome, among: Collection[str]) -> Gain:
        return gain_of(base, outcome, split, among, seed=project.seed)

    splits = {query.id: query.split for query in labelled}
    dev = {query for query, split in splits.items() if split == "dev"}
    heldout = {query for query, split in splits.items() if split == "heldout"}
    split = bool(dev) and bool(heldout)
    among = dev if split else set(splits)
    best: dict[str, tuple[float, Knob]] = {}
    for knob, trial in trials:
        if trial.whole:
            outcome = bench.measure(knob.change, everything, rebuild=knob.rebuild)
            net = gain("", outcome, among).net or 0.0
            if net > 0 and (knob.fix not in best or net > best[knob.fix][0]):
                best[knob.fix] = (net, knob)
    joined: list[Knob] = []
    reached = mean_of(base.recall[query] for query in among if query in base.recall) or 0.0
    outcome = base
    for _, knob in sorted(best.values(), key=lambda pair: (-pair[0], pair[1].price))[:_MOST_COMBINED]:
        if any(path in one.change for one in joined for path in knob.change):
            continue
        try:
            other = _measure_joined(bench, everything, [*joined, knob])
        except AssayError:  # two knobs that do not fit together
            continue
        value = gain("", other, among).value or 0.0
        if value > reached:
            joined, reached, outcome = [*joined, knob], value, other
    if not joined:
        return None
    gains = [gain("dev" if split else "all", outcome, among)]
    gains += [gain("heldout", outcome, heldout)] if split else []
    change = _joined_change(joined)
    return Proposal(
        fixes=tuple(knob.fix for knob in joined),
        change=change,
        diff=_diff(project, change),
        gains=tuple(gains),
        optimistic=not split,
        sentence=_sentence(joined, gains, split=split),
        cost=outcome.cost,
        run_id=outcome.run_id,
    )


def _measure_joined(bench: Bench, everything: Sequence[Query], joined: Sequence[Knob]) -> Outcome:
    rebuild = any(knob.rebuild for knob in joined)
    return bench.measure(_joined_change(joined), everything, rebuild=rebuild)


def _joined_change(joined: Sequence[Knob]) -> dict[str, Any]:
    change: dict[str, Any] = {}
    for knob in joined:
        change |= knob.change
    return change


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
