"""A person who turns away from the game is shown to the others as away, and their page is fed meanwhile."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from channels.db import database_sync_to_async
from channels.testing import WebsocketCommunicator
from django.core.cache import cache

from kitchen.play.episode.advance_episode import submit_commands
from kitchen.play.live import page_watchdog
from kitchen.play.models import Episode
from kitchen.play.turn.submitted_commands import SubmittedCommand
from tests.kitchen.factories import make_episode
from tests.kitchen.play.live.test_page_presence import IN_MEMORY, page_of, shared_episode
from tests.kitchen.play.live.test_seat_consumer import PATIENCE, opened, seat_of
from tests.kitchen.realtime import test_clock_owner as clocks
from tests.kitchen.realtime.conftest import Lane, lane

__all__ = ["lane"]  # a fixture

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.servers]
AWAY = "is away from the game at the moment."


@pytest.fixture(autouse=True)
def quiet(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """No check of all pages comes: what is shown came with the report itself."""
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    settings.CACHES = IN_MEMORY
    monkeypatch.setattr(page_watchdog, "LOOK_SECONDS", PATIENCE)
    cache.clear()


async def shows(socket: WebsocketCommunicator, text: str) -> str:
    """Return the first message with this text."""
    async with asyncio.timeout(PATIENCE):
        while text not in (found := await socket.receive_from(timeout=PATIENCE)):
            pass
    return str(found)


async def page_at(episode: Episode, seat: int) -> WebsocketCommunicator:
    socket = await opened(await database_sync_to_async(seat_of)(episode, seat), protocol=None)
    await shows(socket, 'id="away"')
    return socket


async def turn(socket: WebsocketCommunicator, *, away: bool) -> None:
    await socket.send_json_to({"type": "away", "away": away})


async def test_the_others_are_told_at_once_and_the_page_that_was_left_goes_on() -> None:
    episode = await database_sync_to_async(make_episode)(seats=2)
    here, leaving = [await page_at(episode, seat) for seat in (0, 1)]
    await turn(leaving, away=True)
    text = await shows(here, AWAY)
    assert f"Robot 2 {AWAY}" in text and 'data-seats="1"' in text
    given = [SubmittedCommand(seat, ("noop",)) for seat in (0, 1)]
    await database_sync_to_async(submit_commands)(episode_id=episode.pk, step=1, commands=given)
    await leaving.send_json_to({"type": "sync"})
    assert "Step \u20072" in await shows(leaving, 'data-step="1"'), "it is shown what happens meanwhile"
    late = await page_at(episode, 0)
    assert AWAY in await shows(late, 'id="away"'), "a page opened since knows it, too"
    await turn(leaving, away=False)
    assert AWAY not in await shows(late, 'id="away"')
    for socket in (here, late, leaving):
        await socket.disconnect()


async def test_whoever_comes_back_with_a_new_page_is_no_longer_away() -> None:
    episode = await database_sync_to_async(make_episode)(seats=2)
    here, leaving = [await page_at(episode, seat) for seat in (0, 1)]
    await turn(leaving, away=True)
    await shows(here, AWAY)
    await leaving.disconnect()
    back = await page_at(episode, 1)
    assert AWAY not in await shows(here, 'id="away"')
    for socket in (here, back):
        await socket.disconnect()


async def test_under_a_clock_the_others_read_it_too(lane: Lane, monkeypatch: pytest.MonkeyPatch) -> None:
    episode = await clocks.made(lane, seats=2)
    here, leaving = [await clocks.opened(episode, seat) for seat in (0, 1)]
    for page in (here, leaving):
        await page.receive_kind("state")
    await turn(leaving.socket, away=True)
    told = await here.receive_kind("away")
    assert told["seats"] == [1] and [AWAY in one for one in told["said"]] == [True]
    await turn(leaving.socket, away=False)
    assert await here.receive_kind("away") == {"type": "away", "said": [], "seats": []}
    for page in (here, leaving):
        await page.close()


@pytest.mark.django_db
def test_nobody_is_told_of_somebody_whom_the_page_does_not_know() -> None:
    page = page_of(shared_episode(), 0)
    assert not page.note_away(0, away=True) and not page.note_away(7, away=True)
    assert page.note_away(1, away=True) and not page.note_away(1, away=True)
    page.away = frozenset({1})
    assert page.note_away(1, away=False) and not page.away, "at once, not at the next check"
