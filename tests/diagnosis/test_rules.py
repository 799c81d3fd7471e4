"""Each rule: a case where it fires and one where it stays silent; evidence in the words of the case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from assay.diagnosis.alike import likest, worded
from assay.diagnosis.cases import Case, Library, Passage, words_of
from assay.diagnosis.findings import find_findings
from assay.diagnosis.losses import find_losses
from assay.diagnosis.rules import (
    RULES,
    anchor_ambiguity,
    chunk_boundary,
    propose,
    ranking,
    reranker_demotion,
    severed,
    split_ranking,
    vocabulary_gap,
)
from assay.matching import find_relevance
from assay.model.documents import Document
from assay.model.golden import Anchor, GoldenSet, Query
from planted import planted_run

PAGE = Document(
    id="keys.md",
    title="Signing keys",
    text=(
        "# Signing keys\n\n"
        "## Rotation\n\n"
        "The release manager owns the signing keys.\n\n"
        "Each one is replaced after ninety days by the vault.\n\n"
        "Expired certificates are archived.\n"
    ),
)
OTHER = Document(id="faq.md", text="By the vault each is replaced after ninety days, as one reads.")
NOISE = Document(id="noise.md", text="Nothing here is about anything at all.")
ANCHOR = "Each one is replaced after ninety days by the vault"


def chunk_of(document: Document, text: str) -> str:
    start = document.text.index(text)
    return f"{document.id}#{start}-{start + len(text)}"


GOLD = chunk_of(PAGE, f"{ANCHOR}.")
OWNER = chunk_of(PAGE, "The release manager owns the signing keys.")
LIKE = chunk_of(OTHER, OTHER.text)
DULL = chunk_of(NOISE, NOISE.text)
DULLS = [f"noise.md#{at}-{at + 5}" for at in range(0, 30, 5)]


def case_of(
    query: str,
    stages: Mapping[str, Sequence[str]],
    *,
    k: int = 2,
    deep: Mapping[str, Mapping[str, int]] | None = None,
    anchor: str = ANCHOR,
    documents: Sequence[Document] = (PAGE, OTHER, NOISE),
    doc_id: str = "keys.md",
) -> Case:
    golden = GoldenSet(
        name="g",
        queries=(Query(id="q", text=query, anchors=(Anchor(id="a1", doc_id=doc_id, quote=anchor),)),),
    )
    run = planted_run(
        {name: {"q": chunks} for name, chunks in stages.items()},
        k=k,
        deep={name: {"q": ranks} for name, ranks in (deep or {}).items()},
        index=[GOLD, OWNER],
    )
    relevance = find_relevance(golden, documents, run.chunks)
    library = Library(run, relevance, golden, documents)
    (loss,) = find_losses(run, relevance)
    return library.case(loss, k=k)


def below(query: str, **ranks: int) -> Case:
    """A case whose chunk stands in no stored list, at those ranks."""
    return case_of(
        query,
        {"vector": DULLS, "fulltext": DULLS, "pool": DULLS, "final": DULLS[:2]},
        deep={name: {GOLD: rank} for name, rank in ranks.items()},
    )


def test_a_gap_is_proposed_when_no_word_is_shared_and_no_list_reaches_the_chunk():
    said = vocabulary_gap(below("How often do secrets expire automatically?", vector=4711))
    assert said is not None
    assert (said.kind, said.fix) == ("vocabulary-gap", "better-embedder")
    assert said.evidence.facts["shared"] == []
    assert said.evidence.facts["list_ranks"] == {"vector": 4711, "fulltext": None}
    assert "Ranks: vector 4,711, fulltext not at all" in said.evidence.sentence
    assert "'secrets'" in said.evidence.sentence


def test_no_gap_is_proposed_when_the_words_are_there():
    assert vocabulary_gap(below("Is each replaced after ninety days by the vault?", vector=4711)) is None


def test_no_gap_is_proposed_when_a_list_reaches_the_chunk():
    assert vocabulary_gap(below("How often do secrets expire automatically?", vector=5)) is None


def test_without_a_vector_list_the_gap_asks_for_a_rewritten_query():
    case = case_of("How often do secrets expire?", {"fulltext": DULLS, "final": DULLS[:2]})
    said = vocabulary_gap(case)
    assert said is not None
    assert said.fix == "query-rewrite"


def test_a_chunk_boundary_is_proposed_when_the_heading_holds_the_query():
    said = chunk_boundary(below("rotation of signing keys", vector=400))
    assert said is not None
    assert (said.kind, said.fix) == ("chunk-boundary", "contextual-chunk-headers")
    assert set(said.evidence.facts["headings"]) == {"rotation", "signing", "keys"}  # pyright: ignore[reportArgumentType]
    assert "in its headings" in said.evidence.sentence


def test_a_chunk_boundary_is_proposed_when_the_text_beside_it_holds_the_query():
    said = chunk_boundary(below("Who is the release manager that owns this?", vector=400))
    assert said is not None
    assert said.fix == "smaller-chunks"
    assert set(said.evidence.facts["near"]) == {"release", "manager", "owns"}  # pyright: ignore[reportArgumentType]


def test_no_chunk_boundary_is_proposed_when_the_words_are_elsewhere_or_inside():
    assert chunk_boundary(below("billing of foreign invoices", vector=400)) is None
    assert chunk_boundary(below("replaced after ninety days by the vault", vector=400)) is None


def test_a_severed_anchor_is_a_chunk_boundary_and_no_other_is():
    start = PAGE.text.index(ANCHOR)
    halves = [f"keys.md#0-{start + 20}", f"keys.md#{start + 21}-{len(PAGE.text)}"]
    golden = GoldenSet(
        name="g",
        queries=(Query(id="q", text="x", anchors=(Anchor(id="a1", doc_id="keys.md", quote=ANCHOR),)),),
    )
    run = planted_run({"final": {"q": halves}}, k=2)
    relevance = find_relevance(golden, (PAGE,), run.chunks)
    (loss,) = find_losses(run, relevance)
    said = severed(Library(run, relevance, golden, (PAGE,)).case(loss, k=2))
    assert said is not None
    assert said.kind == "chunk-boundary"
    # the second half begins at its 21st character and holds 30 of 51
    assert said.evidence.sentence == (
        f"No chunk holds the whole anchor; the best holds {30 / 51:.0%} of it: the cut went through it."
    )
    assert severed(below("rotation", vector=400)) is None


def test_a_list_that_fusion_did_not_follow_is_ranking():
    case = case_of(
        "replaced after ninety days",
        {"vector": [GOLD, *DULLS], "fulltext": DULLS, "pool": DULLS, "final": DULLS[:2]},
        deep={"pool": {GOLD: 9}},
    )
    said = split_ranking(case)
    assert said is not None
    assert (said.kind, said.fix) == ("ranking", "hybrid-weights")
    assert said.evidence.facts["list_ranks"] == {"vector": 1, "fulltext": None}
    assert split_ranking(below("replaced", vector=3)) is None  # k = 2


def test_a_chunk_within_the_pool_and_below_the_cut_is_ranking():
    case = case_of(
        "replaced after ninety days",
        {"vector": [*DULLS, GOLD], "fulltext": DULLS, "pool": [*DULLS, GOLD], "final": DULLS[:2]},
    )
    said = ranking(case)
    assert said is not None
    assert said.evidence.facts["pool_rank"] == 7
    assert ranking(below("replaced after ninety days", vector=400, fulltext=90, pool=70)) is None


def test_ranking_of_a_single_list_asks_for_a_better_embedder():
    said = ranking(case_of("replaced", {"vector": [*DULLS, GOLD], "final": DULLS[:2]}))
    assert said is not None
    assert said.fix == "better-embedder"


@pytest.mark.parametrize(("after", "told"), [([*DULLS[:3], GOLD], "put it at 4"), (DULLS, "dropped it")])
def test_a_reranker_that_pushes_the_chunk_out_is_a_demotion(after: list[str], told: str):
    case = case_of(
        "Who owns what is replaced?",
        {"vector": [GOLD, *DULLS], "pool": [GOLD, *DULLS], "reranked": after, "final": after[:2]},
    )
    said = reranker_demotion(case)
    assert said is not None
    assert said.kind == "reranker-demotion"
    assert f"Fusion had it at 1, within k = 2; the reranker {told}" in said.evidence.sentence
    assert said.evidence.facts["missing"] == ["owns"]


def test_a_chunk_that_was_below_the_cut_before_the_reranker_is_no_demotion():
    order = [*DULLS[:3], GOLD]
    case = case_of("replaced", {"vector": order, "pool": order, "reranked": DULLS, "final": DULLS[:2]})
    assert case.loss.lost_at == "reranker"
    assert reranker_demotion(case) is None
    said = ranking(case)
    assert said is not None
    assert said.evidence.facts["pool_rank"] == 4


def test_a_demotion_says_when_the_reranker_could_not_see_the_anchor():
    case = case_of(
        "replaced",
        {"vector": [GOLD, *DULLS], "pool": [GOLD, *DULLS], "reranked": DULLS, "final": DULLS[:2]},
    )
    flag = "anchor beyond reranker window (starts at word 519, budget 503)"
    golden = GoldenSet(name="g", queries=(case.query,))
    losses = find_losses(case.library.run, case.library.relevance, hidden={("q", "a1"): flag})
    library = Library(case.library.run, case.library.relevance, golden, (PAGE,))
    (finding,) = find_findings(losses, library)
    assert finding.evidence.facts["window"] == flag
    assert (finding.kind, finding.fix) == ("reranker-demotion", "smaller-chunks")
    assert flag in finding.evidence.sentence


def test_a_twin_in_the_prompt_is_an_ambiguity_for_certain():
    copy = Document(id="copy.md", text=f"As written elsewhere: {ANCHOR}.")
    hit = chunk_of(copy, copy.text)
    case = case_of(
        "replaced", {"vector": [hit, *DULLS], "final": [hit, *DULLS[:1]]}, documents=(PAGE, NOISE, copy)
    )
    said = anchor_ambiguity(case)
    assert said is not None
    assert said.evidence.facts == {"hit": hit, "hit_rank": 1, "alike": 1.0, "shared": []}


def test_a_hit_that_says_the_same_in_another_order_is_an_ambiguity():
    said = anchor_ambiguity(case_of("replaced", {"vector": [DULL, LIKE], "final": [DULL, LIKE]}))
    assert said is not None
    assert (said.evidence.facts["hit"], said.evidence.facts["hit_rank"]) == (LIKE, 2)
    assert said.evidence.facts["alike"] == 1.0
    assert said.evidence.facts["shared"] == ["one", "replaced", "ninety", "days", "vault"]


def test_a_hit_of_the_same_page_about_something_else_is_no_ambiguity():
    assert anchor_ambiguity(case_of("replaced", {"vector": [OWNER], "final": [OWNER]})) is None


def test_a_hit_that_holds_a_part_of_the_anchor_itself_is_no_ambiguity():
    start = PAGE.text.index(ANCHOR)
    part = f"keys.md#{start}-{start + 45}"
    assert anchor_ambiguity(case_of("replaced", {"vector": [part], "final": [part]})) is None


def test_words_that_are_spread_over_a_long_hit_do_not_make_it_alike():
    spread = " ".join(f"{word} {' '.join(f'filler{at}' for at in range(40))}" for word in ANCHOR.split())
    hit = Passage(chunk_id="c", doc_id="d", start=0, end=1, text=spread, words=frozenset(words_of(spread)))
    best = likest([ANCHOR], [hit], fewest=1)
    assert best is not None
    assert best.alike <= 2 / 5
    assert likest([ANCHOR], [hit], fewest=4) is None


def test_a_short_phrase_elsewhere_is_an_ambiguity_only_where_the_hit_answers_as_well():
    page = Document(id="radio.md", text="The first radio waves crossed the ocean in 1899.")
    dull = Document(id="bank.md", text="The bank was founded in 1899 by two brothers.")
    as_good = Document(id="waves.md", text="It was 1899 when radio waves first crossed an ocean.")
    gold = chunk_of(page, page.text)
    for other, expected in ((dull, None), (as_good, "anchor-ambiguity")):
        hit = chunk_of(other, other.text)
        case = case_of(
            "When did radio waves cross the ocean?",
            {"vector": [hit, DULLS[0], gold], "final": [hit, DULLS[0]]},
            anchor="1899",
            doc_id="radio.md",
            documents=(page, dull, as_good, NOISE),
        )
        said = anchor_ambiguity(case)
        assert (said.kind if said else None) == expected


def test_without_an_anchor_a_short_chunk_is_not_compared():
    heading = Document(id="a.md", text="Get started with the sheets")
    other = Document(id="b.md", text="See how to get started with the sheets of others, and more.")
    golden = GoldenSet(name="g", queries=(Query(id="q", text="sheets", labels={"a.md": 1.0}),))
    run = planted_run(
        {"final": {"q": [chunk_of(other, other.text)]}}, k=1, index=[chunk_of(heading, heading.text)]
    )
    relevance = find_relevance(golden, (heading, other), run.chunks)
    (loss,) = find_losses(run, relevance)
    assert anchor_ambiguity(Library(run, relevance, golden, (heading, other)).case(loss, k=1)) is None


def test_an_anchor_of_too_few_words_is_not_compared():
    hit = Passage(
        chunk_id="c", doc_id="d", start=0, end=1, text="ninety days", words=frozenset(words_of("ninety days"))
    )
    assert likest(["ninety days"], [hit], fewest=3) is None


def test_a_small_index_knows_no_common_words_and_a_large_one_does():
    texts = [Document(id=f"d{at}.md", text=f"keys word{at}") for at in range(60)]
    run = planted_run({"final": {"q": [f"{one.id}#0-{len(one.text)}" for one in texts]}}, k=2)
    golden = GoldenSet(name="g", queries=(Query(id="q", text="keys"),))
    library = Library(run, find_relevance(golden, texts, run.chunks), golden, texts)
    assert library.is_common("key")
    assert not library.is_common("word7")
    assert not below("keys", vector=3).library.is_common("key")


def test_the_first_rule_that_fires_wins():
    case = case_of("replaced", {"vector": [DULL, LIKE], "final": [DULL, LIKE]})
    fired = [rule for rule in RULES if rule(case) is not None]
    said = propose(case)
    assert said is not None
    assert said.kind == "anchor-ambiguity"
    assert fired[0] is anchor_ambiguity


def test_long_lists_of_words_are_cut_for_a_sentence():
    assert worded([f"w{at}" for at in range(8)]) == "'w0', 'w1', 'w2', 'w3', 'w4', 'w5' and 2 more"
    assert worded([]) == "nothing"
    assert worded(["one"]) == "'one'"


def test_parts_of_a_joined_word_are_not_told_beside_it():
    case = below("Which max_chars for follow-up questions?", vector=400)
    assert case.spelled(case.missing) == ["follow-up", "max_chars", "questions"]
