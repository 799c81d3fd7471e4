"""A summary for people who read it in a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from assay.model.scores import Average
from assay.model.summary import ALL, Miss, StageSummary, Summary

UNDEFINED = "-"
"""What stands where a value is undefined: never 0, never NaN."""


def figure(value: float | None, *, digits: int = 3) -> str:
    """Write one value as every table shows it.

    >>> figure(2 / 3), figure(None)
    ('0.667', '-')
    """
    return UNDEFINED if value is None else f"{value:.{digits}f}"


def counted(count: int, what: str) -> str:
    """Write a count with its noun.

    >>> counted(1, "query"), counted(1200, "query"), counted(0, "chunk")
    ('1 query', '1,200 queries', '0 chunks')
    """
    if count == 1:
        return f"1 {what}"
    return f"{count:,} {what[:-1]}ies" if what.endswith("y") else f"{count:,} {what}s"


def shortened(text: str, most: int = 60) -> str:
    """Cut a line to so many characters, at a word where there is one.

    >>> shortened("How long are logs kept?", 12)
    'How long ...'
    """
    if len(text) <= most:
        return text
    head = text[: most - 3]
    return f"{head.rsplit(' ', 1)[0] if ' ' in head else head[:-1]} ..."


def print_summary(summary: Summary, console: Console, *, most_misses: int = 20) -> None:
    """Print the whole page: headline, measures by kind, stages, misses, remarks."""
    console.print(render_summary(summary, most_misses=most_misses))


def render_summary(summary: Summary, *, most_misses: int = 20) -> RenderableType:
    """Return the page as one renderable."""
    parts: list[RenderableType] = [_headline(summary), _measures(summary), _stages(summary), _beside(summary)]
    if summary.misses:
        parts.append(_misses(summary, most_misses))
    if summary.unanswerable is not None:
        parts.append(_unanswerable(summary))
    parts += [Text(f"note: {notice.text}", style="yellow") for notice in summary.notices]
    parts.append(Text(f"run {summary.run_id}", style="dim"))
    return Group(*parts)


def _headline(summary: Summary) -> Text:
    counts = summary.counts
    head = Text()
    head.append(summary.name, style="bold")
    nouns = {"documents": "document", "chunks": "chunk", "queries": "query"}
    sizes = ", ".join(counted(counts[name], noun) for name, noun in nouns.items())
    head.append(f": {sizes}, k = {summary.k}\n")
    head.append(str(summary.pipeline.get("summary", "")), style="dim")
    return head


def _measures(summary: Summary) -> Table:
    names = list(summary.measures)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("")
    for name in ["n", *names]:
        table.add_column(name, justify="right")
    table.add_row(ALL, *_row(summary.measures, names), style="bold")
    ceilings = [figure(summary.measures[name].ceiling) for name in names]
    table.add_row("  ceiling", "", *ceilings, style="dim")
    if summary.unwinnable:
        table.add_row("  winnable only", *_row(summary.winnable, names), style="dim")
    for kind, values in summary.by_kind.items():
        cut = f" (k = {summary.k_by_kind[kind]})" if kind in summary.k_by_kind else ""
        table.add_row(f"{kind}{cut}", *_row(values, names))
    return table


def _row(values: Mapping[str, Average], names: Sequence[str]) -> list[str]:
    first = next(iter(values.values()), None)
    return [
        str(first.n if first else 0),
        *(figure(values[name].mean if name in values else None) for name in names),
    ]


def _stages(summary: Summary) -> RenderableType:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("stage")
    table.add_column("recall", justify="right")
    table.add_column(f"at k = {summary.k}", justify="right")
    for kind in summary.by_kind:
        table.add_column(kind, justify="right")
    table.add_column("lost here", justify="right")
    for stage in summary.stages:
        table.add_row(*_stage_row(stage, list(summary.by_kind)))
    return Group(Text(""), table)


def _stage_row(stage: StageSummary, kinds: Sequence[str]) -> list[str]:
    return [
        f"{stage.name}@{stage.depth}",
        figure(stage.recall[ALL].mean),
        figure(stage.recall_at_k[ALL].mean),
        *(figure(stage.recall[kind].mean) for kind in kinds),
        str(stage.lost) if stage.lost else "",
    ]


def _beside(summary: Summary) -> Text:
    lines: list[str] = []
    recall = next((name for name in summary.measures if name.startswith("recall")), None)
    if recall is not None:
        other = [
            f"{unit} {figure(values[recall].mean)}"
            for unit, values in summary.units.items()
            if recall in values
        ]
        if other:
            lines.append(f"{recall} by {summary.unit} as above; by {', by '.join(other)}")
    if summary.budgets:
        within = [f"{tokens:,} {figure(value.mean)}" for tokens, value in summary.budgets.items()]
        lines.append(f"evidence within a prompt of so many tokens: {', '.join(within)}")
    if summary.spans:
        spans = [f"{name} {figure(value.mean)}" for name, value in summary.spans.items()]
        lines.append(f"characters of evidence: {', '.join(spans)}")
    return Text("\n" + "\n".join(lines)) if lines else Text("")


def _misses(summary: Summary, most: int) -> RenderableType:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", show_header=False)
    rows = [_miss_row(miss) for miss in summary.misses[:most]]
    for column in range(4):
        # Ids and ranks stay whole; where there is no room, the question is cut.
        widest = max((len(row[column]) for row in rows), default=0)
        table.add_column(no_wrap=True, min_width=None if column == 3 else widest, overflow="ellipsis")
    for row in rows:
        table.add_row(*row)
    labelled = summary.counts["scored"]
    head = Text(f"\nmisses: {len(summary.misses)} of {labelled} queries", style="bold")
    rest = len(summary.misses) - most
    more = (
        [Text(f"... and {rest} more (--misses {len(summary.misses)} shows all)", style="dim")]
        if rest > 0
        else []
    )
    return Group(head, table, *more)


def _miss_row(miss: Miss) -> list[str]:
    part = f" ({len(miss.items)} of {miss.of})" if miss.of > 1 else ""
    return [miss.query_id, f"{miss.lost_at}{part}", _best_rank(miss), shortened(miss.text)]


def _best_rank(miss: Miss) -> str:
    """Name the list in which the first missing item stands highest, and its rank there."""
    known = {stage: rank for stage, rank in miss.ranks.items() if rank is not None}
    if not known:
        return UNDEFINED
    best = min(known, key=lambda stage: known[stage])
    return f"{best} {known[best]:,}"


def _unanswerable(summary: Summary) -> Text:
    surfaced = summary.unanswerable
    assert surfaced is not None
    scores = surfaced.top_scores
    text = f"\nwithout an answer: {counted(surfaced.queries, 'query')}, {surfaced.surfaced} of them got hits"
    if scores and surfaced.answerable_top_scores:
        middle = scores[len(scores) // 2]
        other = surfaced.answerable_top_scores[len(surfaced.answerable_top_scores) // 2]
        text += f"; their best score is {middle:.3g} in the middle (answerable: {other:.3g})"
    return Text(text)
