"""Nouns as pieces of HTML for a notebook: a table each, with its own style, and nothing from outside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from markupsafe import Markup

from assay.model.comparison import Comparison, Matrix
from assay.model.findings import Diagnosis, Finding
from assay.model.runs import Run
from assay.model.scored import Scorecard
from assay.model.scores import Average, ScoreTable
from assay.model.summary import ALL, Summary
from assay.report.html.plots import HATCH
from assay.report.html.svg import element
from assay.report.words import ends, number, signed

MOST_ROWS = 20
"""Rows of a table of queries; the last line says how many more there are."""
_SCOPE = "assay-nb"
_STYLE = """
.assay-nb { background: var(--surface); color: var(--ink); font: 13px/1.5 var(--sans); padding: 10px 12px;
  border: 1px solid var(--line); border-radius: 4px; overflow-x: auto; }
.assay-nb table { border-collapse: collapse; margin: 6px 0; font-variant-numeric: tabular-nums;
  color: inherit; }
.assay-nb th, .assay-nb td { padding: 2px 10px 2px 0; text-align: right; border: 0; background: none; }
.assay-nb td:not(.text) { white-space: nowrap; }
.assay-nb th:first-child, .assay-nb td:first-child, .assay-nb .text { text-align: left; }
.assay-nb thead th { border-bottom: 1px solid var(--line-strong); font-weight: 650; }
.assay-nb .soft { color: var(--ink-soft); }
.assay-nb p { margin: 2px 0; }
"""
Cell = str | Markup


class Drawing:
    """One picture: a notebook shows it, ``save`` writes it.

    Args:
        svg: the ``<svg>`` element, coloured by class.
    """

    __slots__ = ("_svg",)

    def __init__(self, svg: Markup) -> None:
        self._svg = svg

    @property
    def svg(self) -> str:
        """The picture as an SVG file's text, with its style inside."""
        head, _, rest = str(self._svg).partition(">")
        head = head.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
        return f"{head}><style>{_tokens()}\n{_plot_rules()}</style>{HATCH}{rest}"

    def save(self, path: str | Path) -> Path:
        """Write the SVG file and return where it is.

        Raises:
            OSError: the file cannot be written.
        """
        target = Path(path)
        target.write_text(self.svg, encoding="utf-8")
        return target

    def _repr_html_(self) -> str:
        head, _, rest = str(self._svg).partition(">")
        return _framed([Markup(f"{head}>{HATCH}{rest}")])  # noqa: S704 - drawn by plots.py, escaped there


def html_of(noun: object) -> str:
    """Return the HTML of a noun for a notebook.

    Raises:
        TypeError: nothing is known of such an object.

    >>> html_of(ScoreTable(query_ids=(), values={}))[:22]
    '<div class="assay-nb">'
    """
    for kind, parts in _PARTS.items():
        if isinstance(noun, kind):
            return _framed(parts(noun))
    raise TypeError(f"nothing is known of how to show a {type(noun).__name__}")


def _framed(parts: Iterable[Markup]) -> str:
    style = Markup(f"<style>{_scoped_style()}</style>")  # noqa: S704 - our own file
    return str(element("div", style, *parts, class_=_SCOPE))


def _summary(summary: Summary) -> list[Markup]:
    names = list(summary.measures)
    rows = [[ALL, *_means(summary.measures, names)]]
    rows.append(["ceiling", "", *(number(summary.measures[name].ceiling) for name in names)])
    rows += [[kind, *_means(values, names)] for kind, values in summary.by_kind.items()]
    stages = [
        [f"{stage.name}@{stage.depth}", number(stage.recall[ALL].mean), number(stage.recall_at_k[ALL].mean)]
        + [number(stage.recall[kind].mean) for kind in summary.by_kind]
        + [str(stage.lost) if stage.lost else ""]
        for stage in summary.stages
    ]
    head = f"{summary.name}: {summary.counts['queries']:,} queries, k = {summary.k}, run {summary.run_id}"
    return [
        _title(head),
        _soft(str(summary.pipeline.get("summary", ""))),
        _table(["", "n", *names], rows),
        _table(["stage", "recall", f"at k = {summary.k}", *summary.by_kind, "lost here"], stages),
        *(_soft(f"note: {notice.text}") for notice in summary.notices),
    ]


def _means(values: Mapping[str, Average], names: Sequence[str]) -> list[str]:
    first = next(iter(values.values()), None)
    found = [values[name].mean if name in values else None for name in names]
    return [str(first.n if first else 0), *(number(mean) for mean in found)]


