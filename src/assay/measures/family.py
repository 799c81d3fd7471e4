"""What a measure is: a family (nDCG, recall, ...) with its cut and its options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from assay.measures.columns import Columns, Floats
from assay.measures.gains import Gain
from assay.measures.ranked import Relevant

Option = Literal["rel", "gain", "capped", "p", "beta", "max"]
Cut = Literal["needed", "optional", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One measure, ready to compute: equal to another when all but the spelling agrees."""

    family: Family
    k: int | None = None
    """Only the first k ranks count; None: the whole list."""
    rel: float | None = None
    """Least grade that counts as relevant; None: any grade above 0."""
    gain: Gain = "linear"
    capped: bool = False
    """Divide by what the best list could hold by k, not by all that is relevant."""
    p: float = 0.8
    """RBP: how likely the reader goes on to the next rank."""
    beta: float = 1.0
    """SetF: how much more recall weighs than precision."""
    max_grade: float = 4.0
    """ERR: the highest grade of the scale."""
    spelling: str = field(default="", compare=False)
    """As it was asked for (``MRR@10``): the name of its column."""

    @property
    def canonical(self) -> str:
        """The one spelling that all spellings of the measure share: ``RR@10`` for ``MRR@10``."""
        shown = [text for text in (_option_text(self, option) for option in self.family.options) if text]
        options = f"({','.join(shown)})" if shown else ""
        return f"{self.family.name}{options}{'' if self.k is None else f'@{self.k}'}"

    def __str__(self) -> str:
        return self.spelling or self.canonical


Kernel: TypeAlias = Callable[[Columns, Measure], Floats]
Textbook: TypeAlias = Callable[[Sequence[str], Relevant, Measure], "float | None"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A kind of measure: what it says, and its two computations, equal to the bit."""

    name: str
    """The spelling of tables: ``nDCG``, ``recall``."""
    aliases: tuple[str, ...] = ()
    """Other spellings, any letter case: ``R``, ``MRR``, ``ndcg_cut``."""
    description: str
    """One sentence: what the number says."""
    cut: Cut = "optional"
    """Whether ``@k`` is needed, optional, or has no meaning."""
    options: tuple[Option, ...] = ()
    high: float | None = 1.0
    """The largest value; None: there is no bound. The smallest is 0 for every measure."""
    better: Literal["higher", "lower"] = "higher"
    undefined: str = "nothing is relevant"
    """When a query has no value."""
    ceiling: str
    """What the best list that the set allows scores, and why it may be below the top of the range."""
    shared_ranks: str
    """What happens when one hit earns several anchors at once (the anchor unit)."""
    source: str
    """Who defined it."""
    kernel: Kernel = field(repr=False)
    """Many lists at once; NaN where undefined."""
    textbook: Textbook = field(repr=False)
    """One list; None where undefined."""


def _option_text(measure: Measure, option: Option) -> str:
    match option:
        case "rel":
            return "" if measure.rel is None else f"rel={_plain(measure.rel)}"
        case "gain":
            return "" if measure.gain == "linear" else f"gain={measure.gain}"
        case "capped":
            return "capped=true" if measure.capped else ""
        case "p":
            return f"p={_plain(measure.p)}"
        case "beta":
            return "" if measure.beta == 1.0 else f"beta={_plain(measure.beta)}"
        case "max":
            return "" if measure.max_grade == 4.0 else f"max={_plain(measure.max_grade)}"


def _plain(number: float) -> str:
    return str(int(number)) if number == int(number) else repr(number)
