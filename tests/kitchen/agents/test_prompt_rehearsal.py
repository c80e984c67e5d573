"""The whole prompt of a step, before any model is asked."""

from __future__ import annotations

from typing import Any
from unittest.mock import AsyncMock

import pytest

from kitchen.agents.prompt_rehearsal import AskedPrompt, PlayCondition, RehearsedEpisode
from kitchen.contract.agent import NO_ONE, Decision
from kitchen.contract.language_model import Request
from kitchen.registry.agent_registry import make_agent
from kitchen.worlds.cuisine.planner.agent import CuisinePlanner
from kitchen.worlds.cuisine.world import CuisineWorld
from tests.kitchen.agents.timed_episode import decisions
from tests.kitchen.worlds.cuisine.cooking import kitchen

CLAUDE = "anthropic:claude-sonnet-5-5"


def asked(step: int, way: PlayCondition | None = None, **settings: Any) -> AskedPrompt:
    mind = make_agent("dispatcher", {"model": CLAUDE, **settings})
    others = make_agent("planner", {})
    minds = [((1, 2), mind), ((3,), others)]
    return RehearsedEpisode(kitchen(seats=4), minds, way).asked(0, step)


def texts(one: AskedPrompt) -> list[str]:
    return [message.text for message in request_of(one).messages]


def request_of(one: AskedPrompt) -> Request:
    assert one.request is not None
    return one.request


def test_it_is_what_is_asked_when_the_stand_in_plays() -> None:
    mind = make_agent("dispatcher", {"model": "stand-in"})
    world = kitchen(seats=2)
    world.reset(1)
    played = [one.calls[0].request for one, _ in decisions(mind, world, seed=1)]
    for step in (1, 2, 9):
        shown = RehearsedEpisode(kitchen(seats=2), [((0, 1), mind)]).asked(0, step)
        assert request_of(shown).messages == played[step - 1].messages


def test_what_is_remembered_is_there() -> None:
    first, later = asked(1), asked(6, memory=7)
    assert (len(texts(first)), len(texts(later))) == (2, 1 + 2 * 3 + 1)
    assert "step 6 of 60" in texts(later)[-1] and texts(first)[0] == texts(later)[0]


def test_the_fixed_part_is_that_of_the_model_and_not_of_the_stand_in() -> None:
    assert request_of(asked(1)).model == "claude-sonnet-5-5"
    assert "one JSON object of the form" in texts(asked(1, reply="tool"))[0]


def test_a_person_plays_sensibly_and_is_told_of_where_minds_may_know() -> None:
    knows, not_told = asked(3), asked(3, way=PlayCondition(knowing=NO_ONE))
    assert "agent0 (a person) does in this step, before your agents: " in texts(knows)[-1]
    assert "What agent0 (a person) does in this step is not known yet." in texts(not_told)[-1]


def test_after_the_end_it_is_the_last_step() -> None:
    assert asked(600).step == 60


def test_who_asks_no_model_is_asked_nothing() -> None:
    planner = make_agent("planner", {})
    assert RehearsedEpisode(kitchen(seats=2), [((0, 1), planner)]).asked(0, 1).request is None


def test_steps_are_played_once_however_often_they_are_asked_about() -> None:
    mind = make_agent("dispatcher", {"model": CLAUDE})
    game = kitchen(seats=2)
    played = RehearsedEpisode(game, [((0, 1), mind)])
    later, first = played.asked(0, 4), played.asked(0, 1)
    assert (later.step, first.step, game.clock) == (4, 1, 4)
    assert texts(first) == texts(RehearsedEpisode(kitchen(seats=2), [((0, 1), mind)]).asked(0, 1))
    assert texts(played.asked(0, 4)) == texts(later) and game.clock == 4


def test_who_is_busy_or_has_a_plan_is_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Robot 4 plans two steps ahead; robot 3 has nothing to choose in the second step."""
    ahead = Decision({3: ("goto", "pot0")}, plans={3: [("goto", "storage0"), ("get", "pot0", "rice")]})
    monkeypatch.setattr(CuisinePlanner, "decide", AsyncMock(return_value=ahead))
    monkeypatch.setattr(CuisineWorld, "asks", lambda world, seat: (world.clock, seat) != (1, 2))
    second, third = (texts(asked(step, way=PlayCondition(passes_by=True)))[-1] for step in (2, 3))
    assert "Now command agent1." in second
    assert "agent2 (not to be commanded now) does in this step, before your agents: noop_agent2" in second
    assert "agent3 (not yours) does in this step, before your agents: goto_agent3_storage0" in second
    assert "Now command agent1 and agent2." in third and "agent3 (not yours) does in this step" not in third
