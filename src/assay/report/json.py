"""A summary as one JSON object: exact values, no times, so that equal runs print equal bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from assay.model.scores import Average
from assay.model.summary import ALL, StageSummary, Summary


def summary_json(summary: Summary) -> str:
    """Return the JSON text of a summary, indented, ending with a line end.

    ``measures`` are the overall means; ``by_kind`` has a table a kind with its ``n``; ``ceilings`` the best
    means that the set allows; ``stages`` is keyed by stage name, in the order in which they ran. An undefined
    mean is null, never 0.
    """
    return msgspec.json.format(msgspec.json.encode(summary_values(summary)), indent=2).decode() + "\n"


def summary_values(summary: Summary) -> dict[str, Any]:
    """Return the same as plain values."""
    return {
        "run": summary.run_id,
        "name": summary.name,
        "golden": summary.golden_name,
        "k": summary.k,
        "k_by_kind": dict(summary.k_by_kind),
        "unit": summary.unit,
        "measures": _means(summary.measures),
        "by_kind": {kind: _group(values) for kind, values in summary.by_kind.items()},
        "ceilings": {
            ALL: _ceilings(summary.measures),
            **{kind: _ceilings(values) for kind, values in summary.by_kind.items()},
        },
        "winnable": _group(summary.winnable),
        "units": {unit: _means(values) for unit, values in summary.units.items()},
        "spans": _means(summary.spans),
        "budgets": {str(tokens): average.mean for tokens, average in summary.budgets.items()},
        "stages": {stage.name: _stage(stage) for stage in summary.stages},
        "misses": [msgspec.to_builtins(miss) for miss in summary.misses],
        "unanswerable": msgspec.to_builtins(summary.unanswerable),
        "counts": dict(summary.counts),
        "unwinnable": dict(summary.unwinnable),
        "failed": dict(summary.failed),
        "digests": dict(summary.digests),
        # In one order, whether the run was just made or read back from its manifest.
        "pipeline": msgspec.json.decode(msgspec.json.encode(summary.pipeline, order="sorted")),
        "seed": summary.seed,
        "notices": [msgspec.to_builtins(notice) for notice in summary.notices],
    }


def _means(values: Mapping[str, Average]) -> dict[str, float | None]:
    return {name: average.mean for name, average in values.items()}


def _ceilings(values: Mapping[str, Average]) -> dict[str, float | None]:
    return {name: average.ceiling for name, average in values.items()}


def _group(values: Mapping[str, Average]) -> dict[str, float | int | None]:
    first = next(iter(values.values()), None)
    return {"n": first.n if first else 0, **_means(values)}


def _stage(stage: StageSummary) -> dict[str, Any]:
    return {
        "role": stage.role,
        "depth": stage.depth,
        "recall": stage.recall[ALL].mean,
        "recall_at_k": stage.recall_at_k[ALL].mean,
        "by_kind": {
            kind: {"n": average.n, "recall": average.mean, "recall_at_k": stage.recall_at_k[kind].mean}
            for kind, average in stage.recall.items()
            if kind != ALL
        },
        "lost": stage.lost,
    }
