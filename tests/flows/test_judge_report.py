from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from assay.building.judge_figures import Compared, figures_of
from assay.cli import run
from assay.flows.golden_labels import project_labels
from assay.flows.judge_report import report_judge
from assay.flows.project import Project
from assay.model.errors import ConfigError, InputError
from assay.model.judges import JudgeFigures
from assay.model.labels import Decision, settling
from assay.store.judges import load_judges
from judged_project import grade, make_judged_project
from shared_data import load_cases, needs_shared, value_of

ALL_DEV = "\n[judge]\ntrain = 0.0\ndev = 0.999999\n"
ALL_TEST = "\n[judge]\ntrain = 0.0\ndev = 0.0\n"
JUDGE = "tale/1a2b3c4d"


def people(number: int) -> float:
    return float((number * number + 3 * number) % 7 < 4)


def judge(number: int) -> float:
    right = people(number) if number % 11 else 1.0 - people(number)
    return float(right or number % 13 == 5)


@pytest.fixture
def judged(tmp_path: Path) -> Project:
    project = make_judged_project(tmp_path, count=240, settings=ALL_DEV)
    grade(project, range(240), "ada", people)
    grade(project, range(240), JUDGE, judge)
    return project


def test_the_figures_are_scikit_learn_s_and_scipy_s(judged: Project):
    # people and judge as above, p and j over range(240); scikit-learn 1.9.1:
    #   recall_score(p, j), recall_score(p, j, pos_label=False)  0.912621359223301 0.8394160583941606
    #   accuracy_score(p, j), cohen_kappa_score(p, j)            0.8708333333333333 0.7404409712531399
    overall = report_judge(judged).figures[0]
    assert (overall.n, overall.people_yes, overall.judge_yes) == (240, 103, 116)
    assert overall.true_positive.value == pytest.approx(0.912621359223301, abs=1e-12)
    assert overall.true_negative.value == pytest.approx(0.8394160583941606, abs=1e-12)
    assert overall.agreement == pytest.approx(0.8708333333333333, abs=1e-12)
    assert overall.kappa == pytest.approx(0.7404409712531399, abs=1e-12)
    for share in (overall.true_positive, overall.true_negative):
        outside: Any = stats.binomtest(share.hits, share.n).proportion_ci(method="exact")
        assert (share.low, share.high) == pytest.approx((outside.low, outside.high), abs=1e-9)
    assert overall.kappa_low is not None
    assert overall.kappa_high is not None
    assert overall.kappa_low < 0.7404 < overall.kappa_high


def test_each_kind_has_its_own_figures(judged: Project):
    # The same functions of scikit-learn over number % 3 == 0, 1, 2: n, both rates, kappa.
    expected = {
        "factual": (80, 0.8823529411764706, 0.8260869565217391, 0.6977329974811084),
        "lexical": (80, 0.9142857142857143, 0.8666666666666667, 0.7735849056603774),
        "table": (80, 0.9411764705882353, 0.8260869565217391, 0.75),
    }
    for one in report_judge(judged).figures[1:]:
        assert one.kind is not None
        figures = (one.n, one.true_positive.value, one.true_negative.value, one.kappa)
        assert figures == pytest.approx(expected[one.kind], abs=1e-12)


def test_what_the_judge_measured_is_corrected_for_its_errors(judged: Project):
    report = report_judge(judged, measured=(61, 80))
    places, recall = report.corrected
    assert (places.yes, places.n) == (116, 240)
    # (61/80 + 115/137 - 1) / (94/103 + 115/137 - 1) = 0.601916.../0.752037...
    exact = (61 / 80 + 115 / 137 - 1) / (94 / 103 + 115 / 137 - 1)
    assert recall.observed == 61 / 80
    assert recall.value == pytest.approx(exact, abs=1e-12)
    assert recall.low is not None
    assert recall.high is not None
    assert recall.low < exact < recall.high
    # Corrected over the very places that people labelled, it is people's own share, 103 of 240.
    assert places.value == pytest.approx(103 / 240, abs=1e-12)


