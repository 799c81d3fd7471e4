"""The page of errors: each one is made, and says where, what and the fix."""

from __future__ import annotations

import pytest
from docsite.error_cases import CASES, Case, outcome
from docsite.error_sites import error_sites
from docsite.errors import ROOMS, pages

EVERY = [
    pytest.param(case, id=f"{chapter}: {case.title}") for chapter, cases in CASES.items() for case in cases
]


@pytest.mark.parametrize("case", EVERY)
def test_the_mistake_is_met_with_a_sentence_and_its_exit_code(case: Case):
    code, told = outcome(case)
    assert code == case.code
    assert "Traceback" not in told
    assert "error" in told or code == 1
    assert "SOMEWHERE" not in told, "an error names files as the user does"


def test_every_mistake_is_told_in_its_own_words():
    told = [outcome(case)[1] for cases in CASES.values() for case in cases]
    assert len(set(told)) > len(told) - 3  # three commands meet a project without runs


def test_every_room_that_raises_has_its_list_on_the_page():
    (page,) = pages().values()
    for room in {site.room for site in error_sites()}:
        assert f"### {ROOMS[room]}\n" in page


def test_every_message_of_the_source_is_on_the_page():
    (page,) = pages().values()
    missing = [site for site in error_sites() if site.told.replace("|", "\\|") not in page]
    assert not missing


def test_every_message_has_a_fix_or_says_what_is_right():
    without = [
        f"{site.file}:{site.line}: {site.told}"
        for site in error_sites()
        if not site.is_reason and not site.says_how
    ]
    assert not without


def test_every_fault_names_its_place():
    nowhere = [
        f"{site.file}:{site.line}: {site.what}"
        for site in error_sites()
        if site.kind == "Fault" and not site.where
    ]
    assert not nowhere
