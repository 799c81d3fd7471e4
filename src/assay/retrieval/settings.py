"""Every knob of the reference pipeline, each under the name that ``assay.toml`` and sweeps use.

``[pipeline]`` holds ``k``, ``pool``, ``depth`` and ``mmr``, and one table a stage::

    [pipeline]
    pool = 50
    mmr = 0.9                     # or "off"
    reranker = "lexical"          # short for [pipeline.reranker] name = "lexical"

    [pipeline.embedder]
    name = "hashing"
    dimensions = 1024

    [pipeline.fusion.weights]
    fulltext = 2.0
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, cast

import msgspec
from msgspec import Meta, Struct

from assay.model.errors import ConfigError, Fault, nearest
from assay.model.settings import read_settings, unknown_key
from assay.retrieval.models.protocols import EmbedderSettings, RerankerSettings
from assay.retrieval.models.registry import EMBEDDERS, RERANKERS

Count = Annotated[int, Meta(ge=1)]
Weight = Annotated[float, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
MMR = 0.9
"""The balance of relevance and diversity where nothing is said."""


class RewriteSettings(Struct, frozen=True, kw_only=True):
    """``[pipeline.rewrite]``: what is done to a query before it is searched for."""

    name: Literal["none", "prf"] = "none"
    """``prf``: pseudo-relevance feedback, words of the best full-text hits are added to the query."""
    chunks: Count = 5
    """How many hits the words are taken from."""
    terms: Count = 10
    """How many words are added."""
    weight: Weight = 0.4
    """What the added words weigh together, against 1 for each of the query's own."""


class VectorSettings(Struct, frozen=True, kw_only=True):
    """``[pipeline.vector]``: the list of exact vector search. ``vector = false`` turns it off."""

    enabled: bool = True


class FulltextSettings(Struct, frozen=True, kw_only=True):
    """``[pipeline.fulltext]``: the list of BM25. ``fulltext = false`` turns it off."""

    enabled: bool = True
    k1: Weight = 1.2
    """How fast repeats of a word stop counting."""
    b: Share = 0.75
    """How much long chunks are held back."""
    stemming: bool = True
    """Whether ``chunks`` finds ``chunk`` (English)."""
    stop_words: bool = True
    """Whether English stop words are left out."""


class FusionWeights(Struct, frozen=True, kw_only=True):
    """``[pipeline.fusion.weights]``: one weight a list; 1 where nothing is said."""

    vector: Weight | None = None
    fulltext: Weight | None = None


class FusionSettings(Struct, frozen=True, kw_only=True):
    """``[pipeline.fusion]``: how the lists become one pool."""

    name: Literal["rrf", "minmax"] = "rrf"
    """``rrf``: sum of weight / (k_rrf + rank). ``minmax``: sum of weight times the score scaled to 0..1."""
    k_rrf: Weight = 60.0
    weights: FusionWeights = FusionWeights()


class PipelineSettings(Struct, frozen=True, kw_only=True):
    """The whole reference pipeline. Made by `read_pipeline`, which checks its wiring."""

    rewrite: RewriteSettings = RewriteSettings()
    embedder: EmbedderSettings = EMBEDDERS["hashing"].settings()
    vector: VectorSettings = VectorSettings()
    fulltext: FulltextSettings = FulltextSettings()
    fusion: FusionSettings = FusionSettings()
    reranker: RerankerSettings = RERANKERS["lexical"].settings()
    mmr: Share | Literal["off"] | None = None
    """Balance of relevance (1) against diversity (0); ``off`` leaves the order alone.
    Where nothing is said: 0.9 with the vector list, off without it."""
    depth: Count = 200
    """Length of the first-stage lists: what fusion sees and what the trace stores.
    The rank of a watched chunk is known however deep it stands."""
    pool: Count = 50
    """Length of the fused list."""
    k: Count = 10
    """How many chunks reach the prompt."""

    @property
    def lists(self) -> tuple[str, ...]:
        """Names of the first-stage lists, in order of fusion."""
        return tuple(
            name for name, on in (("vector", self.vector.enabled), ("fulltext", self.fulltext.enabled)) if on
        )

    @property
    def list_weights(self) -> dict[str, float]:
        """List -> its weight in the fusion."""
        given = {"vector": self.fusion.weights.vector, "fulltext": self.fusion.weights.fulltext}
        return {name: 1.0 if (weight := given[name]) is None else weight for name in self.lists}

    @property
    def balance(self) -> float | None:
        """Balance of the diversity stage, or None where there is none."""
        if self.mmr is None:
            return MMR if self.vector.enabled else None
        return None if self.mmr == "off" else self.mmr

    @property
    def in_force(self) -> PipelineSettings:
        """The same settings with the balance and the weights that hold where nothing is said.

        >>> PipelineSettings().in_force.mmr, PipelineSettings().in_force.fusion.weights.vector
        (0.9, 1.0)
        >>> PipelineSettings(vector=VectorSettings(enabled=False)).in_force.mmr
        'off'
        """
        fusion = msgspec.structs.replace(self.fusion, weights=FusionWeights(**self.list_weights))
        return msgspec.structs.replace(
            self, mmr="off" if self.balance is None else self.balance, fusion=fusion
        )

    @property
    def reranked(self) -> int:
        """How many rows of the pool the reranker is sent."""
        return self.pool if self.reranker.top_n is None else self.reranker.top_n


