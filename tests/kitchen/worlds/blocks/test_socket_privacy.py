"""The websocket sends a plan, recipe or blueprint only to seats that may know it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from channels.db import database_sync_to_async
from channels.testing import WebsocketCommunicator

from kitchen.play.episode.create_episode import create_episode
from kitchen.play.live.seat_consumer import JSON_PROTOCOL
from kitchen.play.models import Seat
from tests.kitchen.play.live.test_seat_consumer import PATIENCE, no_nudges, opened, seat_of
from tests.kitchen.worlds.blocks.test_private_knowledge import own_task

__all__ = ["no_nudges"]  # a fixture
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.servers]
PROTOCOLS = [(None, 'id="past-{}"'), (JSON_PROTOCOL, '"step": {},')]
"""The websocket of a browser and that of a program, and what shows in a text that a step was taken."""
PYRAMID = {"blueprint": "pyramid"}


def two_people(kind: str, settings: Mapping[str, Any]) -> list[Seat]:
    """The seats of a new episode, both held by people."""
    episode = create_episode(world=f"blocks_{kind}", settings=settings, seats=2, seed=1, minds=())
    return [seat_of(episode, number) for number in (0, 1)]


async def sent(kind: str, settings: Mapping[str, Any], protocol: str | None, mark: str) -> list[str]:
    """All that comes over each seat's socket at first, and until each of two steps is over."""
    seats = await database_sync_to_async(two_people)(kind, settings)
    sockets = [await opened(seat, protocol) for seat in seats]
    found = [await one.receive_from(timeout=PATIENCE) for one in sockets]
    for step in (1, 2):
        for one in sockets:
            await one.send_json_to({"type": "command", "step": step, "command": ["stay", "1"]})
        for seat, one in enumerate(sockets):
            found[seat] += await until(one, mark.format(step))
    for one in sockets:
        await one.disconnect()
    return found


async def until(socket: WebsocketCommunicator, mark: str) -> str:
    """All that comes until a message has this mark."""
    text = last = ""
    while mark not in last:
        last = await socket.receive_from(timeout=PATIENCE)
        text += last
    return text


@pytest.mark.parametrize(("protocol", "mark"), PROTOCOLS)
@pytest.mark.parametrize("blocked", [(), (0,), (1,)])
async def test_only_seats_that_may_know_the_plan_are_sent_it(
    blocked: tuple[int, ...], protocol: str | None, mark: str
) -> None:
    texts = await sent("crafting", own_task(*blocked), protocol, mark)
    for seat, (text, own, other) in enumerate(
        [(texts[0], "obsidian", "diamond"), (texts[1], "diamond", "obsidian")]
    ):
        knows = seat not in blocked
        assert (('"plan":' if protocol else "The plan") in text) == knows
        assert own in text
        assert (other in text) == knows, "the plan names it, and nothing else does"
    assert "allium" in texts[1] and "allium" not in texts[0], "the plan does not name it"


@pytest.mark.parametrize(("protocol", "mark"), PROTOCOLS)
@pytest.mark.parametrize(
    ("kind", "chosen", "words", "knowing"),
    [
        ("cooking", {}, ('"recipes":', "Recipe: "), {0, 1}),
        ("cooking", {"recipe_blocked": "1"}, ('"recipes":', "Recipe: "), {0}),
        ("cooking", {"hells_kitchen": True}, ('{"bread":', "Recipe: bread"), {1}),
        ("construction", PYRAMID, ('"legend":', "Letters of the blueprint"), {0, 1}),
        (
            "construction",
            {**PYRAMID, "blueprint_blocked": "others"},
            ('"legend":', "Letters of the blueprint"),
            {0},
        ),
    ],
)
async def test_only_seats_that_may_know_a_recipe_or_a_blueprint_are_sent_it(
    kind: str,
    chosen: dict[str, Any],
    words: tuple[str, str],
    knowing: set[int],
    protocol: str | None,
    mark: str,
) -> None:
    texts = await sent(kind, chosen, protocol, mark)
    said = words[0 if protocol else 1]
    assert {seat for seat, text in enumerate(texts) if said in text} == knowing


@pytest.mark.parametrize(("protocol", "mark"), PROTOCOLS)
@pytest.mark.parametrize(
    ("chosen", "knowing"),
    [
        ({}, {0, 1}),
        ({"blueprint_blocked": "others"}, {0}),
        ({"blueprint_blocked": "first"}, {1}),
        ({"blueprint_blocked": "others", "limit": 2}, {0, 1}),
    ],
)
async def test_only_who_knows_the_blueprint_is_told_how_many_blocks_are_right_before_the_end(
    chosen: dict[str, Any], knowing: set[int], protocol: str | None, mark: str
) -> None:
    """The last case is over after the two steps: then everybody gets the result."""
    texts = await sent("construction", {**PYRAMID, **chosen}, protocol, mark)
    words = ('"matches":', '"mismatches":', '"filled":') if protocol else ("locks as wanted",)
    for seat, text in enumerate(texts):
        assert [word in text for word in words] == [seat in knowing] * len(words)
    assert not protocol or all('"gives":' in text for text in texts), "the other metrics are sent to all"
