"""From losses to findings: what the rules propose, what people said of it, and how often they agreed."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from assay.diagnosis.cases import Case, Library
from assay.diagnosis.rules import FIX_OF, RULES, Rule, propose, unexplained
from assay.model.findings import (
    UNEXPLAINED,
    Agreement,
    Decision,
    Finding,
    ItemLoss,
)
from assay.stats.rates import wilson_interval


def find_findings(
    losses: Iterable[ItemLoss],
    library: Library,
    *,
    cuts: Mapping[str, int] | None = None,
    rules: Sequence[Rule] = RULES,
) -> tuple[Finding, ...]:
    """Return one finding a miss, with what the rules propose.

    Args:
        losses: what became of every relevant item; those that were found make no finding.
        library: texts and words of the run.
        cuts: query id -> k, where it differs from the run's.
        rules: in the order in which they are asked.
    """
    found: list[Finding] = []
    for loss in losses:
        if loss.lost_at is not None:
            k = (cuts or {}).get(loss.query_id, library.run.k)
            found.append(_finding(library.case(loss, k=k), rules))
    return tuple(found)


def _finding(case: Case, rules: Sequence[Rule]) -> Finding:
    loss = case.loss
    assert loss.lost_at is not None
    said = propose(case, rules)
    return Finding(
        query_id=loss.query_id,
        kind_of_query=case.query.kind,
        item=loss.item_id,
        query=" ".join(case.query.text.split()),
        quote=case.anchor.quote if case.anchor is not None else "",
        lost_at=loss.lost_at,
        kind=said.kind if said else None,
        fix=said.fix if said else None,
        evidence=said.evidence if said else unexplained(case),
        proposed=said.kind if said else None,
        trace=trace_digest(loss, [hit.chunk_id for hit in case.top]),
        loss=loss,
    )


def trace_digest(loss: ItemLoss, top: Sequence[str]) -> str:
    """Return the digest (16 hex digits) of what a person sees of a miss: place, ranks, hits of the prompt."""
    seen = [loss.lost_at, loss.chunk_id, sorted(loss.ranks.items()), list(top)]
    return hashlib.sha256(json.dumps(seen, ensure_ascii=False).encode()).hexdigest()[:16]


def apply_decisions(
    findings: Sequence[Finding],
    decisions: Iterable[Decision],
    *,
    fix_of: Mapping[str, str] | None = None,
) -> tuple[Finding, ...]:
    """Put what people said beside what the rules propose.

    A decision holds for the same item of the same query, lost at the same place. It goes stale, and still
    holds, when the trace is no longer the one that the person saw. A decision about the same item that was
    lost elsewhere then is shown as stale too, and the proposal stands.

    Args:
        findings: the proposals.
        decisions: what people said.
        fix_of: kind -> the fix that it names, for kinds that a person gave.
    """
    exact = {decision.key: decision for decision in decisions}
    elsewhere: dict[tuple[str, str], Decision] = {}
    for decision in exact.values():
        item = decision.query_id, decision.item
        if item not in elsewhere or elsewhere[item].when < decision.when:
            elsewhere[item] = decision
    return tuple(
        _decided(finding, exact.get(_key(finding)), elsewhere.get(_key(finding)[:2]), fix_of or {})
        for finding in findings
    )


def _key(finding: Finding) -> tuple[str, str, str]:
    return finding.query_id, finding.item, finding.lost_at


def _decided(
    finding: Finding, decision: Decision | None, other: Decision | None, fix_of: Mapping[str, str]
) -> Finding:
    if decision is None:
        if other is None:
            return finding
        return replace(finding, stale=True, by=other.by, when=other.when, note=other.note)
    same = decision.kind == finding.proposed
    fix = finding.fix if same or decision.kind is None else {**FIX_OF, **fix_of}.get(decision.kind)
    return replace(
        finding,
        kind=decision.kind,
        fix=None if decision.kind is None else fix,
        status="confirmed" if same else "changed",
        by=decision.by,
        when=decision.when,
        note=decision.note,
        stale=decision.trace != finding.trace,
    )


def agreement(findings: Iterable[Finding]) -> Agreement:
    """Return how often people confirmed the rules: of what was reviewed, the share with the rule's own kind.

    What has gone stale is left out: its proposal is no longer the one that the person saw.
    """
    reviewed = [one for one in findings if one.status != "proposed" and not one.stale]
    confirmed = sum(finding.status == "confirmed" for finding in reviewed)
    return Agreement(
        reviewed=len(reviewed),
        confirmed=confirmed,
        share=confirmed / len(reviewed) if reviewed else None,
        interval=wilson_interval(confirmed, len(reviewed)),
    )


def distribution(kinds: Iterable[str | None], order: Sequence[str]) -> dict[str, int]:
    """Count kinds: those of the order first, in it, then others by name, unexplained last; none that is 0.

    >>> distribution(["ranking", None, "ranking"], ["vocabulary-gap", "ranking"])
    {'ranking': 2, 'unexplained': 1}
    """
    counts = Counter(kinds)
    names = [*order, *sorted(kind for kind in counts if kind is not None and kind not in order)]
    told = {name: counts[name] for name in names if counts[name]}
    return told | ({UNEXPLAINED: counts[None]} if counts[None] else {})
