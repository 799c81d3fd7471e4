"""From rows of a log to questions: read, merged, typed, sampled."""

from __future__ import annotations

import csv
import gzip
import json
import sys
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.building.logged import LogColumns, Logged, read_log
from assay.building.merging import MergedQuery, merge_key, merge_queries
from assay.building.query_types import own_rules, query_type
from assay.building.sampling import plan_sample, sample
from assay.model.errors import ConfigError, InputError

# Reading


def test_a_log_is_read_from_every_form_with_counts_sessions_and_clicks(tmp_path: Path):
    rows = [
        {"Query": "reset  password", "count": 3, "session": "s1", "clicked": "a.md"},
        {"Query": "export logs", "count": 1, "session": "", "clicked": ""},
    ]
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    (tmp_path / "log.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "log.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (tmp_path / "log.json").write_text(json.dumps(rows), encoding="utf-8")
    pl.DataFrame(rows).write_parquet(tmp_path / "log.parquet")
    pl.DataFrame(rows).write_csv(tmp_path / "log.csv")
    pl.DataFrame(rows).write_csv(tmp_path / "log.tsv", separator="\t")
    (tmp_path / "semi.csv").write_bytes(
        "\ufeffQuery;count;session;clicked\r\nreset  password;3;s1;a.md\r\nexport logs;1;;\r\n".encode()
    )
    expected = [
        Logged(text="reset password", count=3.0, session="s1", clicked=("a.md",)),
        Logged(text="export logs"),
    ]
    for path in sorted(tmp_path.iterdir()):
        assert read_log(path) == expected, path.name


def test_a_log_of_one_column_needs_no_name_for_it(tmp_path: Path):
    (tmp_path / "log.csv").write_text('what people typed\n"one, two"\n\n"three\nfour"\n', encoding="utf-8")
    assert [one.text for one in read_log(tmp_path / "log.csv")] == ["one, two", "three four"]


def test_columns_can_be_named_and_clicks_can_be_lists(tmp_path: Path):
    rows = [
        {"zoek": "a b", "aantal": "1,200", "open": ["x.md", "y.md"]},
        {"zoek": "c", "aantal": "2", "open": "p;q"},
    ]
    (tmp_path / "log.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    first, second = read_log(tmp_path / "log.jsonl", LogColumns(query="zoek", count="aantal", clicks="open"))
    assert (first.count, first.clicked, second.clicked) == (1200.0, ("x.md", "y.md"), ("p", "q"))


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("log.csv", "when,what\n1,2\n", "no column is known to hold the query"),
        ("log.csv", "query,count\na,many\nb,-1\n", "'many' is no number"),
        ("log.jsonl", '{"query": "a"}\n{"query"\n[1]\n', "not JSON"),
        ("log.csv", "query,count\n", "holds no query"),
        ("log.xlsx", "", "cannot be read"),
        ("log.parquet", "no parquet", "not Parquet"),
    ],
)
def test_what_is_wrong_with_a_log_is_told_with_its_place(tmp_path: Path, name: str, text: str, told: str):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=told):
        read_log(tmp_path / name)


def test_a_column_that_is_not_there_gets_the_nearest_name(tmp_path: Path):
    (tmp_path / "log.csv").write_text("question,count\na,1\n", encoding="utf-8")
    with pytest.raises(InputError, match="did you mean 'question'"):
        read_log(tmp_path / "log.csv", LogColumns(query="questoin"))


# Merging


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("How long are logs kept?", " how long  are logs kept "),
        ("how to reset my password", "Reset password, please"),
        ("configure the webhooks", "webhook configuration"),
        ("i want to rotate keys", "rotating keys"),
    ],
)
def test_wordings_of_one_question_have_one_key(one: str, other: str):
    assert merge_key(one) == merge_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("How long are logs kept?", "How long are backups kept?"),
        ("migrate from v1 to v2", "migrate from v2 to v1"),
        ("convert csv to json", "convert json to csv"),
        ("deploy with docker", "deploy without docker"),
        ("cache is working", "cache is not working"),
        ("who approves refunds", "when are refunds approved"),
        ("error E1207", "error E1208"),
        ("limit of 10 users", "limit of 100 users"),
    ],
)
def test_questions_that_differ_in_what_counts_stay_apart(one: str, other: str):
    assert len(merge_queries([Logged(text=one), Logged(text=other)])) == 2


def test_counts_are_added_and_the_most_frequent_wording_stands_for_all():
    rows = [Logged(text="reset password", count=5), Logged(text="How to reset the password?", count=2)]
    (merged,) = merge_queries([*rows, Logged(text="please reset password", count=5.5)])
    assert merged.text == "reset password"  # nearly as frequent as the one with a courtesy
    assert merged.count == 12.5
    assert [count for _, count in merged.wordings] == [5, 5.5, 2]


