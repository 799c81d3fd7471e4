"""How gates are written.

In ``assay.toml``::

    [gate]
    "recall@10" = ["0.729 within 0.02", ">= 0.70"]
    "recall@10 [conceptual]" = ">= 0.25"
    "nDCG@10 [language=de]" = ">= 2/3"
    "pool: recall@50" = ">= 0.80"
    "MRR@10" = "no worse than main by more than 0.02, and not significantly worse on any kind"

The key names a figure::

    [STAGE ":"] MEASURE ["[" [COLUMN "="] GROUP "]"]

Without a stage the final list is measured; without a group all queries are; the column is ``kind`` unless
it is named. The value is one rule, several with commas between, or a list of them::

    ">=" FIGURE                       a floor; at the floor it passes
    "<=" FIGURE                       a cap
    FIGURE "within" FIGURE            a pin; at exactly the tolerance it passes
    "no worse [than NAME] [by more than" FIGURE "]"   than the baseline, both over the queries in common
    "not significantly worse [than NAME] [on any COLUMN]"   by the paired test, Holm-corrected

FIGURE is a decimal (``0.70``), a percentage (``70 %``) or a fraction (``2/3``), and is kept exactly as
written. A plain number as value (``"recall@10" = 0.70``) is a floor.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import cast

from assay.measures.spec import parse_measure
from assay.model.errors import ConfigError, Fault, InputError
from assay.model.gates import Gate

_KEY = re.compile(
    r"""^\s*(?:(?P<stage>[^:\[\]]+?)\s*:)?\s*
    (?P<measure>[^:\[\]\s]+(?:\([^)]*\)[^:\[\]\s]*)?)\s*
    (?:\[\s*(?:(?P<column>[^=\[\]]+?)\s*=\s*)?(?P<group>[^\[\]]+?)\s*\])?\s*$""",
    re.VERBOSE,
)
_FIGURE = r"(?:\d+\s*/\s*\d+|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?\s*%?)"
_BOUND = re.compile(rf"^(?P<sign>>=|<=|≥|≤|at least|at most)\s*(?P<figure>{_FIGURE})$")
_PIN = re.compile(rf"^(?P<figure>{_FIGURE})\s*(?:within|\+-|\+/-|±)\s*(?P<tolerance>{_FIGURE})$")
_NO_WORSE = re.compile(rf"^no worse(?: than (?P<name>\S+))?(?: by more than (?P<tolerance>{_FIGURE}))?$")
_NOT_SIGNIFICANT = re.compile(
    r"^not significantly worse(?: than (?P<name>\S+))?(?: on any (?P<column>\S+))?$"
)
_FORMS = (
    "write '>= 0.70', '<= 0.10', '0.729 within 0.02', 'no worse by more than 0.02' or "
    "'not significantly worse on any kind'"
)


def parse_gates(table: Mapping[str, object], *, where: str = "assay.toml [gate]") -> tuple[Gate, ...]:
    """Return the gates of a table, in its order, one a rule.

    Raises:
        ConfigError: keys or rules cannot be read: all of them, each with the forms that can.

    >>> [gate.name for gate in parse_gates({"pool: recall@50": ">= 0.80"})]
    ['pool: recall@50 >= 0.80']
    """
    faults: list[Fault] = []
    gates: list[Gate] = []
    for key, value in table.items():
        figure = _read_key(key, where)
        if isinstance(figure, Fault):
            faults.append(figure)
            continue
        for rule in _rules(value):
            gate = _read_rule(figure, rule, f"{where} {key!r}")
            if isinstance(gate, Fault):
                faults.append(gate)
            else:
                gates.append(gate)
    if faults:
        raise ConfigError(faults)
    return tuple(gates)


def read_figure(written: str) -> tuple[Fraction, int]:
    """Return a figure exactly, and how many decimals it was written with.

    Raises:
        ValueError: it divides by 0.

    >>> read_figure("0.70"), read_figure("2/3"), read_figure("72.9 %")
    ((Fraction(7, 10), 2), (Fraction(2, 3), 0), (Fraction(729, 1000), 3))
    """
    plain = written.replace(" ", "")
    if "/" in plain:
        above, below = plain.split("/")
        if int(below) == 0:
            raise ValueError(f"{written} divides by 0")
        return Fraction(int(above), int(below)), 0
    percent = plain.endswith("%")
    plain = plain.removesuffix("%")
    mantissa, _, power = plain.lower().partition("e")
    decimals = len(mantissa.partition(".")[2]) - int(power or 0) + (2 if percent else 0)
    return Fraction(plain) / (100 if percent else 1), max(0, decimals)


def _read_key(key: str, where: str) -> Gate | Fault:
    """Return a gate that names its figure and has no rule yet."""
    match = _KEY.match(key)
    if match is None:
        return Fault(
            where=f"{where} {key!r}",
            what="this does not name a figure",
            fix="write 'recall@10', 'recall@10 [conceptual]', 'recall@10 [language=de]' or 'pool: recall@50'",
        )
    try:
        parse_measure(match["measure"])
    except InputError as error:
        [fault] = error.faults
        return replace(fault, where=f"{where} {key!r}")
    return Gate(
        key=" ".join(key.split()),
        written="",
        stage=match["stage"].strip() if match["stage"] else None,
        measure=match["measure"].strip(),
        column=match["column"] or "kind",
        group=match["group"],
        rule="floor",
    )


def _rules(value: object) -> list[object]:
    if isinstance(value, list | tuple):
        return [rule for entry in cast("Sequence[object]", value) for rule in _rules(entry)]
    if isinstance(value, str):
        return [part.strip().removeprefix("and ").strip() for part in value.split(",")]
    return [value]


def _read_rule(figure: Gate, rule: object, where: str) -> Gate | Fault:
    if isinstance(rule, int | float) and not isinstance(rule, bool):
        rule = f">= {rule!r}"
    if not isinstance(rule, str):
        return Fault(where=where, what=f"a rule is text, not {rule!r}", fix=_FORMS)
    written = " ".join(rule.split())
    unruled = replace(figure, written=written)
    try:
        gate = _bound(unruled) or _pin(unruled) or _against(unruled)
    except ValueError as error:
        return Fault(where=where, what=str(error), fix=_FORMS)
    return gate or Fault(where=where, what=f"{written!r} is no rule", fix=_FORMS)


def _bound(gate: Gate) -> Gate | None:
    match = _BOUND.match(gate.written)
    if match is None:
        return None
    value, decimals = read_figure(match["figure"])
    floor = match["sign"] in (">=", "≥", "at least")
    return replace(gate, rule="floor" if floor else "cap", figure=value, decimals=decimals)


def _pin(gate: Gate) -> Gate | None:
    match = _PIN.match(gate.written)
    if match is None:
        return None
    value, decimals = read_figure(match["figure"])
    tolerance, finer = read_figure(match["tolerance"])
    return replace(gate, rule="pin", figure=value, tolerance=tolerance, decimals=max(decimals, finer))


def _against(gate: Gate) -> Gate | None:
    worse = _NO_WORSE.match(gate.written)
    if worse is not None:
        tolerance, decimals = read_figure(worse["tolerance"] or "0")
        return replace(gate, rule="no worse", tolerance=tolerance, decimals=decimals, baseline=worse["name"])
    proven = _NOT_SIGNIFICANT.match(gate.written)
    if proven is None:
        return None
    return replace(gate, rule="not significantly worse", baseline=proven["name"], each=proven["column"])
