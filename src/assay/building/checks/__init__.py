"""The check of a golden set before it is used: one function a rule, all remarks at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.building.checks import anchors, whole_set, wording
from assay.building.checks.material import Material, gather
from assay.model.checks import CheckFinding
from assay.model.documents import Document
from assay.model.golden import GoldenSet
from assay.model.runs import ChunkTable

__all__ = ["RULES", "Material", "check_golden", "gather"]

RULES = (*anchors.RULES, *wording.RULES, *whole_set.RULES)
"""Every rule: a function of the material that yields its remarks."""


def check_golden(
    golden: GoldenSet,
    documents: Sequence[Document],
    chunks: Mapping[str, ChunkTable],
    *,
    lines: Mapping[str, int] | None = None,
    top_texts: Mapping[str, Sequence[str]] | None = None,
) -> list[CheckFinding]:
    """Return everything that is worth saying of a golden set, in the order of its queries.

    Args:
        golden: the set.
        documents: the corpus that it is about.
        chunks: chunker -> its chunks. The first is the one that is configured: an anchor that none of its
            chunks holds whole is an error; with the others it is a warning.
        lines: query id -> line of the golden file.
        top_texts: query id -> texts of the retriever's first hits, to see whether the set was written from
            them.

    Raises:
        InputError: two documents have one id.
    """
    material = gather(golden, documents, chunks, lines=lines, top_texts=top_texts)
    position = {query.id: at for at, query in enumerate(golden.queries)}
    found = [finding for rule in RULES for finding in rule(material)]
    last = len(position)
    return sorted(
        found,
        key=lambda finding: last if finding.query_id is None else position.get(finding.query_id, last),
    )
