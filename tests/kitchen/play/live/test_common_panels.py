"""Panels that all worlds share: when the end is celebrated, and what is said of a message that was sent."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from kitchen.contract.page_view import ResultView, SeatView, TalkView
from kitchen.contract.star_targets import read_star_targets
from kitchen.contract.team_messages import TeamMessage
from kitchen.play.live.common_panels import Talk, shared_panels, talk_panel
from kitchen.play.live.render_page import render_panel
from kitchen.play.live.star_panel import Stars, star_panel
from kitchen.registry.world_metrics import achievements
from kitchen.registry.world_registry import get_world
from kitchen.worlds.cuisine.page import PAGE
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.cuisine.cooking import kitchen
from tests.kitchen.worlds.cuisine.test_page import seen


def is_celebrated(world: str, score: dict[str, Any], **more: Any) -> bool:
    """Return whether the page celebrates the end of a game of this world with this score."""
    figures = tuple(figure for figure in get_world(world).figures if figure.words)
    result = ResultView(score, achievements(world, score), figures, **more)
    view = replace(seen(kitchen("level_3"), 0), phase="over", result=result)
    html = next(render_panel(panel) for panel in shared_panels(PAGE, view) if panel.id == "over")
    assert "is-over" in html
    return "data-reached" in html


@pytest.mark.parametrize(
    ("world", "score", "celebrates"),
    [
        ("cuisine", {"completed": 0, "failed": 3}, False),
        ("cuisine", {"completed": 1, "failed": 3}, True),
        ("overcooked", {"points": 0, "soups": 0}, False),
        ("collab_overcooked", {"success": 1.0, "points": 10}, True),
        ("collab_overcooked", {"success": 0.0, "points": 0}, False),
        ("blocks_crafting", {"success": 0.0, "steps_used": 40, "gives": 2}, False),
        ("blocks_crafting", {"success": 1.0, "steps_used": 40, "gives": 0}, True),
        ("blocks_construction", {"matches": 0.0, "gives": 2}, False),
        ("blocks_construction", {"matches": None}, False),
    ],
)
def test_an_end_is_celebrated_if_the_goal_was_reached_or_something_good_was_counted(
    world: str, score: dict[str, Any], celebrates: bool
) -> None:
    assert is_celebrated(world, score) is celebrates


def test_a_reached_goal_is_celebrated_and_a_game_that_somebody_ended_is_not() -> None:
    score = {"completed": 2, "failed": 0}
    assert is_celebrated("cuisine", {"completed": 0}, reached=True)
    assert not is_celebrated("cuisine", score, ended_by_staff=True)
    assert not is_celebrated("cuisine", score, ended_technically=True)
    assert not is_celebrated("cuisine", score, abandoned_because="somebody was gone")


def stars_at(targets: dict[str, Any], phase: str, **score: Any) -> str:
    """Return the HTML of the star panel and of the end of a game with this score."""
    world = "blocks_crafting" if "steps_used" in targets else "cuisine"
    result = ResultView(score, achievements(world, score), world=world)
    read = read_star_targets(targets, get_world(world).figures)
    view = replace(seen(kitchen("level_3"), 0), phase=phase, result=replace(result, star_targets=read))
    return "".join(render_panel(one) for one in shared_panels(PAGE, view) if one.id in ("stars", "over"))


def test_stars_are_told_during_the_game_and_at_its_end() -> None:
    dishes, steps = {"completed": [3, 5, 7]}, {"steps_used": [60, 50, 40]}
    assert "One star for 3, two for 5, three for 7 dishes served." in stars_at(dishes, "choose"), "not known"
    assert "1 of 3 stars. The next needs 5 dishes served." in stars_at(dishes, "choose", completed=4)
    assert "All three stars!" in (over := stars_at(dishes, "over", completed=7))
    assert over.count("is-earned") == 6, "beside the step, and on the card"
    failed = {"failed": [3, 2, 1]}
    assert "3 of 3 stars are possible, with at most 1 " in stars_at(failed, "choose", failed=0)
    assert "No star is possible any more." in stars_at(failed, "choose", failed=4)
    going = stars_at(steps, "choose", steps_used=None)
    assert "Three stars for at most 40 steps used, two for 50, one for 60." in going
    assert "is-earned" not in going, "the steps count when the goal is reached"
    assert "2 of 3 stars." in (over := stars_at(steps, "over", steps_used=50))
    assert over.count("is-earned") == 4


def stars(view: SeatView) -> Stars:
    """Return what the star panel shows."""
    shows = star_panel(view).shows
    assert isinstance(shows, Stars)
    return shows


def test_a_page_under_a_clock_gets_what_it_needs_to_light_the_stars_itself() -> None:
    targets = read_star_targets({"completed": [3, 5, 7]}, get_world("cuisine").figures)
    result = ResultView({"completed": 4}, world="cuisine", star_targets=targets)
    view = replace(seen(kitchen("level_3"), 0), result=result)
    clocked = stars(replace(view, timing=replace(view.timing, tick_ms=150))).clocked
    assert clocked and (clocked.metric, json.loads(clocked.targets)) == ("completed", [3, 5, 7])
    assert [each.split(".")[0] for each in json.loads(clocked.sentences)] == [
        "0 of 3 stars",
        "1 of 3 stars",
        "2 of 3 stars",
        "All three stars!",
    ]
    assert stars(view).clocked is None, "each step brings the panel"


def test_what_was_sent_to_a_co_player_is_said_to_be_read_with_the_next_step_until_it_answers() -> None:
    view, page = seen(kitchen("level_3"), 0), PAGE
    mine = TeamMessage(1, view.step + 1, 0, (1, 2), "say", "I cook.")
    talk = TalkView(0, {0: "You", 1: "Robot 2", 2: "Ann"}, (1, 2), people=(0, 2), messages=(mine,))

    def sent_to(**changes: Any) -> tuple[str, ...]:
        shows = talk_panel(page, replace(view, talk=replace(talk, **changes))).shows
        assert isinstance(shows, Talk)
        return shows.sent_to

    assert sent_to() == ("Robot 2",)
    answer = TeamMessage(2, view.step + 1, 1, (0,), "say", "Understood.")
    assert sent_to(messages=(mine, answer)) == sent_to(takes_turns=True) == sent_to(unread=(1,)) == ()
    assert sent_to(messages=(replace(mine, step=view.step),)) == ()


def test_the_bar_says_that_the_own_plan_goes_on_unless_somebody_is_away() -> None:
    view = changed(seen(kitchen("level_3", seats=2), 0), by_seat={0: (("noop",),)})
    thinking = replace(view, phase="thinking", waiting_for=(1,))

    def bar(view: SeatView) -> str:
        return str(next(render_panel(panel) for panel in shared_panels(PAGE, view) if panel.id == "phase"))

    assert "Your plan goes on" in bar(thinking) and "Waiting for" not in bar(thinking)
    assert "Waiting for" in bar(replace(thinking, away=frozenset({1})))
    assert "Waiting for" in bar(changed(thinking, by_seat={}))
