"""The websocket of a seat: what comes back, and that it opens to its key only."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from channels.db import database_sync_to_async
from channels.layers import InMemoryChannelLayer
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator
from channels_redis.pubsub import RedisPubSubLoopLayer
from django.db import connection
from redis.exceptions import RedisError

from kitchen.contract.organisation import Member, make_organisation
from kitchen.contract.team_messages import MAX_PERSON_CHARACTERS
from kitchen.infra.rate_limits import RATE_CLOSE_CODE, TokenBucket, TokenBuckets
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.episode.advance_episode import run_due_step
from kitchen.play.episode.create_episode import members_of_plans
from kitchen.play.live import page_watchdog, seat_consumer
from kitchen.play.live.page_session import (
    ELSEWHERE_CLOSE_CODE,
    EPISODE_ERASED,
    NO_SEAT_CLOSE_CODE,
    RETRY_CLOSE_CODE,
    OpenPage,
    open_page,
)
from kitchen.play.live.seat_consumer import FAILED_CLOSE_CODE, JSON_PROTOCOL, SeatConsumer
from kitchen.play.models import Episode, Seat, SeatCommand
from kitchen.urls import websocket_urlpatterns
from tests.kitchen.factories import make_episode, mind, submit

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.servers]
application = URLRouter(websocket_urlpatterns)
PATIENCE = 30
"""Seconds, however busy the machine is."""


@pytest.fixture(autouse=True)
def no_nudges(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages are not nudged here: what they notice they notice by looking. The journeys have real nudges."""
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    monkeypatch.setattr("kitchen.play.turn.page_broadcast.nudge_pages", lambda *told: None)
    monkeypatch.setattr("kitchen.play.episode.advance_episode.ask_coplayers", lambda *turn: None)
    monkeypatch.setattr(page_watchdog, "LOOK_SECONDS", 0.1)


def seat_of(episode: Episode, number: int = 0) -> Seat:
    found: Seat = Seat.objects.select_related("episode").get(episode=episode, number=number)
    return found


async def opened(seat: Seat, protocol: str | None = JSON_PROTOCOL, query: str = "") -> WebsocketCommunicator:
    socket = WebsocketCommunicator(
        application, f"/ws/seat/{seat.key}/{query}", subprotocols=[protocol] if protocol else []
    )
    connected, chosen = await socket.connect(timeout=PATIENCE)
    assert connected
    assert chosen == protocol
    return socket


async def told(socket: WebsocketCommunicator) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(await socket.receive_from(timeout=PATIENCE))
    return found


async def new_seat(**more: Any) -> Seat:
    episode = await database_sync_to_async(make_episode)(**more)
    seat: Seat = await database_sync_to_async(seat_of)(episode)
    return seat


@pytest.fixture
async def socket() -> AsyncIterator[WebsocketCommunicator]:
    found = await opened(await new_seat())
    yield found
    await found.disconnect()


async def test_whoever_opens_a_seat_sees_where_the_kitchen_is(socket: WebsocketCommunicator) -> None:
    state = await told(socket)
    assert (state["type"], state["phase"], state["step"], state["length"]) == ("state", "choose", 0, 60)
    assert ["goto", "storage0"] in state["legal"]


async def test_a_command_is_carried_out_and_the_new_state_comes(socket: WebsocketCommunicator) -> None:
    await told(socket)
    await socket.send_json_to({"type": "command", "step": 1, "command": ["goto", "storage0"]})
    state = await told(socket)
    assert (state["step"], state["observation"]["agents"][0]["at"]) == (1, "storage0")


