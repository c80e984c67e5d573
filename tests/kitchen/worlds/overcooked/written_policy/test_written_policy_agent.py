"""The co-player that plays by a decision tree: what it does, what it notes, and its figures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from kitchen.agents.agent_team import Team
from kitchen.agents.episode_loop import EpisodeLoop
from kitchen.contract.agent import run_without_waiting
from kitchen.contract.world_errors import SettingsError
from kitchen.registry.agent_registry import make_agents
from kitchen.registry.world_registry import get_world
from kitchen.worlds.overcooked.agent_log_metrics import AGENT_LOG_METRICS
from kitchen.worlds.overcooked.layout import CLASSIC_LAYOUTS
from kitchen.worlds.overcooked.written_policy.policy_measures import decisions_by_line
from kitchen.worlds.overcooked.written_policy.written_policy_agent import DEFAULT_TREE, WrittenPolicyAgent
from tests.nightly import nightly

SELF_PLAY = "written_policy+written_policy"


def played(line_up: str, layout: str, ticks: int, tree: str = DEFAULT_TREE, **more: str) -> EpisodeLoop:
    """An episode that has ended."""
    return _played(line_up, layout, ticks, tree, tuple(more.items()))


@cache
def _played(
    line_up: str, layout: str, ticks: int, tree: str, more: tuple[tuple[str, str], ...]
) -> EpisodeLoop:
    settings = {"layout": layout, "ticks": ticks, **dict(more)}
    game = get_world("overcooked").create(seats=2, settings=settings)
    game.reset(1)
    course = EpisodeLoop(game, 1, Team.of(line_up, 2), settings)
    agents = dict(enumerate(make_agents(course.team.kinds, {"tree": tree})))
    while not course.is_over:
        course.take(course.step_of(run_without_waiting(course.ask(agents))))
    return course


def figures(course: EpisodeLoop) -> Mapping[str, Any]:
    return AGENT_LOG_METRICS.measure(course.log())


LAYOUTS = ("cramped_room", "forced_coordination")


@pytest.mark.parametrize("layout", [*LAYOUTS, *nightly(*sorted({*CLASSIC_LAYOUTS} - {*LAYOUTS}))])
def test_two_cooks_with_the_shipped_tree_serve_in_every_layout(layout: str) -> None:
    course = played(SELF_PLAY, layout, 130)
    assert course.game.score()["points"] >= 40


def test_the_shipped_tree_serves_where_tomatoes_are_ordered() -> None:
    assert played(SELF_PLAY, "cramped_room_tomato", 100, cooking="interact").game.score()["soups"] >= 1


def test_the_same_seed_gives_the_same_states() -> None:
    one = played("written_policy+greedy", "coordination_ring", 60)
    _played.cache_clear()
    other = played("written_policy+greedy", "coordination_ring", 60)
    assert one is not other
    assert one.game.state_hash() == other.game.state_hash()


def test_an_act_that_is_not_possible_falls_through_to_the_next_line() -> None:
    course = played("written_policy+stay", "cramped_room", 12, "deliver\nplace\npickup dish\nwait")
    assert course.game.score()["counts"][0]["laid"] >= 1
    assert set(decisions_by_line(course.log())) == {2, 3}


def test_a_cook_that_reaches_no_pot_skips_what_it_can_never_do() -> None:
    course = played(
        "stay+written_policy", "forced_coordination", 12, "put\nstart\ndeliver\nplace\npickup onion"
    )
    assert set(decisions_by_line(course.log())) == {4, 5}
    assert course.game.score()["counts"][1]["laid"] >= 1


def test_the_note_names_the_line_each_time_that_another_one_decides() -> None:
    course = played("written_policy+stay", "cramped_room", 12, "place\nif holding nothing: pickup dish")
    notes = [one.note["policy_lines"][0] for one in course.log().decisions if one.note]
    assert [(one["line"], one["text"]) for one in notes][:2] == [
        (2, "if holding nothing: pickup dish"),
        (1, "place"),
    ]
    assert notes[1]["ticks_before"] == notes_until(course, 1)


def notes_until(course: EpisodeLoop, line: int) -> int:
    """Number of decisions before this line decided first."""
    made = course.log().decisions
    return next(
        place for place, one in enumerate(made) if one.note and one.note["policy_lines"][0]["line"] == line
    )


def test_figures_say_how_often_lines_decided() -> None:
    course = played("written_policy+stay", "cramped_room", 10, "deliver")
    assert figures(course) == {
        **dict.fromkeys(("aim_changes", "aim_changes_by_words", "aim_milliseconds", "dropped_thoughts")),
        "recorded_steps_alike": None,
        "policy_lines_used": 0,
        "policy_line_changes": 0,
        "policy_top_line_share": 1.0,
        "policy_undecided_share": 1.0,
        "policy_asides": 0,
    }
    both = figures(played(SELF_PLAY, "cramped_room", 10, "pickup onion\nwait"))
    assert (both["policy_lines_used"], both["policy_undecided_share"]) == (2, 0.0)


def test_figures_are_blank_without_a_written_policy() -> None:
    assert set(figures(played("greedy+stay", "cramped_room", 3)).values()) == {None}


def test_a_cook_that_its_partner_blocks_steps_aside() -> None:
    assert figures(played(SELF_PLAY, "cramped_room", 130))["policy_asides"] >= 1


def test_a_wrong_tree_is_refused_with_its_setting_and_line() -> None:
    with pytest.raises(SettingsError, match=r"^tree: line 2: 'fry' is no act"):
        WrittenPolicyAgent({"tree": "put\nfry"})
