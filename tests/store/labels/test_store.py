from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from assay.model.errors import InputError, StoreError
from assay.model.golden import Anchor, Provenance, Query
from assay.model.labels import (
    Candidate,
    Decision,
    Draft,
    Edit,
    Judgement,
    Look,
    Pool,
    Reply,
    new_id,
)
from assay.store.labels.store import LabelStore

QUERY = Query(
    id="q1",
    text="When do refunds arrive?",
    kind="factual",
    anchors=(
        Anchor(id="a1", doc_id="returns.md", quote="within 14 days", start=4, end=18, grade=2.0),
        Anchor(
            id="fee",
            doc_id="fees.md",
            quote="no fee",
            alternatives=(Anchor(id="fee.1", doc_id="faq.md", quote="free of charge"),),
        ),
    ),
    split="dev",
    provenance=Provenance(origin="generated", source="tale", judged_by="tale/1"),
    meta={"lang": "en"},
)


def judged(by: str = "ada", grade: float | None = 1.0, **more: object) -> Judgement:
    row = Judgement(query_id="q1", doc_id="returns.md", start=0, end=40, grade=grade, by=by)
    return replace(row, **more)  # type: ignore[arg-type]  # the fields of a judgement


def test_a_judgement_is_kept_with_who_when_what_was_shown_and_why(store: LabelStore):
    sent = judged(shown="Refunds arrive within 14 days.", why="states the term", elapsed_ms=812.5)
    (kept,) = store.add_judgements([sent])
    assert (kept.by, kept.shown, kept.why, kept.grade) == (sent.by, sent.shown, sent.why, 1.0)
    assert kept.at.endswith("+00:00")
    assert kept.seq == 1
    assert store.judgements() == (kept,)


@pytest.mark.parametrize(
    "text",
    ["a\0b", "half a pair \ud83d", "\ufdd0 mark", "<script>alert(1)</script>", "🙂 \u2028 \x1b[31m", ""],
)
def test_any_text_comes_back_as_it_was(store: LabelStore, text: str):
    candidate = Candidate(doc_id="d", start=0, end=1, text=text, ranks={text: 1})
    pool = Pool(id=new_id(), name="p", query_id="q1", query=text, candidates=(candidate,), sources=(text,))
    store.add_pools([pool])
    (kept,) = store.add_judgements([judged(shown=text, why=text, pool_id=pool.id)])
    assert (kept.shown, kept.why) == (text, text)
    (shown,) = store.pools(name="p")
    assert (shown.query, shown.candidates, shown.sources) == (text, (candidate,), (text,))


def test_the_same_row_sent_twice_is_kept_once(store: LabelStore):
    row = judged()
    assert store.add_judgements([row]) == store.add_judgements([row])
    assert len(store.judgements()) == 1


def test_an_id_is_never_used_for_another_content(store: LabelStore):
    row = judged()
    store.add_judgements([row])
    with pytest.raises(StoreError, match="taken by another row"):
        store.add_judgements([judged(by="bob"), replace(row, grade=0.0)])
    assert len(store.judgements()) == 1  # and bob's row, sent with it, was not kept either


def test_rows_are_given_together_or_not_at_all(store: LabelStore):
    with pytest.raises(StoreError):
        store.add_judgements([judged(), judged(undoes="no such row")])
    assert store.judgements() == ()


def test_undoing_appends_and_can_itself_be_undone(store: LabelStore):
    first, second = store.add_judgements([judged(), judged(by="bob", grade=0.0)])
    undoing = store.undo_judgement(first.id, by="ada", why="wrong query")
    assert store.judgements(standing=True) == (second,)
    store.undo_judgement(undoing.id, by="ada")
    assert store.judgements(standing=True) == (first, second)
    assert [row.undoes for row in store.judgements()] == [None, None, first.id, undoing.id]


def test_what_is_not_there_cannot_be_undone(store: LabelStore):
    with pytest.raises(InputError, match="there is no judgement 'x'"):
        store.undo_judgement("x", by="ada")


@pytest.mark.parametrize(
    "change", ["UPDATE judgements SET grade = 0", "DELETE FROM judgements", "DELETE FROM candidates"]
)
def test_the_database_itself_refuses_to_change_or_delete(store: LabelStore, change: str):
    shown = (Candidate(doc_id="d", start=0, end=1, text="x"),)
    store.add_pools([Pool(id="p1", name="p", query_id="q1", query="?", candidates=shown)])
    store.add_judgements([judged()])
    with pytest.raises(StoreError, match="appended, never changed"), store._database.write() as connection:
        connection.exec_driver_sql(change)
    assert store.judgements()[0].grade == 1.0


def test_judgements_are_found_by_query_labeller_and_what_came_later(store: LabelStore):
    rows = store.add_judgements(
        [judged(), judged(by="bob"), judged(query_id="q2"), judged(by="m/1", origin="judge", model="m")]
    )
    assert store.judgements(query_id="q2") == rows[2:3]
    assert store.judgements(by="bob") == rows[1:2]
    assert store.judgements(origin="judge") == rows[3:]
    assert store.judgements(after=rows[1].seq) == rows[2:]


