"""Short sentences of the pages of blocks: who did something, who waits, and what is missing."""

from __future__ import annotations

import pytest
from django.utils import translation

from kitchen.contract.world import Event
from kitchen.pages.json_tables import FactsAndTables
from kitchen.worlds.blocks.dispatcher.player_requests import STOP
from kitchen.worlds.blocks.goal_worlds import GIVES, MATCHES
from kitchen.worlds.blocks.page import PAGES
from kitchen.worlds.blocks.page_words import numbered, request_answer
from tests.kitchen.worlds.blocks.games import game
from tests.kitchen.worlds.cuisine.test_page import seen

PAGE = PAGES["blocks_construction"]


def test_news_call_the_reader_you_and_others_by_name() -> None:
    view = seen(game("construction", blueprint="shelter"), 0)
    news = [Event("done", seat, {"macro": ["remove", "0", "0", "0"]}) for seat in (0, 1)]
    own, other = (PAGE.event_sentence(one, view) for one in news)
    assert own.startswith("You: ") and other.startswith("Robot 2: ")


def test_several_players_wait_and_one_waits() -> None:
    told = [request_answer(STOP, seats).format(player=numbered(seats)) for seats in ([1], [1, 2])]
    assert told == ["Player 2 waits.", "Players 2, 3 wait."]


def test_a_finished_building_misses_none() -> None:
    world = game("construction", blueprint="shelter")
    for level in world.blueprint.levels:
        for cell, block in level.items():
            world.put_block(cell, block)
    shows = PAGE.seen_panel(seen(world, 0)).shows
    assert isinstance(shows, FactsAndTables)
    assert [one.text for one in shows.facts if one.code == "site"] == ["none"]


@pytest.mark.parametrize("metric", [GIVES, MATCHES])
def test_chinese_labels_of_metrics_begin_with_no_measure_word(metric: object) -> None:
    with translation.override("zh-hans"):
        one, several = metric.words  # type: ignore[attr-defined]
        assert translation.ngettext(one, several, 2)[0] not in "个次"
