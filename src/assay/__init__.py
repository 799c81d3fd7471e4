"""Assay measures retrieval for language models, shows where it fails and proves what mends it.

The names below are loaded when they are first used, so that ``import assay`` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from assay._version import __version__
from assay.model.showing import show_by

if TYPE_CHECKING:
    from assay.comparison.paired import compare_tables
    from assay.corpus import chunk_corpus, make_chunker, read_corpus
    from assay.flows.compare import Asked, compare_files, compare_runs
    from assay.flows.diagnose import diagnose
    from assay.flows.evaluate import Evaluation, evaluate, load_evaluation
    from assay.flows.explain import explain
    from assay.flows.plots import plot_differences
    from assay.flows.project import Project, load_project
    from assay.flows.score import Scoring, score_runs
    from assay.matching import find_relevance
    from assay.measures.single import (
        average_precision,
        dcg_at_k,
        f1_at_k,
        hit_rate_at_k,
        ideal_dcg,
        ndcg_at_k,
        precision_at_k,
        r_precision,
        recall_at_k,
        reciprocal_rank,
    )
    from assay.measures.spec import parse_measure, parse_measures
    from assay.measures.worked import work
    from assay.model.comparison import Comparison
    from assay.model.documents import Chunk, Document
    from assay.model.errors import (
        AssayError,
        ConfigError,
        InputError,
        MissingExtraError,
        RetrieverError,
        StoreError,
    )
    from assay.model.findings import Diagnosis, Finding
    from assay.model.golden import Anchor, GoldenSet, Query
    from assay.model.runs import Hit, Run
    from assay.model.scores import Average, ScoreTable
    from assay.model.summary import Summary
    from assay.store.golden import load_golden, save_golden
    from assay.store.runs import RunStore

_HOMES = {
    "Anchor": "assay.model.golden",
    "Asked": "assay.flows.compare",
    "AssayError": "assay.model.errors",
    "Average": "assay.model.scores",
    "Chunk": "assay.model.documents",
    "Comparison": "assay.model.comparison",
    "ConfigError": "assay.model.errors",
    "Diagnosis": "assay.model.findings",
    "Document": "assay.model.documents",
    "Evaluation": "assay.flows.evaluate",
    "Finding": "assay.model.findings",
    "GoldenSet": "assay.model.golden",
    "Hit": "assay.model.runs",
    "InputError": "assay.model.errors",
    "MissingExtraError": "assay.model.errors",
    "Project": "assay.flows.project",
    "Query": "assay.model.golden",
    "RetrieverError": "assay.model.errors",
    "Run": "assay.model.runs",
    "RunStore": "assay.store.runs",
    "ScoreTable": "assay.model.scores",
    "Scoring": "assay.flows.score",
    "StoreError": "assay.model.errors",
    "Summary": "assay.model.summary",
    "average_precision": "assay.measures.single",
    "chunk_corpus": "assay.corpus",
    "compare_files": "assay.flows.compare",
    "compare_runs": "assay.flows.compare",
    "compare_tables": "assay.comparison.paired",
    "dcg_at_k": "assay.measures.single",
    "diagnose": "assay.flows.diagnose",
    "evaluate": "assay.flows.evaluate",
    "explain": "assay.flows.explain",
    "f1_at_k": "assay.measures.single",
    "find_relevance": "assay.matching",
    "hit_rate_at_k": "assay.measures.single",
    "ideal_dcg": "assay.measures.single",
    "load_evaluation": "assay.flows.evaluate",
    "load_golden": "assay.store.golden",
    "load_project": "assay.flows.project",
    "make_chunker": "assay.corpus",
    "ndcg_at_k": "assay.measures.single",
    "parse_measure": "assay.measures.spec",
    "parse_measures": "assay.measures.spec",
    "plot_differences": "assay.flows.plots",
    "precision_at_k": "assay.measures.single",
    "r_precision": "assay.measures.single",
    "read_corpus": "assay.corpus",
    "recall_at_k": "assay.measures.single",
    "reciprocal_rank": "assay.measures.single",
    "save_golden": "assay.store.golden",
    "score_runs": "assay.flows.score",
    "work": "assay.measures.worked",
}

__all__ = [
    "Anchor",
    "Asked",
    "AssayError",
    "Average",
    "Chunk",
    "Comparison",
    "ConfigError",
    "Diagnosis",
    "Document",
    "Evaluation",
    "Finding",
    "GoldenSet",
    "Hit",
    "InputError",
    "MissingExtraError",
    "Project",
    "Query",
    "RetrieverError",
    "Run",
    "RunStore",
    "ScoreTable",
    "Scoring",
    "StoreError",
    "Summary",
    "__version__",
    "average_precision",
    "chunk_corpus",
    "compare_files",
    "compare_runs",
    "compare_tables",
    "dcg_at_k",
    "diagnose",
    "evaluate",
    "explain",
    "f1_at_k",
    "find_relevance",
    "hit_rate_at_k",
    "ideal_dcg",
    "load_evaluation",
    "load_golden",
    "load_project",
    "make_chunker",
    "ndcg_at_k",
    "parse_measure",
    "parse_measures",
    "plot_differences",
    "precision_at_k",
    "r_precision",
    "read_corpus",
    "recall_at_k",
    "reciprocal_rank",
    "save_golden",
    "score_runs",
    "work",
]


_MODULES = {"spark": "assay.flows.spark"}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public name
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name not in _HOMES:
        message = f"module 'assay' has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


def _page(noun: object) -> str:
    """Show a noun in a notebook; drawings and tables are loaded when the first one is shown."""
    page: str = import_module("assay.flows.plots").show_html(noun)
    return page


show_by(_page)
