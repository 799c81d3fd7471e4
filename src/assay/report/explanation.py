"""One query for people who read it in a terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from assay.model.explanation import Explanation, ShownHit, ShownItem
from assay.report.terminal import UNDEFINED


def render_explanation(shown: Explanation) -> RenderableType:
    """Return the page: query, what it needs, what it got, ranks at every stage, arithmetic."""
    head = Text(f"{shown.query_id} ({shown.kind}): ", style="bold")
    head.append(" ".join(shown.text.split()), style="not bold")
    parts: list[RenderableType] = [head]
    if shown.error is not None:
        parts.append(Text(f"the retriever failed: {shown.error}", style="red"))
    parts += [Text(f"\nneeds {len(shown.items)}", style="bold"), *(_item(item) for item in shown.items)]
    parts += [Text(f"\ngot, k = {shown.k}", style="bold"), *(_hit(hit) for hit in shown.hits)]
    if shown.relevant:
        parts += [Text("\nrank of each relevant chunk at every stage", style="bold"), _ranks(shown)]
    parts.append(Text(f"\narithmetic, by {shown.unit}", style="bold"))
    parts += [Text("\n".join(lines)) for lines in shown.arithmetic]
    return Group(*parts)


def _item(item: ShownItem) -> Text:
    text = Text(f"  {item.id}  ")
    text.append(" or ".join(f"“{' '.join(quote.split())}”" for quote in item.quotes), style="italic")
    text.append(f"\n      {'; '.join(item.places) or 'stands nowhere'}")
    if item.loss.found:
        text.append(f"\n      found: {item.loss.detail}", style="green")
    else:
        text.append(f"\n      lost at: {item.loss.lost_at} ({item.loss.detail})", style="red")
    if item.twins:
        text.append(f"\n      the same phrase also stands in {', '.join(item.twins)}", style="yellow")
    return text


def _hit(hit: ShownHit) -> Text:
    score = "" if hit.score is None else f"  {hit.score:.4g}"
    earns = f"  earns {', '.join(hit.earns)}" if hit.earns else ""
    text = Text(f"  {hit.rank:>2}  {hit.chunk_id}{score}", style="bold" if hit.earns else "")
    text.append(earns, style="green")
    text.append("\n      ")
    text.append_text(_excerpt(hit))
    return text


def _excerpt(hit: ShownHit, around: int = 40, most: int = 84) -> Text:
    """Show the neighbourhood of the first mark, or the beginning; marks stand in angle brackets too."""
    start = max(0, hit.marks[0][0] - around) if hit.marks else 0
    end = max(start + most, hit.marks[0][1] + around) if hit.marks else most
    text = Text("..." if start else "")
    at = start
    for first, last in hit.marks:
        if first >= end:
            break
        text.append(_line(hit.text[at:first]))
        text.append(f"»{_line(hit.text[first:last])}«", style="green")
        at = last
    text.append(_line(hit.text[at:end]))
    if end < len(hit.text):
        text.append("...")
    return text


def _line(text: str) -> str:
    """Put a text on one line, keeping a blank at its ends where it had any."""
    inner = " ".join(text.split())
    before = " " if text[:1].isspace() and inner else ""
    after = " " if text[-1:].isspace() and inner else ""
    return f"{before}{inner}{after}"


def _ranks(shown: Explanation) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("  chunk")
    table.add_column("holds")
    for stage in shown.stages:
        table.add_column(stage, justify="right")
    for chunk in shown.relevant:
        ranks = [UNDEFINED if rank is None else f"{rank:,}" for rank in chunk.ranks.values()]
        table.add_row(f"  {chunk.chunk_id}", ", ".join(chunk.covers), *ranks)
    return table
