"""The knobs that ``--try`` turns: for each fix, one setting changed at a time, the cheapest kinds first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

LARGER_POOL, NO_RERANKER, NO_MMR = "larger-pool", "no-reranker", "no-mmr"
CHEAPEST_FIRST = (
    NO_MMR,
    NO_RERANKER,
    "hybrid-weights",
    LARGER_POOL,
    "query-rewrite",
    "contextual-chunk-headers",
    "smaller-chunks",
    "better-embedder",
)
"""Fixes by what they cost to have: less work, other numbers, more work a query, a new index, a new model.

A team's own fixes stand after those that need no new index."""
_OWN = CHEAPEST_FIRST.index("contextual-chunk-headers")
_WEIGHTS = (0.25, 0.5, 2.0, 4.0)
"""Of the full-text list, against 1 for the vector list."""
_SIZES = ("max_chars", "size", "chunk_size", "max_tokens")
_OVERLAPS = ("overlap", "chunk_overlap")
_SMALLEST = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Knob:
    """One change of settings, made for one fix."""

    fix: str
    change: Mapping[str, Any]
    """Setting -> value, as ``assay run --set`` takes them."""

    @property
    def price(self) -> float:
        """Where it stands among the fixes, the cheapest first."""
        return CHEAPEST_FIRST.index(self.fix) if self.fix in CHEAPEST_FIRST else _OWN - 0.5

    @property
    def rebuild(self) -> bool:
        """Whether chunks, embeddings or an index have to be made again."""
        heads = ("chunker", "pipeline.embedder", "pipeline.fulltext", "pipeline.vector", "corpus")
        return any(path.startswith(heads) for path in self.change)


def knobs(
    pipeline: Mapping[str, Any],
    chunker: Mapping[str, Any],
    *,
    embedders: Sequence[str] = (),
    own: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    reference: bool = True,
) -> tuple[Knob, ...]:
    """Return what can be turned, the cheapest first; a knob that stands there already is left out.

    Args:
        pipeline: the settings of the reference pipeline, every default filled in.
        chunker: the settings of the chunker, every default filled in.
        embedders: other embedders that are installed.
        own: a team's own fixes: fix -> changes.
        reference: whether the project runs the reference pipeline; else only the team's own fixes apply.

    >>> [knob.fix for knob in knobs({"mmr": 0.9, "pool": 50, "depth": 200}, {})]
    ['no-mmr', 'larger-pool']
    """
    found: list[Knob] = []
    if reference:
        for turn in (_mmr, _reranker, _weights, _pool, _rewrite):
            found += turn(pipeline)
        found += _headers(chunker)
        found += _sizes(chunker)
        found += [knob for name in embedders for knob in _embedder(name, pipeline)]
    for fix, changes in (own or {}).items():
        found += [Knob(fix=fix, change=change) for change in changes]
    return tuple(sorted(found, key=lambda knob: knob.price))


Turn = Callable[[Mapping[str, Any]], list[Knob]]


def _mmr(pipeline: Mapping[str, Any]) -> list[Knob]:
    on = isinstance(pipeline.get("mmr"), int | float) and pipeline["mmr"] < 1
    return [Knob(fix=NO_MMR, change={"pipeline.mmr": "off"})] if on else []


def _reranker(pipeline: Mapping[str, Any]) -> list[Knob]:
    on = _named(pipeline, "reranker") not in (None, "none")
    return [Knob(fix=NO_RERANKER, change={"pipeline.reranker": "none"})] if on else []


def _weights(pipeline: Mapping[str, Any]) -> list[Knob]:
    both = all(_table(pipeline, name).get("enabled") for name in ("vector", "fulltext"))
    held = _table(_table(pipeline, "fusion"), "weights")
    now = (held.get("fulltext") or 1.0) / (held.get("vector") or 1.0)
    return [
        Knob(
            fix="hybrid-weights",
            change={"pipeline.fusion.weights.fulltext": weight}
            | ({"pipeline.fusion.weights.vector": 1.0} if held.get("vector") not in (None, 1.0) else {}),
        )
        for weight in (*_WEIGHTS, 1.0)
        if both and weight != now
    ]


def _pool(pipeline: Mapping[str, Any]) -> list[Knob]:
    pool, depth = pipeline.get("pool", 0), pipeline.get("depth", 0)
    deeper = {"pipeline.depth": 2 * pool} if depth < 2 * pool else {}
    return [Knob(fix=LARGER_POOL, change={"pipeline.pool": 2 * pool, **deeper})] if pool else []


def _rewrite(pipeline: Mapping[str, Any]) -> list[Knob]:
    off = _named(pipeline, "rewrite") == "none" and _table(pipeline, "fulltext").get("enabled")
    return [Knob(fix="query-rewrite", change={"pipeline.rewrite": "prf"})] if off else []


def _embedder(name: str, pipeline: Mapping[str, Any]) -> list[Knob]:
    """Another embedder; then also without a reranker that goes by words, and with less weight on words.

    Both undo what meaning found, so that the embedder alone would be judged by them.
    """
    changes: list[dict[str, Any]] = [{"pipeline.embedder": {"name": name}}]
    if _named(pipeline, "reranker") == "lexical":
        changes.append({**changes[-1], "pipeline.reranker": "none"})
    if _table(pipeline, "fulltext").get("enabled"):
        changes.append({**changes[-1], "pipeline.fusion.weights.fulltext": _WEIGHTS[0]})
    return [Knob(fix="better-embedder", change=change) for change in changes]


def _headers(chunker: Mapping[str, Any]) -> list[Knob]:
    if chunker.get("context", "headings") == "headings":
        return []
    return [Knob(fix="contextual-chunk-headers", change={"chunker.context": "headings"})]


def _sizes(chunker: Mapping[str, Any]) -> list[Knob]:
    """Half the size, half with a quarter of it repeated, and the size as it is with half of it repeated."""
    size_key = next((key for key in _SIZES if isinstance(chunker.get(key), int)), None)
    overlap_key = next((key for key in _OVERLAPS if key in chunker), None)
    if size_key is None or chunker[size_key] < 2 * _SMALLEST:
        return []
    size = chunker[size_key]
    half = size // 2
    if overlap_key is None:
        changes = [{size_key: half}]
    else:
        overlap = min(chunker[overlap_key], half // 4)
        changes = [
            {size_key: half, overlap_key: overlap},
            {size_key: half, overlap_key: half // 4},
            {overlap_key: half},
        ]
    unlike: list[Knob] = []
    for change in changes:
        turned = {f"chunker.{key}": value for key, value in change.items() if chunker[key] != value}
        if turned and all(turned != knob.change for knob in unlike):
            unlike.append(Knob(fix="smaller-chunks", change=turned))
    return unlike


def _table(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    held = values.get(key)
    return cast("Mapping[str, Any]", held) if isinstance(held, Mapping) else {}


def _named(values: Mapping[str, Any], key: str) -> object:
    return _table(values, key).get("name")
