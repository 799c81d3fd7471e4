"""The report of a run as Markdown: for the comment on a pull request."""

from __future__ import annotations

from assay.model.report import MissedQuery, ReportPage
from assay.report.markdown import MARK, cell, code, comparison_markdown, escaped, notice_lines, table_lines
from assay.report.words import UNDEFINED, number

MOST_MISSES = 20
"""Misses that a comment names; it says how many more there are."""


def page_markdown(page: ReportPage, *, most_misses: int = MOST_MISSES) -> str:
    """Return the headline, measures by kind, the waterfall, the first misses, and what changed."""
    lines = [MARK, f"### {escaped(page.summary.name)}: {_headline(page)}", ""]
    if page.most_lost is not None:
        place, items = page.most_lost
        missing = sum(len(miss.items) for miss in page.misses)
        told = f"{len(page.misses)} of {page.diagnosis.queries} queries lack something"
        lines += [f"{told}; most is lost at **{place}**: {items} of {missing} missing items.", ""]
    lines += [*_kinds(page), "", *_waterfall(page)]
    if page.misses:
        lines += ["", f"<details><summary>{len(page.misses)} queries with misses</summary>", ""]
        lines += table_lines(
            ["query", "kind", "lost at", "why", "fix", "asked"],
            [_miss(miss) for miss in page.misses[:most_misses]],
        )
        more = len(page.misses) - most_misses
        lines += ["", *([f"and {more} more", ""] if more > 0 else []), "</details>"]
    if page.comparison is not None:
        lines += ["", comparison_markdown(page.comparison).rstrip()]
    lines += notice_lines(page.diagnosis.notices)
    lines += ["", f"<sub>run `{page.summary.run_id}`, golden set `{page.making.digests['golden']}`</sub>"]
    return "\n".join(lines) + "\n"


def _headline(page: ReportPage) -> str:
    figure = page.headline
    told = f"{figure.measure} {number(figure.average.mean)}"
    if figure.interval is not None:
        told += f" (95 % interval {figure.interval.low:.3f} to {figure.interval.high:.3f})"
    return f"{told}, ceiling {number(figure.average.ceiling)}"


def _kinds(page: ReportPage) -> list[str]:
    rows = [
        [
            cell(row.kind),
            str(row.headline.average.n),
            str(row.misses),
            number(row.headline.average.mean),
            *(number(average.mean) for average in row.others),
        ]
        for row in page.kinds
    ]
    rows.append(
        [
            "**all**",
            str(page.headline.average.n),
            str(len(page.misses)),
            *(f"**{number(figure.average.mean)}**" for figure in page.figures),
        ]
    )
    return table_lines(["kind", "n", "misses", *(figure.measure for figure in page.figures)], rows)


def _waterfall(page: ReportPage) -> list[str]:
    whole = page.diagnosis.waterfall[0]
    if whole.recall is None:
        return ["No query has anything to find."]
    rows = [["all relevant", str(whole.items), "", "1.000"]]
    rows += [
        [f"lost at {part.lost_at}", str(part.items), f"−{float(part.lost):.3f}", number(float(part.kept))]
        for part in whole.parts
    ]
    rows.append(["**in the prompt**", str(whole.found), "", f"**{number(float(whole.recall))}**"])
    return table_lines(["recall, counted in items", "items", "lost", "left"], rows)


def _miss(miss: MissedQuery) -> list[str]:
    first = miss.items[0]
    finding = first.finding
    return [
        code(miss.query_id),
        cell(miss.kind),
        first.lost_at,
        cell(finding.kind or "unexplained") if finding else UNDEFINED,
        cell(finding.fix or UNDEFINED) if finding else UNDEFINED,
        escaped(miss.text).replace("|", "\\|"),
    ]
