"""An item's fields and kinds are declared once: rows, forms and files follow."""

from __future__ import annotations

from study.design.models import SurveyItem
from study.design.questions.item_fields import FIELD_INFO, LONGEST, PLACES, ItemPlan
from study.design.questions.item_kinds import KIND_FIELDS, KINDS
from study.editor.condition_and_item_forms import SurveyItemForm
from study.participation.item_forms import FIELDS

STORED = {field.name: field for field in SurveyItem._meta.get_fields() if field.concrete}
OF_ROWS = {"id", "study", "position", "enabled"}
"""What only a stored item has."""


def test_a_stored_item_has_every_field_and_no_other() -> None:
    assert STORED.keys() == {*FIELD_INFO, *OF_ROWS}
    assert {name: STORED[name].max_length for name in LONGEST} == LONGEST


def test_an_item_has_the_same_defaults_in_a_row_and_in_a_file() -> None:
    row = SurveyItem(key="a", measure="A", text="Well?")
    assert row.plan == ItemPlan(key="a", measure="A", text="Well?")


def test_the_form_asks_for_every_field() -> None:
    assert set(SurveyItemForm().fields) >= {*FIELD_INFO, "enabled"}


def test_places_and_kinds_of_rows_are_the_declared_ones() -> None:
    assert SurveyItem.Place.values == list(PLACES)
    assert SurveyItem.Kind.choices == [(name, kind.words) for name, kind in KINDS.items()]
    assert set(FIELDS) == set(KINDS)
    assert set(FIELD_INFO) > KIND_FIELDS


def test_a_document_tells_the_fields_in_the_order_of_the_declaration() -> None:
    item = ItemPlan(key="a", measure="A", text="Well?")
    assert list(item.model_dump()) == list(FIELD_INFO)
