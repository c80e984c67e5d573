"""The demo's consent says what is stored, and asks nothing that it has answered."""

from __future__ import annotations

import pytest

from study.design.blueprint import blueprint_of
from study.design.demo import DEMO, demo_words
from study.design.files import study_from_file
from study.design.models import SurveyItem
from study.design.readiness import missing
from study.people.stored import BESIDE, GOING, LINES
from tests.study.factories import make_study


@pytest.mark.parametrize("name", [*LINES, *BESIDE])
def test_it_names_all_that_is_stored(name: str) -> None:
    said = " ".join(demo_words()["consent"].split()).lower()
    words = (LINES | BESIDE)[name].words  # type: ignore[operator]
    assert words
    lacking = [word for word in words if word.lower() not in said]
    assert not lacking, f"the consent in study/data/demo.toml does not name {name}: {lacking}"


def test_the_page_to_leave_tells_of_every_line_that_it_is_erased() -> None:
    told = {line for one in GOING for line in one.lines}
    assert told == LINES.keys() - {"completion"}  # which stays for who has earned it


@pytest.mark.django_db
def test_alone_nobody_is_asked_about_others_and_the_question_that_is_answered_is_not_there() -> None:
    study = study_from_file(DEMO)
    design = blueprint_of(study)
    alone = [item.key for item in design.items_after("alone")]
    assert alone == ["enjoyment", "productivity"]
    assert len(design.items_after("random")) == 7
    assert not [one for one in missing(study) if "asks who is a person" in one.words]
    assert not study.scores_above_surveys and study.remind_teams


@pytest.mark.django_db
def test_a_researcher_is_told_that_the_consent_answers_the_question() -> None:
    study = make_study()
    options = ["All were people", "All were programs"]
    SurveyItem.objects.create(
        study=study, key="who", place="final", kind="single", measure="Who", text="Who?", options=options
    )
    assert not [one for one in missing(study) if "asks who is a person" in one.words]
    study.parts.filter(kind="consent").update(text="Your teammates are computer-controlled.")
    (told,) = [one for one in missing(study) if "asks who is a person" in one.words]
    assert not told.hinders and "“consent” speaks of programs" in told.words
