"""In which languages a study is offered, and its own texts in each."""

from __future__ import annotations

import pytest
from django.test import Client

from study.design.blueprint import blueprint_of
from study.design.models import Study, SurveyItem
from study.design.readiness import missing
from study.design.texts import own_texts, told_in
from study.editor.changes import changes
from study.editor.paths import path_words
from tests.study.factories import make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    made = make_study(conditions=1, items=1)
    SurveyItem.objects.create(
        study=made, key="which", measure="Which", text="Which?", kind="single", options=["1", "Two"]
    )
    return made


def test_languages_are_chosen_and_the_texts_to_be_translated_are_counted(
    study: Study, admin_client: Client
) -> None:
    there = "/staff/small/design/languages/"
    admin_client.post(there, {"written": "en", "others": ["en", "zh-hans"]})
    study.refresh_from_db()
    assert study.languages == "en zh-hans"
    left = [one for one in missing(study) if one.page == "texts"]
    assert [(one.args, one.hinders) for one in left] == [(("zh-hans",), False)]
    assert "7 texts of yours cannot be read in 简体中文 yet" in left[0].words
    assert "/staff/small/design/texts/zh-hans/" in admin_client.get(there).content.decode()


def test_texts_stand_side_by_side_and_what_is_filled_in_is_read(study: Study, admin_client: Client) -> None:
    Study.objects.update(languages="en es")
    there = "/staff/small/design/texts/es/"
    page = admin_client.get(there).content.decode()
    assert "Part consent, text" in page and "I agree." in page and "Item which, option 2" in page
    paths = list(own_texts(blueprint_of(study)))
    sent = {f"text_{paths.index(path)}": text for path, text in SPANISH.items()}
    admin_client.post(there, sent)
    study.refresh_from_db()
    assert study.texts == {"es": SPANISH}
    design = told_in(blueprint_of(study), "es")
    assert design.part("consent").text == "De acuerdo."
    assert design.items[-1].shown_options == ["1", "Dos"] and design.items[-1].options == ["1", "Two"]
    assert admin_client.get("/staff/small/design/texts/zh-hans/").status_code == 404


SPANISH = {"title": "Un estudio", "parts.consent.text": "De acuerdo.", "items.which.options.2": "Dos"}


@pytest.mark.parametrize("languages", ["", "en xx", "en en"])
def test_what_is_no_list_of_languages_is_refused(study: Study, languages: str) -> None:
    study.languages = languages
    assert "languages" in study._problems() and study._problems()["languages"]


def test_a_change_of_a_text_is_told_with_its_language_and_place(study: Study) -> None:
    study.texts = {"es": SPANISH}
    before = blueprint_of(study)
    study.texts = {"es": {**SPANISH, "title": "Otro"}}
    told = changes(before, blueprint_of(study))
    assert [(one.field, one.old.text, one.new.text) for one in told] == [
        ("Texts: Español: Title", "Un estudio", "Otro")
    ]


def test_places_are_told_in_words() -> None:
    assert path_words("conditions.a.label") == "Condition a, label"
    assert path_words("parts.consent.statements.1") == "Part consent, statement 1"
