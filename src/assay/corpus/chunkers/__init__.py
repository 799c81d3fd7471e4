"""Cutting documents into chunks: one file a chunker."""

from assay.corpus.chunkers.chunker import Chunker, chunk_corpus, chunking_notices
from assay.corpus.chunkers.registry import CHUNKERS, make_chunker

__all__ = ["CHUNKERS", "Chunker", "chunk_corpus", "chunking_notices", "make_chunker"]
