"""A word is translated only once: a Spanish word may be another English word (*pan* is bread, and a pan)."""

from __future__ import annotations

from dataclasses import replace
from gettext import NullTranslations
from itertools import count

import pytest
from django.utils import translation

from kitchen.contract.page_view import SeatView
from kitchen.play.live.render_page import render_panel
from kitchen.words import gettext_without_django as speech
from kitchen.worlds.cuisine.display_text import SENTENCES, brief_lookup
from kitchen.worlds.cuisine.order_tickets import DishNeeds, needs_drawing, orders_panel
from kitchen.worlds.cuisine.page import PAGE
from tests.kitchen.worlds.cuisine.cooking import LEVELS, kitchen
from tests.kitchen.worlds.cuisine.test_page import seen, views


class Once(NullTranslations):
    """Knows every word, in brackets, and none that stands in brackets already."""

    _numbers = count()

    def __init__(self) -> None:
        super().__init__()
        self.language = f"once-{next(self._numbers)}"  # what another has drawn is not taken

    def get_language(self) -> str:
        return self.language

    def gettext(self, message: str) -> str:
        assert "⟦" not in message, f"looked up twice: {message}"
        return f"⟦{message}⟧"

    def ngettext(self, singular: str, plural: str, number: int) -> str:
        return self.gettext(singular if number == 1 else plural)

    def pgettext(self, context: str, message: str) -> str:
        assert "⟦" not in message, f"looked up twice: {message}"
        return f"⟦{message}⟧"


@pytest.fixture
def once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speech._Speech, "by", Once())


@pytest.mark.filterwarnings("ignore:level_12")
@pytest.mark.parametrize("level", LEVELS)
def test_nothing_that_is_translated_is_translated_again(level: str, once: None) -> None:
    for view in views(level, seats=2, seed=2, every=25):
        for panel in PAGE.panels(view):
            assert render_panel(panel)
        for aim in SENTENCES["hints_here"]:
            told = {"do": aim, "to": "storage0", "item": "rice", "dish": view.brief["dishes"][0]}
            assert PAGE.hint(view, ("noop",), told)
    assert PAGE.handbook(view.brief)["dishes"]


@pytest.mark.filterwarnings("ignore:level_12")
@pytest.mark.parametrize("code", ["en", "es", "zh-hans"])
def test_a_ticket_names_things_as_all_other_places_do(code: str) -> None:
    """All dishes of all levels, with what goes into them."""
    dishes = set[str]()
    for level in LEVELS:
        view = seen(kitchen(level), 0)
        ordered = [{"dish": dish, "life": 9} for dish in view.brief["dishes"]]
        with translation.override(code):
            assert _misnamed(replace(view, observation={**view.observation, "orders": ordered})) == []
        dishes.update(view.brief["dishes"])
    assert len(dishes) > 30


def _misnamed(view: SeatView) -> list[str]:
    """What a ticket calls otherwise than the rest of the page."""
    book = brief_lookup(view.brief)
    needs = [
        next(part.shows for part in ticket.parts if isinstance(part.shows, DishNeeds))
        for ticket in orders_panel(view, book).parts
    ]
    nodes = [node for shows in needs for node in needs_drawing(shows)["graph"]["nodes"]]
    shown = [(node["code"], "".join(line["text"] for line in node["lines"])) for node in nodes]
    return [f"{code}: {text}" for code, text in shown if _bare(text) not in _bare(book.words.name(code))]


def _bare(text: str) -> str:
    return text.replace(" ", "").rstrip("…")
