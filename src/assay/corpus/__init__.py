"""Reading documents, and cutting them into chunks."""

from assay.corpus.chunkers import CHUNKERS, Chunker, chunk_corpus, chunking_notices, make_chunker
from assay.corpus.corpora import Corpus, corpus_of, id_key
from assay.corpus.reading import read_corpus
from assay.corpus.records import Columns
from assay.corpus.tokens import COUNTERS, count_tokens, token_counter

__all__ = [
    "CHUNKERS",
    "COUNTERS",
    "Chunker",
    "Columns",
    "Corpus",
    "chunk_corpus",
    "chunking_notices",
    "corpus_of",
    "count_tokens",
    "id_key",
    "make_chunker",
    "read_corpus",
    "token_counter",
]
