"""Say where questions are asked: at a fixed place of the study, or on a page that researchers wrote.

The place of a question on such a page is the name of the participant's page: `own-` and the page's key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from study.design.own_pages import PREFIX
from study.design.questions.item_fields import PLACES, ItemPlan

ABOUT = "about"
SURVEY = "survey"


def is_on_own_page(place: str) -> bool:
    """Return whether questions at this place are on a page that researchers wrote."""
    return place.startswith(PREFIX)


def may_tell_who(place: str) -> bool:
    """Return whether answers at this place may describe the person, such as an age. Copies of the data
    without identities treat them as demographics."""
    return place == ABOUT or is_on_own_page(place)


def item_places(items: Iterable[ItemPlan], pages: Iterable[Any] = ()) -> tuple[str, ...]:
    """Return the fixed places, then the researchers' pages `pages` in their order, then other places of
    `items`: pages that are gone."""
    return tuple(dict.fromkeys([*PLACES, *(one.page for one in pages), *(one.place for one in items)]))


def places_of_design(design: Any) -> tuple[str, ...]:
    """Return every place at which a design may ask. `design` is a `Blueprint`."""
    return item_places(design.items, design.pages)


def places_outside_rounds(design: Any) -> tuple[str, ...]:
    """Return every place at which each question is asked once. `design` is a `Blueprint`."""
    return tuple(one for one in places_of_design(design) if one != SURVEY)


def item_place_words(place: str, fixed: Mapping[str, str], titles: Mapping[str, str] | None = None) -> str:
    """Return a place in words. `fixed` are the words of the fixed places. `titles` are the headings of the
    researchers' pages, by key."""
    if not is_on_own_page(place):
        return str(fixed.get(place, place))
    key = place.removeprefix(PREFIX)
    return f"on the page “{(titles or {}).get(key, key)}”"
