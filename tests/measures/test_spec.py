from __future__ import annotations

import pytest

from assay.measures.spec import FAMILIES, find_spelling, parse_measure, parse_measures
from assay.model.errors import InputError


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("nDCG@10", "nDCG@10"),
        ("ndcg@10", "nDCG@10"),
        ("NDCG", "nDCG"),
        ("R@10", "recall@10"),
        ("recall@10", "recall@10"),
        ("RR", "RR"),
        ("RR@10", "RR@10"),
        ("MRR@10", "RR@10"),
        ("mrr", "RR"),
        ("P@5", "precision@5"),
        ("precision@5", "precision@5"),
        ("hit@3", "hit@3"),
        ("Success@3", "hit@3"),
        ("hit_rate@3", "hit@3"),
        ("AP", "AP"),
        ("MAP", "AP"),
        ("AP@100", "AP@100"),
        ("Rprec", "Rprec"),
        ("R-precision", "Rprec"),
        ("bpref", "bpref"),
        ("Bpref", "bpref"),
        ("F1@10", "F1@10"),
        ("Judged@10", "judged@10"),
        ("RBP(p=0.8)@10", "RBP(p=0.8)@10"),
        ("RBP", "RBP(p=0.8)"),
        ("ERR@10", "ERR@10"),
        ("ERR(max=3)@10", "ERR(max=3)@10"),
        ("infAP", "infAP"),
        ("SetP", "SetP"),
        ("SetR", "SetR"),
        ("SetF(beta=2)", "SetF(beta=2)"),
        ("complete@5", "complete@5"),
        ("DCG@10", "DCG@10"),
        ("nDCG(gain=exp)@10", "nDCG(gain=exp)@10"),
        ("nDCG(gain=linear)@10", "nDCG@10"),
        ("nDCG(dcg='exp-log2')@10", "nDCG(gain=exp)@10"),
        ("nDCG(dcg='log2')@10", "nDCG@10"),
        ("AP(rel=2)@100", "AP(rel=2)@100"),
        ("R(rel=2, capped=true)@10", "recall(rel=2,capped=true)@10"),
        ("R(capped=false)@10", "recall@10"),
        ("P(rel=0.5)@5", "precision(rel=0.5)@5"),
        ("  nDCG@10 ", "nDCG@10"),
        ("ndcg_cut_10", "nDCG@10"),
        ("map_cut_100", "AP@100"),
        ("recip_rank", "RR"),
        ("map", "AP"),
        ("P_5", "precision@5"),
        ("recall_100", "recall@100"),
        ("success_1", "hit@1"),
        ("set_recall", "SetR"),
    ],
)
def test_a_measure_is_read_as_the_field_writes_it(written: str, canonical: str):
    measure = parse_measure(written)
    assert measure.canonical == canonical
    assert str(measure) == written.strip()
    assert parse_measure(canonical) == measure


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("nDGC@10", "did you mean nDCG@10?"),
        ("recal@5", "did you mean recall@5?"),
        ("Precison@3", "did you mean precision@3?"),
        ("xyzzy", "measures: nDCG, recall, precision"),
        ("", "is not a measure"),
        ("nDCG@10@5", "whole number of at least 1, not '10@5'"),
        ("nDCG@0", "whole number of at least 1, not '0'"),
        ("nDCG@-3", "whole number"),
        ("nDCG@ten", "whole number"),
        ("nDCG@", "whole number"),
        ("nDCG@1.5", "whole number"),
        ("P", "needs a cut"),
        ("F1", "needs a cut"),
        ("bpref@10", "bpref has no cut"),
        ("nDCG(rel=2)@10", "nDCG has no option 'rel=2'"),
        ("recall(relevant=2)@10", "options: rel, capped"),
        ("recall(rel)@10", "no option 'rel'"),
        ("recall(rel=high)@10", "rel must be a grade above 0, not 'high'"),
        ("recall(rel=0)@10", "rel must be a grade above 0"),
        ("recall(capped=maybe)@10", "capped must be true or false"),
        ("nDCG(gain=log)@10", "gain must be linear or exp"),
        ("RBP(p=1.5)", "p must be a number between 0 and 1"),
        ("RBP(p=nan)", "p must be a number between 0 and 1"),
        ("ERR(max=0)", "max must be a grade above 0"),
    ],
)
def test_what_is_wrong_is_said_with_what_would_be_right(written: str, said: str):
    with pytest.raises(InputError) as caught:
        parse_measure(written)
    assert said in str(caught.value)


def test_all_faults_of_a_list_of_measures_come_at_once():
    with pytest.raises(InputError) as caught:
        parse_measures(["nDGC@10", "R@10", "P"])
    assert len(caught.value.faults) == 2


def test_no_measure_at_all_is_refused():
    with pytest.raises(InputError, match="no measure"):
        parse_measures([])


def test_a_column_is_found_under_any_spelling_of_its_measure():
    assert find_spelling("MRR@10", ["nDCG@10", "RR@10"]) == "RR@10"
    assert find_spelling("MRR@5", ["nDCG@10", "RR@10"]) is None


def test_names_and_aliases_belong_to_one_measure_each():
    owners: dict[str, str] = {}
    for family in FAMILIES:
        for name in (family.name, *family.aliases):
            assert owners.setdefault(name.casefold(), family.name) == family.name


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_measure_describes_itself(family: object):
    for field in ("description", "ceiling", "shared_ranks", "source", "undefined"):
        assert len(getattr(family, field)) > 5, field
