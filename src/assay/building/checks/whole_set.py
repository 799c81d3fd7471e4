"""Rules about the set as a whole: repeats, balance, where it came from, and what it can show."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from assay.building.checks.material import Material
from assay.building.questions import longest_shared_run, question_key
from assay.model.checks import CheckFinding
from assay.model.golden import Query
from assay.model.notices import listed
from assay.model.words import content_words
from assay.stats.power import smallest_visible

_NEAR_SUBSET, _NEAR_SWAP = 5, 9
"""Content words from which one word more, or one exchanged, leaves 80 % of the words in common."""
_UNBALANCED = 3
_CLOSE_RUN = 6
_CLOSE_SHARE = 0.2


def duplicates(material: Material) -> Iterator[CheckFinding]:
    """Say which questions are asked twice: they count twice, and their anchors belong together."""
    first: dict[str, Query] = {}
    for query in material.golden.queries:
        known = first.setdefault(question_key(query.text), query)
        if known is not query:
            fix = f"keep one of them, with the anchors of both: {known.id}"
            yield material.about(query, "error", "duplicate", f"asks the same as {known.id}", fix=fix)


def near_duplicates(material: Material) -> Iterator[CheckFinding]:
    """Say which questions differ in one plain word out of many, or only in words without content."""
    seen: dict[frozenset[str], Query] = {}
    keys: set[str] = set()
    for query in material.golden.queries:
        key = question_key(query.text)
        found = frozenset(content_words(query.text))
        if key in keys or not found:
            continue
        keys.add(key)
        known = _near(found, seen)
        if known is not None and known is not query:
            text = f"asks nearly the same as {known.id}: {known.text!r}"
            yield material.about(
                query, "warning", "near-duplicate", text, fix="keep one, or make them differ"
            )
        for part in _signatures(found):
            seen.setdefault(part, query)


def _near(found: frozenset[str], seen: dict[frozenset[str], Query]) -> Query | None:
    for part in _signatures(found):
        known = seen.get(part)
        if known is not None and _alike(found, frozenset(content_words(known.text))):
            return known
    return None


def _signatures(found: frozenset[str]) -> list[frozenset[str]]:
    """Return the set itself and, where one word more or less does not matter, the sets without one word."""
    if len(found) < _NEAR_SUBSET:
        return [found]
    return [found, *(found - {word} for word in sorted(found))]


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    unlike = one ^ other
    if any(any(sign.isdigit() for sign in word) for word in unlike):
        return False  # another number, another question
    if len(unlike) == 0:
        return len(one) > 1
    fewest = _NEAR_SUBSET if len(unlike) == 1 else _NEAR_SWAP
    return len(unlike) <= 2 and max(len(one), len(other)) >= fewest


def nothing_to_find(material: Material) -> Iterator[CheckFinding]:
    """Say which answerable queries have no anchor and no label, and which labels name nothing."""
    for query in material.golden.queries:
        if query.answerable and not query.anchors and not query.labels:
            fix = "give it an anchor, or say answerable: false"
            yield material.about(query, "error", "nothing-to-find", "has no anchor and no label", fix=fix)
    for relevance in list(material.relevance.values())[:1]:
        by_id = {query.id: query for query in material.golden.queries}
        for one in relevance.queries:
            query = by_id[one.query_id]
            for item in one.lost:
                label = item.removeprefix("label:")
                if label in query.labels and item not in {anchor.id for anchor in query.anchors}:
                    text = f"label {label!r} is no chunk and no document"
                    yield material.about(query, "error", "unknown-label", text)


def unbalanced_kinds(material: Material) -> Iterator[CheckFinding]:
    """Say when kinds are missing, or one is much larger than another: the overall mean is then mostly its."""
    counts = Counter(query.kind for query in material.golden.queries if query.answerable)
    missing = [kind for kind in material.golden.kinds if not counts[kind]]
    if missing:
        text = f"no query of the kind {listed(missing)}"
        yield CheckFinding(severity="warning", code="kind-missing", text=text)
    if len(counts) > 1:
        (large, most), (small, fewest) = counts.most_common(1)[0], min(counts.items(), key=lambda one: one[1])
        if most >= _UNBALANCED * fewest:
            text = f"kinds are out of balance: {most} {large}, {fewest} {small}; the mean is mostly {large}"
            fix = "write more of the smaller kind, and read the numbers by kind"
            yield CheckFinding(severity="warning", code="kinds-unbalanced", text=text, fix=fix)


def written_from_retriever(material: Material) -> Iterator[CheckFinding]:
    """Say when questions repeat what the retriever returns first: such a set flatters that retriever."""
    close: list[Query] = []
    asked = 0
    for query in material.golden.queries:
        texts = material.top_texts.get(query.id, ())
        asked += bool(texts)
        fewest = min(_CLOSE_RUN, max(4, len(query.text.split()) - 1))
        if any(len(longest_shared_run(query.text, text).split()) >= fewest for text in texts):
            close.append(query)
            text = "the question repeats words of the retriever's own first hits in a row"
            yield material.about(query, "note", "close-to-hits", text)
    if asked and len(close) >= max(2, _CLOSE_SHARE * asked):
        ids = listed([query.id for query in close])
        text = (
            f"{len(close)} of {asked} questions are worded like the retriever's own first hits ({ids}): a "
            "set written from its output flatters it"
        )
        fix = "write questions from the documents, before looking at what is retrieved"
        yield CheckFinding(severity="warning", code="written-from-retriever", text=text, fix=fix)


def smallest_difference(material: Material) -> Iterator[CheckFinding]:
    """Say how small a difference a set of this size can show at all.

    The figure is that of the exact sign-flip test for a measure that is 0 or 1 a query: the gain when just
    enough queries turn (six of them) and none is lost. A retriever that wins some and loses some needs more.
    """
    counts: dict[str, int] = defaultdict(int)
    total = 0
    for query in material.golden.queries:
        if query.answerable:
            total += 1
            counts[query.kind] += 1
    if not total:
        return
    overall = smallest_visible(total)
    if overall is None:
        text = f"{total} queries cannot show any difference at the 5 % level: six must change, all one way"
        yield CheckFinding(severity="warning", code="too-small", text=text, fix="write more queries")
        return
    parts = [f"{kind} {_shown(smallest_visible(count))}" for kind, count in counts.items()]
    by_kind = f"; by kind: {', '.join(parts)}" if len(counts) > 1 else ""
    text = f"the smallest difference in recall that {total} queries can show is {overall:.3f}{by_kind}"
    yield CheckFinding(severity="note", code="smallest-difference", text=text)


def _shown(difference: float | None) -> str:
    return "none" if difference is None else f"{difference:.3f}"


RULES = (
    duplicates,
    near_duplicates,
    nothing_to_find,
    unbalanced_kinds,
    written_from_retriever,
    smallest_difference,
)
"""Every rule about the whole set."""
