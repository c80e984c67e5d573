"""The websocket sends the plan only to seats that may know it, and nobody the things of another seat."""

from __future__ import annotations

import pytest
from channels.db import database_sync_to_async
from channels.testing import WebsocketCommunicator

from kitchen.play.episode.create_episode import create_episode
from kitchen.play.live.seat_consumer import JSON_PROTOCOL
from kitchen.play.models import Seat
from tests.kitchen.play.live.test_seat_consumer import PATIENCE, no_nudges, opened, seat_of
from tests.kitchen.worlds.blocks.test_private_knowledge import SECRETS, own_task

__all__ = ["no_nudges"]  # a fixture
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.servers]
HELD = {0: "obsidian", 1: "diamond"}
"""What the page of each seat has, so that a page without words proves nothing."""


def two_people(*blocked: int) -> list[Seat]:
    """The seats of a new episode, both held by people. These seats are without the plan."""
    episode = create_episode(world="blocks_crafting", settings=own_task(*blocked), seats=2, seed=1, minds=())
    return [seat_of(episode, number) for number in (0, 1)]


async def sent(sockets: list[WebsocketCommunicator], mark: str) -> list[str]:
    """All that comes over each socket at first, and until each of two steps is over, which `mark` shows."""
    found = [await one.receive_from(timeout=PATIENCE) for one in sockets]
    for step in (1, 2):
        for one in sockets:
            await one.send_json_to({"type": "command", "step": step, "command": ["stay", "1"]})
        for seat, one in enumerate(sockets):
            text = ""
            while mark.format(step) not in text:
                text = await one.receive_from(timeout=PATIENCE)
                found[seat] += text
    return found


@pytest.mark.parametrize(
    ("protocol", "plan", "mark"),
    [(None, "The plan", 'id="past-{}"'), (JSON_PROTOCOL, '"plan":', '"step": {},')],
)
@pytest.mark.parametrize("blocked", [(), (0,), (1,)])
async def test_only_seats_that_may_know_the_plan_are_sent_it(
    blocked: tuple[int, ...], protocol: str | None, plan: str, mark: str
) -> None:
    seats = await database_sync_to_async(two_people)(*blocked)
    sockets = [await opened(seat, protocol) for seat in seats]
    texts = await sent(sockets, mark)
    for seat, text in enumerate(texts):
        knows = seat not in blocked
        assert (plan in text) == knows
        assert HELD[seat] in text
        assert (HELD[1 - seat] in text) == knows, "the plan names it, and nothing else does"
        assert SECRETS[0] not in text or seat == 1, "the plan does not name it"
    for one in sockets:
        await one.disconnect()
