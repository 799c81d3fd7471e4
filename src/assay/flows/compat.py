"""``--compat``: the rules by which other tools score, for people who must compare with old tables.

Every difference from Assay's own rules is a row of docs/differences.md, with an input that shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from assay.measures.family import Measure
from assay.measures.spec import parse_measure
from assay.model.errors import Fault, InputError, nearest
from assay.store.rankings.meet import Rules
from assay.store.rankings.ordering import Ties

Over = Literal["answered", "judged"]
"""Which queries a mean is over: those in both files, or all that have judgements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a tool computes one measure."""

    rules: Rules
    over: Over


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """Another tool: how it reads a run, what it averages over, and how it calls its measures.

    All of them score a query with nothing relevant 0 and keep it in the mean, and read grades as whole
    numbers (relevant from 1).
    """

    name: str
    named: Callable[[Measure], str | None]
    """The name under which it prints a measure; None when it has no such measure."""
    manner: Callable[[Measure], Manner]
    decimals: int = 4


def find_tool(name: str) -> Tool:
    """Return the tool of that name.

    Raises:
        InputError: there is none.
    """
    if name in TOOLS:
        return TOOLS[name]
    close = nearest(name, list(TOOLS))
    fix = f"did you mean {close}?" if close else f"one of {', '.join(TOOLS)}"
    raise InputError(f"--compat {name}: there is no such tool", fix=fix)


def names_in(tool: Tool, measures: Sequence[Measure]) -> dict[str, str]:
    """Return measure -> the name under which the tool prints it.

    Raises:
        InputError: the tool has no such measure; all of them are listed.
    """
    found = {str(measure): tool.named(measure) for measure in measures}
    faults = [
        Fault(where=f"--compat {tool.name}", what=f"it has no measure {spelling}", fix="leave it out of -m")
        for spelling, name in found.items()
        if name is None
    ]
    if faults:
        raise InputError(faults)
    return {spelling: name for spelling, name in found.items() if name is not None}


_TREC_CUT = {
    "AP": "map_cut", "nDCG": "ndcg_cut", "precision": "P", "recall": "recall", "hit": "success",
}  # fmt: skip
_TREC_WHOLE = {
    "AP": "map", "nDCG": "ndcg", "RR": "recip_rank", "Rprec": "Rprec", "bpref": "bpref", "infAP": "infAP",
    "SetP": "set_P", "SetR": "set_recall", "SetF": "set_F",
}  # fmt: skip


def _trec_name(measure: Measure) -> str | None:
    family = measure.family.name
    if measure.gain != "linear" or measure.beta != 1.0:
        return None
    if measure.capped:
        return f"relative_P_{measure.k}" if family == "recall" and measure.k else None
    if measure.k is not None:
        return f"{_TREC_CUT[family]}_{measure.k}" if family in _TREC_CUT else None
    return _TREC_WHOLE.get(family)


def _trec_name_10(measure: Measure) -> str | None:
    if measure.k is None and measure.p == 0.9:
        rbp = {"RBP": "rbp", "RBPresidual": "rbp_resid"}.get(measure.family.name)
        if rbp is not None:
            return rbp
    return _trec_name(measure)


_IR = {
    "AP": "AP", "nDCG": "nDCG", "precision": "P", "recall": "R", "hit": "Success", "RR": "RR",
    "Rprec": "Rprec", "bpref": "Bpref", "infAP": "infAP", "SetP": "SetP", "SetR": "SetR", "SetF": "SetF",
    "judged": "Judged",
}  # fmt: skip


def _ir_name(measure: Measure) -> str | None:
    name = _IR.get(measure.family.name)
    if name is None or measure.capped or measure.gain != "linear":
        return None
    options = [f"rel={measure.rel:g}"] if measure.rel is not None else []
    options += [f"beta={measure.beta:g}"] if measure.beta != 1.0 else []
    cut = "" if measure.k is None else f"@{measure.k}"
    return f"{name}{'(' + ','.join(options) + ')' if options else ''}{cut}"


_BEIR = {"AP": "MAP", "nDCG": "NDCG", "precision": "P", "recall": "Recall", "RR": "MRR"}


def _beir_name(measure: Measure) -> str | None:
    name = _BEIR.get(measure.family.name)
    plain = measure.gain == "linear" and measure.rel is None
    if name is None or measure.k is None or not plain:
        return None
    if measure.capped:
        return f"R_cap@{measure.k}" if name == "Recall" else None
    return f"{name}@{measure.k}"


_RANX = {
    "AP": "map", "precision": "precision", "recall": "recall", "hit": "hit_rate", "RR": "mrr",
    "Rprec": "r-precision", "F1": "f1", "DCG": "dcg", "nDCG": "ndcg",
}  # fmt: skip


def _ranx_name(measure: Measure) -> str | None:
    name = _RANX.get(measure.family.name)
    if name is None or measure.capped:
        return None
    if measure.gain == "exp":
        name += "_burges"
    cut = "" if measure.k is None else f"@{measure.k}"
    level = "" if measure.rel is None else f"-l{measure.rel:g}"
    return f"{name}{cut}{level}"


def _always(rules: Rules, over: Over) -> Callable[[Measure], Manner]:
    manner = Manner(rules=rules, over=over)
    return lambda _: manner


def _ir_manner(measure: Measure) -> Manner:
    # RR@k comes from the MS MARCO script and Judged from ir-measures itself: doubles, ids up
    own = measure.family.name == "judged" or (measure.family.name == "RR" and measure.k is not None)
    ties: Ties = "up" if own else "trec"
    return Manner(rules=Rules(ties=ties, single=not own), over="judged")


def _beir_manner(measure: Measure) -> Manner:
    own = measure.family.name == "RR" or measure.capped
    rules = Rules(ties="given", unlike_query=True) if own else Rules(single=True, unlike_query=True)
    return Manner(rules=rules, over="judged" if own else "answered")


TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(name="trec_eval", named=_trec_name_10, manner=_always(Rules(), "answered")),
        Tool(name="trec_eval-9", named=_trec_name, manner=_always(Rules(single=True), "answered")),
        Tool(
            name="pytrec_eval", named=_trec_name, manner=_always(Rules(single=True), "answered"), decimals=16
        ),
        Tool(name="ir_measures", named=_ir_name, manner=_ir_manner),
        Tool(name="beir", named=_beir_name, manner=_beir_manner, decimals=5),
        Tool(name="ranx", named=_ranx_name, manner=_always(Rules(ties="given"), "judged"), decimals=16),
    )
}
"""Tool by the name that ``--compat`` takes."""

TREC_EVAL_MEASURES = tuple(
    parse_measure(text)
    for text in (
        "AP", "Rprec", "bpref", "RR",
        "P@5", "P@10", "P@15", "P@20", "P@30", "P@100", "P@200", "P@500", "P@1000",
    )
)  # fmt: skip
"""What trec_eval prints when nothing is asked for, as far as it is a mean."""
