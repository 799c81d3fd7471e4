"""The page of every setting of ``assay.toml`` and ``sweep.toml``, from the structures that read them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, get_type_hints

import msgspec

from assay.building.chat import ModelTable
from assay.connectors.kinds import FieldSettings
from assay.connectors.registry import TYPES, connector_named
from assay.corpus.chunkers.registry import CHUNKERS
from assay.diagnosis.settings import FixTable, KindTable, When
from assay.flows.golden_draft import DraftTable
from assay.flows.golden_labels import LabelsTable
from assay.flows.golden_log import LogTable
from assay.flows.judge_settings import JudgeTable
from assay.flows.project import CorpusTable, GoldenTable, MeasureTable
from assay.flows.sweep_plan import HalvingTable, SweepTable
from assay.retrieval.models.registry import EMBEDDERS, RERANKERS
from assay.retrieval.settings import (
    FulltextSettings,
    FusionSettings,
    FusionWeights,
    PipelineSettings,
    RewriteSettings,
    VectorSettings,
)
from docsite.words import MARK, field_docs, plain, table, type_text, value_text

TABLES: Mapping[str, type[msgspec.Struct]] = {
    "corpus": CorpusTable,
    "golden": GoldenTable,
    "measure": MeasureTable,
    "pipeline": PipelineSettings,
    "pipeline.rewrite": RewriteSettings,
    "pipeline.vector": VectorSettings,
    "pipeline.fulltext": FulltextSettings,
    "pipeline.fusion": FusionSettings,
    "pipeline.fusion.weights": FusionWeights,
    "diagnosis.kinds.NAME": KindTable,
    "diagnosis.kinds.NAME.when": When,
    "diagnosis.fixes.NAME": FixTable,
    "judge": JudgeTable,
    "labels": LabelsTable,
    "draft": DraftTable,
    "log": LogTable,
}
"""Table of ``assay.toml`` -> the structure that reads it."""
CHOICES: Mapping[str, Mapping[str, type[Any]]] = {
    "chunker": {name: kind.settings_type for name, kind in CHUNKERS.items()},
    "pipeline.embedder": {name: known.settings for name, known in EMBEDDERS.items()},
    "pipeline.reranker": {name: known.settings for name, known in RERANKERS.items()},
    "retriever": {name: connector_named(name, "").settings for name in TYPES},
}
"""Table -> name -> the structure, where a name decides what else may stand there."""
TOP = [
    ["`name`", "text", "the folder's name", "What reports call the project."],
    ["`k`", "whole number, 1 or more", "`10`", "How many chunks the prompt gets: the cut of the headline."],
    ["`seed`", "whole number", "`0`", "Decides everything random; it is written into every result."],
]
ABOUT = {
    "chunker": '`chunker = "markdown"` is short for a table with that `name`.',
    "pipeline.embedder": '`embedder = "minilm"` is short for a table with that `name`. '
    "[Models](../models.md) says where each comes from.",
    "pipeline.reranker": '`reranker = "none"` is short for a table with that `name`.',
    "retriever": "In place of `[pipeline]`: somebody's own retriever. [Connectors](../connectors.md) shows each.",
}


def pages() -> dict[str, str]:
    """Return the one page."""
    parts = [MARK, "# Every setting\n\n", _INTRODUCTION, "## Above the tables\n\n"]
    parts.append(table(["setting", "value", "default", "meaning"], TOP))
    parts += [_section(f"`[{name}]`", TABLES[name]) for name in ("corpus", "golden", "measure")]
    parts.append(_choices("chunker"))
    parts += [_section(f"`[{name}]`", kind) for name, kind in TABLES.items() if name.startswith("pipeline")]
    parts += [_choices("pipeline.embedder"), _choices("pipeline.reranker"), _choices("retriever")]
    parts.append(_section("`[retriever.fields]`", FieldSettings))
    parts.append(_GATE)
    rest = [name for name in TABLES if name.split(".")[0] not in ("corpus", "golden", "measure", "pipeline")]
    parts += [_section(f"`[{name}]`", TABLES[name]) for name in rest]
    parts.append(_section("`[draft.model]`, `[judge.model]`", ModelTable))
    parts.append("\n# `sweep.toml`\n")
    parts += [_section("Above the tables of `sweep.toml`", SweepTable), _section("`[halving]`", HalvingTable)]
    return {"reference/settings.md": "".join(parts)}


def settings_of(kind: type[Any]) -> list[list[str]]:
    """Return one row a setting: name, value, default, meaning."""
    docs = field_docs(kind)
    return [
        [f"`{name}`", type_text(annotation), default, docs.get(name, OBVIOUS.get(name, ""))]
        for name, annotation, default in _fields(kind)
    ]


def _fields(kind: type[Any]) -> Iterator[tuple[str, Any, str]]:
    if dataclasses.is_dataclass(kind):
        hints = get_type_hints(kind, include_extras=True)
        for one in dataclasses.fields(kind):
            made = one.default_factory() if one.default_factory is not dataclasses.MISSING else one.default
            yield one.name, hints[one.name], _default(made, needed=made is dataclasses.MISSING)
        return
    for field in msgspec.structs.fields(kind):
        factory = field.default_factory
        yield (
            field.encode_name,
            field.type,
            _default(field.default if factory is msgspec.NODEFAULT else factory(), needed=field.required),
        )


def _default(value: object, *, needed: bool) -> str:
    return "**needed**" if needed else value_text(value)


def _section(title: str, kind: type[msgspec.Struct], level: int = 2) -> str:
    rows = settings_of(kind)
    told = f"\n{'#' * level} {title}\n\n{plain(kind.__doc__)}\n\n"
    return told + table(["setting", "value", "default", "meaning"], rows) if rows else told


def _choices(name: str) -> str:
    key = "type" if name == "retriever" else "name"
    parts = [f"\n## `[{name}]`\n\n{ABOUT[name]}\n"]
    parts += [_section(f'`{key} = "{one}"`', kind, 3) for one, kind in CHOICES[name].items()]
    return "".join(parts)


OBVIOUS = {
    "title": "Column of the title in a JSONL or CSV file.",
    "text": "Column or field of the text.",
    "exclude": "Globs below the folder that are left out.",
    "enabled": "Whether the list is asked at all.",
    "vector": "Weight of the vector list.",
    "fulltext": "Weight of the full-text list.",
    "k_rrf": "What is added to each rank, so that the first places do not decide alone.",
    "name": "The name that this table goes by.",
    "type": "The name that this table goes by.",
    "model": "The model's name at its server, or its folder.",
    "base_url": "Where the server listens, up to and with `/v1`.",
    "key_env": "Name of the environment variable with the key; left out: the server asks for none.",
    "timeout_s": "Seconds after which a call has failed.",
    "retries": "How often a call is made again after 408, 429, 5xx, a timeout or a lost connection.",
    "requests_per_minute": "The most calls a minute; left out: no limit.",
    "tokens_per_minute": "The most tokens a minute; left out: no limit.",
    "price_per_million_tokens": "What a million tokens cost, in any currency, for the run's account.",
    "seed": "Decides what is random.",
    "threads": "How many threads compute; results do not depend on it.",
    "batch_size": "How many texts a call; results do not depend on it.",
    "batch_tokens": "How many tokens are computed at a time; results do not depend on it.",
    "device": "Where the model computes: `cpu`, `cuda`, `mps`.",
    "fingerprint": "Digest of the model's files; filled in.",
    "file": "The file of the model below its folder.",
    "pooling": "How the vectors of the tokens become one.",
    "normalize": "Whether vectors are scaled to length 1.",
    "max_length": "How many tokens of a text are read.",
    "max_chars": "The most characters.",
    "dimensions": "Length of the vectors.",
    "query_prefix": "What is put before a query.",
    "passage_prefix": "What is put before a passage.",
    "path": "A file or folder, relative to `assay.toml`.",
    "id": "Path of the id in a hit.",
    "document": "Path of the document's id in a hit.",
    "start": "Path of the first code point in a hit.",
    "end": "Path of the end in a hit.",
    "score": "Path of the score in a hit.",
    "rewrite": "See `[pipeline.rewrite]`.",
    "embedder": "See `[pipeline.embedder]`.",
    "fusion": "See `[pipeline.fusion]`.",
    "reranker": "See `[pipeline.reranker]`.",
    "weights": "One weight a list.",
    "fields": "See `[retriever.fields]`.",
    "fix": "The fix that is likely to bring such a miss back.",
    "about": "One sentence for people.",
    "when": "Conditions, all of which have to hold, or `module:function`.",
    "shared_at_least": "Content words that query and chunk share, at least.",
    "best_rank_at_least": "Best rank in the first-stage lists, at least.",
    "names": "Whether names of people are masked: `auto` where a detector is installed, `required` fails without one.",
    "word_weight": "Weight of whole words.",
    "stem_weight": "Weight of stems.",
    "bigram_weight": "Weight of pairs of words.",
    "ngram_weight": "Weight of runs of signs inside words.",
    "min_ngram": "The shortest run of signs.",
    "coverage": "Weight of the share of the query's words that the chunk holds.",
    "frequency": "Weight of how often it holds them.",
    "proximity": "Weight of how close together they stand.",
    "bigrams": "Weight of pairs of words in the query's order.",
    "heading": "Weight of words in the heading.",
    "backend": "Which package computes: onnxruntime, or sentence-transformers on PyTorch.",
    "form": "What the server speaks: Cohere's and Jina's form, or that of text-embeddings-inference.",
}
"""What fields mean that have no docstring of their own, because their name says it."""

_INTRODUCTION = """\
`assay.toml` is read strictly: an unknown setting is an error that names the nearest known one, and all faults
come at once. `assay init FOLDER` writes a first one. Any setting can be changed for one run:
`assay run --set chunker.max_chars=400`.

"""
_GATE = """
## `[gate]`

Keys are measures, with a kind in square brackets or a stage before a colon; values are a rule or a list of rules:
`">= 0.64"` (a floor), `"0.677 within 0.02"` (a pin), `"no worse by more than 0.02"` (a baseline), `"not
significantly worse on any kind"`. [Guarding a repository](../ci.md) works each out.
"""
