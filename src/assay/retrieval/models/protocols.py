"""What the pipeline asks of a model: an embedder makes vectors, a reranker makes scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar, Protocol, runtime_checkable

import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

from assay.model.documents import Chunk
from assay.retrieval.terms import TermIndex

State = Mapping[str, NDArray[np.generic]]
"""What an embedder had to learn of the corpus, as named arrays: a part of the index."""


class EmbedderSettings(Struct, frozen=True, kw_only=True):
    """The knobs of an embedder; each embedder has its own kind."""

    silent: ClassVar[frozenset[str]] = frozenset()
    """Knobs that change how fast it works, and never what comes out: no digest holds them."""
    name: str = ""


class RerankerSettings(Struct, frozen=True, kw_only=True):
    """The knobs that every reranker has; each reranker adds its own."""

    silent: ClassVar[frozenset[str]] = frozenset()
    """Knobs that change how fast it works, and never what comes out: no digest holds them."""
    name: str = ""
    top_n: Annotated[int, Meta(ge=1)] | None = None
    """How many rows of the pool it is sent, from the top; the whole pool where nothing is said."""
    backfill: bool = False
    """Whether rows that were not sent, or that it did not return, follow in their incoming order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Where a model works: what it needs besides its settings."""

    folder: Path | None = None
    """Model folders in the settings are relative to this one; None: to the working folder."""
    cache: Path | None = None
    """Where paid or slow answers are kept from one run to the next; None: not beyond the process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReport:
    """What a model did since it was last asked."""

    texts: int = 0
    """Texts (an embedder's) or query-passage pairs (a reranker's) that it read."""
    tokens: int = 0
    """Tokens in them, as the model (or its server) counts."""
    cut: tuple[int, ...] = ()
    """Which texts were longer than the model reads, by their order since it was last asked."""
    cut_tokens: int = 0
    """Tokens that it did not read."""
    requests: int = 0
    """Calls of a server that were answered."""
    retries: int = 0
    """Calls that were made again."""
    kept: int = 0
    """Texts or pairs whose answer was there already, and cost nothing."""
    malformed: int = 0
    """Answers that were not in the form asked for; nothing was read out of them."""
    cost: float = 0.0
    """What the tokens cost, where the settings give a price."""


NOTHING_DONE = ModelReport()


@runtime_checkable
class Reporting(Protocol):
    """A model that says what it did."""

    def take_report(self) -> ModelReport:
        """Say what was done since this was last asked, and count from 0 again."""
        ...


@runtime_checkable
class Blockwise(Protocol):
    """An embedder that works long: it is given so many passages at a time, and progress is told between."""

    @property
    def block(self) -> int:
        """How many."""
        ...


class Embedder(Protocol):
    """Texts to vectors. The pipeline normalises them to length 1; a row of zeros says nothing."""

    @property
    def dimensions(self) -> int:
        """Length of its vectors."""
        ...

    def fit(self, passages: Sequence[str]) -> State:
        """Return what it must know of the corpus; an empty mapping for most embedders."""
        ...

    def embed_passages(self, texts: Sequence[str], state: State) -> NDArray[np.float32]:
        """Return one row a text."""
        ...

    def embed_queries(self, texts: Sequence[str], state: State) -> NDArray[np.float32]:
        """Return one row a text, with whatever the model puts before a query."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """What a reranker may read: the chunks of the corpus, and their words."""

    chunks: Sequence[Chunk]
    terms: TermIndex
    """Stemmed content words of each chunk, its context first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A reranker's answer for one query: rows in any order, and perhaps not all."""

    places: NDArray[np.int64]
    """Which candidate each row speaks of, counted from 0 in the order in which they were sent."""
    scores: NDArray[np.float64]
    """Higher is better; NaN where it has none."""
    read: Mapping[int, int] = field(default_factory=dict[int, int])
    """Candidates of which the model read only a part: place -> signs of ``Chunk.searchable`` that it read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """How much a model reads of query and passage together, in its own tokens."""

    max_length: int
    special_tokens: int = 3
    """Signs of the model's own around query and passage."""
    holds_query: bool = True
    """Whether the query takes its part of the window; False: passages are read apart from it."""

    def budget(self, query_tokens: int) -> int:
        """Return how many tokens of the passage are read beside a query of that length.

        >>> Window(max_length=512).budget(6)
        503
        """
        query = query_tokens if self.holds_query else 0
        return max(0, self.max_length - self.special_tokens - query)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """Whether a model could see an anchor inside a chunk."""

    visible: bool
    budget: int
    flag: str | None
    """The sentence for people when it could not; None when it could."""


def visible_window(window: Window, *, query_tokens: int, anchor: tuple[int, int]) -> Sight:
    """Say whether an anchor lies whole within what a model reads of its chunk.

    Args:
        window: the model's window.
        query_tokens: length of the query in the model's tokens.
        anchor: first and last token of the anchor in its chunk, counted from 0, the last one included.

    >>> visible_window(Window(max_length=512), query_tokens=6, anchor=(519, 522)).flag
    'anchor beyond reranker window (starts at word 519, budget 503)'
    >>> visible_window(Window(max_length=512), query_tokens=6, anchor=(10, 14)).visible
    True
    """
    budget = window.budget(query_tokens)
    first, last = anchor
    if last < budget:
        return Sight(visible=True, budget=budget, flag=None)
    if first < budget:
        flag = f"anchor cut by reranker window (ends at word {last}, budget {budget})"
    else:
        flag = f"anchor beyond reranker window (starts at word {first}, budget {budget})"
    return Sight(visible=False, budget=budget, flag=flag)


class Reranker(Protocol):
    """Scores the candidates of one query."""

    @property
    def window(self) -> Window | None:
        """What it reads at most; None when it reads everything."""
        ...

    def rerank(self, query: str, positions: NDArray[np.int32], candidates: Candidates) -> Reply:
        """Score the chunks at those positions, which come best first."""
        ...
