from __future__ import annotations

import numpy as np
import pytest

from assay.model.documents import Chunk
from assay.model.words import content_words
from assay.retrieval.stages.fulltext import weigh
from assay.retrieval.stages.rewrite import FeedbackStage, Rewritten, as_terms
from assay.retrieval.terms import index_terms

TEXTS = ["pump impellers jam", "pump impellers wear", "valves leak", "impellers spin"]
CHUNKS = [
    Chunk(id=f"d{place}", doc_id=f"d{place}", start=0, end=len(text), text=text)
    for place, text in enumerate(TEXTS)
]
INDEX = index_terms(CHUNKS)
POSTINGS = weigh(INDEX, k1=1.2, b=0.75)


def rewrite(query: str, *, chunks: int = 2, terms: int = 1, weight: float = 0.4) -> Rewritten:
    stage = FeedbackStage(chunks=chunks, terms=terms, weight=weight)
    return stage.run(
        [query],
        INDEX,
        POSTINGS,
        np.arange(len(CHUNKS)),
        analyse=content_words,
        read=lambda chunk: CHUNKS[chunk].searchable,
    )[0]


def test_the_word_that_the_best_hits_share_joins_the_query_as_it_is_spelt():
    # Both hits hold "impellers" (in 3 of 4 chunks), each one word of its own (in 1 of 4): two thirds of
    # ln(1 + 1.5/3.5) twice is 0.238, one third of ln(1 + 3.5/1.5) once is 0.401: the rare words win.
    assert rewrite("pump").added == ("jam",)
    assert rewrite("pump", terms=3).added == ("jam", "wear", "impellers")
    assert rewrite("pump").text == "pump jam"


def test_added_words_weigh_together_what_was_said():
    new = rewrite("pump", terms=3, weight=0.4)
    own, *added = new.terms
    assert own == (INDEX.number["pump"], 1.0)
    assert sum(weight for _, weight in added) == pytest.approx(0.4)


def test_a_query_without_a_hit_stays_as_it_is():
    assert rewrite("unicorn") == Rewritten(text="unicorn", terms=[])


def test_words_of_the_query_are_not_added_again():
    assert rewrite("pump impeller jam wear", terms=9).added == ()


def test_a_word_that_stands_twice_in_the_query_weighs_twice():
    assert as_terms("pump pump valve", INDEX, content_words) == [
        (INDEX.number["pump"], 2),
        (INDEX.number["valv"], 1),
    ]