async def test_a_person_is_held_refused_and_released_when_two_people_take_turns() -> None:
    people = [Member(seat, (seat,), is_person=True) for seat in range(2)]
    made = make_organisation("pair", people, seats=2, settings={"within": True})
    seat = await new_seat(seats=2, organisation=made)
    other = await database_sync_to_async(seat_of)(seat.episode, 1)
    first, second = [await opened(one) for one in (seat, other)]
    assert ((await told(first))["phase"], (await told(second))["phase"]) == ("choose", "waiting")
    for early in ({"type": "say", "text": "me!"}, {"type": "command", "step": 1, "command": ["noop"]}):
        await second.send_json_to(early)
        assert (await told(second))["code"] == "not_your_turn"
        state = await told(second)
        assert (state["phase"], state["legal"], state["messages"]) == ("waiting", [], [])
    await first.send_json_to({"type": "say", "text": "rice?"})
    assert (await told(first))["phase"] == "waiting"
    state = await told(second)
    assert (state["phase"], state["messages"][0]["text"]) == ("choose", "rice?") and state["legal"]
    await second.send_json_to({"type": "command", "step": 1, "command": ["noop"]})
    await told(second)
    assert (await told(first))["phase"] == "choose"
    for socket in (first, second):
        await socket.disconnect()


async def test_what_is_said_comes_back_and_to_whom_it_was_said() -> None:
    people = [Member(seat, (seat,), is_person=True) for seat in range(2)]
    seat = await new_seat(seats=2, organisation=make_organisation("pair", people, seats=2))
    other = await database_sync_to_async(seat_of)(seat.episode, 1)
    sockets = [await opened(one) for one in (seat, other)]
    for one in sockets:
        await told(one)
    await sockets[0].send_json_to({"type": "say", "text": "rice?", "to": [1]})
    assert [one["text"] for one in (await told(sockets[0]))["messages"]] == ["rice?"]
    assert [one["sender"] for one in (await told(sockets[1]))["messages"]] == [0]
    await sockets[0].send_json_to({"type": "say", "text": "x" * 501})
    assert (await told(sockets[0]))["code"] == "too_long"
    await sockets[0].send_json_to({"type": "say", "text": "x" * 10_000})
    notice = next(one for one in [await told(sockets[0]), await told(sockets[0])] if one["type"] == "notice")
    assert f"at most {MAX_PERSON_CHARACTERS} characters" in notice["text"]
    for one in sockets:
        await one.disconnect()


async def test_a_leader_without_a_robot_reads_that_the_step_waits_and_ends_the_wait() -> None:
    minds = (mind("random", 0), mind("random", 1))
    members = [Member(2, (), is_person=True, name="Lead"), *members_of_plans(minds, seats=2)]
    made = make_organisation("tree", members, seats=2, settings={"schedule": "rounds", "think_steps": 0})
    episode = await database_sync_to_async(make_episode)(seats=2, minds=minds, organisation=made)
    socket = await opened(await database_sync_to_async(seat_of)(episode, 2))
    state = await told(socket)
    assert (state["phase"], state["waiting_for"]) == ("lead", [0, 1, 2])
    for _ in range(2):
        await socket.send_json_to({"type": "say", "kind": "end", "step": 1, "after": 0})
        state = await told(socket)
        assert (state["phase"], state["waiting_for"]) == ("lead", [0, 1])
    assert len(state["messages"]) == 1
    await database_sync_to_async(decide_step)(episode_id=episode.pk, step=1)
    await database_sync_to_async(Episode.objects.update)(turn_opened_at="2020-01-01T00:00:00Z")
    await database_sync_to_async(run_due_step)(episode_id=episode.pk, step=1)
    state = await told(socket)
    assert (state["step"], state["waiting_for"]) == (1, [0, 1, 2])
    await socket.disconnect()


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({"type": "command", "step": 7, "command": ["noop"]}, "early"),
        ({"type": "command", "step": 1, "command": ["goto", "oven7"]}, "not_offered"),
        ({"type": "command", "step": 1}, "unreadable"),
        ({"type": "nonsense"}, "unreadable"),
    ],
)
async def test_a_message_that_cannot_be_used_is_answered_and_changes_nothing(
    socket: WebsocketCommunicator, message: dict[str, Any], code: str
) -> None:
    await told(socket)
    await socket.send_json_to(message)
    notice = await told(socket)
    assert (notice["type"], notice["code"]) == ("notice", code)
    assert notice["text"]
    assert not await database_sync_to_async(SeatCommand.objects.exists)()


