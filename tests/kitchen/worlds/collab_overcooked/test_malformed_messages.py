"""Malformed messages to a seat's websocket: each is answered, none is accepted, and play goes on."""

from __future__ import annotations

import json
from functools import partial
from random import Random
from typing import Any

import pytest
from channels.db import database_sync_to_async
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator

from kitchen.contract.organisation import Member, make_organisation
from kitchen.infra.rate_limits import TokenBucket, TokenBuckets
from kitchen.play.episode.create_episode import MindPlan, create_episode
from kitchen.play.live import seat_consumer
from kitchen.play.models import Episode, Message, SeatCommand
from kitchen.urls import websocket_urlpatterns
from tests.malformed_messages import ASSISTANTS, malformed

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.servers]


def begin(*, within: bool) -> Episode:
    members = [Member(0, (0,), is_person=True), Member(1, (1,), is_person=False)]
    return create_episode(
        world="collab_overcooked",
        settings={"task": "boiled_egg"},
        seats=2,
        seed=1,
        minds=(MindPlan("recipe_partner", (1,), {}),),
        organisation=make_organisation("pair", members, seats=2, settings={"within": within}),
        offers_plans=True,
    )


async def answer_to(socket: WebsocketCommunicator, text: str) -> dict[str, Any]:
    await socket.send_to(text_data=text)
    found: dict[str, Any] = json.loads(await socket.receive_from(timeout=30))
    return found


@pytest.mark.parametrize("within", [False, True], ids=["at any time", "by turns"])
@pytest.mark.parametrize("number", [300, pytest.param(10_000, marks=pytest.mark.nightly)])
async def test_malformed_messages_are_answered_and_change_nothing(
    number: int, within: bool, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    monkeypatch.setattr("kitchen.play.turn.page_broadcast.nudge_pages", lambda *told: None)
    boundless = partial(TokenBucket, rate=1e9, most=1e9)
    for name in ("_sync_buckets", "_unreadable_buckets"):
        monkeypatch.setattr(seat_consumer, name, TokenBuckets(boundless))
    episode = await database_sync_to_async(begin)(within=within)
    seat = await database_sync_to_async(episode.seats.get)(number=0)
    path, protocol = f"/ws/seat/{seat.key}/", seat_consumer.JSON_PROTOCOL
    socket = WebsocketCommunicator(URLRouter(websocket_urlpatterns), path, subprotocols=[protocol])
    await socket.connect(timeout=20)
    before = json.loads(await socket.receive_from(timeout=30))
    chance = Random(number)
    for _ in range(number):
        text = malformed(chance)
        answer = await answer_to(socket, text)
        assert answer["type"] == "notice" and answer["code"] not in ("accepted", "repeated"), text
        if answer["code"] != "unreadable":  # the refused message was readable: the state follows, unchanged
            assert json.loads(await socket.receive_from(timeout=30)) == before, text
    assert await answer_to(socket, '{"type": "sync"}') == before
    for rows in (SeatCommand.objects, Message.objects):
        assert not await database_sync_to_async(rows.exists)()
    wanted = {"type": "say", "text": "Please.", "requests": [list(ASSISTANTS[2])]}
    assert [one["text"] for one in (await answer_to(socket, json.dumps(wanted)))["messages"]] == ["Please."]
    command = {"type": "command", "step": 1, "command": ["wait", "1"]}
    answer = await answer_to(socket, json.dumps(command))
    if within:  # the assistant's turn to answer has come
        assert answer["type"] == "notice" and not await database_sync_to_async(SeatCommand.objects.exists)()
    else:
        assert answer["step"] == 1
    await socket.disconnect()
