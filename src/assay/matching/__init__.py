"""Anchors and labels become places, places become relevant chunks, lists become judged ranks."""

from assay.matching.foreign import locate_texts
from assay.matching.judging import golden_lists, judge
from assay.matching.places import Located, locate
from assay.matching.relevance import find_relevance
from assay.matching.sources import Sources

__all__ = ["Located", "Sources", "find_relevance", "golden_lists", "judge", "locate", "locate_texts"]
