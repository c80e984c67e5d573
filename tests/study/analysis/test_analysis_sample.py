"""Whose data an analysis takes where a study has versions and a preregistration, and what is said of it."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from study import tasks
from study.analysis import analysis_sample
from study.analysis.analysis_results import analyse_present_data
from study.analysis.statistics.run_analysis import Analysis
from study.design.models import Condition, Study, SurveyItem
from study.design.preregistration import freeze_study
from study.exports.export_files import write_study
from study.participants.models import Participant
from study.reporting.preregistration_deviations import deviations_of
from tests.conftest import Once
from tests.study.factories import SETTINGS, complete, enter, make_study

pytestmark = pytest.mark.django_db

PLANNED = "entered as planned"


@pytest.fixture
def user() -> User:
    return User.objects.create_superuser("ada")


@pytest.fixture
def study() -> Study:
    return make_study(items=1, steps=1)


def retitled(study: Study, title: str) -> None:
    """A design of its own from now on."""
    Study.objects.filter(pk=study.pk).update(title=title)


@pytest.fixture(scope="module")
def three_kinds(once: Once) -> int:
    """A study with somebody who entered before the freeze, somebody as preregistered, and somebody under a
    changed design; its pk."""
    with once():
        study = make_study("kinds", items=1, steps=1)
        complete(study, "entered early")
        freeze_study(study_id=study.pk, user=User.objects.create_superuser("who froze"))
        complete(study, PLANNED)
        retitled(study, "Changed")
        complete(study, "entered a changed design")
    return study.pk


@pytest.fixture
def pooled(three_kinds: int) -> Study:
    return Study.objects.get(pk=three_kinds)


def told(found: Analysis) -> str:
    return " ".join(found.warnings)


def test_one_version_that_was_not_preregistered_needs_no_warning(study: Study) -> None:
    complete(study)
    assert analyse_present_data(study, "people").warnings == []


@pytest.mark.servers
def test_pooled_versions_and_what_is_not_as_preregistered_are_told(pooled: Study) -> None:
    found = analyse_present_data(pooled, "people")
    assert len(found.participants) == 3
    assert found.warnings == [
        "Data of 2 versions of the study are pooled here: version 1 (2), version 2 (1).",
        "1 participant (version 2) took part in a design changed since the preregistration.",
        "1 participant entered before the design was preregistered.",
    ]


def test_what_was_collected_as_preregistered_is_analysed_alone(pooled: Study) -> None:
    planned = pooled.participants.get(entry=PLANNED)
    found = analyse_present_data(pooled, "people", preregistered=True)
    assert (found.participants, found.warnings) == ((planned.code,), [])
    assert found.attrition
    assert (found.attrition.entered, found.attrition.completed, found.attrition.otherwise) == (1, 1, 2)


def test_who_goes_back_to_the_preregistered_design_is_as_preregistered(pooled: Study) -> None:
    planned = pooled.participants.get(entry=PLANNED)
    retitled(pooled, "A small study")
    again = complete(pooled, "again")
    found = analyse_present_data(pooled, "people", preregistered=True)
    assert set(found.participants) == {planned.code, again.code}
    assert "2 versions" in told(found)


def test_a_design_of_before_the_preregistration_is_told(study: Study, user: User) -> None:
    complete(study, "pilot")
    retitled(study, "Changed")
    freeze_study(study_id=study.pk, user=user)
    complete(study, "planned")
    found = analyse_present_data(study, "people")
    assert "1 participant (version 1) took part before anything was preregistered." in told(found)
    assert (found.as_planned, len(found.participants)) == (1, 2)


def test_what_was_planned_after_the_data_were_seen_is_not_told_as_planned(study: Study, user: User) -> None:
    complete(study, "pilot")
    freeze_study(study_id=study.pk, user=user)
    Participant.objects.update(entered_at=timezone.now())
    assert analyse_present_data(study, "people").as_planned == 1
    Study.objects.filter(pk=study.pk).update(planned_contrasts="H1: c0 -1, c1 1")
    freeze_study(study_id=study.pk, user=user)
    found = analyse_present_data(study, "people")
    assert found.plan.contrasts
    assert found.as_planned == 0
    said = "1 participant (version 1) took part under an earlier preregistration than the one analysed."
    assert found.warnings == [said]
    deviations = [one.words for one in deviations_of(Study.objects.get(pk=study.pk), found)]
    assert any("Version 2 was preregistered after version 1: study, " in one for one in deviations)


def test_a_condition_that_came_later_turns_nobody_into_a_drop_out(study: Study, user: User) -> None:
    person = complete(study)
    Condition.objects.create(
        study=study, key="c9", name="Nine", label="Team 9", position=9, settings=SETTINGS
    )
    found = analyse_present_data(study, "people")
    assert found.participants == (person.code,)
    assert [one.key for one in found.conditions] == ["c0", "c1"]


def test_a_scale_of_other_points_is_not_mixed_in_and_told(study: Study) -> None:
    complete(study, "five", value=5)
    # past the guard, as older programs let it
    SurveyItem.objects.filter(key="i0").update(points=7)
    complete(study, "seven", value=7)
    found = analyse_present_data(study, "people")
    described = found.measure("i0").descriptions[0]
    assert (described.n, described.missing, described.mean) == (1, 1, 7)
    assert found.measure("i0").measure.high == 7
    assert "“Measure 0” was not asked alike in all of these versions." in found.warnings


@pytest.mark.usefixtures("without_drawings")
def test_the_command_warns_and_takes_only_what_was_preregistered(
    study: Study, pooled: Study, tmp_path: Path
) -> None:
    with pytest.raises(CommandError, match="no version of small is preregistered") as caught:
        call_command("analyse_study", "small", "--out", str(tmp_path), "--only-preregistered")
    assert caught.value.returncode == 2

    out, err = io.StringIO(), io.StringIO()
    call_command("analyse_study", "kinds", "--out", str(tmp_path / "all"), stdout=out, stderr=err)
    assert "warning: Data of 2 versions" in err.getvalue()
    assert out.getvalue().splitlines()[-1].startswith("3 participants (people only), files in")
    assert "> Data of 2 versions of the study are pooled" in (tmp_path / "all" / "report.md").read_text()
    whole = json.loads((tmp_path / "all" / "analysis.json").read_text())
    assert [(one["number"], one["participants"], one["frozen"]) for one in whole["versions"]] == [
        (1, 2, True),
        (2, 1, False),
    ]
    assert (whole["versions"][0]["entered_before_freeze"], len(whole["warnings"])) == (1, 3)

    out = io.StringIO()
    call_command("analyse_study", "kinds", "--out", str(tmp_path / "one"), "--only-preregistered", stdout=out)
    assert out.getvalue().splitlines()[-1].startswith("1 participants (people only, as preregistered)")
    assert json.loads((tmp_path / "one" / "analysis.json").read_text())["preregistered_only"] is True
    assert "2 more participants left out: not collected" in (tmp_path / "one" / "report.md").read_text()


@pytest.mark.usefixtures("without_drawings")
def test_the_page_warns_and_shows_the_preregistered_alone(
    pooled: Study, admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("study.analysis.analysis_results.ask_analysis", tasks.compute_analysis)
    there = reverse("study:staff-analysis", args=[pooled.slug])
    for query in ("", "?only=preregistered"):
        admin_client.get(there + query)
    page = admin_client.get(there).content.decode()
    assert "Data of 2 versions of the study are pooled here" in page
    assert "?who=people&amp;only=preregistered" in page
    only = admin_client.get(there + "?only=preregistered").content.decode()
    assert "1 participant, 2 conditions" in only
    assert "pooled here" not in only
    assert "i0.svg?who=people&amp;only=preregistered" in only
    assert admin_client.get(f"{there}i0.svg?only=preregistered").status_code == 200


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "participants.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_who_entered_before_the_freeze_is_marked_and_counted(
    study: Study, user: User, tmp_path: Path, admin_client: Client
) -> None:
    there = reverse("study:staff-preregistration", args=[study.slug])
    complete(study, "early")
    assert "1 person has already entered under this design" in admin_client.get(there).content.decode()
    freeze_study(study_id=study.pk, user=user)
    complete(study, "planned")
    retitled(study, "Changed")
    enter(study, "changed")
    write_study(study, tmp_path)
    found = [(row["version_frozen"], row["entered_before_freeze"]) for row in rows(tmp_path)]
    assert found == [("1", "1"), ("1", "0"), ("0", "")]
    page = admin_client.get(there)
    assert [(one.number, early) for one, _, early in page.context["versions"]] == [(2, 0), (1, 1)]
    assert "Before it was frozen" in page.content.decode()


@pytest.mark.servers
def test_the_data_say_who_is_left_out_of_the_analysis_and_why(
    study: Study, user: User, tmp_path: Path
) -> None:
    Study.objects.filter(pk=study.pk).update(failed_checks_allowed=0)
    SurveyItem.objects.create(study=study, key="look", measure="Look", text="Choose 3.", correct=3)
    study.refresh_from_db()
    reasons = {
        complete(study, "good").code: "",
        complete(study, "asleep", value=1).code: "attention_checks",
        (out := complete(study, "out")).code: "excluded",
        enter(study, "on the way").code: "not_complete",
        complete(study, "program", synthetic=True).code: "",
    }
    Participant.objects.filter(pk=out.pk).update(excluded_at=out.entered_at)
    Condition.objects.create(
        study=study, key="c9", name="Nine", label="Team 9", position=9, settings=SETTINGS
    )
    later = complete(study, "later")
    assert later.rounds.count() == 3
    reasons |= {later.code: "", next(iter(reasons)): "not_every_condition"}
    write_study(study, tmp_path)
    found = rows(tmp_path)
    assert {row["participant"]: row["left_out_of_analysis"] for row in found} == reasons
    for who, synthetic in (("people", "0"), ("synthetic", "1")):
        taken = {
            row["participant"]
            for row in found
            if row["synthetic"] == synthetic and not row["left_out_of_analysis"]
        }
        assert taken == set(analyse_present_data(study, who).participants), who
    book = (tmp_path / "codebook.csv").read_text()
    assert all(f"{code} ({words})" in book for code, words in analysis_sample.EXCLUSION_REASONS.items())


def test_the_readme_takes_the_same_people_as_the_analysis(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = complete(study, "good")
    complete(study, "program", synthetic=True)
    enter(study, "on the way")
    write_study(study, tmp_path)
    readme = (tmp_path / "README.md").read_text()
    python = re.search(r"Python:\n\n((?:    .*\n)+)", readme)
    assert python
    monkeypatch.chdir(tmp_path)
    named: dict[str, Any] = {}
    exec(re.sub("(?m)^    ", "", python[1]), named)  # noqa: S102 - our own text
    assert set(named["episodes"].participant) == {person.code}
    assert len(named["episodes"]) == 2

    for name, column in re.findall(r'read\.csv\("(\w+)\.csv", colClasses = c\((\w+) =', readme):
        assert column in pd.read_csv(f"{name}.csv").columns, (name, column)
