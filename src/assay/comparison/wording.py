"""The sentences that a comparison says: written once here, so that every report pastes the same."""

from __future__ import annotations

from assay.model.comparison import Interval, Verdict
from assay.stats.signs import smallest_p


def comparison_sentence(
    *,
    measure: str,
    group: str | None,
    means: tuple[float, float],
    interval: Interval | None,
    p: float,
    alpha: float,
    counts: tuple[int, int, int],
) -> str:
    """Return the sentence that people paste.

    ``counts`` are wins, losses and ties. Two decimals, and more where the difference would not show.

    >>> print(comparison_sentence(
    ...     measure="recall@10", group=None, means=(0.71, 0.83), interval=Interval(low=0.04, high=0.2),
    ...     p=0.006, alpha=0.05, counts=(11, 2, 67),
    ... ))
    recall@10 went 0.71 to 0.83 (+0.12, 95 % interval +0.04 to +0.20, p 0.006) on 80 queries: 11 gained,
    2 lost, 67 same.
    """
    base, candidate = means
    wins, losses, ties = counts
    difference = candidate - base
    digits = digits_for(difference)
    of = f" [{group}]" if group is not None else ""
    verb = "stayed at" if wins + losses == 0 else "went"
    way = f"{base:.{digits}f}" if wins + losses == 0 else f"{base:.{digits}f} to {candidate:.{digits}f}"
    figures = [signed(difference, digits)]
    if interval is not None:
        ends = f"{signed(interval.low, digits)} to {signed(interval.high, digits)}"
        figures.append(f"{100 * interval.confidence:g} % interval {ends}")
    figures.append(written_p(p, alpha))
    return (
        f"{measure}{of} {verb} {way} ({', '.join(figures)}) on {queries(sum(counts))}: "
        f"{wins} gained, {losses} lost, {ties} same."
    )


def power_sentence(
    *,
    verdict: Verdict,
    decided: int,
    alpha: float,
    p_holm: float,
    tests: int,
    detectable: float | None,
    needed: int | None,
    n: int,
) -> str:
    """Return what follows when the difference is not proven: why, and what would prove it; else nothing.

    >>> print(power_sentence(verdict="not enough queries", decided=3, alpha=0.05, p_holm=0.25, tests=1,
    ...                      detectable=0.43, needed=20, n=10))
    3 decided queries can never reach 0.05 (smallest p 1/4). This set could have shown a difference of
    0.43; to prove the one seen takes about 20 queries.
    """
    if verdict not in ("not enough queries", "could be chance"):
        return ""
    said: list[str] = []
    if verdict == "not enough queries":
        noun = "decided query" if decided == 1 else "decided queries"
        said.append(f"{decided} {noun} can never reach {alpha:g} (smallest p {smallest_p(decided)}).")
    elif tests > 1:
        said.append(
            f"That could be chance: {written_p(p_holm, alpha)} after Holm's correction over {tests} tests."
        )
    else:
        said.append("That could be chance.")
    reach = [] if detectable is None else [f"This set could have shown a difference of {detectable:.2g}"]
    if needed is not None and needed > n:
        reach.append(f"{'to' if reach else 'To'} prove the one seen takes about {queries(needed)}")
    if reach:
        said.append("; ".join(reach) + ".")
    return " ".join(said)


def digits_for(difference: float) -> int:
    """Return how many decimals show a difference: two, and more where two would hide it.

    >>> digits_for(0.12), digits_for(0.004), digits_for(0.0)
    (2, 3, 2)
    """
    size = abs(difference)
    if size == 0.0 or size >= 0.01:
        return 2
    return 3 if size >= 0.001 else 4


def signed(value: float, digits: int) -> str:
    """Write a number with its sign; what rounds to 0 has none of its own.

    >>> signed(0.12, 2), signed(-0.001, 2)
    ('+0.12', '+0.00')
    """
    written = f"{value:+.{digits}f}"
    return written.replace("-", "+") if float(written) == 0.0 else written


def written_p(p: float, alpha: float) -> str:
    """Write a p-value with three decimals, more where they would put it on the other side of alpha.

    >>> written_p(0.006, 0.05), written_p(1.0, 0.05), written_p(0.05004, 0.05), written_p(0.00002, 0.05)
    ('p 0.006', 'p 1', 'p 0.05004', 'p below 0.0001')
    """
    if p < 0.0001:
        return "p below 0.0001"
    if p < 0.001:
        return f"p {p:.4f}"
    for digits in range(3, 8):
        rounded = round(p, digits)
        if (rounded <= alpha) == (p <= alpha):
            return f"p {rounded:g}"
    return f"p {p!r}"


def queries(n: int) -> str:
    """Write a count of queries.

    >>> queries(1), queries(1200)
    ('1 query', '1,200 queries')
    """
    return "1 query" if n == 1 else f"{n:,} queries"
