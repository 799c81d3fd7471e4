"""Which judges' labels count: the licence that a judge's rates against people give it, or not.

A judge is licensed when the lower bounds of both its true positive and its true negative rate reach the bar
of ``[judge] bar``. Rooms: store (``judges.jsonl`` beside the golden set), stats (rates and their intervals).
"""

from __future__ import annotations

from collections.abc import Mapping

from assay.flows.project import FILE, Project
from assay.model.errors import ConfigError, Fault, InputError
from assay.model.golden import GoldenSet
from assay.model.judges import JudgeRecord, judges_of
from assay.model.notices import Notice, listed
from assay.stats.rates import JudgeRates, Rate, exact_interval
from assay.store.golden import load_golden
from assay.store.judges import FILE as JUDGES
from assay.store.judges import load_judges

BAR = 0.8
"""What the lower bounds of both rates must reach, unless ``[judge] bar`` says otherwise."""


def bar_of(project: Project) -> float:
    """Return the bar of a project.

    Raises:
        ConfigError: it is no number from 0 to 1.
    """
    bar = project.raw.get("judge", {}).get("bar", BAR)
    if isinstance(bar, bool) or not isinstance(bar, int | float) or not 0.0 <= bar <= 1.0:
        raise ConfigError(Fault(where=f"{FILE} [judge] bar", what=f"should be from 0 to 1, not {bar!r}"))
    return float(bar)


def judge_records(project: Project) -> Mapping[str, JudgeRecord]:
    """Return judge -> its latest look at the test part.

    Raises:
        InputError: ``judges.jsonl`` is broken.
    """
    return load_judges(project.golden_path.with_name(JUDGES))


def licensed_judges(project: Project) -> frozenset[str]:
    """Return the judges whose labels count."""
    bar = bar_of(project)
    return frozenset(
        name for name, record in judge_records(project).items() if rates_of(record).licensed(bar)
    )


def rates_of(record: JudgeRecord) -> JudgeRates:
    """Return the rates of a look, with their exact intervals.

    >>> record = JudgeRecord(judge="m/1", model="m", positives=40, true_positives=38, negatives=50,
    ...     true_negatives=48, labels="", looks=1, by="ada", at="")
    >>> rates_of(record).licensed(0.8)
    True
    """
    return JudgeRates(
        true_positive=_rate(record.true_positives, record.positives),
        true_negative=_rate(record.true_negatives, record.negatives),
    )


def _rate(hits: int, n: int) -> Rate:
    return Rate(hits=hits, n=n, interval=exact_interval(hits, n))


def unvalidated(project: Project, golden: GoldenSet) -> Mapping[str, frozenset[str]]:
    """Return query id -> the judges without a licence whose labels it carries, where there are any."""
    judged = {query.id: judges_of(query.provenance.judged_by) for query in golden.queries}
    judged = {query_id: names for query_id, names in judged.items() if names}
    if not judged:
        return {}
    licensed = licensed_judges(project)
    return {query_id: names - licensed for query_id, names in judged.items() if names - licensed}


def judge_notices(project: Project, golden: GoldenSet) -> tuple[Notice, ...]:
    """Return the mark that labels of judges without a licence leave on every number they touch."""
    touched = unvalidated(project, golden)
    if not touched:
        return ()
    judges = sorted(frozenset[str]().union(*touched.values()))
    text = (
        f"{len(touched)} of {len(golden.queries)} queries carry labels of a judge that is not validated "
        f"({listed(judges)}): every number over them is provisional (assay judge report; --require-validated "
        "refuses them)"
    )
    return (Notice(code="unvalidated-judge", text=text, ids=tuple(touched)),)


def require_validated(project: Project) -> None:
    """Refuse a project whose golden set carries labels of a judge without a licence.

    Raises:
        InputError: it does; every such query is named.
    """
    touched = unvalidated(project, load_golden(project.golden_path, kinds=project.golden.kinds))
    if touched:
        raise InputError(
            Fault(
                where=f"{project.golden_path.name}: query {query_id!r}",
                what=f"labelled by a judge that is not validated: {', '.join(sorted(names))}",
                fix="assay judge report --test, or let people verify the labels",
            )
            for query_id, names in touched.items()
        )
