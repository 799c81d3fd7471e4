"""The forms of a stored run: its manifest, its timings, and its tables.

A run is a folder named by its id::

    manifest.json      what was run, over what, with which settings and versions; a digest of each table
    queries.parquet    query_id, one row a query: its position is what the other tables call ``query``
    chunks.parquet     id, doc_id, start, end, text: a row's position is what they call ``chunk``
    stage-0.parquet    query, rank (from 1), chunk, score: the lists of the first stage; and so on
    deep.parquet       stage, query, chunk, rank: ranks of watched chunks below the stored lists
    errors.parquet     stage, query, error: what failed
    timings.json       when the run was saved last, and the total of each stage
    timings.jsonl      one line a stage that was timed: elapsed_ms of each query

All but the two timings files are the same bytes whenever the same run is saved.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from assay.store.golden_form import published_schema

FORM = 1
"""Raised when a reader of the form before could misread the files."""


class StageEntry(msgspec.Struct, kw_only=True, frozen=True):
    """One stage of the pipeline, in the order in which they ran."""

    name: str
    role: Literal["list", "pool", "rerank", "diversify", "final"]
    hits: Annotated[int, Meta(ge=0, description="Rows of its table.")]
    errors: Annotated[int, Meta(ge=0, description="Queries that failed in it.")]


class Manifest(msgspec.Struct, kw_only=True, frozen=True):
    """What a stored run is: all that made it, and what its files are."""

    form: Annotated[int, Meta(description="Version of this form.")]
    id: Annotated[str, Meta(description="Content address of digests and results.")]
    name: Annotated[str, Meta(description="The pipeline's name, or the connector's.")]
    pipeline: Annotated[dict[str, Any], Meta(description="The settings that made the run.")]
    pipeline_digest: str
    golden_digest: str
    corpus_digest: str
    k: Annotated[int, Meta(description="The cut of the final list.")]
    seed: int
    queries: Annotated[int, Meta(ge=0)]
    chunks: Annotated[int, Meta(ge=0)]
    stages: list[StageEntry]
    meta: Annotated[dict[str, Any], Meta(description="Model windows, costs: shown, not compared.")]
    versions: Annotated[dict[str, str], Meta(description="Of the program and what it computed with.")]
    files: Annotated[dict[str, str], Meta(description="Table -> SHA-256 of its bytes.")]


class Timings(msgspec.Struct, kw_only=True, frozen=True):
    """What differs between two equal runs."""

    saved_at: Annotated[str, Meta(description="UTC, ISO 8601.")]
    elapsed_ms: Annotated[dict[str, float], Meta(description="Stage -> total over its queries.")]


class StageTimings(msgspec.Struct, kw_only=True, frozen=True):
    """One line of ``timings.jsonl``."""

    stage: str
    """Its place in the manifest, from 0, and its name."""
    elapsed_ms: list[float | None]
    """Of each query, in their order; null: not known."""


def manifest_schema() -> dict[str, object]:
    """Return the JSON Schema (2020-12) of a run's ``manifest.json``.

    >>> manifest_schema()["title"]
    'manifest.json of a stored run'
    """
    return published_schema(Manifest, title="manifest.json of a stored run", file="manifest.schema.json")


def timings_schema() -> dict[str, object]:
    """Return the JSON Schema (2020-12) of a run's ``timings.json``.

    >>> timings_schema()["title"]
    'timings.json of a stored run'
    """
    return published_schema(Timings, title="timings.json of a stored run", file="timings.schema.json")
