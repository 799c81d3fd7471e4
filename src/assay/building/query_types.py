"""What kind of question a logged query is, by rules that everybody can read and add to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from assay.building.facts import identifiers_in
from assay.building.merging import POLITE
from assay.model.errors import ConfigError, Fault
from assay.model.words import content_words

LOOKUP, MULTI_HOP, HOW_TO, FACTUAL, KEYWORDS = "lexical", "multi-hop", "how-to", "factual", "keywords"
_QUOTED = re.compile(r"[\"“`][^\"”`]{3,}[\"”`]")
_NUMBERED = re.compile(
    r"\b(?:[A-Za-z]{1,8}[-_]?\d{2,}[\w-]*|\d+[A-Za-z]+\d\w*|v?\d+\.\d+(?:\.\d+)*|0x[0-9a-fA-F]+)\b"
)
_PATH = re.compile(r"(?<!\w)[\w.-]*/[\w./-]+\w|\b\w+\.(?:py|md|js|ts|json|ya?ml|toml|txt|csv|sh|conf|ini)\b")
_TWO_QUESTIONS = re.compile(
    r"\?.*\S.*\?"
    r"|\b(?:difference|differences|differ|compare|comparison|compared|versus|vs\.?|pros and cons|better)\b"
    r"|\band (?:how|what|when|where|why|who|which|does|is|are|can|if)\b"
    r"|\bboth\b.*\band\b"
    r"|\b(?:then|after that|if so)\b.*\?$"
)
_HOW_TO = re.compile(
    r"^(?:how (?:to|do|does|can|could|should|would|might)|(?:best )?ways? to|steps to|guide to|help me"
    r"|(?:can|could|may) (?:i|we)\b|where (?:do|can) i\b"
    r"|(?:i |we )?(?:want|need|would like|am trying|'m trying|try|trying) to"
    r"|(?:add|build|change|configure|connect|convert|create|delete|deploy|disable|enable|export|fix|import"
    r"|install|migrate|rename|remove|reset|restore|rotate|run|set ?up|set|test|update|upgrade|upload|use"
    r"|write)\b)"
)
_FACTUAL = re.compile(
    r"^(?:what|when|where|which|who|whose|whom|why|is|are|does|do|did|was|were|has|have|how)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeRule:
    """One rule: a query in which the pattern is found is of the kind."""

    kind: str
    pattern: re.Pattern[str]


def own_rules(table: Mapping[str, object], where: str) -> list[TypeRule]:
    """Return the rules of a project: kind -> a regular expression, or several; letter case does not count.

    Raises:
        ConfigError: a rule is no regular expression; all faults are listed.

    >>> [rule.kind for rule in own_rules({"billing": ["invoice", "refund"]}, "[log.kinds]")]
    ['billing', 'billing']
    """
    rules: list[TypeRule] = []
    faults: list[Fault] = []
    for kind, given in table.items():
        patterns = cast("list[object]", given) if isinstance(given, list) else [given]
        for pattern in patterns:
            if not isinstance(pattern, str) or not pattern:
                what = f"should be a regular expression, not {pattern!r}"
                faults.append(Fault(where=f"{where} {kind}", what=what))
                continue
            try:
                rules.append(TypeRule(kind=kind, pattern=re.compile(pattern, re.IGNORECASE)))
            except re.error as error:
                what = f"{pattern!r} is no regular expression: {error}"
                fix = "write one that Python reads, in single quotes"
                faults.append(Fault(where=f"{where} {kind}", what=what, fix=fix))
    if faults:
        raise ConfigError(faults)
    return rules


def query_type(text: str, rules: Sequence[TypeRule] = ()) -> str:
    """Return the kind of a query: the first own rule that is met, else the first of these.

    ``lexical``: it names a code, a setting, a version, a file, or quotes something. ``multi-hop``: it
    compares, or asks two things. ``how-to``: it asks how something is done. ``factual``: it is another
    question. ``keywords``: it is no sentence.

    >>> [query_type(text) for text in ("error E1207", "redis vs kafka", "reset password", "sla")]
    ['lexical', 'multi-hop', 'how-to', 'keywords']
    """
    for rule in rules:
        if rule.pattern.search(text):
            return rule.kind
    plain = " ".join(POLITE.sub(" ", text.casefold()).split()).lstrip(",.!: ")
    if _QUOTED.search(text) or _NUMBERED.search(text) or _PATH.search(text) or identifiers_in(text):
        return LOOKUP
    if _TWO_QUESTIONS.search(plain):
        return MULTI_HOP
    if _HOW_TO.search(plain):
        return HOW_TO
    if _FACTUAL.search(plain) or (plain.endswith("?") and content_words(plain)):
        return FACTUAL
    return KEYWORDS
