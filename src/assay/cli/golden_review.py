"""``assay golden draft --review``: drafts one by one, in the terminal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from assay.building.reviewing import Ruling, accept, blocked, marked, refuse, unanswerable
from assay.cli.screen import console
from assay.flows.golden_labels import login_name, project_labels
from assay.flows.golden_review import Reviewing, open_review
from assay.flows.project import Project
from assay.model.golden import Query
from assay.model.labels import Draft
from assay.report.html.visible import shown
from assay.report.terminal import counted

_ASKED = "[y]es  [n]o  [e]dit  [a]nchor  [u]nanswerable  [s]kip  [q]uit > "
_NEXT = "Next: assay golden export writes the accepted queries to golden.jsonl"


def review_drafts(project: Project, *, job: str | None = None) -> int:
    """Show every draft that waits, and keep what the person decides; leaving keeps what was decided."""
    screen = console()
    with project_labels(project) as labels:
        reviewing = open_review(project, labels, by=login_name(), job=job)
        waiting = reviewing.waiting()
        if not waiting:
            screen.print("no draft waits")
            return 0
        counts = {"accepted": 0, "edited": 0, "refused": 0}
        for number, draft in enumerate(waiting, start=1):
            _show(screen, draft, f"{number} of {len(waiting)}")
            ruling = _decided(screen, draft, reviewing)
            if ruling is None:
                continue
            if ruling is _QUIT:
                break
            reviewing.keep(ruling)
            counts[ruling.decision.verdict] += 1
    told = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    left = len(waiting) - sum(counts.values())
    screen.print(f"\n{told}; {counted(left, 'draft')} left\n{_NEXT}", markup=False)
    return 0


_QUIT = refuse(Draft(id="quit", job="", query=Query(id="", text=""), by=""), by="")


def _decided(screen: Console, draft: Draft, reviewing: Reviewing) -> Ruling | None:
    """Return what the person decides; None when the draft is skipped."""
    query = draft.query
    while True:
        answer = _ask(screen, _ASKED)
        match answer.strip().casefold()[:1] if answer is not None else "q":
            case "y":
                reason = blocked(query)
                if reason is None:
                    return accept(draft, by=reviewing.by, query=query)
                screen.print(f"not yet: {reason}", markup=False)
            case "n":
                return refuse(draft, by=reviewing.by, why=_ask(screen, "why (may be empty) > ") or "")
            case "e":
                query = _edited(screen, query, reviewing)
                _show(screen, replace(draft, query=query), "as edited")
            case "a":
                query = _anchored(screen, query, reviewing)
                _show(screen, replace(draft, query=query), "as edited")
            case "u":
                query = unanswerable(query)
                _show(screen, replace(draft, query=query), "as edited")
            case "s":
                return None
            case "q":
                return _QUIT
            case _:
                screen.print("y, n, e, a, u, s or q", markup=False)


def _edited(screen: Console, query: Query, reviewing: Reviewing) -> Query:
    text = _ask(screen, "question (empty keeps it) > ")
    kind = _ask(screen, f"kind (empty keeps {query.kind}) > ")
    query = replace(query, text=(text or "").strip() or query.text, kind=(kind or "").strip() or query.kind)
    for number, anchor in enumerate(query.anchors):
        quote = _ask(screen, f"{anchor.id}, a phrase of {anchor.doc_id} (empty keeps it) > ")
        if quote and quote.strip():
            changed, told = reviewing.requote(query, number, quote.strip(), anchor.doc_id)
            screen.print(shown(told or "taken"), markup=False)
            query = changed or query
    return query


def _anchored(screen: Console, query: Query, reviewing: Reviewing) -> Query:
    document = _ask(screen, "document > ")
    quote = _ask(screen, "phrase of 6 to 20 words > ")
    if not document or not quote:
        return query
    changed, told = reviewing.requote(query, len(query.anchors), quote.strip(), document.strip())
    screen.print(shown(told or "taken"), markup=False)
    return changed or query


def _show(screen: Console, draft: Draft, where: str) -> None:
    query = draft.query
    screen.print()
    screen.print(Text(f"{where}  {query.kind}  by {draft.by}", style="dim"))
    screen.print(Text(shown(query.text) or "(no question yet)", style="bold"))
    if not query.answerable:
        screen.print(Text("no answer exists in the documents"))
    for place, passage in draft.evidence.items():
        text = Text()
        for piece, is_anchor in marked(
            passage, [one for one in query.anchors if place.startswith(one.doc_id)]
        ):
            text.append(shown(piece), style="bold reverse" if is_anchor else "")
        screen.print(Panel(text, title=Text(shown(place)), title_align="left", border_style="dim"))
    for anchor in query.anchors:
        screen.print(Text(shown(f"{anchor.id}: “{anchor.quote}”")))
    for note in draft.notes:
        screen.print(Text(shown(f"note: {note}"), style="yellow"))


def _ask(screen: Console, prompt: str) -> str | None:
    """Return a line; None at the end of the input."""
    read: Callable[..., str] = screen.input
    try:
        return read(Text(prompt))
    except (EOFError, KeyboardInterrupt):
        return None
