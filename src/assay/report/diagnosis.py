"""A diagnosis for people in a terminal, and as one JSON object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import msgspec
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from assay.model.comparison import Interval
from assay.model.findings import (
    UNEXPLAINED,
    Agreement,
    Cost,
    Diagnosis,
    Finding,
    Gain,
    Proposal,
    Remedy,
    Trial,
    Waterfall,
)
from assay.report.terminal import UNDEFINED, figure

_MOST_MOVED = 8
"""Queries that a trial may move and still have them named below the table; the JSON names all."""
_LONG_ID = 16


def print_diagnosis(diagnosis: Diagnosis, console: Console, *, most_misses: int = 20) -> None:
    """Print the whole page: waterfall, kinds, findings with their evidence, trials, the proposal."""
    parts: list[RenderableType] = [_headline(diagnosis)]
    if diagnosis.findings:
        parts += [_waterfall(diagnosis.waterfall), _kinds(diagnosis), _findings(diagnosis, most_misses)]
    if diagnosis.trials:
        parts.append(_trials(diagnosis.trials))
    if diagnosis.tried:
        parts.append(_proposed(diagnosis.proposal, tried=bool(diagnosis.trials)))
    console.print(Group(*parts))
    if diagnosis.proposal is not None:
        # as it is: with its lines broken no tool could apply it
        console.print(_coloured(diagnosis.proposal.diff), soft_wrap=True)
    parts = [Text(f"note: {notice.text}", style="yellow") for notice in diagnosis.notices]
    hint = "" if diagnosis.tried or not diagnosis.findings else "; --try runs the fixes, --review asks you"
    parts.append(Text(f"run {diagnosis.run_id}{hint}", style="dim"))
    console.print(Group(*parts))


def finding_lines(finding: Finding, remedy: Remedy | None = None) -> RenderableType:
    """Return one finding on a few lines: what was asked, where it was lost and why, the evidence."""
    text = Text()
    name = f"{finding.query_id} {finding.item}" if finding.item != "a1" else finding.query_id
    text.append(name, style="bold")
    text.append(f"\n  {finding.query}\n" if len(name) > _LONG_ID else f"  {finding.query}\n")
    text.append(f"  lost at {finding.lost_at}: ", style="dim")
    text.append(finding.kind or UNEXPLAINED, style="cyan" if finding.kind else "yellow")
    if finding.fix is not None:
        text.append(f" -> {finding.fix}", style="dim")
    text.append(_status(finding), style="green" if not finding.stale else "yellow")
    if remedy is not None:
        tried = f"  brought back by {remedy.fix}" if remedy.fix else "  none of those tried brings it back"
        text.append(tried, style="green" if remedy.fix else "dim")
    return Group(text, Padding(Text(finding.evidence.sentence), (0, 0, 0, 2)))


def diagnosis_json(diagnosis: Diagnosis, *, times: bool = False) -> str:
    """Return a diagnosis as JSON text, indented, ending with a line end.

    Args:
        diagnosis: what was found.
        times: whether measured times are told, under a key of their own: all else is the same bytes
            whenever the same run is diagnosed.
    """
    values = diagnosis_values(diagnosis)
    if times:
        values["times"] = {
            "trials": [_times(trial.cost) for trial in diagnosis.trials],
            "proposal": _times(diagnosis.proposal.cost) if diagnosis.proposal else None,
        }
    return msgspec.json.format(msgspec.json.encode(values), indent=2).decode() + "\n"


def diagnosis_values(diagnosis: Diagnosis) -> dict[str, Any]:
    """Return a diagnosis as plain values, without measured times."""
    remedies = {(one.query_id, one.item): one for one in diagnosis.remedies}
    return {
        "run": diagnosis.run_id,
        "name": diagnosis.name,
        "golden": diagnosis.golden_name,
        "k": diagnosis.k,
        "queries": diagnosis.queries,
        "findings": [
            finding_values(one, remedies.get((one.query_id, one.item))) for one in diagnosis.findings
        ],
        "waterfall": {one.group or "overall": _waterfall_values(one) for one in diagnosis.waterfall},
        "kinds": {
            "proposed": dict(diagnosis.proposed_kinds),
            "confirmed": dict(diagnosis.confirmed_kinds),
        },
        "agreement": msgspec.to_builtins(diagnosis.agreement),
        "trials": [_trial_values(trial) for trial in diagnosis.trials],
        "proposal": _proposal_values(diagnosis.proposal) if diagnosis.proposal else None,
        "seed": diagnosis.seed,
        "notices": [msgspec.to_builtins(notice) for notice in diagnosis.notices],
    }


def finding_values(finding: Finding, remedy: Remedy | None = None) -> dict[str, Any]:
    """Return one finding as plain values."""
    values = {
        "query_id": finding.query_id,
        "kind_of_query": finding.kind_of_query,
        "query": finding.query,
        "item": finding.item,
        "quote": finding.quote,
        "lost_at": finding.lost_at,
        "detail": finding.loss.detail if finding.loss else "",
        "chunk": finding.loss.chunk_id if finding.loss else None,
        "ranks": dict(finding.loss.ranks) if finding.loss else {},
        "kind": finding.kind,
        "fix": finding.fix,
        "evidence": {"sentence": finding.evidence.sentence, **finding.evidence.facts},
        "status": finding.status,
        "proposed": finding.proposed,
        "by": finding.by,
        "when": finding.when,
        "note": finding.note,
        "stale": finding.stale,
    }
    if remedy is not None:
        values["brought_back_by"] = (
            {"fix": remedy.fix, "change": dict(remedy.change)} if remedy.fix is not None else None
        )
    return values


def _headline(diagnosis: Diagnosis) -> Text:
    head = Text()
    whole = diagnosis.waterfall[0]
    head.append(diagnosis.name, style="bold")
    missed = len(diagnosis.findings)
    if not missed:
        head.append(f": nothing was missed: all {whole.items} items of {whole.queries} queries were found")
        return head
    queries = len({one.query_id for one in diagnosis.findings})
    head.append(
        f": {missed} of {whole.items} items missed, in {queries} of {whole.queries} queries, "
        f"k = {diagnosis.k}"
    )
    return head


def _waterfall(groups: Sequence[Waterfall]) -> RenderableType:
    table = _table("recall by item", [one.group or "overall" for one in groups])
    table.add_row("relevant", *(figure(1.0 if one.queries else None) for one in groups), style="dim")
    places = dict.fromkeys(part.lost_at for part in groups[0].parts)
    for place in places:
        table.add_row(f"  {place}", *(_lost(one, place) for one in groups))
    table.add_row("in the prompt", *(figure(_float(one.recall)) for one in groups), style="bold")
    return Padding(table, (1, 0, 0, 0))


def _lost(group: Waterfall, place: str) -> str:
    part = next((part for part in group.parts if part.lost_at == place), None)
    return f"-{float(part.lost):.3f}" if part is not None else ""


def _kinds(diagnosis: Diagnosis) -> RenderableType:
    reviewed = diagnosis.agreement.reviewed or diagnosis.confirmed_kinds
    table = _table("why", ["proposed", *(["by people"] if reviewed else [])])
    for kind in dict.fromkeys([*diagnosis.proposed_kinds, *diagnosis.confirmed_kinds]):
        row = [str(diagnosis.proposed_kinds.get(kind, "")), str(diagnosis.confirmed_kinds.get(kind, ""))]
        table.add_row(kind, *row[: 2 if reviewed else 1])
    parts: list[RenderableType] = [table]
    if diagnosis.agreement.reviewed:
        parts.append(Text(agreement_sentence(diagnosis.agreement), style="dim"))
    return Padding(Group(*parts), (1, 0, 0, 0))


def agreement_sentence(agreement: Agreement) -> str:
    """Say how often the rules were right."""
    if agreement.share is None or agreement.interval is None:
        return "nothing was reviewed yet"
    interval = f"{agreement.interval.low:.0%} to {agreement.interval.high:.0%}"
    return (
        f"the rules were right in {agreement.confirmed} of {agreement.reviewed} reviewed findings "
        f"({agreement.share:.0%}, {interval})"
    )


def _findings(diagnosis: Diagnosis, most: int) -> RenderableType:
    remedies = {(one.query_id, one.item): one for one in diagnosis.remedies}
    parts: list[RenderableType] = [Text()]
    parts += [finding_lines(one, remedies.get((one.query_id, one.item))) for one in diagnosis.findings[:most]]
    rest = len(diagnosis.findings) - most
    if rest > 0:
        parts.append(Text(f"... and {rest} more (--misses {len(diagnosis.findings)} shows all)", style="dim"))
    return Group(*parts)


def _status(finding: Finding) -> str:
    if finding.stale:
        return f"  (stale: {finding.by} looked at another trace)"
    if finding.status == "proposed":
        return ""
    was = f", proposed was {finding.proposed or UNEXPLAINED}" if finding.status == "changed" else ""
    return f"  ({finding.status} by {finding.by}{was})"


def _trials(trials: Sequence[Trial]) -> RenderableType:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("tried", no_wrap=True)
    table.add_column("change")
    for name in ("back", "broken", "net", "interval", "ms", "index"):
        table.add_column(name, justify="right", no_wrap=True)
    for trial in trials:
        style = "green" if (trial.net or 0) > 0 else "red" if (trial.net or 0) < 0 else "dim"
        table.add_row(
            trial.fix,
            change_text(trial.change),
            str(len(trial.recovered_items)),
            str(len(trial.broken)) if trial.whole else "",
            f"{trial.net:+.3f}" if trial.net is not None else UNDEFINED,
            interval_text(trial.interval),
            figure(trial.cost.query_ms, digits=1),
            f"{_size(trial.cost.index_bytes)}{' new' if trial.cost.rebuild else ''}",
            style=style,
        )
    ids = [
        Text(f"  {trial.fix} {change_text(trial.change)}: {_moved(trial)}", style="dim")
        for trial in trials
        if trial.whole and len(trial.recovered) + len(trial.broken) <= _MOST_MOVED
    ]
    return Padding(Group(table, *ids), (1, 0, 0, 0))


def _moved(trial: Trial) -> str:
    told = [f"brings back {', '.join(trial.recovered)}"] if trial.recovered else []
    told += [f"breaks {', '.join(trial.broken)}"] if trial.broken else []
    return "; ".join(told) or "moves items within queries"


def _proposed(proposal: Proposal | None, *, tried: bool) -> RenderableType:
    if proposal is None:
        said = "\nNothing that was tried raises recall: no change is proposed." if tried else ""
        return Text(said, style="bold")
    return Padding(Text(f"proposed: {proposal.sentence}", style="bold"), (1, 0, 0, 0))


def _coloured(diff: str) -> Text:
    text = Text()
    for line in diff.splitlines():
        style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")
        text.append(f"{line}\n", style="bold" if line.startswith(("---", "+++")) else style)
    return text


def change_text(change: Mapping[str, object]) -> str:
    """Write a change of settings on one line, without the tables that they stand in.

    >>> change_text({"pipeline.mmr": "off", "chunker.overlap": 100})
    'mmr = off, overlap = 100'
    """
    return ", ".join(f"{key.rpartition('.')[2]} = {_plain(value)}" for key, value in change.items())


def _plain(value: object) -> str:
    if isinstance(value, Mapping):
        return str(value.get("name", dict(value)))  # type: ignore[reportUnknownArgumentType]
    return str(value)


def interval_text(interval: Interval | None) -> str:
    """Write an interval of a difference."""
    return UNDEFINED if interval is None else f"{interval.low:+.2f} to {interval.high:+.2f}"


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 100_000 else f"{count / 1e3:.0f} kB"


def _table(first: str, heads: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(first)
    for name in heads:
        table.add_column(name, justify="right")
    return table


def _float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def _waterfall_values(group: Waterfall) -> dict[str, Any]:
    return {
        "queries": group.queries,
        "items": group.items,
        "found": group.found,
        "recall": _float(group.recall),
        "recall_exact": None if group.recall is None else str(group.recall),
        "parts": [
            {
                "lost_at": part.lost_at,
                "items": part.items,
                "queries": part.queries,
                "lost": float(part.lost),
                "kept": float(part.kept),
                "lost_exact": str(part.lost),
                "kept_exact": str(part.kept),
            }
            for part in group.parts
        ],
    }


def _trial_values(trial: Trial) -> dict[str, Any]:
    return {
        "fix": trial.fix,
        "change": dict(trial.change),
        "recovered": trial.recovered,
        "broken": trial.broken,
        "recovered_items": [{"query_id": query, "item": item} for query, item in trial.recovered_items],
        "base": trial.base,
        "value": trial.value,
        "net": trial.net,
        "interval": msgspec.to_builtins(trial.interval),
        "cost": _cost(trial.cost),
        "whole_set": trial.whole,
    }


def _proposal_values(proposal: Proposal) -> dict[str, Any]:
    return {
        "fixes": proposal.fixes,
        "change": dict(proposal.change),
        "diff": proposal.diff,
        "gains": {gain.split: _gain_values(gain) for gain in proposal.gains},
        "optimistic": proposal.optimistic,
        "sentence": proposal.sentence,
        "cost": _cost(proposal.cost),
        "run": proposal.run_id,
    }


def _gain_values(gain: Gain) -> dict[str, Any]:
    values: dict[str, Any] = msgspec.to_builtins(gain)
    del values["split"]
    return values


def _cost(cost: Cost) -> dict[str, Any]:
    return {"rebuild": cost.rebuild, "chunks": cost.chunks, "index_bytes": cost.index_bytes}


def _times(cost: Cost) -> dict[str, float | None]:
    return {"build_ms": cost.build_ms, "query_ms": cost.query_ms}
