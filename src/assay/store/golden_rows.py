"""Lines of ``golden.jsonl`` as the model's nouns, and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from assay.model.errors import InputError
from assay.model.golden import Anchor, Provenance, Query
from assay.model.ids import id_key as id_key
from assay.store.golden_form import FULL_GRADE, AnchorRow, PlaceRow, ProvenanceRow, QueryRow
from assay.store.strict import Problem


def wrong_with(row: QueryRow) -> list[Problem]:
    """Return what is wrong with a query that its form alone does not show."""
    problems: list[Problem] = []
    if not str(row.id).strip():
        problems.append(Problem("id is empty", "give the query an id"))
    labels = _labels_of(row.relevant)
    if not row.query.strip() and (row.anchors or not labels):
        problems.append(Problem("query is missing or blank", 'add "query": "the question"'))
    if not row.answerable and (row.anchors or any(grade > 0 for grade in labels.values())):
        held = "anchors" if row.anchors else "labels"
        fix = f'remove the {held}, or remove "answerable": false'
        problems.append(Problem(f"answerable is false, yet the query has {held}", fix))
    problems.extend(_same_ids(row.relevant))
    for place, anchor in enumerate(row.anchors, start=1):
        problems.extend(_wrong_with_place(anchor, f"anchor {place}"))
        for other_place, other in enumerate(anchor.alternatives, start=1):
            problems.extend(_wrong_with_place(other, f"anchor {place}, alternative {other_place}"))
    names = Counter(id_key(str(a.id)) or f"a{place}" for place, a in enumerate(row.anchors, start=1))
    problems.extend(
        Problem(f"anchor id {name!r} is used {count} times", "give each anchor an id of its own")
        for name, count in names.items()
        if count > 1
    )
    return problems


def _wrong_with_place(place: AnchorRow | PlaceRow, what: str) -> Iterable[Problem]:
    if not str(place.doc).strip():
        yield Problem(f"{what}: doc is empty", "name the document that holds the phrase")
    if not place.quote.strip():
        yield Problem(f"{what}: quote is blank", "quote the phrase as it stands in the document")
    if (place.start is None) != (place.end is None):
        yield Problem(f"{what}: start and end go together", "give both, or neither")
    elif place.start is not None and place.end is not None and place.end <= place.start:
        yield Problem(f"{what}: end {place.end} is not after start {place.start}", "end is exclusive")


def _same_ids(relevant: Mapping[str, float] | Sequence[object]) -> Iterable[Problem]:
    """Two spellings of one id (composed and decomposed letters) in one mapping cannot both be meant."""
    if not isinstance(relevant, Mapping):
        return
    spelt: dict[str, str] = {}
    for name in relevant:
        first = spelt.setdefault(id_key(name), name)
        if first != name:
            what = f"relevant: {first!r} and {name!r} are one id once their letters are composed (NFC)"
            yield Problem(what, "keep one of the two")


def query_of(row: QueryRow) -> tuple[Query, list[str]]:
    """Return the query, and the names of items that it listed more than once."""
    anchors: dict[tuple[object, ...], Anchor] = {}
    folded: list[str] = []
    for place, anchor_row in enumerate(row.anchors, start=1):
        anchor = _anchor_of(anchor_row, place)
        key = (anchor.doc_id, anchor.quote, anchor.start, anchor.end)
        if key in anchors:
            folded.append(anchor.id)
            anchors[key] = max(anchors[key], anchor, key=lambda one: one.grade)
        else:
            anchors[key] = anchor
    if not isinstance(row.relevant, dict):
        counts = Counter(id_key(str(item)) for item in row.relevant)
        folded.extend(item for item, count in counts.items() if count > 1)
    query = Query(
        id=id_key(str(row.id)),
        text=row.query,
        kind=row.kind,
        anchors=tuple(anchors.values()),
        labels=_labels_of(row.relevant),
        answerable=row.answerable,
        split=row.split,
        provenance=_provenance_of(row.provenance),
        meta={key: str(value) for key, value in row.meta.items()},
    )
    return query, folded


def _provenance_of(row: ProvenanceRow | None) -> Provenance:
    if row is None:
        return Provenance()
    return Provenance(
        origin=row.origin, source=row.source, verified_by=row.verified_by, judged_by=row.judged_by
    )


def _labels_of(relevant: Mapping[str, float] | Sequence[object]) -> dict[str, float]:
    if isinstance(relevant, Mapping):
        return {id_key(name): float(grade) for name, grade in relevant.items()}
    return dict.fromkeys((id_key(str(item)) for item in relevant), 1.0)


def _anchor_of(row: AnchorRow, place: int) -> Anchor:
    name = id_key(str(row.id)) or f"a{place}"
    return Anchor(
        id=name,
        doc_id=id_key(str(row.doc)),
        quote=row.quote,
        start=row.start,
        end=row.end,
        grade=float(row.grade),
        alternatives=tuple(
            Anchor(
                id=f"{name}.{number}",
                doc_id=id_key(str(other.doc)),
                quote=other.quote,
                start=other.start,
                end=other.end,
                grade=float(row.grade),
            )
            for number, other in enumerate(row.alternatives, start=1)
        ),
    )


def query_row(query: Query) -> QueryRow:
    """Return the line of a query.

    Raises:
        InputError: the query's split is none that the file can hold.
    """
    return QueryRow(
        id=query.id,
        query=query.text,
        kind=query.kind,
        anchors=[_anchor_row(anchor, place) for place, anchor in enumerate(query.anchors, start=1)],
        relevant={name: _short(query.labels[name]) for name in sorted(query.labels)},
        answerable=query.answerable,
        split=_split(query.split, query.id),
        provenance=_provenance_row(query.provenance),
        meta={key: query.meta[key] for key in sorted(query.meta)},
    )


def _provenance_row(provenance: Provenance) -> ProvenanceRow | None:
    if provenance == Provenance():
        return None
    return ProvenanceRow(
        origin=provenance.origin,
        source=provenance.source,
        verified_by=provenance.verified_by,
        judged_by=provenance.judged_by,
    )


def _anchor_row(anchor: Anchor, place: int) -> AnchorRow:
    return AnchorRow(
        id="" if anchor.id == f"a{place}" else anchor.id,
        doc=anchor.doc_id,
        quote=anchor.quote,
        start=anchor.start,
        end=anchor.end,
        grade=FULL_GRADE if anchor.grade == FULL_GRADE else _short(anchor.grade),
        alternatives=[
            PlaceRow(doc=other.doc_id, quote=other.quote, start=other.start, end=other.end)
            for other in anchor.alternatives
        ],
    )


def _short(grade: float) -> float:
    """A whole grade is written without a fraction."""
    return int(grade) if grade == int(grade) else grade


def _split(name: str | None, query_id: str) -> Literal["dev", "heldout"] | None:
    match name:
        case None | "dev" | "heldout":
            return name
        case _:
            raise InputError(f"query {query_id!r}: split must be 'dev' or 'heldout', not {name!r}")
