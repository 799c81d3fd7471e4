"""Taking a phrase as an anchor: only its presentation may be repaired, always to the source's own text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from assay.model.phrases import find, phrase
from assay.model.text import NormalText, normalise

Status = Literal["accepted", "repaired", "rejected"]
_ELLIPSIS = re.compile(r"[\[(]?\s*(?:\.\s?){3,}\s*[\])]?|[\[(]?\s*…\s*[\])]?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """What became of a phrase that somebody, or a model, offered as an anchor."""

    status: Status
    text: str | None = None
    """The source's own text; None when it was rejected."""
    span: tuple[int, int] | None = None
    """Where it stands, the first of its places."""
    places: int = 0
    """How often it stands there: a good anchor stands once."""
    why: str | None = None
    """Why it was rejected: empty, paraphrase, joined with an ellipsis, inside a longer word."""


def accept_anchor(source: str, quote: str, normal: NormalText | None = None) -> Acceptance:
    """Accept a phrase that stands in the source, repair one that differs in presentation, reject others.

    Letter case, white space, quotes, dashes, invisible signs and emphasis are presentation; words are not.

    Args:
        source: the document's text.
        quote: the phrase that was offered.
        normal: the source's normal form, where it is there already.

    >>> accept_anchor("Refunds arrive within 14 days.", "within  14 days").text
    'within 14 days'
    >>> accept_anchor("Refunds arrive within 14 days.", "within fourteen days").why
    'paraphrase'
    """
    wanted = phrase(quote)
    if not wanted.readings:
        return Acceptance(status="rejected", why="empty")
    normal = normalise(source) if normal is None else normal
    spans = find(wanted, normal)
    if spans:
        verbatim = [span for span in spans if source[slice(*span)] == quote]
        start, end = (verbatim or spans)[0]
        return Acceptance(
            status="accepted" if verbatim else "repaired",
            text=source[start:end],
            span=(start, end),
            places=len(spans),
        )
    if find(wanted, normal, whole_words=False):
        return Acceptance(status="rejected", why="inside a longer word")
    if _joined(quote, normal):
        return Acceptance(status="rejected", why="joined with an ellipsis")
    return Acceptance(status="rejected", why="paraphrase")


def _joined(quote: str, normal: NormalText) -> bool:
    parts = [part for part in _ELLIPSIS.split(quote) if part.strip()]
    if len(parts) < 2:
        return False
    reached = 0
    for part in parts:
        later = [span for span in find(part, normal) if span[0] >= reached]
        if not later:
            return False
        reached = later[0][1]
    return True
