"""Reads a measure as the field writes it: ``nDCG@10``, ``R@10``, ``AP(rel=2)@100``, ``RBP(p=0.8)@10``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import cast

from assay.measures.average import AVERAGE_PRECISION, INFERRED_AP
from assay.measures.cascade import ERR, RBP, RBP_RESIDUAL
from assay.measures.cumulative import DCG, NDCG
from assay.measures.family import Family, Measure, Option
from assay.measures.gains import Gain
from assay.measures.judgement import JUDGED
from assay.measures.precision import F1, PRECISION, R_PRECISION, SET_F, SET_PRECISION
from assay.measures.preference import BPREF
from assay.measures.recall import COMPLETE, HIT, RECALL, SET_RECALL
from assay.measures.reciprocal import RECIPROCAL_RANK
from assay.model.errors import Fault, InputError, nearest

FAMILIES: tuple[Family, ...] = (
    NDCG,
    RECALL,
    PRECISION,
    HIT,
    RECIPROCAL_RANK,
    AVERAGE_PRECISION,
    F1,
    COMPLETE,
    R_PRECISION,
    DCG,
    BPREF,
    JUDGED,
    RBP,
    RBP_RESIDUAL,
    ERR,
    INFERRED_AP,
    SET_PRECISION,
    SET_RECALL,
    SET_F,
)
"""Every measure that there is, the usual ones first; ``assay measures`` and the docs print this."""

_BY_NAME = {name.casefold(): family for family in FAMILIES for name in (family.name, *family.aliases)}

_FORM = re.compile(r"(?P<name>[A-Za-z][\w-]*)\s*(?:\((?P<options>[^()]*)\))?\s*(?:@\s*(?P<k>\S*))?")
_TREC_FORM = re.compile(r"(?P<name>ndcg_cut|map_cut|P|recall|success)_(?P<k>\d+)")
_GAINS = {"linear": "linear", "log2": "linear", "exp": "exp", "exp-log2": "exp"}


def parse_measure(text: str) -> Measure:
    """Read one measure from its spelling.

    Names may be in any letter case and in the words of other tools (``R@10`` and ``recall@10``, ``MRR@10``
    and ``RR@10``, ``Success@3``, ``ndcg_cut_10``, ``map``). Options stand in brackets: ``rel=2`` (least
    grade that counts as relevant), ``gain=exp``, ``capped=true``, ``p=0.9``, ``beta=2``, ``max=3``.

    Raises:
        InputError: the name is unknown (the nearest one is named), the cut or an option is wrong.

    Source: the spelling is that of ir-measures.

    >>> parse_measure("nDCG(gain=exp)@10").canonical
    'nDCG(gain=exp)@10'
    >>> parse_measure("MRR@10").canonical
    'RR@10'
    """
    if not isinstance(cast("object", text), str):
        raise InputError(f"a measure should be text, as in 'nDCG@10', not {text!r}")
    spelling = text.strip()
    match = _TREC_FORM.fullmatch(spelling) or _FORM.fullmatch(spelling)
    if match is None:
        raise InputError(
            f"{text!r} is not a measure", fix=f"write a name and a cut, as in nDCG@10; {_known_names()}"
        )
    parts = match.groupdict()
    family = _BY_NAME.get(parts["name"].casefold())
    if family is None:
        raise InputError(f"unknown measure {text!r}", fix=_suggestion(parts["name"], spelling))
    measure = Measure(family=family, k=_cut(family, parts["k"], text), spelling=spelling)
    for option in (parts.get("options") or "").split(","):
        if option.strip():
            measure = _with_option(measure, option, text)
    return measure


def parse_measures(texts: Iterable[str]) -> tuple[Measure, ...]:
    """Read several measures, reporting every fault at once; a measure asked for twice is kept once.

    Raises:
        InputError: any of them is wrong, or there is none.

    >>> [str(measure) for measure in parse_measures(["nDCG@10", "R@10", "recall@10"])]
    ['nDCG@10', 'R@10']
    """
    measures: dict[Measure, None] = {}
    faults: list[Fault] = []
    for text in texts:
        try:
            measures.setdefault(parse_measure(text))
        except InputError as error:
            faults.extend(error.faults)
    if faults:
        raise InputError(faults)
    if not measures:
        raise InputError("no measure was asked for", fix="name at least one, as in nDCG@10")
    return tuple(measures)


def find_spelling(text: str, spellings: Iterable[str]) -> str | None:
    """Return which of the spellings means the same measure as ``text``; None when none does.

    So that a gate on ``recall@10`` finds the column ``R@10``.

    Raises:
        InputError: ``text`` is not a measure.

    >>> find_spelling("recall@10", ["nDCG@10", "R@10"])
    'R@10'
    """
    wanted = parse_measure(text)
    return next((spelling for spelling in spellings if parse_measure(spelling) == wanted), None)


def _cut(family: Family, text: str | None, whole: str) -> int | None:
    if text is None:
        if family.cut == "needed":
            raise InputError(f"{whole!r} needs a cut", fix=f"write {family.name}@10")
        return None
    if family.cut == "none":
        raise InputError(f"{whole!r}: {family.name} has no cut", fix=f"write {family.name}")
    if not (text.isascii() and text.isdigit() and int(text) >= 1):
        raise InputError(
            f"{whole!r}: the cut must be a whole number of at least 1, not {text!r}",
            fix=f"write {family.name}@10",
        )
    return int(text)


def _with_option(measure: Measure, option: str, whole: str) -> Measure:
    family = measure.family
    name, equals, value = (part.strip(" '\"") for part in option.partition("="))
    name = "gain" if name == "dcg" else name  # ir-measures says nDCG(dcg='exp-log2')
    if not equals or name not in family.options:
        choice = ", ".join(family.options) or "none"
        raise InputError(
            f"{whole!r}: {family.name} has no option {option.strip()!r}", fix=f"options: {choice}"
        )
    try:
        return _set(measure, name, value)
    except ValueError as error:
        raise InputError(f"{whole!r}: {name} must be {error}, not {value!r}") from None


def _set(measure: Measure, name: Option, value: str) -> Measure:
    match name:
        case "gain":
            if value not in _GAINS:
                raise ValueError("linear or exp")
            return replace(measure, gain=cast("Gain", _GAINS[value]))
        case "capped":
            if value.casefold() not in ("true", "false"):
                raise ValueError("true or false")
            return replace(measure, capped=value.casefold() == "true")
        case "p":
            return replace(measure, p=_number(value, "a number between 0 and 1", below=1.0))
        case "beta":
            return replace(measure, beta=_number(value, "a number above 0"))
        case "max":
            return replace(measure, max_grade=_number(value, "a grade above 0 and below 1000", below=1000.0))
        case "rel":
            return replace(measure, rel=_number(value, "a grade above 0"))


def _number(value: str, wanted: str, *, below: float = math.inf) -> float:
    try:
        number = float(value)
    except ValueError:
        raise ValueError(wanted) from None
    if not 0.0 < number < below:
        raise ValueError(wanted)
    return number


def _suggestion(name: str, spelling: str) -> str:
    close = nearest(name, [spelled for family in FAMILIES for spelled in (family.name, *family.aliases)])
    if close is None:
        return _known_names()
    return f"did you mean {spelling.replace(name, close, 1)}? {_known_names()}"


def _known_names() -> str:
    return f"measures: {', '.join(family.name for family in FAMILIES)}"
