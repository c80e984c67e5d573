"""People enter, reload and play while Redis is down, and hear of changes at once when it is back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from channels.db import database_sync_to_async
from channels.layers import get_channel_layer
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator
from django.core.cache import cache
from django.test import Client

from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.live import page_watchdog
from kitchen.play.models import Episode
from kitchen.urls import websocket_urlpatterns
from study.design.models import Condition, Study
from study.participants.models import Participant
from tests.servers import Valkey, kill
from tests.study.factories import make_study
from tests.study.participation.test_views import agree, text_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.servers]
application = URLRouter(websocket_urlpatterns)
PATIENCE = 60
ELSEWHERE: dict[str, Any] = {"REMOTE_ADDR": "203.0.113.9"}
"""A client of another network, whose entries are counted in the cache."""


@pytest.fixture
def broker() -> Iterator[Valkey]:
    """A server of this test alone, which it may kill."""
    with Valkey() as server:
        yield server


@pytest.fixture
def redis_url(broker: Valkey) -> str:
    """The address that the fixture `valkey` uses in these tests."""
    return broker.url


@pytest.fixture
def shared_cache(valkey: str, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache of the app, on the same server."""
    redis_cache = {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": valkey}
    settings.CACHES = {"default": redis_cache}
    monkeypatch.setattr(page_watchdog, "LOOK_SECONDS", 0.2)


def entered(browser: Client, slug: str) -> str:
    """Enter the study in this browser, and go to the first page of play. Return that page."""
    personal = agree(browser, Study.objects.get(slug=slug))["Location"]
    browser.post(personal, {"page": "guide"})
    answer = browser.get(personal)
    assert answer.status_code == 200
    return text_of(answer)


async def opened(page: str) -> WebsocketCommunicator:
    """Open the websocket of this page."""
    path = re.search(r'ws-connect="([^"]+)"', page)
    assert path, page
    socket = WebsocketCommunicator(application, path[1])
    assert (await socket.connect(timeout=PATIENCE))[0]
    return socket


async def told(socket: WebsocketCommunicator, text: str) -> str:
    while text not in (found := await socket.receive_from(timeout=PATIENCE)):
        pass
    return str(found)


async def test_nobody_is_kept_out_while_redis_is_down(
    broker: Valkey, shared_cache: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = await database_sync_to_async(make_study)(entries_per_address=5)
    mates = {"teammates": 1, "coplayer": "dispatcher", "coplayer_settings": {"model": "stand-in"}}
    await database_sync_to_async(Condition.objects.filter(study=study).update)(**mates)
    enter = database_sync_to_async(entered)
    browser = Client(**ELSEWHERE)
    first = await opened(await enter(browser, study.slug))
    await told(first, 'data-phase="choose"')
    await database_sync_to_async(cache.set)("there", 1)
    kill(broker.child)
    await told(first, "is not available at the moment")
    newcomer = await opened(await enter(Client(**ELSEWHERE), study.slug))
    reload = await opened(text_of(await database_sync_to_async(browser.get)(await link_of(0))))
    for socket in (newcomer, reload):
        assert "You can play on" in await told(socket, "is not available at the moment")
        await socket.send_json_to({"type": "command", "step": 1, "command": ["noop"]})
        assert "This step may take longer" in await told(socket, 'data-phase="thinking"')
    broker.start()
    for socket in (newcomer, reload):
        await told(socket, '<div id="outage" class="outage"></div>')
    episode = await database_sync_to_async(lambda: Episode.objects.latest("pk"))()
    monkeypatch.setattr(page_watchdog.PageWatch, "_look", _nothing)
    await database_sync_to_async(decide_step)(episode_id=episode.pk, step=1)
    await told(newcomer, 'data-step="1"')
    for socket in (first, newcomer, reload):
        await socket.disconnect()
    layer: Any = get_channel_layer()
    await layer.flush()


async def _nothing(*_: object) -> None:
    """Pages are not looked after: what they hear they hear over the channel layer."""


async def link_of(number: int) -> str:
    people = Participant.objects.order_by("pk")
    person: Participant = await database_sync_to_async(lambda: people[number])()
    return person.get_absolute_url()
