"""A dev and a held-out part that share no document and no near-duplicate."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.building.splitting import DEV, HELDOUT, query_groups, split_queries
from assay.model.golden import Anchor, Query
from shared_data import DATASETS, needs_shared


def query(name: str, *documents: str, kind: str = "factual", text: str | None = None) -> Query:
    anchors = tuple(
        Anchor(id=f"a{at}", doc_id=document, quote="x") for at, document in enumerate(documents, start=1)
    )
    return Query(id=name, text=text or f"question {name}{len(name)}", kind=kind, anchors=anchors)


def test_queries_of_one_document_and_near_duplicates_belong_together():
    asked = [
        query("q1", "a.md"),
        query("q2", "b.md"),
        query("q3", "a.md"),
        query("q4", "c.md", text="How do I reset my password?"),
        query("q5", "d.md", text="Reset password, please"),
        query("q6", "b.md", "e.md"),
        query("q7", "e.md"),
        Query(id="q8", text="Who knows?", answerable=False),
        Query(id="q9", text="labelled", labels={"f.md#0-10": 1.0}),
        Query(id="q10", text="labelled too", labels={"f.md#40-50": 1.0}),
    ]
    names = [[asked[at].id for at in group] for group in query_groups(asked)]
    assert names == [["q1", "q3"], ["q2", "q6", "q7"], ["q4", "q5"], ["q8"], ["q9", "q10"]]


def test_questions_that_differ_in_one_word_of_five_belong_together_and_in_a_number_do_not():
    base = "which clerk seals vault ledgers"
    asked = [
        query("q1", "a", text=f"{base} nightly"),
        query("q2", "b", text=f"{base} weekly"),
        query("q3", "c", text=f"{base} 12"),
        query("q4", "d", text=f"{base} 13"),
    ]
    groups = [[asked[at].id for at in group] for group in query_groups(asked)]
    assert ["q1", "q2"] in groups
    assert ["q3"] in groups
    assert ["q4"] in groups


def test_every_kind_has_its_share_where_groups_allow():
    asked = [query(f"{kind}{at}", f"{kind}{at}.md", kind=kind) for kind in "abc" for at in range(20)]
    split = split_queries(asked, share=0.3)
    assert [(kind.kind, kind.queries, kind.heldout) for kind in split.kinds] == [
        ("a", 20, 6),
        ("b", 20, 6),
        ("c", 20, 6),
    ]
    assert split.share == 0.3
    assert (split.groups, split.largest) == (60, 1)


def test_groups_of_mixed_kinds_are_dealt_so_that_both_kinds_balance():
    # 12 documents with 3 factual and 1 lexical query each, 4 documents with 4 lexical ones.
    asked = [query(f"f{d}{n}", f"d{d}", kind="factual") for d in range(12) for n in range(3)]
    asked += [query(f"l{d}", f"d{d}", kind="lexical") for d in range(12)]
    asked += [query(f"m{d}{n}", f"e{d}", kind="lexical") for d in range(4) for n in range(4)]
    split = split_queries(asked, share=0.25)
    assert {kind.kind: kind.heldout for kind in split.kinds} == {"factual": 9, "lexical": 7}


def test_the_seed_decides_and_the_same_seed_decides_the_same():
    asked = [query(f"q{at}", f"{at}.md") for at in range(40)]
    first = split_queries(asked, seed=1)
    assert first.parts == split_queries(asked, seed=1).parts
    assert first.parts != split_queries(asked, seed=2).parts
    assert first.seed == 1


def test_a_query_keeps_its_part_and_takes_its_group_along():
    asked = [query(f"q{at}", f"{at % 20}.md") for at in range(40)]
    held = replace(asked[0], split=HELDOUT)
    known = replace(asked[1], split=DEV)
    split = split_queries([held, known, *asked[2:]], share=0.3)
    assert split.kept == 2
    assert split.parts["q0"] == split.parts["q20"] == HELDOUT
    assert split.parts["q1"] == split.parts["q21"] == DEV
    assert sum(part == HELDOUT for part in split.parts.values()) == 12


def test_a_group_that_was_torn_before_is_told_and_stays_until_a_fresh_split():
    asked = [replace(query("q1", "a"), split=DEV), replace(query("q2", "a"), split=HELDOUT), query("q3", "a")]
    split = split_queries(asked)
    assert split.torn == (("q1", "q2", "q3"),)
    assert split.parts == {"q1": DEV, "q2": HELDOUT, "q3": DEV}
    assert len(set(split_queries(asked, fresh=True).parts.values())) == 1


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, float("nan")])
def test_a_share_that_is_none_is_refused(share: float):
    with pytest.raises(ValueError, match="not between 0 and 1"):
        split_queries([query("q1", "a")], share=share)


@given(
    st.lists(st.tuples(st.integers(0, 12), st.sampled_from("abc")), min_size=1, max_size=60),
    st.floats(0.05, 0.95),
    st.integers(0, 5),
)
def test_no_document_is_in_both_parts(rows: list[tuple[int, str]], share: float, seed: int):
    asked = [query(f"q{at}", f"{doc}.md", kind=kind) for at, (doc, kind) in enumerate(rows)]
    split = split_queries(asked, share=share, seed=seed)
    parts: dict[str, set[str]] = {}
    for one in asked:
        parts.setdefault(one.anchors[0].doc_id, set()).add(split.parts[one.id])
    assert all(len(found) == 1 for found in parts.values())
    assert list(split.parts) == [one.id for one in asked]
    # No exchange of one group for another comes nearer to the share than half of the largest group.
    assert abs(split.share - share) * len(asked) <= max(Counter(doc for doc, _ in rows).values()) + 1


@needs_shared
def test_a_real_set_of_articles_splits_evenly():
    import json  # noqa: PLC0415

    rows = [
        json.loads(line)
        for line in (DATASETS / "squad-fulldoc" / "golden.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    asked = [query(str(at), row["labels"][0]["doc_id"], text=row["query"]) for at, row in enumerate(rows)]
    split = split_queries(asked, share=0.3)
    assert (split.groups, sum(part == HELDOUT for part in split.parts.values())) == (48, 357)
