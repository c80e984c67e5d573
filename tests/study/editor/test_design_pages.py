"""In which languages a study is offered, and its own texts in each."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
from django.test import Client

from study.design.blueprint import blueprint_of
from study.design.models import Study, SurveyItem
from study.design.readiness_checks import readiness_problems
from study.design.study_versions import differences
from study.design.translated_texts import missing_translations, translated_design
from study.design.translations import describe_text_path, texts_to_translate
from study.editor.describe_changes import design_changes
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
    assert "/staff/small/design/texts/zh-hans/" in admin_client.get("/staff/small/design/").content.decode()
    left = [one for one in readiness_problems(study) if one.page == "texts"]
    assert [(one.args, one.hinders) for one in left] == [(("zh-hans",), False)]
    assert "7 texts of yours: not translated into 简体中文 yet" in left[0].words
    assert "/staff/small/design/texts/zh-hans/" in admin_client.get(there).content.decode()


def sent(page: str, texts: Mapping[str, str]) -> dict[str, str]:
    """These texts as the form on this page sends them."""
    names = dict(re.findall(r'id="id_(text-\w+)_helptext">(.+?)</p>', page))
    return {name: texts.get(text, "") for name, text in names.items()}


def test_texts_stand_side_by_side_and_what_is_filled_in_is_read(study: Study, admin_client: Client) -> None:
    Study.objects.update(languages="en es")
    page = admin_client.get(THERE).content.decode()
    assert "Part consent, text" in page and "I agree." in page and "Item which, option 2" in page
    admin_client.post(THERE, sent(page, SPANISH))
    study.refresh_from_db()
    assert study.texts == {"es": SPANISH}
    design = translated_design(blueprint_of(study), "es")
    assert design.part("consent").text == "De acuerdo."
    assert design.items[-1].shown_options == ["1", "Dos"] and design.items[-1].options == ["1", "Two"]
    assert admin_client.get("/staff/small/design/texts/zh-hans/").status_code == 404


THERE = "/staff/small/design/texts/es/"
SPANISH = {"A small study": "Un estudio", "I agree.": "De acuerdo.", "Two": "Dos"}


def test_a_translation_follows_its_text_and_ends_with_it(study: Study, admin_client: Client) -> None:
    Study.objects.update(languages="en es", texts={"es": SPANISH})
    SurveyItem.objects.filter(key="which").update(options=["Two", "None", "1"])
    study.parts.filter(kind="consent").update(text="I agree to all.")
    study.refresh_from_db()
    design = translated_design(blueprint_of(study), "es")
    assert design.items[-1].shown_options == ["Dos", "None", "1"]
    assert design.part("consent").text == "I agree to all."
    assert {"parts.consent.text", "items.which.options.2"} <= set(
        missing_translations(blueprint_of(study))["es"]
    )
    page = admin_client.get(THERE).content.decode()
    assert "1 text changed after the translation" in page and "translates an older text: “I agree.”" in page
    [name] = re.findall(r'name="use" value="([^"]+)"', page)
    used = admin_client.post(THERE, sent(page, {"Two": "Pareja"}) | {"use": name}).content.decode()
    assert ">De acuerdo.</textarea>" in used or 'value="De acuerdo."' in used
    assert 'value="Pareja"' in used and Study.objects.get().texts == {"es": SPANISH}
    study.parts.filter(kind="consent").update(enabled=False)
    page = admin_client.get(THERE).content.decode()
    assert "I agree" not in page
    admin_client.post(THERE, sent(page, {**SPANISH, "None": "Ninguna"}))
    study.refresh_from_db()
    assert study.texts["es"] == {**SPANISH, "None": "Ninguna"}


def test_two_options_of_a_question_need_different_translations(study: Study, admin_client: Client) -> None:
    Study.objects.update(languages="en es", texts={"es": {"Two": "Dos", "None": "dos "}})
    SurveyItem.objects.filter(key="which").update(options=["Two", "None", "1"])
    page = admin_client.get(THERE).content.decode()
    answer = admin_client.post(THERE, sent(page, {**SPANISH, "None": "dos"}))
    assert answer.status_code == 422 and "has the same translation" in answer.content.decode()
    assert 'value="dos"' in answer.content.decode()
    told = [one for one in readiness_problems(Study.objects.get()) if "same translation" in one.words]
    assert [(one.page, one.args, one.hinders) for one in told] == [("texts", ("es",), True)]


def test_what_was_translated_while_the_study_changed_is_not_lost_unseen(
    study: Study, admin_client: Client
) -> None:
    Study.objects.update(languages="en es")
    old = sent(admin_client.get(THERE).content.decode(), SPANISH)
    SurveyItem.objects.create(study=study, key="first", measure="First", text="First?", position=0)
    study.parts.filter(kind="consent").update(text="I agree to all.")
    answer = admin_client.post(THERE, old).content.decode()
    assert "changed while you were writing" in answer and 'value="Dos"' in answer
    study.refresh_from_db()
    assert study.texts == {}
    admin_client.post(THERE, sent(answer, SPANISH))
    study.refresh_from_db()
    assert study.texts == {"es": {text: SPANISH[text] for text in ("A small study", "Two")}}


def test_a_language_more_is_a_change_also_of_a_study_of_before(study: Study) -> None:
    was = blueprint_of(study).in_format(3)
    study.languages, study.texts = "en es", {"es": SPANISH}
    now = blueprint_of(study)
    assert now.beyond(3)
    told = [one.field for one in differences(was, now)]
    assert told[-2:] == ["languages", "texts"]
    assert design_changes(was, now)[-1].new.text


@pytest.mark.parametrize("languages", ["", "en xx", "en en"])
def test_what_is_no_list_of_languages_is_refused(study: Study, languages: str) -> None:
    study.languages = languages
    assert "languages" in study._problems() and study._problems()["languages"]


def test_a_change_of_a_text_is_told_with_its_language_and_place(study: Study) -> None:
    study.texts = {"es": SPANISH}
    before = blueprint_of(study)
    study.texts = {"es": {**SPANISH, study.title: "Otro"}}
    told = design_changes(before, blueprint_of(study))
    assert [(one.field, one.old.text, one.new.text) for one in told] == [
        ("Texts: Español: Title", "Un estudio", "Otro")
    ]


def test_places_are_told_in_words() -> None:
    assert describe_text_path("conditions.a.label") == "Condition a, label"
    assert describe_text_path("parts.consent.statements.1") == "Part consent, statement 1"


def test_a_wrong_word_in_braces_is_told_at_its_translation_and_nothing_is_saved(
    study: Study, admin_client: Client
) -> None:
    Study.objects.update(languages="en es")
    study.own_pages.create(key="rest", title="Rest", text="You are in {team}.", before="final")
    page = admin_client.get(THERE).content.decode()
    answer = admin_client.post(THERE, sent(page, {**SPANISH, "You are in {team}.": "Está en {equipo}."}))
    told = answer.content.decode()
    assert answer.status_code == 422 and "Está en {equipo}." in told
    row = told[told.index("Page rest, text") : told.index("Está en {equipo}.")]
    assert "field-error" in row and "{equipo}" in row
    study.own_pages.create(key="later", title="Later", text="Later", before="final", position=9)
    study.items.create(key="trust", measure="Trust", text="?", kind="number", place="own-later")
    study.own_pages.filter(key="rest").update(text="{answer:trust}")
    page = admin_client.get(THERE).content.decode()
    later = admin_client.post(THERE, sent(page, {**SPANISH, "{answer:trust}": "{answer:trust}"}))
    assert later.status_code == 422, "asked on a later page"
    assert Study.objects.get().texts == {}


def test_a_pasted_column_fills_all_translations_or_is_refused_whole(
    study: Study, admin_client: Client
) -> None:
    Study.objects.update(languages="en es")
    texts = list(dict.fromkeys(texts_to_translate(blueprint_of(Study.objects.get())).values()))
    rows = [f'"{text}"\t"es {number}\nx"' for number, text in enumerate(texts)]
    column = "\n".join(reversed(rows))
    short = admin_client.post(THERE, {"column": "a\nb"})
    assert short.status_code == 422 and f"2 rows, but there are {len(texts)} texts" in short.content.decode()
    for wrong, why in (("Other\tOtro", "no text of the study"), (rows[1], "has one twice")):
        answer = admin_client.post(THERE, {"column": "\n".join([wrong, *rows[1:]])})
        assert answer.status_code == 422 and why in answer.content.decode()
    assert "cannot be read" in admin_client.post(THERE, {"column": "a\rb"}).content.decode()
    assert Study.objects.get().texts == {}
    assert admin_client.post(THERE, {"column": column}).status_code == 302
    stored = Study.objects.get().texts["es"]
    assert [" ".join(stored[text].split()) for text in texts] == [f"es {n} x" for n, _ in enumerate(texts)]
