"""Cutting documents into chunks: one file a chunker."""

from assay.corpus.chunkers.chunker import Chunker, chunk_corpus, chunking_notices, lost_characters
from assay.corpus.chunkers.registry import CHUNKERS, make_chunker

__all__ = ["CHUNKERS", "Chunker", "chunk_corpus", "chunking_notices", "lost_characters", "make_chunker"]