def _scores(table: ScoreTable) -> list[Markup]:
    names = list(table.measures)
    rows = [["mean", *(number(table.average(name).mean) for name in names)]] if names else []
    shown = table.query_ids[:MOST_ROWS]
    rows += [[query, *(number(table.value(name, query)) for name in names)] for query in shown]
    return [_table(["query", *names], rows), *_more(len(table.query_ids), MOST_ROWS, "queries")]


def _comparison(comparison: Comparison) -> list[Markup]:
    rows = [
        [
            row.measure if row.group is None else f"· {row.group}",
            str(row.n),
            number(row.base),
            number(row.candidate),
            signed(row.difference),
            "" if row.interval is None else ends(row.interval),
            f"{row.p_holm:.3g}",
            f"{row.wins} / {row.losses} / {row.ties}",
            row.verdict,
        ]
        for row in comparison.rows
    ]
    head = ["", "n", "base", "candidate", "difference", "interval", "p (Holm)", "+ / - / =", "verdict"]
    sentences = [element("p", row.sentence) for row in comparison.rows if row.group is None]
    return [_title(f"{comparison.base} → {comparison.candidate}"), *sentences, _table(head, rows)]


def _matrix(matrix: Matrix) -> list[Markup]:
    rows = [
        [name, *(number(means[at]) for means in matrix.means.values())]
        for at, name in enumerate(matrix.names)
    ]
    return [_title(f"over {matrix.n:,} queries"), _table(["run", *matrix.means], rows)]


def _diagnosis(diagnosis: Diagnosis) -> list[Markup]:
    head = f"{diagnosis.name}: {len(diagnosis.findings):,} items missed of {diagnosis.queries:,} queries"
    proposed = [[kind, str(count)] for kind, count in diagnosis.proposed_kinds.items() if count]
    parts = [_title(head), _table(["why", "proposed"], proposed), _findings(diagnosis.findings)]
    if diagnosis.proposal is not None:
        parts += [element("p", diagnosis.proposal.sentence), element("pre", diagnosis.proposal.diff)]
    return parts


def _findings(findings: Sequence[Finding]) -> Markup:
    rows = [
        [
            one.query_id,
            one.item,
            one.lost_at,
            one.kind or "unexplained",
            one.fix or "",
            one.status,
            one.evidence.sentence,
        ]
        for one in findings[:MOST_ROWS]
    ]
    table = _table(["query", "item", "lost at", "why", "fix", "status", "evidence"], rows, text=True)
    return Markup().join([table, *_more(len(findings), MOST_ROWS, "findings")])


def _scorecard(card: Scorecard) -> list[Markup]:
    rows = [[run.name, *(number(run.means[name].mean) for name in card.measures)] for run in card.runs]
    return [_title(f"against {card.judgements}"), _table(["run", *card.measures], rows)]


def _run(run: Run) -> list[Markup]:
    rows = [[stage.name, stage.role, f"{len(stage.chunks):,}"] for stage in run.stages]
    head = f"{run.name}, run {run.id}: {len(run.query_ids):,} queries, {len(run.chunks.ids):,} chunks"
    return [_title(head), _table(["stage", "role", "hits"], rows)]


_PARTS: Mapping[type, Callable[[Any], Sequence[Markup]]] = {
    Summary: _summary,
    ScoreTable: _scores,
    Comparison: _comparison,
    Matrix: _matrix,
    Diagnosis: _diagnosis,
    Finding: lambda finding: [_findings([finding])],
    Scorecard: _scorecard,
    Run: _run,
}


def _title(words: str) -> Markup:
    return element("p", element("strong", words))


def _soft(words: str) -> Markup:
    return element("p", words, class_="soft")


def _more(count: int, most: int, what: str) -> list[Markup]:
    return [_soft(f"... and {count - most:,} more {what}")] if count > most else []


def _table(head: Sequence[str], rows: Sequence[Sequence[Cell]], *, text: bool = False) -> Markup:
    class_ = "text" if text else None
    top = element("thead", element("tr", *(element("th", name, class_=class_) for name in head)))
    body = (element("tr", *(element("td", cell, class_=class_) for cell in row)) for row in rows)
    return element("table", top, element("tbody", *body))


@cache
def _scoped_style() -> str:
    rules = "\n".join(f".{_SCOPE} {rule}" for rule in _plot_rules().splitlines())
    return f"{_tokens().replace(':root', f'.{_SCOPE}')}\n{_STYLE}\n{rules}"


@cache
def _tokens() -> str:
    text = (files("assay.report.html") / "tokens.css").read_text("utf-8")
    return text[text.index(":root") : text.index(":root[data-theme")].strip()


@cache
def _plot_rules() -> str:
    """Return the rules of plots alone: one rule a line, as the style sheet keeps them."""
    lines = (files("assay.report.html") / "style.css").read_text("utf-8").splitlines()
    return "\n".join(one for one in lines if one.startswith((".plot", ".hatch")))
