"""Figures of a measured run by name: what tests of people's own projects ask for.

``figures["recall@10"]``, ``figures["recall@10 [conceptual]"]``, ``figures["pool: recall@50"]``: the names
are those of gates. Rooms: comparison (names, exact figures, causes).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import fsum
from operator import eq, ge, gt, le, lt
from pathlib import Path
from typing import Self

from assay.comparison.baseline import load_baseline
from assay.comparison.causes import find_causes
from assay.comparison.exact import exact_value
from assay.comparison.gate_grammar import parse_gates
from assay.comparison.measured import measure_gate
from assay.flows.evaluate import Evaluation
from assay.flows.gate import baseline_path, gate_tables
from assay.model.gates import Baseline, Cause


class Figure(float):
    """A mean that knows its queries; it compares exactly, so that at the floor it passes.

    It is the float of the mean. Comparing takes the simplest fraction that the float stands for, and the
    other number as it is written: a mean of 1, 1, 1, 1/2 and 0 is at least 0.7.

    >>> Figure(0.1 + 0.2) <= 0.3
    True
    """

    __slots__ = ("higher", "lower", "n", "name")
    name: str
    n: int
    lower: tuple[Cause, ...]
    """The queries that keep the figure from being higher, worst first."""
    higher: tuple[Cause, ...]
    """The queries that keep it from being lower."""

    def __new__(
        cls,
        value: float,
        *,
        name: str = "",
        n: int = 0,
        lower: tuple[Cause, ...] = (),
        higher: tuple[Cause, ...] = (),
    ) -> Self:
        figure = super().__new__(cls, value)
        figure.name, figure.n, figure.lower, figure.higher = name, n, lower, higher
        return figure

    def __ge__(self, other: object) -> bool:
        return self._compare(ge, other)

    def __gt__(self, other: object) -> bool:
        return self._compare(gt, other)

    def __le__(self, other: object) -> bool:
        return self._compare(le, other)

    def __lt__(self, other: object) -> bool:
        return self._compare(lt, other)

    def __eq__(self, other: object) -> bool:
        return self._compare(eq, other)

    def __hash__(self) -> int:
        return float.__hash__(self)

    def _compare(self, operator: Callable[[Fraction, Fraction], bool], other: object) -> bool:
        if isinstance(other, Figure):
            return operator(exact_value(float(self)), exact_value(float(other)))
        if isinstance(other, float):
            # inf and nan are no fractions; a float decides as it always does.
            finite = other - other == 0.0
            return (
                operator(exact_value(float(self)), Fraction(repr(float(other))))
                if finite
                else operator(float(self), other)  # type: ignore[arg-type] # floats compare alike
            )
        if isinstance(other, int | Fraction | Decimal):
            return operator(exact_value(float(self)), Fraction(other))
        return NotImplemented


@dataclass(frozen=True, kw_only=True)
class Figures:
    """The figures of one measured run, by the names that gates use."""

    evaluation: Evaluation
    baseline: Baseline | None = None
    """When there is one, what moved since it stands first among a figure's queries."""

    def __getitem__(self, name: str) -> Figure:
        """Return a figure.

        Raises:
            ConfigError: the name names no figure.
            KeyError: it was not measured; the message says why.
        """
        (gate,) = parse_gates({name: ">= 0"}, where="assay_run")
        evaluation = self.evaluation
        run = evaluation.run
        errors = {run.query_ids[place]: why for place, why in run.final.errors.items()}
        measured = measure_gate(gate, gate_tables(evaluation, [gate]), final=run.final.name, errors=errors)
        if isinstance(measured, str):
            raise KeyError(f"{name}: {measured}")
        before = None if self.baseline is None else self.baseline.tables.get(measured.stage)
        scores: list[float] = measured.scores.tolist()
        return Figure(
            fsum(scores) / len(scores),
            name=name,
            n=len(scores),
            lower=find_causes(measured, "more", before),
            higher=find_causes(measured, "less", before),
        )


def figures_of(evaluation: Evaluation, *, baseline: Path | None = None) -> Figures:
    """Return the figures of a measured run, beside the project's baseline where there is one.

    Raises:
        InputError: the baseline was named and is not there, or is broken.
    """
    named, path = baseline_path(evaluation.project, baseline)
    held = load_baseline(path) if named or path.is_file() else None
    return Figures(evaluation=evaluation, baseline=held)
