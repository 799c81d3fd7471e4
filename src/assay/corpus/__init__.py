"""Reading documents, and cutting them into chunks."""

from assay.corpus.corpora import Corpus, corpus_of, id_key
from assay.corpus.reading import read_corpus
from assay.corpus.records import Columns

__all__ = ["Columns", "Corpus", "corpus_of", "id_key", "read_corpus"]