_TABLES: Mapping[str, type[Struct]] = {
    "rewrite": RewriteSettings,
    "vector": VectorSettings,
    "fulltext": FulltextSettings,
    "fusion": FusionSettings,
}
_MODELS = {"embedder": EMBEDDERS, "reranker": RERANKERS}
_SCALARS = ("mmr", "depth", "pool", "k")


def read_pipeline(values: Mapping[str, Any], *, where: str = "[pipeline]") -> PipelineSettings:
    """Read the settings of a pipeline from plain values and check how they fit together.

    ``reranker = "lexical"`` is short for a table with that name, and ``vector = false`` for
    ``enabled = false``.

    Raises:
        ConfigError: a name is unknown, a value is wrong or the stages do not fit; all faults are listed.

    >>> read_pipeline({"pool": 20, "embedder": {"dimensions": 256}, "reranker": "none"}).pool
    20
    >>> read_pipeline({"pools": 20, "reranker": "lexicon"})
    Traceback (most recent call last):
    ...
    assay.model.errors.ConfigError: [pipeline] pools: there is no such setting
      fix: did you mean 'pool'?
    [pipeline] reranker: there is no 'lexicon'
      fix: did you mean 'lexical'?
    """
    known = [*_TABLES, *_MODELS, *_SCALARS]
    faults = [unknown_key(key, known, where) for key in values if key not in known]
    fields: dict[str, Any] = {}
    for key, value in values.items():
        if key in _SCALARS:
            _read_scalar(key, value, where, fields, faults)
        elif key in known:
            _read_table(key, value, where, fields, faults)
    settings = PipelineSettings(**fields)
    faults += wiring_faults(settings, where=where, skip=_touched(faults, where))
    if faults:
        raise ConfigError(faults)
    return settings


def wiring_faults(
    settings: PipelineSettings, *, where: str = "[pipeline]", skip: frozenset[str] = frozenset()
) -> list[Fault]:
    """Return all that does not fit between the stages: nothing has to run to find it.

    Args:
        settings: the pipeline.
        where: how a fault names the table.
        skip: settings whose value is already known to be wrong; what depends on them is not judged.

    >>> [fault.what for fault in wiring_faults(PipelineSettings(pool=5, k=10))]
    ['pool 5 is below k 10: the prompt could never be filled']
    """
    checks = (
        (_list_faults, {"vector", "fulltext"}),
        (_weight_faults, {"vector", "fulltext", "fusion"}),
        (_cut_faults, {"pool", "k", "depth"}),
        (_reranker_faults, {"pool", "k", "reranker"}),
        (_need_faults, {"vector", "fulltext", "mmr", "rewrite"}),
    )
    return [
        Fault(where=f"{where} {key}", what=what, fix=fix)
        for check, needs in checks
        if not needs & skip
        for key, what, fix in check(settings)
    ]


def describe(settings: Struct) -> dict[str, Any]:
    """Return settings as plain JSON values: what the manifest of a run shows.

    >>> describe(PipelineSettings())["fusion"]["name"]
    'rrf'
    """
    return cast("dict[str, Any]", msgspec.to_builtins(settings))


