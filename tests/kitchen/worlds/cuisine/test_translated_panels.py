"""Everything that CuisineWorld shows is translated: a fake language of brackets covers all panels."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from django.utils import translation
from django.utils.safestring import SafeString

from kitchen.contract.page_view import PlayerView, SeatView
from kitchen.play.live.render_page import render_guide, render_panel, render_reference, seat_layout
from kitchen.registry.world_metrics import achievements
from kitchen.worlds.cuisine.display_text import SENTENCES, KitchenWords
from kitchen.worlds.cuisine.page import PAGE
from tests.bracketed import CODE, bare_words, speak_in_brackets
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.cuisine.test_page import start, views

SHOWN, PHASES = ("tables", "drawn"), ("choose", "waiting", "over")


@pytest.fixture(autouse=True)
def _in_brackets(tmp_path: Path, settings: Any) -> Iterator[None]:
    speak_in_brackets(tmp_path / "locale", settings)
    with translation.override(CODE):
        yield


def named(view: SeatView, **more: Any) -> SeatView:
    """The view with the names that its players have in the language that is spoken."""
    players = tuple(
        PlayerView(one.seat, PAGE.named(one.seat + 1), one.seat == view.seat) for one in view.players
    )
    return changed(view, players=players, **more)


def html_of(view: SeatView) -> str:
    """The world's part of a page."""
    panels = {panel.id: render_panel(panel) for panel in PAGE.panels(view)}
    return seat_layout(PAGE, view, {"hint": SafeString(), **panels})


def test_every_panel_is_said_in_it_in_every_phase() -> None:
    for shown, phase in product(SHOWN, PHASES):
        assert bare_words(html_of(named(start(phase=phase), shown=shown))) == [], (shown, phase)


def test_whatever_happens_is_said_in_it() -> None:
    for shown, (number, view) in product(SHOWN, enumerate(views("level_7", 3, 5, every=6))):
        assert bare_words(html_of(named(view, shown=shown))) == [], (shown, number)


def test_guide_and_recipes_are_said_in_it() -> None:
    brief = start().brief
    guides = [render_guide(PAGE, brief, clocked=clocked, drawn=not clocked) for clocked in (False, True)]
    for html in (*guides, render_reference(PAGE, brief)):
        assert bare_words(html) == []


def test_every_hint_refusal_and_score_is_said_in_it() -> None:
    view = named(start())
    told = [
        PAGE.hint(view, (verb, "pot0"), {"do": aim, "to": "pot0", "item": "rice", "dish": "salmonSushi"})
        for aim in SENTENCES["hints_here"]
        for verb in ("goto", "put", "noop")
    ]
    told += [KitchenWords().refusal(reason, ("get", "pot0", "rice"), 2) for reason in SENTENCES["refusals"]]
    told += [words for _, words in achievements("cuisine", {"completed": 1, "failed": 2})]
    told += [PAGE.title, PAGE.body, PAGE.reference_title, PAGE.settings_differ, PAGE.aim, PAGE.missed]
    assert [text for text in told if bare_words(f"<p>{text}</p>")] == []
