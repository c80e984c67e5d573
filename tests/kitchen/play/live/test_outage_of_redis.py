"""Websockets open while the channel layer is unreachable, say so, and join their groups when it is back."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from channels.db import database_sync_to_async
from channels.layers import get_channel_layer
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator

from kitchen.play.live import page_watchdog
from kitchen.play.live.page_session import NO_SEAT_CLOSE_CODE
from kitchen.play.models import Episode, Seat
from kitchen.urls import websocket_urlpatterns
from tests.kitchen.factories import make_episode, mind, submit
from tests.kitchen.layers import INTERRUPTED, InterruptedLayer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.servers]
application = URLRouter(websocket_urlpatterns)
PATIENCE = 30
AWAY, THERE = "is not available at the moment", '<div id="outage" class="outage"></div>'


@pytest.fixture(autouse=True)
def layer(settings: Any, monkeypatch: pytest.MonkeyPatch) -> InterruptedLayer:
    """The layer of this test, which is unreachable at first. Pages are looked after ten times a second."""
    settings.CHANNEL_LAYERS = INTERRUPTED
    monkeypatch.setattr("kitchen.play.turn.page_broadcast.nudge_pages", lambda *told: None)
    monkeypatch.setattr("kitchen.play.episode.advance_episode.ask_coplayers", lambda *turn: None)
    monkeypatch.setattr(page_watchdog, "LOOK_SECONDS", 0.1)
    found = get_channel_layer()
    assert isinstance(found, InterruptedLayer)
    found.away = True
    return found


async def opened(key: str) -> WebsocketCommunicator:
    socket = WebsocketCommunicator(application, f"/ws/seat/{key}/")
    assert (await socket.connect(timeout=PATIENCE))[0]
    return socket


async def new_episode(**more: Any) -> tuple[Episode, str]:
    episode = await database_sync_to_async(make_episode)(**more)
    seat = await database_sync_to_async(Seat.objects.get)(episode=episode, number=0)
    return episode, seat.key


async def told(socket: WebsocketCommunicator, text: str) -> str:
    """The next message with this text."""
    while text not in (found := await socket.receive_from(timeout=PATIENCE)):
        pass
    return str(found)


async def test_a_page_opens_says_so_is_updated_and_joins_its_group_afterwards(
    layer: InterruptedLayer,
) -> None:
    episode, key = await new_episode()
    socket = await opened(key)
    assert "You can play on" in await told(socket, AWAY)
    await database_sync_to_async(submit)(episode, 1, "noop")
    assert 'data-step="1"' in await told(socket, 'id="bar"')
    await socket.send_json_to({"type": "command", "step": 2, "command": ["noop"]})
    await told(socket, 'data-step="2"')
    assert layer.groups == {}
    layer.away = False
    await told(socket, THERE)
    assert len(layer.groups[f"episode.{episode.pk}"]) == 1
    await socket.disconnect()
    assert layer.groups == {}


async def test_a_page_that_was_open_says_so_and_that_it_is_over(layer: InterruptedLayer) -> None:
    layer.away = False
    _, key = await new_episode(seats=2, minds=(mind("dispatcher", 1, model="stand-in"),))
    socket = await opened(key)
    await told(socket, THERE)
    await socket.send_json_to({"type": "command", "step": 1, "command": ["noop"]})
    await told(socket, 'data-phase="thinking"')
    layer.away = True
    assert "This step may take longer than usual" in await told(socket, AWAY)
    layer.away = False
    await told(socket, THERE)
    await socket.disconnect()


async def test_a_page_does_not_try_again_by_itself_while_the_layer_is_known_to_be_away(
    layer: InterruptedLayer, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    new_channel = layer.new_channel

    async def counted(prefix: str = "specific.") -> Any:
        tried.append(prefix)
        return await new_channel(prefix)

    monkeypatch.setattr(layer, "new_channel", counted)
    sockets = [await opened((await new_episode())[1]) for _ in range(2)]
    async with asyncio.timeout(PATIENCE):
        while not page_watchdog.page_watch().is_layer_away:
            await asyncio.sleep(0.02)
    tried.clear()
    sockets.append(await opened((await new_episode())[1]))
    await told(sockets[-1], AWAY)
    await asyncio.sleep(0.25)
    assert tried == []
    for socket in sockets:
        await socket.disconnect()


async def test_an_unknown_address_is_refused_as_always() -> None:
    socket = WebsocketCommunicator(application, "/ws/somewhere/")
    assert await socket.connect(timeout=PATIENCE) == (False, NO_SEAT_CLOSE_CODE)