def test_a_session_counts_once_for_one_question_in_all_its_wordings():
    rows = [Logged(text=text, session="s1") for text in ("reset pin", "Reset PIN", "how to reset pin")]
    (merged,) = merge_queries([*rows, Logged(text="reset pin", session="s2"), Logged(text="reset pin")])
    assert merged.count == 3


def test_a_mistyped_word_joins_the_frequent_one_unless_the_documents_have_it():
    rows = [
        Logged(text="rotate certificate", count=40),
        Logged(text="rotate certifcate"),
        Logged(text="contract renewal", count=30),
        Logged(text="contact renewal"),
    ]
    first = merge_queries(rows)[0]
    assert (first.text, first.count) == ("rotate certificate", 41)
    apart = merge_queries(rows, known={"contact"})
    assert {one.text for one in apart} == {"rotate certificate", "contract renewal", "contact renewal"}


def test_a_rare_neighbour_is_no_mistake():
    rows = [Logged(text="affect rotation", count=3), Logged(text="effect rotation", count=2)]
    assert len(merge_queries(rows)) == 2


def test_one_plain_word_more_out_of_seven_is_the_same_question_and_a_number_is_not():
    base = "configure password hashing algorithm tenant europe region"
    rows = [Logged(text=base, count=9), Logged(text=f"{base} cheaply"), Logged(text=f"{base} 42")]
    assert [(one.text, one.count) for one in merge_queries(rows)] == [(base, 10), (f"{base} 42", 1)]


def test_no_chain_forms_through_a_third_question():
    words = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india"]
    rows = [Logged(text=" ".join(words[:at]), count=20 - at) for at in range(7, 10)]
    merged = merge_queries(rows)
    assert [one.text for one in merged] == [rows[0].text, rows[2].text]


def test_clicks_are_gathered():
    rows = [Logged(text="a b", clicked=("x", "y")), Logged(text="A b", clicked=("x",))]
    assert merge_queries(rows)[0].clicked == (("x", 2), ("y", 1))


def test_merging_work_grows_with_the_log_and_not_with_its_square():
    rng = np.random.default_rng(0)
    words = [f"{a}{b}{c}" for a in "bcdfgh" for b in ("alon", "emir", "osta") for c in ("net", "dor", "lim")]

    def calls(count: int) -> int:
        """Count the functions that are called, which no other work on the machine changes."""
        rows = [Logged(text=" ".join(rng.choice(words, 5))) for _ in range(count)]
        seen = 0

        def note(frame: object, event: str, argument: object) -> None:
            nonlocal seen
            seen += 1

        before = sys.getprofile()
        sys.setprofile(note)
        try:
            merge_queries(rows)
        finally:
            sys.setprofile(before)
        return seen

    assert calls(8_000) < 20 * calls(500)  # 16 times as many rows; squares would take 256 times as many


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        (
            "log.jsonl",
            "".join(f'{{"query": "q{n}", "count": "few"}}\n' for n in range(55)),
            "{path}: and 5 faults more\n  fix: mend these first; the rest is told then",
        ),
        (
            "log.csv",
            "query\n" + "x" * 131_073 + "\n",
            (
                "{path}:2: not CSV: field larger than field limit (131072)\n"
                '  fix: close every quote, and quote cells that hold one as ""'
            ),
        ),
        (
            "log.json",
            '[{"query": "a"},\n',
            (
                "{path}: not JSON: Expecting value: line 2 column 1 (char 17)\n"
                "  fix: mend the file; it is one list of JSON objects, or an object a line"
            ),
        ),
        ("log.parquet", None, "{path}: there is no such file\n  fix: name the file of the log"),
    ],
)
def test_a_log_that_cannot_be_read_is_told_with_its_fix(
    name: str, text: str | None, told: str, tmp_path: Path, field_limit: None
):
    path = tmp_path / name
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_log(path)
    assert str(caught.value.faults[-1]) == told.format(path=path)


@pytest.fixture
def field_limit() -> Generator[None]:
    """Set the limit of Python's csv to its default, whatever other tests read before."""
    before = csv.field_size_limit(131_072)
    yield
    csv.field_size_limit(before)


# Types and the sample


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("error E1207 at checkout", "lexical"),
        ("max_chars", "lexical"),
        ("pyproject.toml location", "lexical"),
        ("upgrade to 3.11.4", "lexical"),
        ('"connection reset by peer"', "lexical"),
        ("How do I rotate keys?", "how-to"),
        ("Hi, how do I rotate keys? thanks", "how-to"),
        ("install on windows", "how-to"),
        ("difference between role and group", "multi-hop"),
        ("what is a role and how is it granted", "multi-hop"),
        ("redis vs kafka", "multi-hop"),
        ("who approves refunds?", "factual"),
        ("retention period of logs?", "factual"),
        ("billing contacts", "keywords"),
    ],
)
def test_the_type_of_a_query(text: str, kind: str):
    assert query_type(text) == kind