@pytest.mark.parametrize("measured", [(3, 0), (-1, 5), (6, 5)])
def test_what_is_no_share_is_refused(judged: Project, measured: tuple[int, int]):
    with pytest.raises(InputError, match="is not a share"):
        report_judge(judged, measured=measured)


def licensed_after(tmp_path: Path, settings: str) -> tuple[bool, bool]:
    project = make_judged_project(tmp_path, count=240, settings=settings)
    grade(project, range(240), "ada", people)
    grade(project, range(240), JUDGE, people)  # a judge that never errs: 103 yes, 137 no
    report = report_judge(project, test=True, by="ada")
    return report.passes, report.licensed


def test_a_judge_is_licensed_on_the_test_part_by_both_lower_bounds(tmp_path: Path):
    assert licensed_after(tmp_path / "usual", ALL_TEST) == (True, True)
    # 103 of 103: the lower bound is 0.025 ** (1 / 103) = 0.9648
    assert licensed_after(tmp_path / "strict", f"{ALL_TEST}bar = 0.97\n") == (False, False)
    assert licensed_after(tmp_path / "exact", f"{ALL_TEST}bar = {0.025 ** (1 / 103) - 1e-9}\n")[1]


def test_the_dev_part_licenses_nobody_and_its_looks_are_not_counted(judged: Project):
    grade(judged, range(240), "perfect/1", people)
    report = report_judge(judged, judge="perfect/1")
    assert (report.passes, report.licensed, report.looks) == (True, False, 0)
    assert not judged.golden_path.with_name("judges.jsonl").exists()


def test_every_look_at_the_test_part_is_recorded_once_and_said(tmp_path: Path):
    project = make_judged_project(tmp_path, count=240, settings=ALL_TEST)
    grade(project, range(120), "ada", people)
    grade(project, range(240), JUDGE, judge)
    for _ in range(3):  # the same judge over the same labels is the same look
        report = report_judge(project, test=True, by="ada")
        assert (report.looks, report.notices) == (1, ())
    grade(project, range(120, 240), "ada", people)
    report = report_judge(project, test=True, by="ada")
    assert report.looks == 2
    assert [notice.code for notice in report.notices] == ["test-looks"]
    assert "looked at once before" in report.notices[0].text
    record = load_judges(project.golden_path.with_name("judges.jsonl"))[JUDGE]
    counts = (record.positives, record.true_positives, record.negatives, record.true_negatives)
    assert counts == (103, 94, 137, 115)
    assert (record.looks, record.by) == (2, "ada")
    with project_labels(project) as store:
        assert [look.facts["judge"] for look in store.looks()] == [JUDGE, JUDGE]


def test_all_places_of_a_query_are_in_one_part_and_labels_are_split_in_three(tmp_path: Path):
    project = make_judged_project(tmp_path, count=240)
    grade(project, range(240), "ada", people)
    grade(project, range(240), JUDGE, judge)
    labelled = report_judge(project).labelled
    assert sum(labelled.values()) == 240
    assert labelled["train"] == pytest.approx(0.2 * 240, abs=20)
    assert labelled["dev"] == pytest.approx(0.4 * 240, abs=25)


def test_a_judge_without_one_class_has_no_rate_for_it_and_no_licence(tmp_path: Path):
    project = make_judged_project(tmp_path, count=40, settings=ALL_TEST)
    grade(project, range(40), "ada", lambda _: 1.0)
    grade(project, range(40), JUDGE, lambda _: 1.0)
    report = report_judge(project, test=True)
    overall = report.figures[0]
    assert (overall.true_positive.value, overall.true_negative.value) == (1.0, None)
    assert (overall.agreement, overall.kappa, report.licensed) == (1.0, None, False)
    assert overall.why_undefined == "undefined: only one class; add negative examples"
    assert report.corrected[0].value is None


def rows_of(pairs: list[tuple[int, int]]) -> JudgeFigures:
    rows = [
        Compared(query_id=f"q{at}", place="d#0-1", kind="all", people=float(human), judge=float(said))
        for at, (human, said) in enumerate(pairs)
    ]
    return figures_of(rows, relevant_from=1.0)[0]