@pytest.fixture
def renamed(transactional_db: None) -> Iterator[Callable[[str, str], None]]:
    """`renamed(table, column)`: as another version has it; a second time, and at the end, it is back."""
    away: list[tuple[str, str]] = []

    def rename(table: str, column: str) -> None:
        names = [column, f"{column}_of_tomorrow"]
        back = (table, column) in away
        away.remove((table, column)) if back else away.append((table, column))
        with connection.cursor() as cursor:
            old, new = names[::-1] if back else names
            cursor.execute(f"ALTER TABLE {table} RENAME COLUMN {old} TO {new}")

    yield rename
    while away:
        rename(*away[-1])


async def test_a_command_that_cannot_be_stored_is_answered_and_can_be_sent_again(
    renamed: Callable[[str, str], None],
) -> None:
    seat, change = await new_seat(), database_sync_to_async(renamed)
    command = {"type": "command", "step": 1, "command": ["goto", "storage0"]}
    socket, browser = await opened(seat), None
    await told(socket)
    await change("kitchen_seatcommand", "received_at")
    await socket.send_json_to(command)
    notice = await told(socket)
    assert (notice["code"], notice["again"]) == ("unstored", True)
    assert "Your choice is kept" in notice["text"]
    await change("kitchen_seatcommand", "received_at")
    await socket.send_json_to(command)
    assert (await told(socket))["step"] == 1
    await socket.disconnect()
    browser = await opened(seat, None, "?page=a-page-of-hers&take=1")
    await browser.receive_from(timeout=PATIENCE)
    await change("kitchen_seatcommand", "received_at")
    await browser.send_json_to(command | {"step": 2, "command": ["noop"]})
    assert 'id="notice" class="notice warning" data-again' in await browser.receive_from(timeout=PATIENCE)
    await browser.disconnect()


async def test_a_page_that_cannot_be_opened_is_told_to_come_back(renamed: Callable[[str, str], None]) -> None:
    seat = await new_seat()
    await database_sync_to_async(renamed)("kitchen_seat", "page")
    socket = await opened(seat)
    assert await socket.receive_output(timeout=PATIENCE) == {
        "type": "websocket.close",
        "code": RETRY_CLOSE_CODE,
    }


async def test_bytes_are_answered_like_any_unreadable_message(socket: WebsocketCommunicator) -> None:
    await told(socket)
    await socket.send_to(bytes_data=b"\x00\x01")
    assert (await told(socket))["code"] == "unreadable"


async def test_sync_brings_the_present_state_again(socket: WebsocketCommunicator) -> None:
    first = await told(socket)
    await socket.send_json_to({"type": "sync"})
    assert await told(socket) == first


FIRST, SECOND = "?page=first-page", "?page=second-page"


async def closed_with(socket: WebsocketCommunicator) -> int:
    """The code with which it is closed, whatever is said before."""
    while (found := await socket.receive_output(timeout=PATIENCE))["type"] != "websocket.close":
        pass
    code: int = found["code"]
    return code


async def test_the_page_that_was_opened_last_plays_and_the_older_one_is_told() -> None:
    seat = await new_seat()
    one, two = await opened(seat, query=f"{FIRST}&take=1"), await opened(seat, query=f"{SECOND}&take=1")
    assert await closed_with(one) == ELSEWHERE_CLOSE_CODE
    await told(two)
    await two.send_json_to({"type": "command", "step": 1, "command": ["noop"]})
    assert (await told(two))["step"] == 1
    await two.disconnect()


async def test_programs_that_name_no_page_push_each_other_out() -> None:
    seat = await new_seat()
    one, two = await opened(seat), await opened(seat)
    assert await closed_with(one) == ELSEWHERE_CLOSE_CODE
    await two.disconnect()


