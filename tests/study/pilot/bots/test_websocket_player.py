"""What a synthetic participant knows and presses where a clock takes the steps."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any, cast

import pytest
from websockets.asyncio.client import ClientConnection

from kitchen.registry.world_registry import get_world
from study.pilot.bots.http_browser import PatienceLimit, WalkedPage
from study.pilot.bots.simulated_person import QUESTION, Person, Player
from study.pilot.bots.websocket_player import (
    PROTOCOL,
    TickSession,
    TurnSession,
    session_for_page,
    shown_state,
)

PAGE = WalkedPage("http://here/p/key/", 200, socket="/ws/ticks/key/")


def state() -> dict[str, Any]:
    """What a page is told first."""
    world = get_world("overcooked").create(seats=2, settings={"clock": "tick", "ticks": 10})
    return {
        "type": "state",
        "world": "overcooked",
        "seats": 2,
        "seat": 0,
        "phase": "wait",
        "step": 0,
        "length": 10,
        "observation": world.observe(0),
        "legal": [list(command) for command in world.legal_actions(0)],
        "anticipated": [],
        "score": world.score(),
        "brief": world.brief(0),
    }


class Line:
    """A server that says these, and after a key the next; what it was sent is `heard`."""

    subprotocol = PROTOCOL

    def __init__(self, *said: dict[str, Any]) -> None:
        self.said, self.heard = list(said), list[dict[str, Any]]()

    async def recv(self) -> str:
        return json.dumps(self.said.pop(0))

    async def send(self, text: str) -> None:
        self.heard.append(json.loads(text))


def test_the_address_says_how_one_plays() -> None:
    assert session_for_page(PAGE) is TickSession
    assert session_for_page(WalkedPage("", 200, socket="/ws/seat/key/")) is TurnSession


def test_a_tick_message_changes_the_state_shown_before() -> None:
    before = {"step": 3, "observation": {"a": 1, "b": 2}, "score": {"points": 0}, "brief": "b"}
    tick = {"type": "tick", "step": 4, "changed": {"a": 5}, "gone": ["b"], "score": {"points": 20}}
    assert shown_state(before, tick) == {
        "step": 4,
        "observation": {"a": 5},
        "score": {"points": 20},
        "brief": "b",
    }
    whole = {"type": "whole", "step": 2, "observation": {"c": 1}, "score": {}}
    assert shown_state(before, whole) == {"step": 2, "observation": {"c": 1}, "score": {}, "brief": "b"}


async def test_a_key_goes_down_and_up_for_each_shown_state_until_the_part_is_over() -> None:
    first = state()
    more = {"observation": first["observation"], "score": first["score"]}
    ticks: list[dict[str, Any]] = [
        {"type": "tick", "step": step, "changed": {}, "gone": [], "score": {}} for step in (1, 2, 3)
    ]
    line = Slow(first, {"type": "whole", "step": 0, **more}, *ticks)
    player = Player(Person(1, 1), 1)
    await TickSession(PAGE, player, PatienceLimit(60), part=0.3)._sit(cast(ClientConnection, line))
    assert player.last is not None
    assert (player.last["step"], line.said) == (3, [])
    words = [(word["type"], word["down"], word["number"]) for word in line.heard]
    assert words == [("key", number % 2 == 1, number) for number in range(1, len(words) + 1)]
    assert len(words) == 6
    world = get_world("overcooked").create(seats=2, settings={})
    assert all(world.accepts(0, tuple(word["command"])) for word in line.heard)


class Slow(Line):
    """Says the next tick once the keys for the one before have come."""

    async def recv(self) -> str:
        for _ in range(3):
            await asyncio.sleep(0)
        return await super().recv()


async def test_an_error_while_choosing_ends_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    first = state()
    more = {"observation": first["observation"], "score": first["score"]}
    whole = {"type": "whole", "step": 0, **more}
    monkeypatch.setattr(Player, "press", _stumbles)
    sitting = TickSession(PAGE, Player(Person(1, 1), 1), PatienceLimit(60))
    with pytest.raises(ValueError, match="unlike"):
        await sitting._sit(cast(ClientConnection, Slow(first, whole, whole)))


def _stumbles(player: Player, state: Any) -> Any:
    raise ValueError("unlike anything known")


async def test_what_the_adviser_would_say_is_said_before_the_choice() -> None:
    world = get_world("collab_overcooked").create(seats=2, settings={"task": "boiled_egg"})
    seen = {"observation": world.observe(0), "legal": [["wait", "1"]], "brief": world.brief(0)}
    chef = {**state(), **seen, "world": world.kind, "score": world.score(), "phase": "choose", "member": 0}
    over = {**chef, "phase": "over"}
    line, alone = Line({**chef, "addressees": [1]}, over), Line({**chef, "addressees": []}, over)
    for each in (line, alone):
        session = TurnSession(PAGE, Player(Person(1, 1), 1), PatienceLimit(60))
        await session._sit(cast(ClientConnection, each))
    assert [one["type"] for one in line.heard] == ["say", "command"]
    egg = [["pickup", "egg", "ingredient_dispenser"], ["place_obj_on_counter"]]
    assert (line.heard[0]["requests"], line.heard[1]["command"]) == (egg, ["wait", "1"])
    assert [one["type"] for one in alone.heard] == ["command"]


async def test_a_leader_for_whom_the_step_waits_says_that_there_are_no_more_jobs() -> None:
    leads = {**state(), "phase": "lead", "seat": 2, "jobs": [], "aims": {}, "addressees": [0, 1]}
    told = [{**leads, "waiting_for": [0, 1, 2]}, {**leads, "step": 1, "waiting_for": [0]}]
    line = Line(*told, {**leads, "phase": "over"})
    session = TurnSession(PAGE, Player(Person(1, 1), 1), PatienceLimit(60))
    await session._sit(cast(ClientConnection, line))
    assert line.heard == [{"type": "say", "kind": "end", "step": 1}]


async def test_a_choice_that_came_before_its_turn_is_sent_again_without_the_words() -> None:
    world = get_world("collab_overcooked").create(seats=2, settings={"task": "boiled_egg"})
    seen = {"observation": world.observe(0), "legal": [["wait", "1"]], "brief": world.brief(0)}
    chef = {**state(), **seen, "world": world.kind, "score": world.score(), "phase": "choose", "member": 0}
    refused = {"type": "notice", "code": "not_your_turn", "again": False}
    told = [
        {**chef, "addressees": [1]},
        refused,
        {**chef, "phase": "thinking"},
        chef,
        {**chef, "phase": "over"},
    ]
    line = Line(*told)
    session = TurnSession(PAGE, Player(Person(1, 1), 1), PatienceLimit(60))
    await session._sit(cast(ClientConnection, line))
    assert [one["type"] for one in line.heard] == ["say", "command", "command"]
    assert line.heard[1] == line.heard[2]


async def test_the_slider_beside_the_game_is_moved_in_each_part_of_an_episode_step_by_step() -> None:
    told = [{**state(), "phase": "waiting", "step": step} for step in (0, 1, 1, 2, 3, 5, 8, 9)]
    line, none = Line(*told, {**told[-1], "phase": "over"}), Line(*told, {**told[-1], "phase": "over"})
    for each, page in ((line, replace(PAGE, has_slider=True)), (none, PAGE)):
        session = TurnSession(page, Player(Person(1, 1), 1), PatienceLimit(60))
        await session._sit(cast(ClientConnection, each))
    assert [one["type"] for one in line.heard] == ["slider"] * 4, "after the steps 1, 3, 5 and 8"
    assert all(0 <= one["value"] <= 100 for one in line.heard)
    assert none.heard == []


async def test_where_a_clock_takes_the_steps_the_slider_is_moved_and_a_message_written() -> None:
    first = {**state(), "member": 0, "addressees": [1], "length": 60}
    ticks = [{"type": "tick", "step": step, "changed": {}, "gone": [], "score": {}} for step in range(1, 7)]
    line = Slow(first, {**first, "type": "whole"}, *ticks)
    session = TickSession(
        replace(PAGE, has_slider=True), Player(Person(1, 1), 1), PatienceLimit(60), part=0.1
    )
    await session._sit(cast(ClientConnection, line))
    others = [word for word in line.heard if word["type"] != "key"]
    assert [word["type"] for word in others] == ["slider", "say"]
    assert others[1]["text"] == QUESTION