@needs_shared
@pytest.mark.parametrize("name", ["both_all_yes", "human_all_yes"])
def test_kappa_is_undefined_where_only_one_class_is(name: str):
    case = load_cases()["J01"]
    labels, expected = case["input"][name], case["expected"][name]
    found = rows_of(list(zip(labels["human"], labels["judge"], strict=True)))
    assert found.agreement == value_of(expected["agreement"])
    assert found.expected == value_of(expected["expected_agreement"])
    assert found.kappa == value_of(expected["kappa"])
    if "say" in expected:
        assert found.why_undefined == expected["say"]


@needs_shared
def test_high_agreement_does_not_hide_a_low_kappa():
    case = load_cases()["J02"]
    given, expected = case["input"], case["expected"]
    yes, no = given["always_yes"]["human_yes"], given["always_yes"]["human_no"]
    always = rows_of([(1, 1)] * yes + [(0, 1)] * no)
    assert always.agreement == value_of(expected["always_yes"]["agreement"])
    assert always.kappa == value_of(expected["always_yes"]["kappa"])
    table = given["table"]
    found = rows_of(
        [(1, 1)] * table["yes_yes"]
        + [(1, 0)] * table["human_yes_judge_no"]
        + [(0, 1)] * table["human_no_judge_yes"]
        + [(0, 0)] * table["no_no"]
    )
    wanted = expected["table"]
    assert found.n == wanted["n"]
    assert found.people_yes == table["yes_yes"] + table["human_yes_judge_no"]
    assert found.agreement == pytest.approx(value_of(wanted["agreement"]), abs=1e-15)
    assert found.expected == pytest.approx(value_of(wanted["expected_agreement"]), abs=1e-15)
    assert found.kappa == pytest.approx(value_of(wanted["kappa"]), abs=1e-15)
    assert found.kappa_low is not None
    assert found.kappa_high is not None


def test_two_people_get_kappa_and_more_get_alpha(judged: Project):
    assert report_judge(judged).people is None
    grade(judged, range(100), "bob", lambda n: people(n) if n % 10 else 1.0 - people(n))
    two = report_judge(judged).people
    assert two is not None
    assert (two.people, two.n, two.conflicts, two.agreement) == (("ada", "bob"), 100, 10, 0.9)
    # 43 of the first 100 are yes to ada, 45 to bob: 0.43 * 0.45 + 0.57 * 0.55 = 0.507
    yes = (
        sum(people(n) for n in range(100)),
        sum(people(n) if n % 10 else 1.0 - people(n) for n in range(100)),
    )
    chance = (yes[0] * yes[1] + (100 - yes[0]) * (100 - yes[1])) / 100**2
    assert two.kappa == pytest.approx((0.9 - chance) / (1 - chance), abs=1e-12)
    grade(judged, range(50, 60), "eve", people)
    three = report_judge(judged).people
    assert three is not None
    assert (three.people, three.kappa) == (("ada", "bob", "eve"), None)
    assert three.alpha is not None
    assert 0.7 < three.alpha < 0.9


def test_places_in_dispute_are_left_out_and_said_until_they_are_settled(judged: Project):
    grade(judged, range(1), "bob", lambda n: 1.0 - people(n))
    report = report_judge(judged)
    assert report.figures[0].n == 239
    assert [notice.code for notice in report.notices] == ["label-conflicts"]
    with project_labels(judged) as store:
        subject = settling("q0", "returns.md#0-9")
        store.decide([Decision(subject=subject, verdict="settled", by="eve", grade=1.0)])
    report = report_judge(judged)
    assert (report.figures[0].n, report.notices) == (240, ())


