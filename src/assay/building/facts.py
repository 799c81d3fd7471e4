"""Key facts of a passage, found by rules: what a question could be about, where no model reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from assay.building.checks.anchors import count_words
from assay.building.passages import Passage
from assay.building.rarity import Rarity
from assay.corpus.chunkers.spans import sentences
from assay.model.words import STOP_WORDS, words

FactKind = Literal["definition", "number", "identifier", "rule", "statement"]
"""``definition``: X is, means, refers to. ``number``: an amount, a date, a limit. ``identifier``: a code, a
setting, a name as a program writes it. ``rule``: must, may not, only. ``statement``: none of these."""
_ITEM = re.compile(r"(?>\r\n|\r|\n)(?=[\s>]*(?:[-*+•|#]|\d+[.)])\s)")
"""Where a line ends and an item of a list, a row or a heading begins."""
_BULLET = re.compile(r"^[\s>]*(?:[-*+•]|\d+[.)])\s+")
_IDENTIFIER = re.compile(
    r"(?<![\w/.-])(?:\w+\(\)|[A-Za-z]+\w*_\w+|--[a-z][\w-]+|[A-Z]{1,6}-?\d{2,}\w*|[a-z]+[A-Z]\w+|[A-Z][a-z]+[A-Z]\w+|[A-Z]{2,}[a-z]\w+)"
)
_CODE_SPAN = re.compile(r"`([^`\n]{3,40})`")
_NUMBER = re.compile(r"(?<![\w.])(\d+(?:[.,]\d+)*)(\s?(?:%|[A-Za-z]{1,12}\b))?")
_DEFINITION = re.compile(
    r"^(?:an?\s+|the\s+)?(?P<term>[\w`*'-]+(?:\s+[\w`*'-]+){0,4}?)\s+"
    r"(?:is|are|means|refers to|stands for|denotes|is called|was)\s+(?:an?|the|one|any|every)\b",
    re.IGNORECASE,
)
_RULE = re.compile(
    r"\b(?:must|may not|cannot|can't|never|always|only|by default|required|unless|should)\b", re.IGNORECASE
)
_FEWEST, _MOST = 6, 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One statement of a passage that a question can be about."""

    kind: FactKind
    quote: str
    """The sentence, as it stands in the passage."""
    term: str
    """What it is about, as the passage writes it: the term defined, the identifier, the number's words."""


def key_facts(passage: Passage, rarity: Rarity) -> list[Fact]:
    """Return the facts of a passage, the most telling first; an empty list where no sentence is fit.

    Identifiers and definitions come first, then numbers and rules, then plain statements that have a rare
    word; sentences below 6 or above 40 words, and questions, are none.

    >>> text = "A lease is the right to hold one shard. It ends after 90 seconds unless renewed in time."
    >>> passage = Passage(doc_id="a", start=0, end=len(text), text=text, words=19)
    >>> [(fact.kind, fact.term) for fact in key_facts(passage, Rarity([]))]
    [('definition', 'lease'), ('number', '90 seconds')]
    """
    found = [fact for sentence in sentences_of(passage.text) if (fact := _fact(sentence, rarity)) is not None]
    return sorted(found, key=lambda fact: _ORDER[fact.kind])


_ORDER: dict[FactKind, int] = {"identifier": 0, "definition": 0, "number": 1, "rule": 1, "statement": 2}


def sentences_of(text: str) -> Iterator[str]:
    """Yield the sentences of a text that may hold a fact, without list marks.

    >>> list(sentences_of("- Keys are rotated. Why? Because they must."))
    ['Keys are rotated.', 'Because they must.']
    """
    for item in _ITEM.split(text):
        bare = _BULLET.sub("", item)
        for start, end in sentences(bare):
            sentence = bare[start:end]
            if not sentence.endswith(("?", ":", "？")):
                yield sentence


def identifiers_in(text: str) -> list[str]:
    """Return codes, settings and names as programs write them, in order.

    >>> identifiers_in("Set `max_age` or HTTPServer to 3; error E1207, see `x`.")
    ['max_age', 'HTTPServer', 'E1207']
    """
    spans = [(match.start(1), match[1]) for match in _CODE_SPAN.finditer(text)]
    spans += [(match.start(), match[0]) for match in _IDENTIFIER.finditer(text)]
    return list(dict.fromkeys(name.strip() for _, name in sorted(spans) if words(name)))


def _fact(sentence: str, rarity: Rarity) -> Fact | None:
    if not _FEWEST <= count_words(sentence) <= _MOST:
        return None
    rare = [name for name in identifiers_in(sentence) if any(rarity.is_rare(word) for word in words(name))]
    if rare:
        return Fact(kind="identifier", quote=sentence, term=rare[0])
    defined = _DEFINITION.match(sentence)
    if defined:
        term = defined["term"].strip("*_`'")
        if not all(word in STOP_WORDS for word in words(term)):
            return Fact(kind="definition", quote=sentence, term=term)
    number = _NUMBER.search(sentence)
    if number:
        unit = number[2] or ""
        plain = unit.strip().casefold() in STOP_WORDS or unit.strip().istitle()
        return Fact(kind="number", quote=sentence, term=number[1] if plain else f"{number[1]}{unit}")
    term = next(iter(rarity.rarest(words(sentence), 1)), "")
    if _RULE.search(sentence):
        return Fact(kind="rule", quote=sentence, term=term)
    return Fact(kind="statement", quote=sentence, term=term) if term else None
