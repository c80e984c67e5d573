"""Questions are pasted as a list with one scale, copied, and added one after the other."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from study.design.models import Study, SurveyItem
from study.design.questions.item_kinds import needed_fields
from study.editor.item_list import ItemListForm, item_copy, items_add
from tests.study.editor.test_condition_and_item_forms import at, save
from tests.study.factories import make_study

pytestmark = pytest.mark.django_db

SCALE = {"place": "survey", "points": "7", "low": "No", "high": "Yes", "required": "on"}


def pasted(study: Study, lines: str, **more: str) -> ItemListForm:
    return ItemListForm({"lines": lines, "name": "Trust", "scored": "on", **SCALE, **more}, study=study)


def test_each_line_is_a_question_of_one_scale_and_r_reverses_it() -> None:
    study = make_study()
    form = pasted(study, "I trust it.\n\n I doubt it. (R)\n")
    assert form.is_valid(), form.errors
    items_add(study_id=study.pk, items=form.made)
    first, second = study.items.filter(key__startswith="trust").order_by("position")
    assert (first.key, first.measure, first.text, first.reversed) == (
        "trust_1",
        "Trust 1",
        "I trust it.",
        False,
    )
    assert (second.key, second.text, second.reversed) == ("trust_2", "I doubt it.", True)
    assert {(one.points, one.low, one.high, one.scale) for one in (first, second)} == {
        (7, "No", "Yes", "Trust")
    }


def test_a_wrong_line_is_named_and_a_wrong_scale_is_told_at_its_field() -> None:
    study = make_study()
    assert "Line 2:" in str(pasted(study, f"Fine?\n{'x' * 301}").errors["lines"])
    assert set(pasted(study, "Fine?", points="2").errors) == {"points"}
    lone = pasted(study, "Fine?\nWell?", place="about", needs_teammates="on")
    assert set(lone.errors) == {"needs_teammates"}, "an error that all lines share is told once"
    assert len(lone.errors["needs_teammates"]) == 1
    assert "101 questions" in str(pasted(study, "Well?\n" * 101).errors["lines"])
    assert not study.items.filter(key__startswith="trust").exists()


def test_a_line_can_have_answers_of_its_own() -> None:
    study = make_study()
    lines = ["I trust it.", "smooth = How smooth? [slider: rough | smooth]", "Age? [number: 18 | 99]"]
    form = pasted(study, "\n".join([*lines, "Who led? [single: I | it]"]), table="The team")
    assert form.is_valid(), form.errors
    items_add(study_id=study.pk, items=form.made)
    first, smooth, age, who = study.items.filter(key__regex="trust|smooth").order_by("position")
    assert (first.kind, first.scale, first.table) == ("likert", "Trust", "The team")
    assert (smooth.key, smooth.measure, smooth.kind) == ("smooth", "Smooth", "slider")
    assert (smooth.low, smooth.minimum, smooth.maximum, smooth.scale) == ("rough", 0, 100, "")
    assert (age.kind, age.minimum, age.maximum, age.table) == ("number", 18, 99, "")
    assert (who.measure, who.kind, who.options) == ("Trust 4", "single", ["I", "it"])


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("Well? [dial: a | b]", "“dial” is none of"),
        ("Well? [slider: low]", "both ends"),
        ("Well? [number: few | many]", "as numbers"),
        ("Well? [likert 2: no | yes]", "from 3 to 11"),
        ("Well? [single: only]", "Line 2"),
        ("trust_1 = Well? [text]", "names two questions"),
    ],
)
def test_wrong_answers_of_a_line_are_told_at_the_list(line: str, why: str) -> None:
    form = pasted(make_study(), f"Fine?\n{line}")
    assert set(form.errors) == {"lines"}
    assert why in str(form.errors["lines"]) and "Line 2" in str(form.errors["lines"])


def test_a_list_whose_names_were_taken_meanwhile_adds_nothing(admin_client: Client, monkeypatch: Any) -> None:
    study = make_study()
    SurveyItem.objects.create(study=study, key="trust_1", measure="Trust 1", text="I trust it.", points=7)
    late = [SurveyItem(study=study, key="trust_1", measure="Trust 1", text="Mine?", points=7)]
    monkeypatch.setattr(ItemListForm, "_items", lambda self, cleaned: late)  # as it was before the other list
    typed = {"lines": "Mine?", "name": "Trust", **SCALE}
    page = admin_client.post(at(study, "item-list"), typed)
    assert page.status_code == 422 and "changed meanwhile" in page.content.decode()
    assert study.items.get(key="trust_1").text == "I trust it."


def test_a_copy_has_a_name_of_its_own_and_comes_last() -> None:
    study = make_study()
    item = SurveyItem.objects.create(study=study, key="fun", measure="Fun", text="Fun?", points=7, position=1)
    copies = [item_copy(item), item_copy(item)]
    assert [one.key for one in copies] == ["fun_copy", "fun_copy2"]
    assert {one.points for one in copies} == {7}
    assert study.items.order_by("position").last() == copies[1]


def test_the_next_question_begins_with_the_scale_of_the_one_before(admin_client: Client) -> None:
    study = make_study()
    typed = {"measure": "Good fun", "text": "Was it fun?", "points": 7, "high": "Very", "_another": "1"}
    saved = save(admin_client, at(study, "item-new"), **typed)
    row = study.items.get(key="good_fun")
    assert saved.url.endswith(f"/items/new/?after={row.pk}")
    form = admin_client.get(saved.url).context["form"]
    assert [form[name].value() for name in ("points", "high", "text")] == [7, "Very", ""]


def test_only_the_fields_of_the_chosen_kind_are_in_sight(admin_client: Client) -> None:
    study = make_study()
    typed = {"kind": "number", "measure": "Age", "options": "kept", "_show_settings": "1"}
    page = save(admin_client, at(study, "item-new"), **typed)
    seen = [field.name for field in page.context["sections"]["first"]]
    assert {"minimum", "maximum", "unit"} <= {*seen} and "options" not in seen and "points" not in seen
    assert 'type="hidden" name="options" value="kept"' in page.content.decode()
    assert [needed_fields(kind) for kind in ("single", "slider", "number", "text")] == [
        ["options"],
        ["minimum", "maximum"],
        [],
        [],
    ]


def test_the_library_shows_every_question_and_finds_by_words(admin_client: Client) -> None:
    study = make_study()
    page = admin_client.get(at(study, "instruments")).content.decode()
    assert "I found the system unnecessarily complex." in page and "in the public domain" in page
    assert '<a href="https://creativecommons.org/licenses/by/4.0/"' in page, "terms lead to the licence"
    found = admin_client.get(at(study, "instruments"), {"q": "mentally Demanding"}).context
    assert [one.code for one, *_ in found["shipped"]] == ["nasa_tlx"]
    assert not found["elsewhere"]
    robots = admin_client.get(at(study, "instruments"), {"q": "trust robot"}).context
    assert not robots["shipped"] and "Fluency" in robots["elsewhere"][0].title
