from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import assay
from assay.cli import overview, run
from assay.cli.commands import COMMANDS
from small_project import make_project


def loaded_by(code: str) -> set[str]:
    """Return the top-level modules that a fresh interpreter has after running some code."""
    script = f"{code}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    return set(
        subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        ).stdout.split()
    )


HEAVY = {
    "numpy",
    "polars",
    "bm25s",
    "rich",
    "cyclopts",
    "msgspec",
    "scipy",
    "pyarrow",
    "pandas",
    "httpx",
    "jinja2",
}


def test_import_assay_loads_nothing_heavy():
    assert not loaded_by("import assay") & HEAVY


def test_help_loads_nothing_heavy():
    assert not loaded_by("from assay.cli import overview\noverview()") & HEAVY


def test_every_public_name_loads_and_is_listed_in_order():
    assert sorted(assay.__all__) == assay.__all__
    assert all(getattr(assay, name) is not None for name in assay.__all__)


def test_an_unknown_public_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="recal"):
        _ = assay.recal  # pyright: ignore[reportAttributeAccessIssue]


def test_the_overview_lists_every_command():
    assert all(f"  {verb} " in overview() for verb in COMMANDS)


def test_no_arguments_show_the_overview(capsys: pytest.CaptureFixture[str]):
    assert run([]) == 0
    assert "Usage: assay COMMAND" in capsys.readouterr().out


def test_an_unknown_command_gets_the_nearest_one_and_exit_code_2(capsys: pytest.CaptureFixture[str]):
    assert run(["rum"]) == 2
    assert capsys.readouterr().err == "error: there is no command 'rum'\n  fix: did you mean 'assay run'?\n"


def test_a_wrong_option_is_one_line_and_exit_code_2(capsys: pytest.CaptureFixture[str]):
    assert run(["run", "--no-such-option"]) == 2
    told = capsys.readouterr().err
    assert "no-such-option" in told
    assert "Traceback" not in told


@pytest.mark.parametrize("verb", COMMANDS)
def test_every_command_has_help(verb: str, capsys: pytest.CaptureFixture[str]):
    assert run([verb, "--help"]) == 0
    assert verb in capsys.readouterr().out


def test_version_verbose_names_the_packages_that_a_bug_report_needs(capsys: pytest.CaptureFixture[str]):
    assert run(["--version", "--verbose"]) == 0
    told = capsys.readouterr().out
    assert all(name in told for name in ("assay ", "Python ", "numpy ", "polars "))


def test_a_place_that_cannot_be_used_is_told_without_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = make_project(tmp_path)
    (folder / ".assay").write_text("a file, where a folder should be")
    assert run(["run", str(folder)]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"error: {folder / '.assay' / 'cache'}: Not a directory\n  fix: ")


def test_the_demo_does_not_take_the_place_of_another_project(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = make_project(tmp_path)
    assert run(["demo", str(folder)]) == 2
    assert f"error: {folder}: holds another project" in capsys.readouterr().err


def test_a_group_lists_its_verbs_without_loading_them(capsys: pytest.CaptureFixture[str]):
    assert run(["golden"]) == run(["golden", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "  export      write golden.jsonl from the label store, sorted and stable\n" in shown
    assert not loaded_by("from assay.cli import run\nrun(['golden'])") & {"polars", "sqlalchemy"}
    assert run(["golden", "expor"]) == 2
    assert "did you mean 'assay golden export'?" in capsys.readouterr().err


@pytest.mark.parametrize("group", ["golden", "judge"])
def test_every_verb_of_a_group_has_a_help_of_its_own(group: str, capsys: pytest.CaptureFixture[str]):
    for verb in import_module(f"assay.cli.{group}").VERBS:
        assert run([group, verb, "--help"]) == 0
        assert f"Usage: assay {group} {verb}" in capsys.readouterr().out
