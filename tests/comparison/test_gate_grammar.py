from __future__ import annotations

from fractions import Fraction

import pytest

from assay.comparison.gate_grammar import parse_gates, read_figure
from assay.model.errors import ConfigError
from assay.model.gates import Gate


def gate_of(key: str, rule: object) -> Gate:
    [gate] = parse_gates({key: rule})
    return gate


@pytest.mark.parametrize(
    ("key", "stage", "measure", "column", "group"),
    [
        ("recall@10", None, "recall@10", "kind", None),
        ("recall@10 [conceptual]", None, "recall@10", "kind", "conceptual"),
        ("recall@10[conceptual]", None, "recall@10", "kind", "conceptual"),
        ("nDCG@10 [language=de]", None, "nDCG@10", "language", "de"),
        ("R@10 [tenant = acme corp]", None, "R@10", "tenant", "acme corp"),
        ("pool: recall@50", "pool", "recall@50", "kind", None),
        ("full text : MRR@10 [lexical]", "full text", "MRR@10", "kind", "lexical"),
        ("nDCG(gain=exp)@10", None, "nDCG(gain=exp)@10", "kind", None),
        ("RR", None, "RR", "kind", None),
    ],
)
def test_a_key_names_a_figure(key: str, stage: str | None, measure: str, column: str, group: str | None):
    gate = gate_of(key, ">= 0.5")
    assert (gate.stage, gate.measure, gate.column, gate.group) == (stage, measure, column, group)


@pytest.mark.parametrize(
    ("written", "rule", "figure", "tolerance"),
    [
        (">= 0.70", "floor", Fraction(7, 10), Fraction(0)),
        (">=.7", "floor", Fraction(7, 10), Fraction(0)),
        ("at least 70 %", "floor", Fraction(7, 10), Fraction(0)),
        (">= 2/3", "floor", Fraction(2, 3), Fraction(0)),
        ("<= 0.1", "cap", Fraction(1, 10), Fraction(0)),
        ("0.729 within 0.02", "pin", Fraction(729, 1000), Fraction(2, 100)),
        ("0.729 ± 0.02", "pin", Fraction(729, 1000), Fraction(2, 100)),
        ("no worse than main by more than 0.02", "no worse", Fraction(0), Fraction(2, 100)),
        ("no worse", "no worse", Fraction(0), Fraction(0)),
        ("not significantly worse on any kind", "not significantly worse", Fraction(0), Fraction(0)),
    ],
)
def test_a_rule_keeps_its_figures_exactly(written: str, rule: str, figure: Fraction, tolerance: Fraction):
    gate = gate_of("recall@10", written)
    assert (gate.rule, gate.figure, gate.tolerance) == (rule, figure, tolerance)


def test_rules_against_a_baseline_name_it_and_the_groups():
    first, second = parse_gates(
        {"recall@10": "no worse than main by more than 0.02, and not significantly worse on any kind"}
    )
    assert (first.rule, first.baseline, first.each) == ("no worse", "main", None)
    assert (second.rule, second.baseline, second.each) == ("not significantly worse", None, "kind")


def test_a_figure_may_have_several_rules():
    gates = parse_gates({"recall@10": ["0.729 within 0.02", ">= 0.70, <= 0.99"]})
    assert [gate.name for gate in gates] == [
        "recall@10 0.729 within 0.02",
        "recall@10 >= 0.70",
        "recall@10 <= 0.99",
    ]


def test_a_plain_number_is_a_floor():
    assert gate_of("recall@10", 0.7).figure == Fraction(7, 10)
    assert gate_of("recall@10", 1).figure == 1


@pytest.mark.parametrize(
    ("written", "figure", "decimals"),
    [("0.70", "7/10", 2), ("1", "1", 0), ("72.9 %", "729/1000", 3), ("2/3", "2/3", 0), ("1e-3", "1/1000", 3)],
)
def test_decimals_are_those_written(written: str, figure: str, decimals: int):
    assert read_figure(written) == (Fraction(figure), decimals)


def test_all_faults_come_at_once_each_with_what_can_be_written():
    with pytest.raises(ConfigError) as caught:
        parse_gates(
            {
                "recal@10": ">= 0.7",
                "a: b: recall@10": ">= 0.7",
                "recall@10": "> 0.7",
                "nDCG@10": True,
                "RR": ">= 1/0",
                "P@5": ">= 0.2",
            }
        )
    text = str(caught.value)
    assert len(caught.value.faults) == 5
    assert "recall@10" in str(caught.value.faults[0])
    assert "'> 0.7' is no rule" in text
    assert "a rule is text, not True" in text
    assert "1/0 divides by 0" in text
    assert "write '>= 0.70'" in text
    assert all(fault.where.startswith("assay.toml [gate] '") for fault in caught.value.faults)
