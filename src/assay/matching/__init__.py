"""Anchors and labels become places, places become relevant chunks, lists become judged ranks."""

from assay.matching.foreign import locate_texts
from assay.matching.judging import GoldenLists, golden_lists, judge
from assay.matching.naming import name_documents
from assay.matching.places import Located, locate
from assay.matching.relevance import find_relevance
from assay.matching.sources import Sources
from assay.matching.spans import SpanCodes, SpanRows
from assay.matching.survival import AnchorFate, Survival, label_survival

__all__ = [
    "AnchorFate",
    "GoldenLists",
    "Located",
    "Sources",
    "SpanCodes",
    "SpanRows",
    "Survival",
    "find_relevance",
    "golden_lists",
    "judge",
    "label_survival",
    "locate",
    "locate_texts",
    "name_documents",
]
