"""Which anchors a reranker could not see, because they stood beyond what it reads of a chunk."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import cast

from assay.diagnosis.losses import Hidden
from assay.diagnosis.ranks import item_ranks
from assay.model.relevance import Place, Relevance
from assay.model.runs import Run
from assay.retrieval.models.protocols import Window, visible_window

_WORD = re.compile(r"\S+")


def window_of(run: Run) -> Window | None:
    """Return the window that a run's reranker had, or None where the run does not say.

    It stands in ``meta["reranker_window"]``: ``{"max_length": 512, "special_tokens": 3}``; ``holds_query`` is
    False there where passages are read apart from the query.
    """
    said = run.meta.get("reranker_window")
    if not isinstance(said, Mapping):
        return None
    values = cast("Mapping[str, object]", said)
    length, special = values.get("max_length"), values.get("special_tokens", 3)
    if not isinstance(length, int) or not isinstance(special, int):
        return None
    return Window(
        max_length=length, special_tokens=special, holds_query=values.get("holds_query", True) is not False
    )


def signs_read(run: Run) -> Mapping[str, Mapping[str, int]] | None:
    """Return query id -> chunk id -> signs of the chunk's own text that the reranker read.

    Only chunks that it did not read whole are there; None where the run does not say how far it read.
    It stands in ``meta["reranker_read"]``; the reference pipeline's models say so.
    """
    said = run.meta.get("reranker_read")
    return cast("Mapping[str, Mapping[str, int]]", said) if isinstance(said, Mapping) else None


def hidden_anchors(
    run: Run,
    relevance: Relevance,
    *,
    texts: Mapping[str, str],
    queries: Mapping[str, str],
    contexts: Mapping[str, str] | None = None,
) -> Hidden:
    """Return the anchors that lie beyond the window of the run's reranker, each with the sentence.

    Where the run says how far its reranker read each chunk, that decides. Else tokens are counted as words,
    fewer than a model counts: what is told to lie beyond lies beyond. Nothing is told where the run does not
    say what its reranker reads.

    Args:
        run: the run.
        relevance: where the anchors stand, and which chunks cover them.
        texts: document id -> its text.
        queries: query id -> its text.
        contexts: chunk id -> what is put before its text.
    """
    window, read = window_of(run), signs_read(run)
    if window is None and read is None:
        return {}
    table = item_ranks(run, relevance)
    hidden: dict[tuple[str, str], str] = {}
    for row, item in enumerate(table.item_ids):
        chunk = int(table.nearest[row])
        query_id = run.query_ids[int(table.query[row])]
        if chunk < 0:
            continue
        place = Place(
            doc_id=run.chunks.doc_ids[chunk],
            start=int(run.chunks.starts[chunk]),
            end=int(run.chunks.ends[chunk]),
        )
        anchor = _inside(place, relevance.by_query[query_id].places.get(item, ()))
        if anchor is None or place.doc_id not in texts:
            continue
        if read is not None:
            signs = read.get(query_id, {}).get(run.chunks.ids[chunk])
            if signs is not None and anchor.end - place.start > signs:
                hidden[query_id, item] = _flag(anchor.start - place.start, signs, place.end - place.start)
            continue
        assert window is not None  # one of the two is there
        text = texts[place.doc_id]
        before = len(_WORD.findall((contexts or {}).get(run.chunks.ids[chunk], "")))
        first = before + len(_WORD.findall(text[place.start : anchor.start]))
        last = first + max(len(_WORD.findall(text[anchor.start : anchor.end])) - 1, 0)
        sight = visible_window(
            window, query_tokens=len(_WORD.findall(queries[query_id])), anchor=(first, last)
        )
        if sight.flag is not None:
            hidden[query_id, item] = sight.flag
    return hidden


def _flag(first: int, signs: int, length: int) -> str:
    how = "beyond" if first >= signs else "cut by"
    return f"anchor {how} reranker window (starts at sign {first}, {signs} of the chunk's {length} were read)"


def _inside(chunk: Place, places: tuple[Place, ...]) -> Place | None:
    return next(
        (
            place
            for place in places
            if place.doc_id == chunk.doc_id and chunk.start <= place.start and place.end <= chunk.end
        ),
        None,
    )
