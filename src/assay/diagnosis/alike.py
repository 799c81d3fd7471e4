"""How alike two texts are by their words: where an anchor's content words stand together in a hit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from assay.diagnosis.cases import Passage, words_of
from assay.model.words import content_words

_STRETCH = 2
"""A hit may need this many times as many words as the anchor to say the same."""
_SHOWN = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """The hit that is most like an anchor."""

    hit: Passage
    alike: float
    """Part of the anchor's content words that stand together in the hit: 0 to 1."""
    shared: tuple[str, ...]
    """Those words."""


def likest(
    quotes: Sequence[str], hits: Sequence[Passage], *, fewest: int, least: float = 0.0
) -> Likeness | None:
    """Return the hit that is most like one of the quotes; the earlier one of equals.

    None when there is no hit, or no quote has at least ``fewest`` content words, or none is alike enough.

    Args:
        quotes: an anchor and its alternatives.
        hits: what it is compared with.
        fewest: content words that a quote has to have, and that have to stand together.
        least: how alike a hit has to be.
    """
    best: Likeness | None = None
    for quote in quotes:
        wanted = words_of(quote)
        if len(wanted) < fewest:
            continue
        for hit in hits:
            # Most hits are ruled out by what they hold at all, before any window is looked at.
            held = len(wanted.keys() & hit.words) / len(wanted)
            if held == 0 or held < least or (best is not None and held <= best.alike):
                continue
            together = _together(wanted, hit.text)
            alike = len(together) / len(wanted)
            if len(together) >= fewest and alike >= least and (best is None or alike > best.alike):
                best = Likeness(hit=hit, alike=alike, shared=tuple(wanted[word] for word in together))
    return best


def _together(wanted: dict[str, str], text: str) -> list[str]:
    """Return the wanted stems that the best stretch of the text holds, in the order of the anchor."""
    found = [(at, word) for at, word in enumerate(content_words(text)) if word in wanted]
    width = _STRETCH * len(wanted)
    inside: Counter[str] = Counter()
    best: set[str] = set()
    first = 0
    for at, word in found:
        inside[word] += 1
        while found[first][0] <= at - width:
            gone = found[first][1]
            inside[gone] -= 1
            if not inside[gone]:
                del inside[gone]
            first += 1
        if len(inside) > len(best):
            best = set(inside)
    return [word for word in wanted if word in best]


def worded(some: Sequence[str]) -> str:
    """Join words for a sentence.

    >>> worded(["refund", "card"])
    "'refund' and 'card'"
    """
    shown = [f"'{word}'" for word in some[:_SHOWN]]
    if len(some) > _SHOWN:
        return f"{', '.join(shown)} and {len(some) - _SHOWN} more"
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]])) if shown else "nothing"