def test_own_rules_come_first_in_their_order():
    rules = own_rules({"billing": ["invoice", r"\bVAT\b"], "errors": r"\bE\d{4}\b"}, "[log.kinds]")
    assert query_type("how do I get an Invoice for E1207", rules) == "billing"
    assert query_type("E1207", rules) == "errors"
    assert query_type("rotate keys", rules) == "how-to"


def test_rules_that_are_no_patterns_are_all_told():
    with pytest.raises(ConfigError) as caught:
        own_rules({"a": "(", "b": 3, "c": ""}, "[log.kinds]")
    assert len(caught.value.faults) == 3


def asked(**counts: list[float]) -> dict[str, list[MergedQuery]]:
    return {
        kind: [MergedQuery(text=f"{kind} {at}", count=count, wordings=()) for at, count in enumerate(some)]
        for kind, some in counts.items()
    }


def test_the_plan_has_the_logs_distribution_by_what_was_asked():
    # 60 : 30 : 10 of 100 requests; of 20 queries 12, 6 and 2.
    log = asked(how=[2.0] * 30, look=[1.0] * 30, hop=[0.5] * 20)
    plan = plan_sample(log, 20)
    assert [(one.kind, one.picked, one.share) for one in plan.strata] == [
        ("how", 12, 0.6),
        ("look", 6, 0.3),
        ("hop", 2, 0.1),
    ]
    assert plan.true_shares
    # 1.959964 * sqrt(.36 * .25 / 12 + .09 * .25 / 6 + .01 * .25 / 2) = 1.959964 * sqrt(.0125)
    assert plan.half_width == pytest.approx(1.959963984540054 * 0.0125**0.5)


def test_the_interval_of_a_kind_is_wilsons_at_one_half():
    # n = 10, 5 found: half width = z / (1 + z2/10) * sqrt(0.025 + z2/400), z2 = 3.841459
    plan = plan_sample(asked(how=[1.0] * 30), 10)
    z = 1.959963984540054
    expected = z / (1 + z * z / 10) * (0.025 + z * z / 400) ** 0.5
    assert plan.strata[0].half_width == pytest.approx(expected)


def test_another_distribution_can_be_wanted_and_is_told():
    log = asked(how=[9.0] * 30, look=[1.0] * 30)
    plan = plan_sample(log, 20, shares={"how": 1, "look": 1})
    assert {one.kind: one.picked for one in plan.strata} == {"how": 10, "look": 10}
    assert not plan.true_shares
    least = plan_sample(log, 20, least=5)
    assert {one.kind: one.picked for one in least.strata} == {"how": 15, "look": 5}
    assert not least.true_shares
    assert plan_sample(log, 20, least=2).true_shares


def test_what_a_kind_has_no_room_for_goes_to_the_others_and_never_more_than_there_is():
    plan = plan_sample(asked(how=[9.0] * 4, look=[1.0] * 50), 20)
    assert {one.kind: one.picked for one in plan.strata} == {"how": 4, "look": 16}
    small = plan_sample(asked(how=[1.0] * 3, look=[1.0]), 20)
    assert small.picked == 4
    assert small.wanted == 20


def test_a_kind_that_was_asked_and_has_no_query_leaves_the_whole_unknown():
    plan = plan_sample(asked(how=[1000.0] * 4, hop=[1.0]), 3)
    assert plan.strata[1].picked == 0
    assert plan.strata[1].half_width is None
    assert plan.half_width is None


def test_a_share_of_a_kind_that_the_log_lacks_is_refused():
    with pytest.raises(ValueError, match="no query of the kind billing"):
        plan_sample(asked(how=[1.0]), 3, shares={"billing": 1})


def test_frequent_questions_are_drawn_in_proportion_and_none_twice():
    (log,) = asked(how=[50.0, 20.0, 10.0, 10.0, 10.0]).values()
    drawn: Counter[str] = Counter()
    for seed in range(3_000):
        picked = sample(log, 2, np.random.default_rng(seed))
        assert len({one.text for one in picked}) == 2
        drawn.update(one.text for one in picked)
    # The first is sure (50 * 2 >= 100). One of the rest by weight: 20, 10, 10, 10 of 50.
    assert drawn["how 0"] == 3_000
    assert drawn["how 1"] / 3_000 == pytest.approx(0.4, abs=0.03)
    assert drawn["how 4"] / 3_000 == pytest.approx(0.2, abs=0.03)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=40), st.integers(0, 45), st.integers(0, 9))
def test_a_sample_has_the_size_that_was_asked_for(counts: list[float], count: int, seed: int):
    (log,) = asked(how=counts).values()
    picked = sample(log, count, np.random.default_rng(seed))
    assert len(picked) == len({one.text for one in picked}) == min(count, len(log))