async def test_a_command_of_an_older_page_is_refused_although_it_has_not_looked_yet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page_watchdog, "LOOK_SECONDS", 60)
    seat = await new_seat()
    one = await opened(seat, query=f"{FIRST}&take=1")
    await told(one)
    two = await opened(seat, query=f"{SECOND}&take=1")
    await one.send_json_to({"type": "command", "step": 1, "command": ["noop"]})
    assert (await told(one))["code"] == "elsewhere"
    assert await closed_with(one) == ELSEWHERE_CLOSE_CODE
    assert not await database_sync_to_async(SeatCommand.objects.exists)()
    await two.disconnect()


async def test_a_page_that_connects_anew_goes_on_and_never_pushes_out_a_newer_one() -> None:
    seat = await new_seat()
    one = await opened(seat, query=f"{FIRST}&take=1")
    again = await opened(seat, query=FIRST)
    assert (await told(one))["type"] == (await told(again))["type"] == "state"
    two = await opened(seat, query=f"{SECOND}&take=1")
    assert await closed_with(again) == ELSEWHERE_CLOSE_CODE
    back = await opened(seat, query=FIRST)
    assert await closed_with(back) == ELSEWHERE_CLOSE_CODE
    await told(two)
    await two.send_json_to({"type": "sync"})
    assert (await told(two))["type"] == "state"
    here = await opened(seat, query=f"{FIRST}&take=1")
    assert await closed_with(two) == ELSEWHERE_CLOSE_CODE
    await here.disconnect()


class Waiting(TokenBucket):
    """A bucket whose tokens are there as soon as somebody waits for them; how often somebody did."""

    def __init__(self, waits: list[float]) -> None:
        self.now = 0.0
        super().__init__(1.0, 3, lambda: self.now, self.wait)
        self.waits = waits

    async def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


async def test_who_asks_for_nothing_new_waits_and_who_plays_never_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits: list[float] = []
    monkeypatch.setattr(seat_consumer, "_sync_buckets", TokenBuckets(lambda: Waiting(waits)))
    socket = await opened(await new_seat())
    await told(socket)
    for step in range(1, 9):
        await socket.send_json_to({"type": "command", "step": step, "command": ["noop"]})
        assert (await told(socket))["step"] == step
    assert waits == []
    for kind in ("sync", "ping", "nonsense", "sync", "sync"):
        await socket.send_json_to({"type": kind})
        await told(socket)
    await socket.disconnect()
    assert waits == [1.0, 1.0]


async def test_a_new_connection_of_a_key_may_not_ask_anew_for_what_it_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits: list[float] = []
    monkeypatch.setattr(seat_consumer, "_sync_buckets", TokenBuckets(lambda: Waiting(waits)))
    seat = await new_seat()
    for waited in (0, 3):
        socket = await opened(seat)
        await told(socket)
        for _ in range(3):
            await socket.send_json_to({"type": "sync"})
            await told(socket)
        await socket.disconnect()
        assert len(waits) == waited


async def test_whoever_waits_for_an_answer_hears_that_somebody_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    busy, command = threading.Event(), OpenPage.command
    monkeypatch.setattr(OpenPage, "command", lambda page, sent: busy.wait(5) and command(page, sent))
    socket = await opened(await new_seat())
    await told(socket)
    for kind in ({"type": "command", "step": 1, "command": ["noop"]}, {"type": "ping"}, {"type": "ping"}):
        await socket.send_json_to(kind)
    assert [(await told(socket))["type"] for _ in range(2)] == ["pong", "pong"]
    busy.set()
    assert (await told(socket))["step"] == 1
    await socket.disconnect()