def test_a_pool_keeps_the_order_in_which_it_is_shown_and_may_be_empty(store: LabelStore):
    shown = tuple(
        Candidate(doc_id="d", start=at, end=at + 1, text=str(at), ranks={"bm25": at + 1}) for at in (3, 1, 2)
    )
    pools = [
        Pool(
            id="p1",
            name="may",
            query_id="q1",
            query="?",
            candidates=shown,
            seed=7,
            depth=5,
            sources=("bm25",),
        ),
        Pool(id="p2", name="may", query_id="q2", query="?"),
        Pool(id="p3", name="june", query_id="q1", query="?"),
    ]
    kept = store.add_pools(pools)
    assert [replace(pool, at="", seq=0) for pool in kept] == pools
    assert store.pools(name="may") == kept[:2]
    assert store.pools(pool_id="p3") == kept[2:]
    assert store.add_pools(pools) == kept
    with pytest.raises(StoreError, match="taken by another row"):
        store.add_pools([replace(pools[0], candidates=())])


def test_a_draft_waits_until_somebody_decides(store: LabelStore):
    reply = store.add_reply(Reply(job="draft", task="t", model="tale", status="accepted", text="{}"))
    drafts = store.add_drafts(
        [
            Draft(
                job="draft", query=QUERY, evidence={"returns.md#0-40": "text"}, reply_id=reply.id, by="tale"
            ),
            Draft(job="draft", query=replace(QUERY, id="q2"), notes=("quote repaired",), by="tale"),
        ]
    )
    assert store.drafts(undecided=True) == drafts
    assert store.queries() == ()
    store.decide(
        [Decision(subject=drafts[0].id, verdict="accepted", by="ada")],
        edits=[Edit(query_id="q1", action="put", by="ada", query=drafts[0].query)],
    )
    assert store.drafts(undecided=True) == drafts[1:]
    assert store.queries() == (QUERY,)
    (decision,) = store.decisions(subject=drafts[0].id)
    store.decide([Decision(subject=drafts[0].id, verdict="accepted", by="ada", undoes=decision.id)])
    assert store.drafts(undecided=True) == drafts


def test_edits_fold_to_the_set_as_it_stands(store: LabelStore):
    added = Anchor(id="", doc_id="errors.md", quote="Code E1207")
    edits = store.edit(
        [
            Edit(query_id="q1", action="put", by="ada", query=QUERY),
            Edit(query_id="q1", action="anchor", by="bob", anchor=added),
            Edit(query_id="q0", action="put", by="ada", query=Query(id="q0", text="?", answerable=False)),
        ]
    )
    (first, second) = store.queries()
    assert (first.id, second.id) == ("q0", "q1")
    assert second.anchors == (*QUERY.anchors, replace(added, id="a2"))
    store.edit([Edit(query_id="q1", action="undo", by="ada", undoes=edits[1].id)])
    store.edit([Edit(query_id="q0", action="remove", by="ada")])
    assert store.queries() == (QUERY,)
    assert store.edits(query_id="q0")[0] == edits[2]


def test_a_new_anchor_makes_a_query_answerable_and_the_same_phrase_takes_the_new_grade(store: LabelStore):
    anchor = Anchor(id="", doc_id="d", quote="a phrase")
    store.edit(
        [
            Edit(query_id="q", action="put", by="ada", query=Query(id="q", text="?", answerable=False)),
            Edit(query_id="q", action="anchor", by="ada", anchor=anchor),
            Edit(query_id="q", action="anchor", by="bob", anchor=replace(anchor, grade=3.0)),
        ]
    )
    (query,) = store.queries()
    assert query.answerable
    assert query.anchors == (Anchor(id="a1", doc_id="d", quote="a phrase", grade=3.0),)


def test_looks_replies_and_the_last_exchange_are_kept(store: LabelStore):
    look = store.add_look(Look(what="judge-test", of="abc", by="ada", facts={"tpr": 0.9, "kinds": ["x"]}))
    assert store.looks(what="judge-test") == (look,)
    assert store.looks(what="heldout") == ()
    reply = store.add_reply(
        Reply(
            job="judge", task="t", model="m", status="refused", text="no", reason="not JSON", prompt_tokens=9
        )
    )
    assert store.replies(job="judge", status="refused") == (reply,)
    assert store.replies(status="accepted") == ()
    assert store.last_sync() == {}
    store.add_sync(direction="export", file="golden.jsonl", by="ada", lines={"q1": "{}"})
    store.add_sync(direction="import", file="golden.jsonl", by="ada", lines={"q2": "{}"})
    assert store.last_sync() == {"q2": "{}"}
    assert store.counts()["replies"] == 1


def test_twenty_threads_share_one_store_and_lose_nothing(store: LabelStore):
    def give(person: int) -> None:
        for number in range(10):
            store.add_judgements([judged(by=f"person {person}", query_id=f"q{number}")])
            store.edit([Edit(query_id=f"q{person}", action="remove", by=f"person {person}")])

    with ThreadPoolExecutor(20) as people:
        list(people.map(give, range(20)))
    assert (store.counts()["judgements"], store.counts()["edits"]) == (200, 200)
