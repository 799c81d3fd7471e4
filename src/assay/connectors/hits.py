"""Reading the hits that a retriever returned, whatever it calls their fields."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast
from unicodedata import normalize

from assay.model.runs import Hit

FINAL = "final"
NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "chunk_id", "_id", "node_id", "id_", "point_id", "key", "uuid"),
    "doc_id": (
        "doc_id", "doc", "document_id", "docid", "ref_doc_id", "source", "file", "file_path", "filename",
        "file_name", "path", "url",
    ),
    "start": ("start", "start_index", "split_idx_start",
              "start_char_idx", "start_char", "start_offset", "offset", "begin"),
    "end": ("end", "end_index", "end_char_idx", "end_char", "end_offset", "stop"),
    "score": ("score", "_score", "similarity", "relevance", "relevance_score", "rerank_score"),
    "distance": ("distance", "_distance"),
    "text": ("text", "content", "page_content", "chunk_text", "passage", "body", "snippet"),
}  # fmt: skip
"""Field -> the names that are looked for, the first one found counts. A distance is turned round."""
HOLDERS = ("metadata", "meta", "payload", "_source", "fields", "node", "document", "chunk", "entity")
"""Fields that may hold further fields."""
FINAL_NAMES = (FINAL, "hits", "results")
"""Names under which a mapping of stages may give what the prompt gets."""
_PLACE = re.compile(r"(?P<doc>.+)#(?P<start>\d+)-(?P<end>\d+)\Z", re.DOTALL)
_MOST_LAYERS = 16
_FORMS = "hits are ids, (id, score) pairs, mappings or objects with id, doc_id, start, end, score, text"


@dataclass(frozen=True, slots=True, kw_only=True)
class HitForm:
    """Where the fields of a hit are, when their names say it not, or not right.

    Each is a dotted path into the hit: ``metadata.source``. None: the usual names are tried.
    """

    id: str | None = None
    document: str | None = None
    start: str | None = None
    end: str | None = None
    score: str | None = None
    text: str | None = None
    strip_prefix: str = ""
    """What is cut off the beginning of document ids, where they begin with it."""

    def path_of(self, field: str) -> str | None:
        """Return the path of a field of `RawHit`."""
        return self.document if field == "doc_id" else getattr(self, field)


USUAL = HitForm()


class HitError(ValueError):
    """A reply does not have a form that can be read; its text says which is meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawHit:
    """One hit as it was returned; at least one of id, document and text is there."""

    id: str | None = None
    doc_id: str | None = None
    start: int | None = None
    end: int | None = None
    score: float | None = None
    text: str | None = None


def read_reply(reply: object, form: HitForm = USUAL) -> dict[str, list[RawHit]]:
    """Return stage name -> hits of one reply; the last is ``final``.

    Args:
        reply: what the retriever returned.
        form: where the fields of its hits are.

    Raises:
        HitError: the reply has no form that can be read.

    >>> [hit.id for hit in read_reply(["d3", ("d1", 0.5), {"id": "d2"}])["final"]]
    ['d3', 'd1', 'd2']
    """
    if isinstance(reply, Mapping):
        stages = dict(cast("Mapping[Any, object]", reply))
        final = next((name for name in FINAL_NAMES if name in stages), None)
        if final is None:
            names = ", ".join(map(repr, stages)) or "nothing"
            raise HitError(f"the mapping holds {names}; put what the prompt gets under 'final'")
        ordered = {str(name): value for name, value in stages.items() if name != final}
        return {
            name: _read_list(hits, name, form) for name, hits in {**ordered, FINAL: stages[final]}.items()
        }
    return {FINAL: _read_list(reply, FINAL, form)}


def read_hit(hit: object, form: HitForm = USUAL) -> RawHit:
    """Read one hit.

    Args:
        hit: an id, a pair, a mapping or an object.
        form: where its fields are.

    Raises:
        HitError: it has no form that can be read.

    >>> read_hit({"source": "a.md", "start_index": 5, "page_content": "pump", "distance": 0.25})
    RawHit(id=None, doc_id='a.md', start=5, end=9, score=-0.25, text='pump')
    """
    if isinstance(hit, RawHit):
        return hit
    if isinstance(hit, Hit):
        return _checked(
            RawHit(
                id=hit.chunk_id,
                doc_id=hit.doc_id,
                start=hit.start,
                end=hit.end,
                score=hit.score,
                text=hit.text,
            ),
            form,
        )
    if isinstance(hit, str) or (isinstance(hit, int) and not isinstance(hit, bool)):
        return _checked(RawHit(id=str(hit)), form)
    if isinstance(hit, tuple | list):
        pair = cast("Sequence[object]", hit)
        if len(pair) != 2:
            raise HitError(f"a hit of {len(pair)} values: {_shown(pair)}; {_FORMS}")
        return replace(read_hit(pair[0], form), score=_number(pair[1], "score"))
    return _checked(_read_fields(hit, form), form)


