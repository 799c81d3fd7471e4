"""Scores against the published output of trec_eval's own tests, and the toy sets of other tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.flows.compat import TOOLS
from assay.flows.score import Scoring, score_runs
from assay.measures.spec import parse_measure
from assay.model.errors import InputError
from assay.report.scorecard import tool_text
from shared_data import DATASETS, needs_shared

TREC = DATASETS / "trec" / "trec_eval_test"

# What out.test holds that is no mean of a measure of ours: counts, geometric means, interpolated precision,
# and measures that only trec_eval has.
NOT_OURS = (
    "runid", "num_", "gm_", "iprec_at_recall", "Rprec_mult", "utility", "11pt_avg", "binG", "G", "ndcg_rel",
    "Rndcg", "relstring", "set_relative_P", "set_map", "unj_", "relative_P",
)  # fmt: skip


def published(path: Path) -> dict[tuple[str, str], str]:
    """Return (measure, query) -> figure, as printed."""
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    return {(name, query): figure for name, query, figure in rows if not name.startswith(NOT_OURS)}


def ours_for(name: str, rel: str) -> str | None:
    """Return our spelling of a measure of trec_eval's, at a least grade."""
    rbp = {"rbp": "RBP(p=0.9)", "rbp_resid": "RBPresidual(p=0.9)"}.get(name)
    if rbp is not None:
        return rbp
    measure = parse_measure(name)
    if not rel or "rel" not in measure.family.options:
        return name
    head, cut, k = measure.canonical.partition("@")
    return f"{head}({rel}){cut}{k}"


@needs_shared
@pytest.mark.parametrize(
    ("expected", "qrels", "rel"),
    [
        ("out.test", "qrels.test", ""),
        ("out.test.a", "qrels.test", ""),
        ("out.test.aq", "qrels.test", ""),
        ("out.test.aq", "qrels.test.with-comments", ""),
        ("out.test.aql", "qrels.rel_level", "rel=2"),
    ],
)
def test_every_figure_that_trec_eval_publishes_is_printed_to_the_digit(
    expected: str, qrels: str, rel: str
) -> None:
    figures = published(TREC / expected)
    if rel:  # RBP has no threshold there: it weighs grades
        figures = {key: figure for key, figure in figures.items() if not key[0].startswith("rbp")}
    names = list(dict.fromkeys(name for name, _ in figures))
    spellings = {name: ours_for(name, rel) for name in names}
    scoring = Scoring(measures=[text for text in spellings.values() if text], compat="trec_eval")
    card = score_runs([TREC / "results.test"], TREC / qrels, scoring)
    text = tool_text(card, decimals=4, per_query=True)
    printed = {
        (name.strip(), query): figure.strip() for name, query, figure in map(str.split, text.splitlines())
    }
    assert len(figures) >= 13
    assert {key: printed[key] for key in figures} == figures


@needs_shared
def test_counts_agree_with_trec_eval() -> None:
    counts = score_runs([TREC / "results.test"], TREC / "qrels.test").runs[0].counts
    assert (counts["queries"], counts["hits"], counts["relevant"], counts["found"]) == (3, 1500, 561, 131)


@needs_shared
def test_a_cut_short_run_with_words_after_its_tag_is_read_as_trec_eval_reads_it() -> None:
    card = score_runs([TREC / "results.trunc"], TREC / "qrels.test", Scoring(measures=["AP"]))
    run = card.runs[0]
    assert {notice.code for notice in run.notices} >= {"spare-words", "missing-queries"}
    assert run.table.value("AP", "302") == 0.0
    lines = (TREC / "results.trunc").read_text(encoding="utf-8").splitlines()
    assert run.counts["hits"] == len(lines)


@needs_shared
@pytest.mark.parametrize("name", ["run.json", "run.trec", "run.trec.gz", "run.parquet"])
@pytest.mark.parametrize("judgements", ["qrels.json", "qrels.trec", "qrels.trec.gz", "qrels.parquet"])
def test_ranx_files_say_the_same_in_every_form(name: str, judgements: str) -> None:
    folder = DATASETS / "trec" / "ranx_tests"
    scoring = Scoring(measures=["nDCG@10", "RR", "P@2", "R@2", "AP"])
    card = score_runs([folder / name], folder / judgements, scoring)
    # q1 ranks d3, d2, d1 with grades 3, 2, 1: ideal. q2 ranks d2, d1 with grades 2, 1: ideal.
    means = {measure: average.mean for measure, average in card.runs[0].means.items()}
    assert means == {"nDCG@10": 1.0, "RR": 1.0, "P@2": 1.0, "R@2": (2 / 3 + 1) / 2, "AP": 1.0}


@needs_shared
def test_ranx_s_lz4_file_is_read_too() -> None:
    pytest.importorskip("lz4")
    pytest.importorskip("cbor2")
    folder = DATASETS / "trec" / "ranx_tests"
    card = score_runs([folder / "run.lz4"], folder / "qrels.json", Scoring(measures=["AP"]))
    assert card.runs[0].means["AP"].mean == 1.0


@needs_shared
def test_files_of_several_blanks_and_odd_second_columns_are_read() -> None:
    folder = DATASETS / "trec" / "ir_measures_tests"
    card = score_runs([folder / "cwl.run"], folder / "cwl.qrels", Scoring(measures=["P@1", "RR"]))
    # every topic of the file begins with a judged document
    assert card.runs[0].counts["missing"] == 0
    assert card.runs[0].counts["judged"] > 0


@pytest.mark.parametrize("tool", list(TOOLS))
def test_a_measure_that_a_tool_does_not_have_is_refused_by_name(tool: str) -> None:
    with pytest.raises(InputError, match=r"has no measure ERR@10"):
        score_runs([{"q": {"d": 1.0}}], {"q": {"d": 1}}, Scoring(measures=["ERR@10"], compat=tool))