async def test_what_goes_wrong_closes_the_page_and_it_may_connect_anew(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(OpenPage, "command", lambda page, sent: 1 / 0)
    socket = await opened(await new_seat())
    await told(socket)
    await socket.send_json_to({"type": "command", "step": 1, "command": ["noop"]})
    assert await closed_with(socket) == FAILED_CLOSE_CODE
    assert "ZeroDivisionError" in caplog.text


async def test_a_key_opens_a_few_connections_at_once_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        seat_consumer, "_connection_buckets", TokenBuckets(lambda: TokenBucket(rate=0.001, most=2))
    )
    seat, other = await new_seat(), await new_seat()
    one, two, three = [await opened(each) for each in (seat, seat, seat)]
    assert await closed_with(one) == ELSEWHERE_CLOSE_CODE
    assert await closed_with(three) == RATE_CLOSE_CODE
    assert (await told(two))["type"] == (await told(await opened(other)))["type"] == "state"
    await two.send_json_to({"type": "sync"})
    assert (await told(two))["type"] == "state"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time of the limits for a key, which allow three unreadable messages."""
    now = [0.0]

    def buckets(rate: float, most: float) -> TokenBuckets:
        return TokenBuckets(lambda: TokenBucket(rate=rate, most=most, clock=lambda: now[0]))

    monkeypatch.setattr(seat_consumer, "_connection_buckets", buckets(0.5, 20))
    monkeypatch.setattr(seat_consumer, "_unreadable_buckets", buckets(1, 3))
    return now


async def test_after_a_few_unreadable_messages_a_page_is_closed_and_nothing_more_is_read(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    read, real_read = list[str | None](), SeatConsumer.read

    def read_counted(consumer: SeatConsumer, text: str | None) -> Any:
        read.append(text)
        return real_read(consumer, text)

    monkeypatch.setattr(SeatConsumer, "read", read_counted)
    socket = await opened(await new_seat())
    await told(socket)
    for _ in range(3):
        await socket.send_json_to({"type": "nonsense"})
        assert (await told(socket))["code"] == "unreadable"
    for _ in range(100):
        await socket.send_to(text_data="[" * 9000)
    assert await closed_with(socket) == RATE_CLOSE_CODE
    await socket.disconnect(RATE_CLOSE_CODE)  # the consumer has received all messages before this
    assert len(read) == 4


async def test_a_page_closed_for_unreadable_messages_comes_back_after_seconds_and_later_not_so_soon(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, seat = list[str](), await new_seat()

    def open_counted(key: str, *arguments: Any, **more: Any) -> Any:
        asked.append(key)
        return open_page(key, *arguments, **more)

    monkeypatch.setattr(seat_consumer, "open_page", open_counted)
    for times, refused, allowed in ((1, 3.5, 0.5), (2, 41.5, 0.5)):
        socket = await opened(seat)
        assert (await told(socket))["type"] == "state"
        for _ in range(4):
            await socket.send_json_to({"type": "nonsense"})
        assert await closed_with(socket) == RATE_CLOSE_CODE
        clock[0] += refused
        assert await closed_with(await opened(seat)) == RATE_CLOSE_CODE
        clock[0] += allowed
        assert len(asked) == times
    assert (await told(await opened(seat)))["type"] == "state"


async def test_a_page_that_the_server_closed_for_too_many_messages_opens_less_often(
    clock: list[float],
) -> None:
    seat = await new_seat()
    for code, most in ((1006, 20), (RATE_CLOSE_CODE, 3)):
        clock[0] += 100.0
        for _ in range(most):
            socket = await opened(seat)
            assert (await told(socket))["type"] == "state"
            await socket.disconnect(code)
        assert await closed_with(await opened(seat)) == RATE_CLOSE_CODE


async def test_keys_that_open_nothing_have_no_limit_of_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    buckets = TokenBuckets(seat_consumer.SYNC_LIMIT)
    monkeypatch.setattr(seat_consumer, "_sync_buckets", buckets)
    for number in range(3):
        socket = WebsocketCommunicator(application, f"/ws/seat/invented-{number}/")
        await socket.connect(timeout=PATIENCE)
        await socket.send_to(text_data="x")
        assert await closed_with(socket) == NO_SEAT_CLOSE_CODE
        await socket.disconnect()
    assert len(buckets) == 0


async def test_unknown_keys_of_one_address_are_refused_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        seat_consumer, "_unknown_key_buckets", TokenBuckets(lambda: TokenBucket(rate=0.001, most=2))
    )
    asked, codes = list[str](), list[int]()

    def nothing(key: str, *_: Any, **__: Any) -> tuple[None, Any]:
        asked.append(key)
        return None, EPISODE_ERASED

    monkeypatch.setattr(seat_consumer, "open_page", nothing)
    for address in ("203.0.113.7", "203.0.113.7", "203.0.113.7", "203.0.113.8", "127.0.0.1"):
        socket = WebsocketCommunicator(application, f"/ws/seat/guessed-{address.replace('.', '-')}/")
        socket.scope["client"] = (address, 1)
        assert (await socket.connect(timeout=PATIENCE))[0]
        codes.append(await closed_with(socket))
    assert codes == [
        NO_SEAT_CLOSE_CODE,
        NO_SEAT_CLOSE_CODE,
        RATE_CLOSE_CODE,
        NO_SEAT_CLOSE_CODE,
        NO_SEAT_CLOSE_CODE,
    ]
    assert len(asked) == 4


async def test_a_page_has_one_connection_the_newest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_watchdog, "LOOK_SECONDS", 60)
    seat = await new_seat()
    one, two, three = [await opened(seat, query=query) for query in (f"{FIRST}&take=1", FIRST, FIRST)]
    assert [await closed_with(one), await closed_with(two)] == [ELSEWHERE_CLOSE_CODE, ELSEWHERE_CLOSE_CODE]
    await told(three)
    await one.disconnect()
    await three.send_json_to({"type": "command", "step": 1, "command": ["noop"]})
    assert (await told(three))["step"] == 1
    await three.disconnect()


async def test_a_page_is_looked_after_no_more_when_its_server_ends_it_without_a_word() -> None:
    socket = await opened(await new_seat())
    await told(socket)
    assert len(page_watchdog.page_watch()._pages) == 1
    socket.future.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await socket.future
    assert list(page_watchdog.page_watch()._pages) == []


async def test_the_watch_sees_when_a_page_is_being_answered() -> None:
    consumer = SeatConsumer()
    assert not consumer.is_answering
    async with consumer.in_turn:
        assert consumer.is_answering


async def test_a_page_without_a_proper_name_gets_one() -> None:
    seat = await new_seat()
    socket = await opened(seat, query="?page=<b>&take=1")
    await told(socket)
    await database_sync_to_async(seat.refresh_from_db)()
    assert len(seat.page) > 8
    await socket.disconnect()


async def test_a_page_notices_a_change_although_the_nudge_was_lost() -> None:
    seat = await new_seat()
    socket = await opened(seat)
    await told(socket)
    await database_sync_to_async(submit)(seat.episode, 1, "noop")
    assert (await told(socket))["step"] == 1
    await socket.disconnect()


async def test_a_nudge_for_what_a_page_shows_already_costs_it_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[SeatConsumer] = []

    async def look(consumer: SeatConsumer) -> None:
        looked.append(consumer)

    monkeypatch.setattr(SeatConsumer, "look", look)
    consumer = SeatConsumer()
    consumer.page = await database_sync_to_async(OpenPage)(await new_seat(), "first-page", json=True)
    consumer.page.stamp = (1, "playing", "", 0, 0)
    for stamp in ([1, "playing", "", 0, 0], [2, "playing", "", 0, 0], None):
        await consumer.episode_changed({"type": "episode.changed", "stamp": stamp})
    assert len(looked) == 2
    assert consumer.page.stamp is None  # what has changed is in no stamp: it is shown all the same


async def test_a_plan_that_cannot_be_stored_is_answered(renamed: Callable[[str, str], None]) -> None:
    change = database_sync_to_async(renamed)
    socket = await opened(await new_seat(offers_plans=True, seats=2, minds=(mind("dispatcher", 1),)))
    await told(socket)
    command = {"type": "command", "step": 1, "command": ["noop"], "then": [["noop"]]}
    await socket.send_json_to(command)
    assert (await told(socket))["plans"] == {"0": [["noop"]]}
    await change("kitchen_episode", "plans")
    await socket.send_json_to({"type": "plan", "then": [], "step": 1})
    assert (await told(socket))["code"] == "unplanned"
    await change("kitchen_episode", "plans")
    await socket.send_json_to({"type": "plan", "then": [], "step": 1})
    assert (await told(socket))["plans"] == {}
    await socket.disconnect()


async def test_while_co_players_think_the_page_is_told_so() -> None:
    socket = await opened(await new_seat(seats=2, minds=(mind("dispatcher", 1, model="stand-in"),)))
    await told(socket)
    await socket.send_json_to({"type": "command", "step": 1, "command": ["noop"]})
    state = await told(socket)
    assert (state["phase"], state["step"], state["legal"]) == ("thinking", 0, [])
    await socket.disconnect()


async def test_a_browser_gets_fragments_by_the_templates_of_the_page() -> None:
    socket = await opened(await new_seat(), protocol=None)
    text = await socket.receive_from(timeout=PATIENCE)
    for panel in ("bar", "orders", "robots", "locations", "menu", "happened", "done"):
        assert text.count(f'id="{panel}"') == 1
    await socket.disconnect()


@pytest.mark.parametrize("key", ["nobody", "x" * 200])
async def test_an_unknown_key_opens_nothing(key: str) -> None:
    socket = WebsocketCommunicator(application, f"/ws/seat/{key}/")
    await socket.connect(timeout=PATIENCE)
    assert (await socket.receive_output(timeout=PATIENCE))["code"] == NO_SEAT_CLOSE_CODE


async def test_a_co_players_seat_has_no_door() -> None:
    episode = await database_sync_to_async(make_episode)(seats=2, minds=(mind("planner", 1),))
    seat = await database_sync_to_async(seat_of)(episode, 1)
    socket = WebsocketCommunicator(application, f"/ws/seat/{seat.key}/")
    await socket.connect(timeout=PATIENCE)
    assert (await socket.receive_output(timeout=PATIENCE))["code"] == NO_SEAT_CLOSE_CODE


async def test_a_page_of_an_erased_episode_is_closed() -> None:
    seat = await new_seat()
    socket = await opened(seat)
    await told(socket)
    await database_sync_to_async(seat.episode.delete)()
    assert (await socket.receive_output(timeout=PATIENCE))["code"] == NO_SEAT_CLOSE_CODE


async def test_while_redis_takes_no_subscriptions_the_page_looks_for_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def away(*_: Any) -> None:
        raise RedisError("gone")

    monkeypatch.setattr("channels.layers.InMemoryChannelLayer.group_add", away)
    seat = await new_seat()
    socket = await opened(seat)
    assert (await told(socket))["step"] == 0
    await database_sync_to_async(submit)(seat.episode, 1, "noop")
    assert (await told(socket))["step"] == 1
    await socket.disconnect()


async def test_who_left_while_it_subscribed_is_not_subscribed_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    consumer = SeatConsumer()
    consumer.page = await database_sync_to_async(OpenPage)(await new_seat(), "first-page", json=True)
    consumer.channel_name, consumer.channel_layer = "somebody", InMemoryChannelLayer()
    await consumer.disconnect(1001)
    await consumer.subscribe()
    assert consumer.channel_layer.groups == {}


async def test_a_connection_that_ends_while_it_subscribes_ends_quietly() -> None:
    consumer = SeatConsumer()
    consumer.page = await database_sync_to_async(OpenPage)(await new_seat(), "first-page", json=True)

    class EndingLayer(RedisPubSubLoopLayer):  # type: ignore[misc, unused-ignore]
        """A layer that forgets a channel while the channel joins a group, as at the end of a connection."""

        async def group_add(self, group: str, channel: str) -> None:
            consumer.closed = True
            self.channels.pop(channel)
            await super().group_add(group, channel)

    layer: Any = EndingLayer(hosts=["redis://127.0.0.1:9"])
    layer.channels["somebody"] = asyncio.Queue()
    consumer.channel_name, consumer.channel_layer = "somebody", layer
    await consumer.subscribe()
    assert layer.groups == {} and not consumer.subscribed