def test_people_are_asked_about_disagreements_low_margins_and_every_kind_and_never_twice(tmp_path: Path):
    project = make_judged_project(tmp_path, count=120, settings=ALL_DEV)
    grade(project, range(60), JUDGE, people, margin=0.99)
    grade(project, range(60, 120), JUDGE, people, margin=0.5)
    grade(project, range(6), "other/1", lambda n: 1.0 - people(n), margin=0.99)
    grade(project, range(100, 120), "ada", people)  # these need nobody any more
    report = report_judge(project, judge=JUDGE, ask=30)
    reasons = [one.reason for one in report.verify]
    assert len(report.verify) == len({(one.query_id, one.place) for one in report.verify}) == 30
    assert reasons.count("at random") == 15
    assert {one.kind for one in report.verify} == {"factual", "lexical", "table"}
    numbers = [int(one.query_id[1:]) for one in report.verify]
    assert max(numbers) < 100
    assert reasons.count("judges disagree") >= 4
    with project_labels(project) as store:
        pools = store.pools(name=report.pool)
    assert sum(len(pool.candidates) for pool in pools) == 30
    assert all(candidate.ranks == {} for pool in pools for candidate in pool.candidates)
    again = report_judge(project, judge=JUDGE, ask=200)
    assert not {one.query_id for one in again.verify} & {one.query_id for one in report.verify}
    assert len(again.verify) == 70


def test_a_report_is_the_same_every_time(judged: Project):
    assert report_judge(judged) == report_judge(judged)


def test_a_judge_is_found_by_the_beginning_of_its_name(judged: Project):
    assert report_judge(judged, judge="tale/1").judge == JUDGE
    with pytest.raises(InputError, match=r"there is no judge 'tole/1'[\s\S]*did you mean 'tale/1a2b3c4d'"):
        report_judge(judged, judge="tole/1")
    grade(judged, range(3), "tale/9", people)
    assert report_judge(judged).judge == "tale/9"
    with pytest.raises(InputError, match="'tale' could be"):
        report_judge(judged, judge="tale")


def test_without_a_judge_there_is_nothing_to_report(tmp_path: Path):
    with pytest.raises(InputError, match="no judge has graded anything"):
        report_judge(make_judged_project(tmp_path, count=1))


def test_the_command_prints_the_rates_first_and_exits_by_the_bar(
    judged: Project, capsys: pytest.CaptureFixture[str]
):
    folder = ["-p", str(judged.folder)]
    assert run(["judge", "report", *folder, "--found", "61", "--of", "80"]) == 1
    shown = capsys.readouterr().out
    lines = shown.splitlines()
    assert lines[1].split()[:5] == ["kind", "n", "relevant", "TPR", "[95"]
    assert "0.91 [0.84, 0.96]  0.84 [0.77, 0.90]" in lines[2]
    assert "licence: none; its labels do not count (lower bounds 0.841 and 0.767, bar 0.80)" in shown
    assert "the measured recall: the judge says 0.762 (61 of 80); corrected 0.800 [0.66" in shown
    assert run(["judge", "report", *folder, "--json"]) == 1
    value: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert value["figures"][0]["true_positive"]["hits"] == 94
    assert run(["judge", "report", *folder, "--found", "3"]) == 2
    assert "--found and --of go together" in capsys.readouterr().err


def test_a_small_sample_is_told_how_many_it_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    project = make_judged_project(tmp_path, count=20, settings=ALL_TEST)
    grade(project, range(20), "ada", people)
    grade(project, range(20), JUDGE, people)
    assert run(["judge", "report", "--test", "-p", str(project.folder)]) == 1
    assert "at least 17 places of each class are needed" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("train = 0.6\ndev = 0.5", "leave nothing to test by"),
        ("workers = 0", "should be at least 1"),
        ("examples = -1", "should be 0 or more"),
        ("bart = 0.9", "did you mean 'bar'"),
        ("bar = 1.5", "should be from 0 to 1"),
    ],
)
def test_wrong_settings_are_refused_with_what_mends_them(tmp_path: Path, line: str, fault: str):
    project = make_judged_project(tmp_path, count=1, settings=f"\n[judge]\n{line}\n")
    with pytest.raises(ConfigError, match=fault):
        report_judge(project)
