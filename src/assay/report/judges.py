"""What judging shows in the terminal, and as JSON. Nothing is computed here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import cast

from rich.console import Console
from rich.table import Table

from assay.model.judges import Corrected, JudgeFigures, JudgeReport, PeopleAgreement, Share
from assay.report.terminal import counted


def print_outcome(outcome: Mapping[str, object], screen: Console) -> None:
    """Print what a judging job did."""
    refused = cast("Mapping[str, int]", outcome["refused"])
    screen.print(
        f"{outcome['judge']}: {outcome['graded']:,} of {outcome['places']:,} places graded "
        f"({outcome['asked']:,} replies now, {outcome['replayed']:,} grades from before); "
        f"{outcome['calls']:,} requests and {outcome['tokens']:,} tokens in all",
        markup=False,
        soft_wrap=True,
    )
    for why, count in refused.items():
        screen.print(f"refused: {count:,} replies: {why}", markup=False, soft_wrap=True)
    if outcome["unreadable"]:
        screen.print(
            f"no grade: {outcome['unreadable']:,} places, no reply could be read",
            markup=False,
            soft_wrap=True,
        )
    if outcome["failed"]:
        screen.print(f"no answer: {outcome['failed']:,} requests", markup=False, soft_wrap=True)
    if outcome["stopped"] is not None:
        screen.print(
            f"stopped: {outcome['stopped']}\n  fix: run it again to go on", markup=False, soft_wrap=True
        )
    screen.print("\nNext: assay judge report holds the judge against people.", markup=False, soft_wrap=True)


def outcome_json(outcome: Mapping[str, object]) -> str:
    """Return what a judging job did as one JSON object."""
    return json.dumps(outcome, ensure_ascii=False, indent=1) + "\n"


def print_report(report: JudgeReport, screen: Console) -> None:
    """Print a judge held against people: rates first, agreement and kappa beside them."""
    labelled = ", ".join(f"{part} {count:,}" for part, count in report.labelled.items())
    screen.print(
        f"{report.judge}, {report.part} part (places that people graded too: {labelled})", markup=False
    )
    screen.print(_figures_table(report.figures))
    for line in _sentences(report):
        screen.print(line, markup=False, soft_wrap=True)
    if report.verify:
        screen.print(f"\nfor people to look at next, in pool {report.pool!r}:", markup=False, soft_wrap=True)
        for one in report.verify:
            screen.print(
                f"  {one.query_id}  {one.place}  {one.kind}: {one.reason}", markup=False, soft_wrap=True
            )
    for notice in report.notices:
        screen.print(f"note: {notice.text}", markup=False, soft_wrap=True)


def report_json(report: JudgeReport) -> str:
    """Return the report as one JSON object."""
    return json.dumps(asdict(report), ensure_ascii=False, indent=1) + "\n"


def _figures_table(figures: Iterable[JudgeFigures]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("kind", no_wrap=True)
    for name in ("n", "relevant", "TPR [95 %]", "TNR [95 %]", "agree", "chance", "kappa [95 %]"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in figures:
        table.add_row(
            one.kind or "all",
            f"{one.n:,}",
            f"{one.people_yes:,}",
            _share(one.true_positive),
            _share(one.true_negative),
            _number(one.agreement, 2),
            _number(one.expected, 2),
            _number(one.kappa, 2) + _interval(one.kappa_low, one.kappa_high, 2),
        )
    return table


def _sentences(report: JudgeReport) -> Iterable[str]:
    undefined = report.figures[0].why_undefined
    if undefined:
        yield f"kappa is {undefined}"
    yield f"licence: {_licence(report)}"
    for one in report.corrected:
        yield _corrected(one)
    if report.people is not None:
        yield _people(report.people)
    if report.refused:
        total = sum(report.refused.values())
        yield f"{counted(total, 'reply')} of this judge could not be read; what was asked again counts"


def _licence(report: JudgeReport) -> str:
    overall = report.figures[0]
    bounds = f"{_number(overall.true_positive.low)} and {_number(overall.true_negative.low)}"
    against = f"lower bounds {bounds}, bar {report.bar:.2f}"
    if report.licensed:
        return f"given; its labels count ({against} on the {report.part} part)"
    if report.part != "test" and report.passes:
        return f"not yet; it passes here ({against}): --test looks at the test part"
    few = min(overall.true_positive.n, overall.true_negative.n)
    needed = (
        ""
        if report.least < 0 or few >= report.least
        else (f"; at least {report.least} places of each class are needed, even by a judge that never errs")
    )
    return f"none; its labels do not count ({against}{needed})"


def _corrected(one: Corrected) -> str:
    said = f"{one.what}: the judge says {one.observed:.3f} ({one.yes:,} of {one.n:,})"
    if one.value is None:
        return f"{said}; it does no better than chance, and tells nothing"
    return f"{said}; corrected {one.value:.3f}{_interval(one.low, one.high)}"


def _people(one: PeopleAgreement) -> str:
    said = f"people ({', '.join(one.people)}): {counted(one.n, 'shared place')}"
    if one.conflicts:
        said += f", {counted(one.conflicts, 'open conflict')}"
    if one.why_undefined:
        return f"{said}; {'kappa' if len(one.people) == 2 else 'alpha'} is {one.why_undefined}"
    if len(one.people) == 2:
        return (
            f"{said}, agreement {_number(one.agreement)}, "
            f"kappa {_number(one.kappa)}{_interval(one.kappa_low, one.kappa_high)}"
        )
    return f"{said}, Krippendorff's alpha {_number(one.alpha)} (ordinal)"


def _share(share: Share) -> str:
    return _number(share.value, 2) + _interval(share.low, share.high, 2)


def _number(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _interval(low: float | None, high: float | None, digits: int = 3) -> str:
    return "" if low is None or high is None else f" [{low:.{digits}f}, {high:.{digits}f}]"
