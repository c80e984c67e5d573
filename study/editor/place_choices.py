"""Offer the places at which a study can ask questions: the fixed ones, and its own pages."""

from __future__ import annotations

from django import forms

from study.design.item_places import item_place_words, item_places
from study.design.models import Study, SurveyItem

FIXED_PLACES = {name: str(words) for name, words in SurveyItem.Place.choices}
"""The fixed places of questions, with their words."""


def place_choices(study: Study | None = None, now: str = "") -> list[tuple[str, str]]:
    """Return (place, words) pairs for the form of a question. A break and a page that ends the study cannot
    ask. `now` is the stored place, which is always offered."""
    pages = list(study.own_pages.all()) if study and study.pk else []
    titles = {one.key: one.title for one in pages}
    asking = [one.plan for one in pages if not one.ends and not one.plan.is_break]
    places = dict.fromkeys([*item_places((), asking), *([now] if now else [])])
    return [(one, item_place_words(one, FIXED_PLACES, titles)) for one in places]


def place_field(study: Study | None = None, now: str = "") -> forms.ChoiceField:
    """Return the field in which researchers choose where a question is asked."""
    return forms.ChoiceField(
        label="Place",
        choices=place_choices(study, now),
        initial=SurveyItem.Place.SURVEY,
        help_text="Where it is asked.",
    )
