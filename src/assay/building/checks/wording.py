"""Rules about questions: do they ask what their kind should, in words that do not give the passage away."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from assay.building.checks.material import PARAGRAPH_END, Material
from assay.building.questions import longest_shared_run, question_key, shared_words
from assay.model.checks import CheckFinding
from assay.model.golden import Query
from assay.model.words import STOP_WORDS, words

SHARED_LIMIT = Fraction("0.6")
"""A conceptual question that has this share of its content words from its passage is flagged."""
EASY_RUN = 6
"""Words in a row that a question may not share with its passage; a lexical one may share up to 7."""
RARE_SHARE = 0.1
"""A term is rare when at most this share of the documents has it."""
_MOST_DOCUMENTS = 2_000
_EASY_LEXICAL_RUN = 8
_EASY_WORDS = 5
PREAMBLE = re.compile(
    r"(sure|certainly|of course|absolutely|great question)\b[,!.: ]"
    r"|here(?:'s| is| are)\b.{0,40}\b(question|query|queries)"
    r"|as an ai\b"
    r"|(question|query|q)\s*\d*\s*[:.)]\s"
    r"|.{0,200}\b(according to|based on|as described in|given) (the|this|these) (given |provided |above )?"
    r"(passage|text|context|excerpt|document|article|chunk)\b"
    r"|.{0,200}\bin (the|this) (given |provided |above )?(passage|text|context|excerpt|chunk)\b",
    re.DOTALL,
)


def model_preamble(material: Material) -> Iterator[CheckFinding]:
    """Say which questions begin with a model's chatter, or speak of a passage that nobody who asks has."""
    for query in material.golden.queries:
        match = PREAMBLE.match(query.text.strip().casefold().replace("’", "'"))
        if match:
            text = f"the question has a model's preamble, or speaks of its passage: {match[0].strip()!r}"
            yield material.about(
                query, "warning", "preamble", text, fix="ask as a person would who has no text"
            )


def equals_anchor(material: Material) -> Iterator[CheckFinding]:
    """Say which questions are their own anchor."""
    for placed in material.anchors:
        if question_key(placed.query.text) == question_key(placed.anchor.quote):
            text = "anchor equals the question"
            yield material.about_anchor(
                placed, "error", "equals-anchor", text, fix="ask for it in other words"
            )


def lexical_without_rare_term(material: Material) -> Iterator[CheckFinding]:
    """Say which lexical questions have no rare term that stands as it is in their passage."""
    lexical = [
        query for query in material.golden.queries if query.kind.casefold() == "lexical" and query.anchors
    ]
    terms = {query.id: [word for word in words(query.text) if word not in STOP_WORDS] for query in lexical}
    rare = _rare_terms(material, {word for some in terms.values() for word in some})
    for query in lexical:
        passages = [*material.passages(query), *material.holding_chunks(query)]
        if not passages:
            continue
        there = {word for passage in passages for word in words(passage)}
        shared = [word for word in terms[query.id] if word in there]
        if not any(word in rare for word in shared):
            seen = f"; shared but common: {', '.join(shared[:5])}" if shared else ""
            text = f"a lexical question needs a rare term that stands in its passage as it is{seen}"
            fix = "ask with the code, name or setting that the passage has, or call the query factual"
            yield material.about(query, "warning", "no-rare-term", text, fix=fix)


def _rare_terms(material: Material, wanted: set[str]) -> set[str]:
    """Return the terms that few documents have (few paragraphs, where there are fewer than ten documents)."""
    if not wanted:
        return set()
    texts = [document.text for document in material.sources]
    if len(texts) < 1 / RARE_SHARE:
        texts = [part for text in texts for part in PARAGRAPH_END.split(text) if part.strip()]
    texts = texts[:: max(1, len(texts) // _MOST_DOCUMENTS)]
    count = dict.fromkeys(wanted, 0)
    for text in texts:
        for word in wanted.intersection(words(text)):
            count[word] += 1
    most = max(1, int(RARE_SHARE * len(texts)))
    return {word for word, held in count.items() if held <= most}


def conceptual_shares_words(material: Material) -> Iterator[CheckFinding]:
    """Say which conceptual questions are made of their passage's own words."""
    for query in material.golden.queries:
        if query.kind.casefold() != "conceptual":
            continue
        for passage in material.passages(query):
            shared = shared_words(query.text, passage)
            share = shared.stemmed_share
            if share is not None and share >= SHARED_LIMIT:
                text = (
                    f"a conceptual question should use other words than its passage: {shared.stemmed} of "
                    f"its {shared.content_words} content words stand there ({float(share):.0%})"
                )
                fix = "ask for the idea in words of your own, or call the query factual"
                yield material.about(query, "warning", "shares-words", text, fix=fix)
                break


def too_easy(material: Material) -> Iterator[CheckFinding]:
    """Say which questions repeat their passage, so that finding it proves little."""
    for query in material.golden.queries:
        text = _easy(material, query)
        if text is not None:
            yield material.about(
                query, "warning", "too-easy", text, fix="ask as somebody who has not read it"
            )


def _easy(material: Material, query: Query) -> str | None:
    lexical = query.kind.casefold() == "lexical"
    most = _EASY_LEXICAL_RUN if lexical else EASY_RUN
    for passage in material.passages(query):
        run = longest_shared_run(query.text, passage)
        if len(run.split()) >= most:
            return f"the question repeats {len(run.split())} words of its passage in a row: {run!r}"
    if lexical:
        return None
    for placed in material.anchors_of(query):
        shared = shared_words(query.text, placed.anchor.quote)
        if shared.content_words >= _EASY_WORDS and shared.stemmed == shared.content_words:
            return f"all {shared.content_words} content words of the question stand in the anchor"
    return None


RULES = (model_preamble, equals_anchor, lexical_without_rare_term, conceptual_shares_words, too_easy)
"""Every rule about the wording of questions."""
