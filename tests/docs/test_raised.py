"""The recorder of errors: what is made reaches its place in the list, and a whole run fails for the rest."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from docsite.error_sites import Site, error_sites

from assay.measures.single import recall_at_k
from assay.model.errors import AssayError, Fault, InputError
from assay.store.tables import parse_table
from raised import Noted, Raised, is_whole, unreached, watched

SITES = error_sites()


def site(told: str) -> Site:
    (found,) = [one for one in SITES if one.told == told]
    return found


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> Noted:
    noted = Noted()
    for kind in (AssayError, Fault):
        monkeypatch.setattr(kind, "__init__", watched(kind, noted))
    return noted


def test_an_error_that_is_raised_reaches_its_place_and_no_other(noted: Noted):
    with pytest.raises(InputError):
        recall_at_k(["d1"], {"d1"}, 0)
    reached = {one.told for one in SITES if one not in unreached(SITES, noted.places())}
    assert reached == {"k must be at least 1, not ‹k›"}


def test_a_fault_among_several_reaches_its_place(noted: Noted):
    with pytest.raises(InputError) as caught:
        parse_table("a,a\n1,2,3\n", where="x.csv")
    assert len(caught.value.faults) == 2
    reached = {one.told for one in SITES if one not in unreached(SITES, noted.places())}
    assert reached == {
        "‹where›: the header names ‹name› more than once",
        "‹where›:‹line›: ‹number› cells, but the header has ‹number›",
    }


def test_what_a_test_makes_itself_reaches_nothing(noted: Noted):
    InputError("k must be at least 1, not 0")
    assert unreached(SITES, noted.places()) == list(SITES)


# The list


def test_a_sentence_that_a_caller_gives_is_listed_where_it_is_given():
    found = site("‹place›: the run is damaged: ‹name› is not what was written")
    assert found.file == "store/runs.py"
    assert len(found.places) == 2
    assert found.fix == "remove the folder and run again"


def test_the_fix_of_a_class_is_the_fix_of_its_errors():
    found = [one for one in SITES if one.kind == "MissingExtraError"]
    assert all((one.fix or "").startswith("pip install 'retrieval-assay[") for one in found)


def test_signals_between_functions_and_errors_of_python_are_not_listed():
    kinds = {one.kind for one in SITES}
    assert {"Fault", "InputError", "HitError", "EndpointError"} <= kinds
    assert not kinds & {"UncleanError", "ScatteredError", "RepeatedError", "ValueError", "AssertionError"}


# The run


def config(**options: object) -> pytest.Config:
    """Return what a run was asked for; its tests are those of the project, unless something is said."""
    source = options.pop("args_source", pytest.Config.ArgsSource.TESTPATHS)

    def getoption(name: str, default: object = None) -> object:
        return options.get(name, default)

    made = SimpleNamespace(args_source=source, getoption=getoption)
    return cast("pytest.Config", made)


def ended(raised: Raised) -> Any:
    session: Any = SimpleNamespace(config=SimpleNamespace(), exitstatus=pytest.ExitCode.OK)
    raised.pytest_sessionfinish(session)
    return session.exitstatus


@pytest.fixture
def raised() -> Raised:
    """The part of a whole run that gives its tests to workers, which have made every error but one."""
    made = Raised(config(numprocesses=2))
    first, *others = SITES
    made.places = {place for one in others for place in one.places} - first.places
    return made


def test_a_whole_run_fails_for_an_error_that_no_test_makes(raised: Raised):
    assert ended(raised) == pytest.ExitCode.TESTS_FAILED
    assert SITES[0] in raised.missing


def test_a_whole_run_in_which_every_error_was_made_is_fine(raised: Raised):
    raised.places |= {place for one in SITES for place in one.places}
    assert ended(raised) == pytest.ExitCode.OK
    assert raised.missing == []


def test_a_run_of_some_tests_says_nothing(raised: Raised):
    raised.pytest_deselected([cast("pytest.Item", object())])
    assert ended(raised) == pytest.ExitCode.OK
    assert raised.missing == []


@pytest.mark.parametrize("outcome", ["failed", "skipped"])
def test_a_run_with_a_test_that_was_skipped_or_failed_says_nothing(raised: Raised, outcome: str):
    raised.pytest_runtest_logreport(cast("pytest.TestReport", SimpleNamespace(outcome=outcome, nodeid="x")))
    assert ended(raised) == pytest.ExitCode.OK


@pytest.mark.parametrize(
    "options",
    [
        {"keyword": "gate"},
        {"markexpr": "not peer"},
        {"deselect": ["tests/x.py"]},
        {"ignore": ["tests/docs"]},
        {"lf": True},
        {"args_source": pytest.Config.ArgsSource.ARGS},
    ],
)
def test_a_run_that_was_asked_for_some_tests_is_not_whole(options: dict[str, object]):
    assert is_whole(config())
    assert not is_whole(config(**options))
