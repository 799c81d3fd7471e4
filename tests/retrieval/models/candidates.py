"""Candidates for rerankers, from plain texts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.model.documents import Chunk
from assay.retrieval.models.protocols import Candidates
from assay.retrieval.terms import index_terms


def candidates_of(*texts: str, context: str = "") -> tuple[NDArray[np.int32], Candidates]:
    """Return the positions of all texts, and the candidates."""
    chunks = [
        Chunk(
            id=f"d{place}#0-{len(text)}",
            doc_id=f"d{place}",
            start=0,
            end=len(text),
            text=text,
            context=context,
        )
        for place, text in enumerate(texts)
    ]
    return np.arange(len(texts), dtype=np.int32), Candidates(chunks=chunks, terms=index_terms(chunks))
