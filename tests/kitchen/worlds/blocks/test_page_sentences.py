"""Short sentences of the pages of blocks: who did something, who waits, and what is missing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.utils import translation

from kitchen.contract.page_view import StepView, TalkView
from kitchen.contract.team_messages import TeamMessage
from kitchen.contract.world import Event
from kitchen.pages.default_page import ScoreContent
from kitchen.pages.json_tables import FactsAndTables
from kitchen.worlds.blocks.crafting_tasks import crafting_tasks
from kitchen.worlds.blocks.dispatcher.player_requests import STOP
from kitchen.worlds.blocks.goal_worlds import GIVES, MATCHES
from kitchen.worlds.blocks.item_words import item_words
from kitchen.worlds.blocks.lesson_hints import LESSON_STEPS
from kitchen.worlds.blocks.page import PAGES
from kitchen.worlds.blocks.page_words import numbered, request_answer
from tests.kitchen.worlds.blocks.games import game
from tests.kitchen.worlds.blocks.test_menu_amounts import choices
from tests.kitchen.worlds.cuisine.test_page import seen

PAGE = PAGES["blocks_construction"]
HUT = """legend = { s = "stone", p = "oak_planks" }
levels = [["ss", "ss"], ["pp", "p."]]"""


def test_news_call_the_reader_you_and_others_by_name() -> None:
    view = seen(game("construction", blueprint="shelter"), 0)
    news = [Event("done", seat, {"macro": ["remove", "0", "0", "0"]}) for seat in (0, 1)]
    own, other = (PAGE.event_sentence(one, view) for one in news)
    assert own.startswith("You: ") and other.startswith("Robot 2: ")


def test_several_players_wait_and_one_waits() -> None:
    told = [request_answer(STOP, seats).format(player=numbered(seats)) for seats in ([1], [1, 2])]
    assert told == ["Player 2 waits.", "Players 2, 3 wait."]


def test_missing_blocks_are_named_with_their_level() -> None:
    shows = PAGE.seen_panel(seen(game("construction", own_blueprint=HUT), 0)).shows
    assert isinstance(shows, FactsAndTables)
    assert [one.text for one in shows.facts if one.code == "site"] == ["level 1: 4, level 2: 3"]


def test_the_idle_command_is_named_for_what_it_does_now() -> None:
    world = game("construction", own_blueprint=HUT)
    for words in ("Wait one step", "Carry on"):
        assert words in [one.text for one in choices(PAGE.menu(seen(world, 0)))]
        world.step({0: ("stay", "3")})


def test_a_finished_building_misses_none() -> None:
    world = game("construction", blueprint="shelter")
    for level in world.blueprint.levels:
        for cell, block in level.items():
            world.put_block(cell, block)
    shows = PAGE.seen_panel(seen(world, 0)).shows
    assert isinstance(shows, FactsAndTables)
    assert [one.text for one in shows.facts if one.code == "site"] == ["none"]


def outcome(world: Any, seat: int = 0) -> str:
    view = seen(world, seat)
    return PAGES[world.kind].outcome(replace(view, result=replace(view.result, score=world.score())))


def test_the_end_says_whether_the_goal_was_reached_and_what_was_missing() -> None:
    crafting = game("crafting")
    crafting.task = crafting_tasks()["craft_2_01_pink_wool"]
    ((item, amount),) = crafting.targets.items()
    wanted = f"{amount} {item_words(item)}"
    assert outcome(crafting) == f"The time is up: nobody holds {wanted}"
    crafting.inventories[1] = {item: amount}
    assert outcome(crafting) == f"Done: you have made {wanted}"
    cooking = game("cooking", {"bread": 1}, {"cake": 1}, targets="bread+cake")
    assert outcome(cooking) == (
        "The time is up: nobody holds all of this: bread, cake. 2 of 2 dishes were made"
    )
    cooking.inventories[0] = {"bread": 1, "cake": 1}
    assert outcome(cooking) == "Done: one of you holds all of this: bread, cake"
    each = game("cooking", {"bread": 1}, {}, targets="bread+cake", hells_kitchen=True)
    assert outcome(each) == (
        "The time is up: Player 1 was to hold bread, and Player 2 cake. 1 of 2 dishes were made"
    )
    each.inventories[1] = {"cake": 1}
    assert outcome(each) == "Done: Player 1 holds bread, and Player 2 holds cake"
    gather = game("gather", {"oak_log": 1}, own_task='{"item": "oak_log", "amount": 2}')
    assert outcome(gather) == "The time is up: 1 of 2 gathered (oak log)"
    gather.inventories[1] = {"oak_log": 2}
    assert outcome(gather) == "Done: 2 of 2 gathered (oak log)"
    assert outcome(game("kitchen")) == "", "it has no goal"


def test_the_end_counts_right_blocks_and_those_that_should_not_stand() -> None:
    for blocked in ("nobody", "first"):
        world = game("construction", own_blueprint=HUT, blueprint_blocked=blocked)
        none = "no block stands as planned" if blocked == "first" else "0 of 7 blocks stand as planned"
        assert outcome(world) == f"The time is up: {none}"
        world.put_block((1, 1, 1), "dirt")
        for level in world.blueprint.levels:
            for cell, block in level.items():
                assert "of 7" in outcome(world) or blocked == "first"
                world.put_block(cell, block)
        assert outcome(world) == (
            "The time is up: 7 of 7 blocks stand as planned. 1 block stands where nothing belongs"
        )
        world.put_block((1, 1, 1), "air")
        assert outcome(world) == "The building stands as planned: 7 of 7 blocks"


def test_players_are_asked_to_guide_each_other_only_where_they_can_write() -> None:
    page, view = PAGES["blocks_cooking"], seen(game("cooking", targets="bread+cake", hells_kitchen=True), 0)
    for talk, is_asked in ((TalkView(), False), (TalkView(0, {0: "You", 1: "Robot 2"}, (1,)), True)):
        shows = page.seen_panel(replace(view, talk=talk)).shows
        assert isinstance(shows, FactsAndTables)
        assert ("Guide each other" in shows.facts[0].text) is is_asked


def test_chinese_results_have_a_measure_word_after_a_number_but_not_in_a_label() -> None:
    view = seen(game("construction", blueprint="shelter"), 0)
    with translation.override("zh-hans"):
        found = [metric.words for metric in (GIVES, MATCHES) if metric.words]
        counted = tuple(("3", translation.ngettext(one, several, 3)) for one, several in found)
        shows = PAGE.score(replace(view, result=replace(view.result, achieved=counted))).shows
    assert counted == (("3", "次给予"), ("3", "个正确的方块"))
    assert isinstance(shows, ScoreContent)
    assert shows.achieved == (("3", "给予"), ("3", "正确的方块"))


def test_hints_of_practice_invite_to_write_and_then_to_give_for_some_steps() -> None:
    world = game("construction", own_blueprint=HUT, inventories="by_material")
    talk = TalkView(0, {0: "You", 1: "Robot 2"}, (1,))
    view = replace(seen(world, 0), talk=talk)
    first = PAGE.hint(view, ("build", "0"), {})
    assert first.startswith("Try this: ") and "write “Give me everything.”" in first
    written = replace(talk, messages=(TeamMessage(1, 1, 0, (1,), "say", "Stop"),))
    second = replace(view, talk=written)
    assert "begins with “Give”" in PAGE.hint_without_advice(second)
    given = (StepView(1, {0: ("give", "1", "stone", "1")}, ()),)
    for done in (
        replace(second, history=given),
        replace(view, step=LESSON_STEPS),
        replace(view, talk=TalkView()),
    ):
        assert PAGE.hint_without_advice(done) == PAGE.general_hint
