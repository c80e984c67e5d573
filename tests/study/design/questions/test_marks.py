"""Numbers with few possible answers are asked as a row of marks; others are typed."""

from __future__ import annotations

from typing import Any

import pytest
from django.template.loader import render_to_string
from django.utils.translation import gettext, override

from study.design.blueprint import blueprint_of
from study.design.models import SurveyItem
from study.design.questions.item_fields import ItemPlan
from study.design.questions.item_kinds import item_problems
from study.design.questions.item_numbers import number_marks, range_words
from study.participation.item_forms import ItemsForm
from tests.study.factories import make_study

pytestmark = pytest.mark.django_db


def number(**more: Any) -> ItemPlan:
    """A number that is asked, with words at its ends unless others are given."""
    more = {"low": "Little", "high": "Much", **more}
    study = make_study(conditions=1, items=1)
    SurveyItem.objects.update(kind="number", **more)
    return blueprint_of(study).items[0]


def page_of(item: ItemPlan) -> str:
    return render_to_string("study/participation/items.html", {"form": ItemsForm(items=[item])})


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ({"minimum": 0, "maximum": 1, "step": 0.25}, (0, 0.25, 0.5, 0.75, 1)),
        ({"minimum": -0.1, "maximum": 0.2, "step": 0.1}, (-0.1, 0, 0.1, 0.2)),
        ({"minimum": 0, "maximum": 100, "step": 5}, tuple(range(0, 101, 5))),
        ({"minimum": 18, "maximum": 99, "step": 1}, ()),
        ({"minimum": 0, "maximum": 1}, ()),
        ({"minimum": 0, "step": 1}, ()),
        ({}, ()),
        ({"minimum": 0, "maximum": 20, "step": 1, "high": ""}, ()),
        ({"minimum": 0, "maximum": 20, "step": 1, "low": "Strongly disagree"}, ()),
        ({"minimum": 0, "maximum": 100_000, "step": 5000}, ()),
        ({"minimum": 0, "maximum": 10_000, "step": 1000}, tuple(range(0, 10_001, 1000))),
    ],
)
def test_there_are_marks_if_they_are_few(ends: dict[str, float], expected: tuple[float, ...]) -> None:
    assert number_marks(number(**ends)) == expected


def test_a_mark_is_stored_as_the_number_and_nothing_else_is_taken() -> None:
    item = number(minimum=0, maximum=1, step=0.25)
    good, odd = (ItemsForm({"item_i0": value}, items=[item]) for value in ("0.75", "0.3"))
    assert good.is_valid()
    assert good.values() == {"i0": 0.75}
    assert not odd.is_valid()


def test_the_first_and_the_last_mark_say_what_they_mean() -> None:
    page = page_of(number(minimum=0, maximum=100, step=5, low="Very low", high="Very high"))
    assert page.count('type="radio"') == 21
    assert '0<span class="visually-hidden">: Very low</span>' in page
    assert '100<span class="visually-hidden">: Very high</span>' in page
    assert 'class="scale marks"' in page


@pytest.mark.parametrize(
    ("ends", "field"),
    [
        ({"minimum": 0, "maximum": 1, "step": 0.3333333}, "step"),
        ({"minimum": 0, "maximum": 0.666666666666, "step": 0.333333333333}, "maximum"),
        ({"minimum": 0, "maximum": 1e-9, "step": 1e-10}, "step"),
        ({"minimum": -1e308, "maximum": 1e308, "step": 1}, "minimum"),
        ({"minimum": 0, "maximum": 1, "step": 5e-324}, "step"),
    ],
)
def test_numbers_that_nobody_could_answer_rightly_are_refused(ends: dict[str, float], field: str) -> None:
    item = SurveyItem(key="n", kind="number", **ends)
    assert field in item_problems(item.plan)


def test_a_typed_number_names_its_bounds_in_full() -> None:
    page = page_of(number(minimum=0, maximum=1234567, step=1))
    assert 'max="1234567"' in page
    assert "to 1234567" in page


def test_ends_that_nobody_wrote_mean_nothing_in_any_language() -> None:
    with override("es"):
        low, high = gettext("Strongly disagree"), gettext("Strongly agree")
        told = number(minimum=0, maximum=1, step=0.25, low=low, high=high)
        assert told.low == "Totalmente en desacuerdo"
        assert (number_marks(told), range_words(told)) == ((), "De 0 a 1, en pasos de 0.25")
