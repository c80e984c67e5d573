"""What robots are about to do, in words: under the drawing, in the table, and nothing where none was said."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest

from kitchen.contract.page_view import DRAWING_AND_TABLES, DRAWING_ONLY, DRAWING_TABLES, SeatView
from kitchen.contract.world import Intent
from kitchen.worlds.cuisine.activity_text import intent_text
from kitchen.worlds.cuisine.display_text import brief_lookup
from kitchen.worlds.cuisine.page import PAGE
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.cuisine.test_page import panel_html, start

AIM = {"do": "bring", "item": "rice", "to": "pot0", "dish": "salmonSushi"}
WORDS = "Next: bring rice to pot 1 for salmon sushi"


def view(intents: dict[int, Intent], **more: Any) -> SeatView:
    return changed(start(seats=4), shows_intents=True, intents=intents, **more)


def text(view: SeatView, panel: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", panel_html(view, panel))).split())


def test_it_stands_beside_the_teammate_in_both_ways_in_which_the_kitchen_is_shown() -> None:
    told = view({2: AIM})
    assert text(told, "intents") == f"Robot 3 {WORDS}"
    row = panel_html(told, "robots").split('id="robot2"')[1].split('id="robot3"')[0]
    assert WORDS in row
    assert panel_html(told, "robots").count("Next:") == 1


@pytest.mark.parametrize(
    ("shown", "panels"), [(DRAWING_AND_TABLES, True), (DRAWING_ONLY, True), (DRAWING_TABLES, False)]
)
def test_only_what_is_shown_has_it_and_nothing_where_it_is_not_to_be_shown(shown: str, panels: bool) -> None:
    ids = {panel.id for panel in PAGE.panels(view({}, shown=shown))}
    assert ("intents" in ids) == panels
    plain = changed(start(seats=4), shown=shown, intents={2: AIM})
    assert "intents" not in {panel.id for panel in PAGE.panels(plain)}
    assert all("Next:" not in panel_html(plain, panel.id) for panel in PAGE.panels(plain))


def test_robots_without_an_intent_have_no_line_and_unknown_codes_no_words() -> None:
    assert "hidden" in panel_html(view({}), "intents")
    assert text(view({1: {"do": "sing"}}), "intents") == ""


def test_a_models_own_words_are_quoted_escaped_with_our_names_and_said_once_of_all_its_robots() -> None:
    said = {"said": "agent1 fetches salmonSashimi for pot0 <script>"}
    html = panel_html(view({1: said, 3: said}), "intents")
    assert '<q lang="en">Robot 2 fetches salmon sashimi for pot 1 &lt;script&gt;</q>' in html
    assert html.count("<q") == 1
    assert "Robot 2" in html.split("<q")[0] and "Robot 4" in html.split("<q")[0]


def test_what_a_model_thought_is_in_a_fold_escaped_and_once_for_all_its_robots() -> None:
    said = {"said": "First rice.", "thought": "agent1 is free <script>"}
    html = panel_html(view({1: said, 3: said}), "intents")
    assert html.count("<details") == 1 and "Robot 2 is free &lt;script&gt;" in html
    assert "<details" not in panel_html(view({1: {"said": "First rice."}}), "intents")
    table = panel_html(view({1: {"thought": "Robot 2 is free"}}), "robots")
    assert table.count("<details") == 1 and "<q" not in table


@pytest.mark.parametrize(
    ("aim", "words"),
    [
        (AIM, WORDS),
        ({**AIM, "to": "pot"}, "Next: bring rice for salmon sushi"),
        ({"do": "start", "to": "pot1", "dish": "tunaSushi"}, "Next: use pot 2 for tuna sushi"),
        ({"do": "start", "to": "pot", "dish": "tunaSushi"}, "Next: use a tool for tuna sushi"),
        ({"do": "serve", "item": "tunaSushi"}, "Next: serve tuna sushi"),
        ({"do": "discard", "item": "rice"}, "Next: throw rice away"),
        ({"do": "wait"}, "Next: wait, there is nothing to do"),
    ],
)
def test_every_aim_of_the_planner_has_its_words(aim: Intent, words: str) -> None:
    assert intent_text(aim, brief_lookup(start(seats=4).brief)) == words