def ordered(hits: Sequence[RawHit]) -> tuple[list[RawHit], int]:
    """Return the hits by score down, ties as given, missing scores last; and how many have none.

    A list without any score stays as it is, and its missing scores are not counted.

    >>> [hit.id for hit in ordered([RawHit(id="a", score=1.0), RawHit(id="b", score=2.0)])[0]]
    ['b', 'a']
    """
    if all(hit.score is None for hit in hits):
        return list(hits), 0
    missing = [hit.score is None or math.isnan(hit.score) for hit in hits]
    order = sorted(
        range(len(hits)), key=lambda place: (missing[place], 0.0 if missing[place] else -_score(hits[place]))
    )
    return [hits[place] for place in order], sum(missing)


def _score(hit: RawHit) -> float:
    assert hit.score is not None
    return hit.score


def _read_list(hits: object, stage: str, form: HitForm) -> list[RawHit]:
    if hits is None:
        raise HitError(f"the {stage} list is None; return an empty list when nothing was found")
    if isinstance(hits, str | bytes | Mapping) or not isinstance(hits, Iterable):
        raise HitError(f"the {stage} list is {_shown(cast('object', hits))}; return a list of hits")
    return [read_hit(hit, form) for hit in cast("Iterable[object]", hits)]


def _read_fields(hit: object, form: HitForm) -> RawHit:
    layers = _layers(hit)
    found = {
        field: _first(layers, names)
        if field == "distance" or (path := form.path_of(field)) is None
        else _at(hit, path)
        for field, names in NAMES.items()
    }
    score = found["score"]
    if score is None and found["distance"] is not None:
        score = -_number(found["distance"], "distance")
    text = found["text"]
    if text is not None and not isinstance(text, str):
        raise HitError(f"its text is {_shown(text)}, not a string")
    if found["id"] is None and found["doc_id"] is None and text is None:
        raise HitError(f"a hit without id, document or text: {_shown(hit)}; {_FORMS}")
    return RawHit(
        id=None if found["id"] is None else str(found["id"]),
        doc_id=None if found["doc_id"] is None else str(found["doc_id"]),
        start=_whole(found["start"], "start"),
        end=_whole(found["end"], "end"),
        score=None if score is None else _number(score, "score"),
        text=text,
    )


def _layers(hit: object) -> list[object]:
    """Return the hit and what its holders hold, the outer ones first."""
    layers = [hit]
    for layer in layers:
        for name in HOLDERS:
            inner = _field(layer, name)
            if _is_plain(inner) or len(layers) == _MOST_LAYERS:
                continue
            if not any(inner is known for known in layers):
                layers.append(inner)
    return layers


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, str | bytes | int | float | list | tuple)


def _first(layers: Sequence[object], names: Sequence[str]) -> object:
    return next(
        (value for layer in layers for name in names if (value := _field(layer, name)) is not None), None
    )


def _at(hit: object, path: str) -> object:
    for name in path.split("."):
        hit = _field(hit, name)
    return hit


def _field(holder: object, name: str) -> object:
    if isinstance(holder, Mapping):
        return cast("Mapping[str, object]", holder).get(name)
    value = getattr(holder, name, None)
    return None if callable(value) else value


def _checked(hit: RawHit, form: HitForm) -> RawHit:
    """Fill in what follows from the rest, and refuse a place that is none."""
    doc_id, start, end = hit.doc_id, hit.start, hit.end
    place = _PLACE.match(hit.id) if start is None and hit.id is not None else None
    if place is not None and doc_id in (None, place["doc"]):
        doc_id, start, end = place["doc"], int(place["start"]), int(place["end"])
    if start is not None and end is None and hit.text:
        end = start + len(hit.text)
    if doc_id is None and start is not None:
        doc_id = hit.id
    if start is None or end is None or doc_id is None:
        start = end = None
    elif not 0 <= start < end:
        raise HitError(f"a hit from {start} to {end} in {doc_id}; offsets are code points, end exclusive")
    if doc_id is not None:
        doc_id = normalize("NFC", doc_id.removeprefix(form.strip_prefix))
    return replace(hit, doc_id=doc_id, start=start, end=end)


def _number(value: object, field: str) -> float:
    if isinstance(value, bool) or value is None:
        raise HitError(f"its {field} is {value!r}, not a number")
    try:
        return float(cast("float", value))
    except (TypeError, ValueError) as error:
        raise HitError(f"its {field} is {_shown(value)}, not a number") from error


def _whole(value: object, field: str) -> int | None:
    if value is None:
        return None
    number = _number(value, field)
    if not number.is_integer():
        raise HitError(f"its {field} is {value!r}, not a whole number")
    return int(number)


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:77]}..."
