"""The arithmetic behind one number, line by line, as one would write it by hand.

A ``Worked`` is a description, a value and nested details, and knows nothing of screens: ``lines()`` is
plain text. The value is the kernel's own, so that the explanation explains what the table shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from assay.measures.batch import score
from assay.measures.cumulative import ideal_dcg
from assay.measures.family import Measure
from assay.measures.gains import divisor, gain_of
from assay.measures.ranked import Relevant
from assay.measures.spec import parse_measure
from assay.measures.working import Item, OneList, View, Worked, one_list


def work(ranked: Sequence[str], relevant: Relevant, measure: Measure | str) -> Worked:
    """Return the arithmetic of one measure of one ranked list.

    Line by line for nDCG, DCG, recall, precision, hit, RR, AP, F1, complete and R-precision; the other
    measures name their definition and the ranks of what was found.

    Raises:
        InputError: the measure is unknown, or the list or the grades are malformed.

    >>> for line in work(["x", "d1"], {"d1"}, "nDCG@2").lines(): print(line)
    nDCG@2 = DCG / ideal DCG = 0.6309 / 1.0000 = 0.6309
      DCG of the list, gain / log2(rank + 1) = 0.6309
        rank 2: d1, 1 / log2(3) = 1 / 1.5850 = 0.6309
      ideal DCG, 1 item (min of k = 2 and 1 relevant), best grade first = 1.0000
        rank 1: d1, 1 / log2(2) = 1 / 1.0000 = 1.0000
      a usual mistake, the ideal over k = 2 places instead of 1: 0.6309 / 1.6309 = 0.3869
    """
    asked = parse_measure(measure) if isinstance(measure, str) else measure
    return work_list(one_list(ranked, relevant), asked)


def work_list(made: OneList, measure: Measure) -> Worked:
    """Return the arithmetic of one measure of one list that is already judged, in any unit.

    Raises:
        InputError: the items are not sorted by rank.
    """
    value = float(score(made.judged(), [measure])[str(measure)][0])
    if value != value:  # noqa: PLR0124 - NaN is the only value unlike itself
        return Worked(description=f"{measure} is undefined: {measure.family.undefined}")
    view = View(made=made, measure=measure, value=value)
    return _WORKINGS.get(measure.family.name, _by_definition)(view)


def _ndcg(view: View) -> Worked:
    parts = [_gain_term(view, item) for item in view.counted]
    ideal_parts = [_gain_term(view, item) for item in view.ideal]
    dcg, ideal = _total(parts), _total(ideal_parts)
    k, items = view.measure.k, len(ideal_parts)
    relevant = len(view.made.ideal)
    of = "all relevant"
    if k is not None:
        of = f"{relevant} relevant, k = {k}" if items > k else f"min of k = {k} and {relevant} relevant"
    plural = "item" if items == 1 else "items"
    details = [
        _gain_sum(view, parts),
        Worked(
            description=f"ideal DCG, {items} {plural} ({of}), best grade first",
            value=ideal,
            details=tuple(ideal_parts),
        ),
        *_ndcg_mistakes(view, dcg, ideal),
    ]
    return view.result(f"DCG / ideal DCG = {dcg:.4f} / {ideal:.4f}", details)


def _ndcg_mistakes(view: View, dcg: float, ideal: float) -> Iterator[Worked]:
    if dcg == 0.0:
        return
    k, relevant = view.measure.k, len(view.made.ideal)
    plain = all(gain_of(item.grade, view.measure.gain) == 1.0 for item in view.made.ideal)
    if k is not None and relevant < k and plain:
        over_k = ideal_dcg(k)
        yield Worked(
            description=f"the ideal over k = {k} places instead of {relevant}: {dcg:.4f} / {over_k:.4f}",
            value=dcg / over_k,
            mistake=True,
        )
    returned = sorted((gain_of(item.grade, view.measure.gain) for item in view.counted), reverse=True)
    of_returned = sum(gain / divisor(rank) for rank, gain in enumerate(returned, start=1))
    if of_returned < ideal:
        yield Worked(
            description=f"the ideal of what was returned alone: {dcg:.4f} / {of_returned:.4f}",
            value=dcg / of_returned,
            mistake=True,
        )


def _dcg(view: View) -> Worked:
    parts = [_gain_term(view, item) for item in view.counted]
    return view.result("sum of gain / log2(rank + 1)", parts or view.ranks())


def _gain_sum(view: View, parts: Sequence[Worked]) -> Worked:
    power = "(2^grade - 1)" if view.measure.gain == "exp" else "gain"
    nothing = (Worked(description=f"nothing relevant stands {view.where}"),)
    return Worked(
        description=f"DCG of the list, {power} / log2(rank + 1)",
        value=_total(parts),
        details=tuple(parts) or nothing,
    )


def _gain_term(view: View, item: Item) -> Worked:
    gain = gain_of(item.grade, view.measure.gain)
    below = divisor(item.rank)
    power = f"2^{item.grade:g} - 1 = {gain:g}; " if view.measure.gain == "exp" else ""
    return Worked(
        description=f"rank {item.rank}: {item.name}, {power}{gain:g} / log2({item.rank + 1})"
        f" = {gain:g} / {below:.4f}",
        value=gain / below,
    )


def _recall(view: View) -> Worked:
    found, relevant = len(view.counted), len(view.relevant)
    k = view.measure.k
    best = sum(view.within(item) for item in view.relevant)
    details = view.ranks()
    if found and found < relevant:
        details.append(
            Worked(description="printing the hit rate under the name of recall", value=1.0, mistake=True)
        )
    if view.measure.capped and k is not None:
        return view.result(f"{found} of {best}, the most that {k} places can hold", details)
    return view.result(f"{found} of {relevant} relevant", details)


def _precision(view: View) -> Worked:
    earned, k = _useful(view), view.measure.k or view.made.retrieved
    details = view.ranks()
    if view.made.retrieved < k:
        details.append(Worked(description=f"only {view.made.retrieved} of the {k} places are filled"))
    if 0 < view.made.retrieved < k and earned:
        details.append(
            Worked(
                description=f"dividing by the {view.made.retrieved} returned instead of k = {k}",
                value=earned / view.made.retrieved,
                mistake=True,
            )
        )
    return view.result(f"{earned} of {k} places hold something relevant", details)


def _hit(view: View) -> Worked:
    any_there = "something relevant stands" if view.counted else "nothing relevant stands"
    return view.result(f"{any_there} {view.where}", view.ranks())


def _complete(view: View) -> Worked:
    return view.result(f"{len(view.counted)} of {len(view.relevant)} needed are {view.where}", view.ranks())


def _reciprocal_rank(view: View) -> Worked:
    details = view.ranks()
    if view.counted:
        return view.result(f"1 / {view.counted[0].rank}, the first relevant rank", details)
    if view.found:
        rank = view.found[0].rank
        details.append(Worked(description=f"ignoring the cut: 1 / {rank}", value=1.0 / rank, mistake=True))
    return view.result(f"nothing relevant {view.where}", details)


def _average_precision(view: View) -> Worked:
    seen: set[int] = set()
    parts: list[Worked] = []
    for item in view.counted:
        seen.add(item.rank)
        parts.append(
            Worked(
                description=f"rank {item.rank}: {item.name}, precision {len(seen)} / {item.rank}",
                value=len(seen) / item.rank,
            )
        )
    relevant = len(view.relevant)
    over = relevant
    if view.measure.capped and view.measure.k is not None:
        over = sum(view.within(item) for item in view.relevant)
    total = _total(parts)
    details = [*parts, *(line for line in view.ranks() if not line.description.startswith("rank"))]
    if parts and len(parts) < over:
        details.append(
            Worked(
                description=f"dividing by the {len(parts)} found: {total:.4f} / {len(parts)}",
                value=total / len(parts),
                mistake=True,
            )
        )
    return view.result(f"sum of precisions / relevant = {total:.4f} / {over}", details)


def _f1(view: View) -> Worked:
    k, relevant = view.measure.k or 1, len(view.relevant)
    precision, recall = _useful(view) / k, len(view.counted) / relevant
    details = [
        Worked(description=f"precision: {_useful(view)} of {k} places", value=precision),
        Worked(description=f"recall: {len(view.counted)} of {relevant} relevant", value=recall),
        *view.ranks(),
    ]
    return view.result("2 * precision * recall / (precision + recall)", details)


def _r_precision(view: View) -> Worked:
    relevant = len(view.relevant)
    within = [item for item in view.found if item.rank <= relevant]
    details = [Worked(description=f"rank {item.rank}: {item.name}") for item in view.found]
    return view.result(f"{len(within)} of {relevant} stand in the first {relevant}", details)


def _by_definition(view: View) -> Worked:
    definition = Worked(description=f"{view.measure.family.description} ({view.measure.family.source})")
    return Worked(description=f"{view.measure}", value=view.value, details=(definition, *view.ranks()))


def _useful(view: View) -> int:
    return len({item.rank for item in view.counted})


def _total(parts: Sequence[Worked]) -> float:
    total = 0.0
    for part in parts:
        total += part.value or 0.0
    return total


_WORKINGS: Mapping[str, Callable[[View], Worked]] = {
    "nDCG": _ndcg,
    "DCG": _dcg,
    "recall": _recall,
    "SetR": _recall,
    "precision": _precision,
    "SetP": _precision,
    "hit": _hit,
    "complete": _complete,
    "RR": _reciprocal_rank,
    "AP": _average_precision,
    "F1": _f1,
    "Rprec": _r_precision,
}