def digest(*parts: object) -> str:
    """Return the content address (16 hex digits) of settings and plain values.

    >>> digest(PipelineSettings()) == digest(PipelineSettings(pool=50))
    True
    """
    plain = [_essence(part) for part in parts]
    return hashlib.sha256(json.dumps(plain, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:16]


def _essence(part: object) -> object:
    """Return plain values without the knobs that never change what comes out."""
    if isinstance(part, Struct):
        silent = getattr(type(part), "silent", frozenset[str]())
        names = (field.name for field in msgspec.structs.fields(part))
        return {name: _essence(getattr(part, name)) for name in names if name not in silent}
    if isinstance(part, list | tuple):
        return [_essence(one) for one in cast("Sequence[object]", part)]
    return msgspec.to_builtins(part)


def _read_scalar(key: str, value: object, where: str, fields: dict[str, Any], faults: list[Fault]) -> None:
    kind = {field.name: field.type for field in msgspec.structs.fields(PipelineSettings)}[key]
    if key == "mmr" and value is False:
        value = "off"
    try:
        fields[key] = msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        sentence = str(error).replace("`", "")
        told = sentence[:1].lower() + sentence[1:]
        fix = 'a number from 0 to 1, or "off"' if key == "mmr" else "a whole number, 1 or more"
        faults.append(Fault(where=f"{where} {key}", what=f"{told}; it is {value!r}", fix=fix))


def _read_table(key: str, value: object, where: str, fields: dict[str, Any], faults: list[Fault]) -> None:
    table = _as_table(key, value)
    if table is None:
        faults.append(Fault(where=f"{where} {key}", what=f"should be a table, not {value!r}"))
        return
    kind = _TABLES.get(key)
    if kind is None:
        default = "hashing" if key == "embedder" else "lexical"
        name = table.get("name", default)
        known = _MODELS[key]
        if not isinstance(name, str) or name not in known:
            close = nearest(str(name), list(known))
            fix = f"did you mean {close!r}?" if close else f"known are {', '.join(known)}"
            faults.append(Fault(where=f"{where} {key}", what=f"there is no {name!r}", fix=fix))
            return
        kind = known[name].settings
    place = f"{where[:-1]}.{key}]" if where.endswith("]") else f"{where}.{key}"
    if key == "fusion" and isinstance(table.get("weights"), dict):
        weights, more = read_settings(FusionWeights, table["weights"], f"{place[:-1]}.weights]")
        faults += more
        table["weights"] = msgspec.to_builtins(weights or FusionWeights())
    settings, more = read_settings(kind, table, place)
    faults += more
    if settings is not None:
        fields[key] = settings


def _as_table(key: str, value: object) -> dict[str, Any] | None:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Any]", value))
    if isinstance(value, bool) and key in ("vector", "fulltext"):
        return {"enabled": value}
    if isinstance(value, bool) and key in ("reranker", "rewrite") and not value:
        return {"name": "none"}
    if isinstance(value, str) and key not in ("vector", "fulltext"):
        return {"name": value}
    return None


def _touched(faults: list[Fault], where: str) -> frozenset[str]:
    """Return the top-level settings that some fault speaks of."""
    head = where.removesuffix("]")
    rests = [fault.where.removeprefix(head).lstrip("]. ") for fault in faults]
    return frozenset(rest.replace("]", " ").replace(".", " ").split(" ")[0] for rest in rests if rest)


_Check = list[tuple[str, str, str]]


def _list_faults(settings: PipelineSettings) -> _Check:
    if settings.lists:
        return []
    return [("vector", "both lists are off: nothing would be searched", "turn on vector or fulltext")]


def _weight_faults(settings: PipelineSettings) -> _Check:
    given = {"vector": settings.fusion.weights.vector, "fulltext": settings.fusion.weights.fulltext}
    found = [
        (f"fusion.weights.{name}", f"weighs the {name} list, which is off", f"turn on {name} or drop it")
        for name, weight in given.items()
        if weight is not None and name not in settings.lists
    ]
    if settings.lists and not any(settings.list_weights.values()):
        found.append(("fusion.weights", "every weight is 0: the pool would have no order", "give one list 1"))
    return found


def _cut_faults(settings: PipelineSettings) -> _Check:
    found: _Check = []
    if settings.pool < settings.k:
        what = f"pool {settings.pool} is below k {settings.k}: the prompt could never be filled"
        found.append(("pool", what, f"pool = {settings.k} or more"))
    if settings.depth < settings.pool:
        what = f"depth {settings.depth} is below pool {settings.pool}: one list alone could not fill the pool"
        found.append(("depth", what, f"depth = {settings.pool} or more"))
    return found


def _reranker_faults(settings: PipelineSettings) -> _Check:
    reranker = settings.reranker
    if reranker.name == "none" or reranker.top_n is None:
        return []
    if reranker.top_n > settings.pool:
        what = f"top_n {reranker.top_n} is above pool {settings.pool}: there is nothing more to send"
        return [("reranker.top_n", what, f"top_n = {settings.pool} or less, or a larger pool")]
    if reranker.top_n < settings.k and not reranker.backfill:
        what = f"top_n {reranker.top_n} is below k {settings.k} and nothing is back-filled"
        return [("reranker.top_n", what, f"top_n = {settings.k} or more, or backfill = true")]
    return []


def _need_faults(settings: PipelineSettings) -> _Check:
    found: _Check = []
    if settings.balance is not None and settings.lists and not settings.vector.enabled:
        found.append(("mmr", "needs vectors, and the vector list is off", 'mmr = "off", or turn on vector'))
    if settings.rewrite.name == "prf" and settings.lists and not settings.fulltext.enabled:
        what = "takes its words from the full-text list, which is off"
        found.append(("rewrite", what, 'rewrite = "none", or turn on fulltext'))
    return found
