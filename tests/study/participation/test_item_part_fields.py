"""Questions with several controls, sliders, dates and tables, on the page and as stored answers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.http import QueryDict
from django.template.loader import render_to_string

from kitchen.contract.world import Json
from study.design.blueprint import blueprint_of
from study.design.models import SurveyItem
from study.design.page_and_item_order import items_for, shuffled
from study.design.questions.item_fields import DOES_NOT_APPLY, ItemPlan
from study.design.questions.item_kinds import answer_words, kind_of
from study.design.translated_texts import TranslatedItem
from study.participants.models import Answer
from study.participation.item_forms import ItemsForm
from study.participation.item_part_fields import sent_parts
from tests.study.exports.rows import csv_rows
from tests.study.factories import enter, make_study

PARTNERS = ["Zoe", "Ann", "Max"]


def item(kind: str, key: str = "asked", **more: Any) -> ItemPlan:
    return ItemPlan(**{"key": key, "measure": key, "text": "Which?", "kind": kind, **more})


def posted(*items: ItemPlan, **values: str) -> ItemsForm:
    data = QueryDict(mutable=True)
    for name, value in values.items():
        data[f"item_{name}".replace("__", "_.")] = value
    return ItemsForm(data, items=items)


RANKING = item("ranking", options=PARTNERS)
BEST_WORST = item("best_worst", options=PARTNERS, low="Least helpful")
TEXTS = item("texts", options=["good", "bad"])


@pytest.mark.parametrize(
    ("one", "values", "answer"),
    [
        (RANKING, {"asked__1": "2", "asked__2": "3", "asked__3": "1"}, ["Zoe", "Ann", "Max"]),
        (BEST_WORST, {"asked__1": "Ann", "asked__2": "Zoe"}, {"best": "Ann", "worst": "Zoe"}),
        (TEXTS, {"asked__1": "slow", "asked__2": " fast "}, {"bad": "slow", "good": "fast"}),
        (item("texts", options=["good", "bad"], required=False), {"asked__2": "fast"}, {"good": "fast"}),
        (item("date"), {"asked": "2026-02-28"}, "2026-02-28"),
        (item("slider", minimum=0, maximum=100), {"asked": "37"}, 37),
        (item("ranking", options=PARTNERS, may_not_apply=True), {"asked.apart": "on"}, DOES_NOT_APPLY),
    ],
    ids=lambda one: getattr(one, "kind", None),
)
def test_an_answer_is_stored_as_one_value(one: ItemPlan, values: dict[str, str], answer: Json) -> None:
    form = posted(one, **values)
    assert form.is_valid(), form.errors
    assert form.values() == {"asked": answer}
    if kind_of(one).looks == "parts" and answer != DOES_NOT_APPLY:
        sent = sent_parts(one, "item_asked", answer)
        assert sent == {f"item_{name}".replace("__", "_."): value.strip() for name, value in values.items()}


@pytest.mark.parametrize(
    ("one", "values", "words"),
    [
        (RANKING, {"asked__1": "1", "asked__2": "1", "asked__3": "2"}, "a place of its own"),
        (RANKING, {"asked__1": "1"}, "a place of its own"),
        (RANKING, {}, "a place of its own"),
        (RANKING, {"asked__1": "9", "asked__2": "1", "asked__3": "2"}, "not one of the available choices"),
        (BEST_WORST, {"asked__1": "Ann", "asked__2": "Ann"}, "two different ones"),
        (BEST_WORST, {"asked__1": "Ann"}, "one for each of the two"),
        (TEXTS, {"asked__1": "slow"}, "in each line"),
        (TEXTS, {"asked__1": "x" * 301, "asked__2": "y"}, "at most 300"),
        (item("date"), {"asked": "2026-02-30"}, "Enter a date"),
        (item("slider", minimum=0, maximum=1), {}, "Move the slider"),
        (item("slider", minimum=0, maximum=1), {"asked": "2"}, "at most 1"),
    ],
    ids=lambda one: getattr(one, "kind", None),
)
def test_what_cannot_be_an_answer_is_told(one: ItemPlan, values: dict[str, str], words: str) -> None:
    form = posted(one, **values)
    assert not form.is_valid()
    assert words in str(form.errors["item_asked"])


def test_a_refused_page_keeps_what_was_chosen_and_leads_to_the_first_control() -> None:
    form = posted(BEST_WORST, asked__1="Ann", asked__2="Ann")
    form.is_valid()
    (shown,) = form.items
    assert [part.label for part in shown.parts] == ["Best", "Least helpful"]
    assert all('value="Ann" selected' in part.control for part in shown.parts)
    assert 'aria-describedby="id_item_asked_error"' in shown.parts[0].control
    assert f'id="{shown.first_id}"' in shown.parts[0].control


def test_a_slider_has_no_answer_before_and_shows_a_number_only_with_a_step() -> None:
    silent = item("slider", minimum=0, maximum=10)
    counted = item("slider", minimum=0, maximum=10, step=2.0)
    html = [str(ItemsForm(items=[one]).items[0].control) for one in (silent, counted)]
    assert 'step="0.1"' in html[0] and "data-silent" in html[0] and "value=" not in html[0]
    assert 'step="2"' in html[1] and "data-silent" not in html[1]


def test_a_screen_reader_hears_the_ends_the_unit_and_the_error() -> None:
    one = item("slider", minimum=0, maximum=10, low="None", high="All", unit="parts")
    form = ItemsForm({}, items=[one])
    form.is_valid()
    described = 'aria-describedby="id_item_asked_error id_item_asked_ends id_item_asked_unit"'
    assert described in form.items[0].control
    html = render_to_string("study/participation/items.html", {"form": form})
    for name in ("error", "ends", "unit"):
        assert f'id="id_item_asked_{name}"' in html


def test_neighbours_with_one_heading_and_scale_make_a_table() -> None:
    rows = [item("likert", key, table="The team") for key in ("trust", "pace")]
    other = item("likert", "load", table="The team", points=7)
    blocks = ItemsForm(items=[*rows, other, item("likert", "alone")]).blocks
    assert [(block.heading, len(block.items)) for block in blocks] == [
        ("The team", 2),
        ("The team", 1),
        ("", 1),
    ]


def test_rows_of_a_table_stay_together_in_a_random_order() -> None:
    items = [item("likert", str(number), table="T" if number % 2 else "") for number in range(8)]
    for seed in range(20):
        places = [place for place, one in enumerate(shuffled(items, seed)) if one.table]
        assert places == list(range(places[0], places[0] + 4))


@pytest.mark.django_db
def test_options_have_an_order_for_each_participant_with_their_translations() -> None:
    plan = item("single", options=PARTNERS, shuffled=True, place="about")
    told = TranslatedItem.model_construct(**{**dict(plan), "shown": ["zoe", "ann", "max"]})
    design = blueprint_of(make_study()).model_copy(update={"items": (told,)})
    orders = set()
    for number in range(1, 30):
        (one,) = items_for(design, "about", number)
        assert [each.lower() for each in one.options] == one.shown_options
        assert [one] == items_for(design, "about", number)
        orders.add(tuple(one.options))
    assert len(orders) == 6


def test_answers_in_parts_have_words() -> None:
    assert answer_words({"best": "Ann", "worst": "Zoe"}) == "best: Ann; worst: Zoe"
    assert answer_words(["Ann", "Zoe"]) == "Ann; Zoe"


@pytest.mark.django_db
def test_the_data_have_the_order_of_options_that_each_participant_saw() -> None:
    study = make_study(items=0)
    for key, shuffled_options in (("partner", True), ("team", False)):
        SurveyItem.objects.create(
            study=study, key=key, measure=key, text="?", kind="single", place="about", options=PARTNERS,
            shuffled=shuffled_options,
        )  # fmt: skip
    people = [enter(study, str(number)) for number in range(3)]
    for person in people:
        for one in study.items.all():
            Answer.objects.create(participant=person, item=one, value="Ann")
    numbers, design = {person.code: person.number for person in people}, blueprint_of(study)
    for row in csv_rows(study, "answers"):
        if row["item"] == "team":
            assert row["options_shown"] == ""
            continue
        (shown, *_) = items_for(design, "about", numbers[row["participant"]])
        assert json.loads(row["options_shown"]) == shown.options
