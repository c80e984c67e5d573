"""An owner and pages, over real websocket messages and a channel layer in memory."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import AsyncIterator, Coroutine
from concurrent.futures import Future
from typing import Any

import pytest
from channels.db import database_sync_to_async
from channels.layers import get_channel_layer
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator
from django.db import OperationalError
from django.utils import timezone
from redis.exceptions import ConnectionError as RedisAway

from kitchen.contract.agent import Decision as Agreed
from kitchen.contract.language_model import Call, Message, Request
from kitchen.contract.organisation import Member, Organisation, make_organisation
from kitchen.contract.world_errors import StateError
from kitchen.infra import db_retry
from kitchen.infra.event_loop import start_in_loop
from kitchen.infra.rate_limits import TokenBuckets
from kitchen.play.episode.absent_players import AbsencePolicy
from kitchen.play.episode.advance_episode import leave_seat
from kitchen.play.episode.end_episode import UNPLAYABLE, end_episode, is_ended_technically
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.live import seat_consumer
from kitchen.play.live.page_session import ELSEWHERE_CLOSE_CODE, NO_SEAT_CLOSE_CODE
from kitchen.play.models import Episode, ModelCall, Seat, SeatCommand, Step, Ticking
from kitchen.realtime import clock_owner as owning
from kitchen.realtime import page_messages, realtime_agents
from kitchen.realtime.clock_failures import MOST_FAILURES
from kitchen.realtime.clock_owner import ClockOwner
from kitchen.realtime.realtime_episode import read_realtime_episode
from kitchen.realtime.realtime_storage import store_tick_groups
from kitchen.urls import websocket_urlpatterns
from tests.kitchen.play.live.test_seat_consumer import Waiting
from tests.kitchen.realtime.conftest import Lane

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.servers]
PATIENCE = 20.0
"""Seconds after which what does not come is a failure, however busy the machine is."""
application = URLRouter(websocket_urlpatterns)


@pytest.fixture(autouse=True)
def quick(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A layer in memory, and short waits."""
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    for name in ("LOOK_SECONDS", "STORE_SECONDS"):
        monkeypatch.setattr(owning, name, 0.02)
    monkeypatch.setattr(
        db_retry, "THREAD_RETRY_WAITS", ()
    )  # a thread that has no connection yet would wait five seconds for one


class Page:
    """A page of one seat, as a browser has it."""

    def __init__(self, socket: WebsocketCommunicator) -> None:
        self.socket = socket

    async def receive_kind(self, *kinds: str) -> dict[str, Any]:
        """The next message of these kinds."""
        received: Counter[str] = Counter()
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    found: dict[str, Any] = json.loads(await self.socket.receive_from(timeout=PATIENCE))
                    received[found["type"]] += 1
                    if found["type"] in kinds:
                        return found
        except TimeoutError:
            pytest.fail(f"no {' or '.join(kinds)} in {PATIENCE:g} s, but {dict(received)}")

    async def closed(self) -> int:
        """The code with which it is closed, whatever it is told before."""
        while (message := await self.socket.receive_output(timeout=PATIENCE))["type"] != "websocket.close":
            pass
        return int(message["code"])

    async def key(self, *command: str, down: bool = True, number: int = 1) -> None:
        await self.socket.send_json_to({"type": "key", "command": command, "down": down, "number": number})

    async def close(self) -> None:
        await self.socket.disconnect()


async def opened(episode: Episode, seat: int = 0, query: str = "") -> Page:
    key = await database_sync_to_async(lambda: Seat.objects.get(episode=episode, number=seat).key)()
    socket = WebsocketCommunicator(application, f"/ws/ticks/{key}/{query}")
    connected, _ = await socket.connect(timeout=PATIENCE)
    assert connected
    return Page(socket)


@pytest.fixture
async def owner() -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(ClockOwner(get_channel_layer()).run())
    yield task
    await ended(task)


async def ended(task: asyncio.Task[None]) -> None:
    """It is asked to end, and does."""
    task.cancel()
    _, still = await asyncio.wait([task], timeout=PATIENCE)
    if still:
        pytest.fail(f"an owner does not end; it is at {task.get_stack(limit=1)}")


async def made(lane: Lane, *minds: str, **more: Any) -> Episode:
    found: Episode = await database_sync_to_async(lane)(*minds, **more)
    return found


def two_people() -> Organisation:
    members = Member(0, (0,), is_person=True), Member(1, (1,), is_person=True)
    return make_organisation("central", members, seats=2, settings={"talk": True})


async def stored(episode: Episode) -> Episode:
    found: Episode = await database_sync_to_async(Episode.objects.get)(pk=episode.pk)
    return found


async def test_two_people_play_to_the_end(lane: Lane, owner: Any) -> None:
    episode = await made(lane, "walker", seats=3, steps=12, tick_ms=150)
    pages = [await opened(episode, seat) for seat in (0, 1)]
    first = await pages[0].receive_kind("state")
    assert (first["world"], first["seat"], first["brief"]["tick_ms"]) == ("lane", 0, 150)
    assert (await pages[0].receive_kind("whole"))["tick_ms"] == 150
    await pages[0].key("east", number=7)
    ticks = [await pages[0].receive_kind("tick")]
    while ticks[-1]["step"] < 12:
        ticks.append(await pages[0].receive_kind("tick"))
    assert [tick["step"] for tick in ticks] == list(range(ticks[0]["step"], 13))
    assert ticks[-1]["key"] == 7
    over = await pages[0].receive_kind("over")
    assert over["status"] == (await stored(episode)).status == "over"
    assert (await pages[1].receive_kind("over"))["status"] == "over"
    rows = await database_sync_to_async(list)(SeatCommand.objects.filter(episode=episode))
    by = {(row.seat, row.chosen_by) for row in rows}
    assert by >= {(0, "person"), (1, "clock"), (2, "walker")}
    assert not {row.chosen_by for row in rows if row.seat == 1} - {"clock"}
    assert await _holds(episode)
    for page in pages:
        await page.close()


async def test_what_a_person_writes_is_shown_on_both_pages_and_after_a_reload(lane: Lane, owner: Any) -> None:
    episode = await made(lane, seats=2, steps=400, tick_ms=50, organisation=two_people())
    pages = [await opened(episode, seat) for seat in (0, 1)]
    for page in pages:
        await page.receive_kind("whole")
    await pages[0].socket.send_json_to({"type": "say", "to": [1], "text": "I go <left>", "after": 0})
    for page in pages:
        assert "I go &lt;left&gt;" in (await page.receive_kind("talk"))["html"]
    await pages[0].socket.send_json_to({"type": "say", "to": [7], "text": "Hello", "after": 1})
    assert (await pages[0].receive_kind("notice"))["code"] == "not_allowed"
    again = await opened(episode, 1)
    assert "I go &lt;left&gt;" in (await again.receive_kind("talk"))["html"]
    for page in (*pages, again):
        await page.close()


async def test_a_page_that_asks_for_the_state_again_and_again_waits_but_not_with_keys(
    lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each request draws the whole page anew. Here no owner runs."""
    waits: list[float] = []
    monkeypatch.setattr(seat_consumer, "_sync_buckets", TokenBuckets(lambda: Waiting(waits)))
    page = await opened(await made(lane, "walker", seats=2))
    for number in range(20):
        await page.key("east", number=number)
    for _ in range(5):
        await page.socket.send_json_to({"type": "sync"})
        await page.receive_kind("state")
    await page.close()
    assert waits


async def _holds(episode: Episode) -> bool:
    rows = Episode.objects.filter(pk=episode.pk)
    verdicts = await database_sync_to_async(lambda: list(verify_episode_logs(rows)))()
    return all(verdict.holds for verdict in verdicts)


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        ({"type": "key", "command": ["fly"]}, "not_offered"),
        ({"type": "key", "command": "north", "seat": 1}, "unreadable"),
        ({"type": "key", "command": ["east"], "down": "yes"}, "unreadable"),
        ({"type": "key", "command": ["east"], "number": -1}, "unreadable"),
        ({"type": "command", "step": 1, "command": ["east"]}, "unreadable"),
        ([], "unreadable"),
    ],
)
async def test_an_unusable_message_is_answered(lane: Lane, owner: Any, sent: Any, code: str) -> None:
    page = await opened(await made(lane, seats=2, steps=500, tick_ms=50))
    await page.receive_kind("whole")
    await page.socket.send_json_to(sent)
    notice = await page.receive_kind("notice")
    assert (notice["code"], bool(notice["text"])) == (code, True)
    await page.close()


async def test_a_reopened_page_gets_the_present_step_and_closes_the_older_one(lane: Lane, owner: Any) -> None:
    episode = await made(lane, steps=500, tick_ms=60)
    first = await opened(episode, query="?page=page-one&take=1")
    while (tick := await first.receive_kind("tick"))["step"] < 3:
        pass
    second = await opened(episode, query="?page=page-two&take=1")
    assert (await second.receive_kind("whole"))["step"] >= tick["step"]
    await second.key("west", number=2)
    while (tick := await second.receive_kind("tick"))["key"] != 2:
        pass
    await first.key("east", number=3)
    till = tick["step"] + 5
    while (tick := await second.receive_kind("tick"))["step"] < till:
        assert tick["key"] == 2
    commands = SeatCommand.objects.filter(episode=episode, command=["east"])
    assert not await database_sync_to_async(commands.exists)()
    assert await first.closed() == ELSEWHERE_CLOSE_CODE
    await second.close()


async def test_a_late_message_of_an_older_page_releases_no_key(lane: Lane, owner: Any) -> None:
    """It could not say so before: Redis was away."""
    episode = await made(lane, steps=2000, tick_ms=20)
    page = await opened(episode, query="?page=page-two&take=1")
    await page.receive_kind("tick")
    await get_channel_layer().group_send(
        f"keys.{episode.pk}",
        {"type": "keys.sat", "episode": episode.pk, "seat": 0, "page": "page-one", "reply": "gone!1"},
    )
    await page.key("west", number=2)
    while (await page.receive_kind("tick"))["key"] != 2:
        pass
    await page.close()


async def test_an_old_connection_that_ends_late_releases_no_key(lane: Lane, owner: Any) -> None:
    episode = await made(lane, steps=2000, tick_ms=20)
    old = await opened(episode, query="?page=page-one&take=1")
    await old.receive_kind("whole")
    page = await opened(episode, query="?page=page-one&take=1")
    await page.receive_kind("whole")
    await page.key("west", number=2)
    while (tick := await page.receive_kind("tick"))["key"] != 2:
        pass
    await old.close()
    till = tick["step"] + 10
    while (tick := await page.receive_kind("tick"))["step"] < till:
        assert tick["key"] == 2
    await page.close()


async def test_each_page_receives_only_its_own_observation(lane: Lane, owner: Any) -> None:
    episode = await made(lane, seats=2, steps=2000, tick_ms=20)
    pages = [await opened(episode, seat) for seat in (0, 1)]
    for seat, page in enumerate(pages):
        known = (await page.receive_kind("whole"))["observation"]["you"]
        await page.key("east" if seat == 0 else "stay")
        step = 0
        while step < 6 or bool(known) != (seat == 0):  # told in the end: a busy machine hears a key late
            tick = await page.receive_kind("tick")
            step, known = tick["step"], tick["changed"].get("you", known)
            tick.pop("heard", None)  # the first one after the key has it
            assert tick.keys() == {"type", "step", "score", "lost_ms", "changed", "gone", "events", "key"}
        await page.close()


async def test_a_page_that_misses_a_tick_receives_the_whole_state(lane: Lane, owner: Any) -> None:
    episode = await made(lane, steps=2000, tick_ms=20)
    page = await opened(episode)
    await page.receive_kind("tick")
    skipped = {"type": "tick.shown", "step": 400, "seats": {"0": {}}, "score": {}, "lost_ms": 0}
    await get_channel_layer().group_send(f"ticks.{episode.pk}", skipped)
    assert (await page.receive_kind("whole"))["step"] < 400
    await page.socket.send_json_to({"type": "sync"})
    assert (await page.receive_kind("state"))["brief"]
    await page.receive_kind("whole")
    await page.close()


async def test_an_owner_that_dies_is_followed_by_another(lane: Lane) -> None:
    episode = await made(lane, "walker", seats=2, steps=2000, tick_ms=20)
    first = ClockOwner(get_channel_layer())
    dies = asyncio.create_task(first.run())
    page = await opened(episode)
    while (await page.receive_kind("tick"))["step"] < 5:
        pass
    for played in first.played.values():
        played.task.cancel()  # type: ignore[union-attr]
    first._leave = first._store_all = _nothing  # type: ignore[method-assign]
    await ended(dies)
    await database_sync_to_async(Ticking.objects.update)(until=timezone.now())
    second = asyncio.create_task(ClockOwner(get_channel_layer()).run())
    step = (await page.receive_kind("whole"))["step"]
    assert 0 < step == (await page.receive_kind("tick"))["step"] - 1
    await ended(second)
    taken = await stored(episode)
    assert taken.step > step
    assert await _holds(episode)
    ticking = await database_sync_to_async(Ticking.objects.get)(pk=episode.pk)
    assert ticking.until is None  # who ends gives back what it has
    await page.close()


async def _nothing() -> None:
    pass


async def test_of_many_games_each_is_claimed_when_it_is_read_and_not_long_before(
    lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    claimed: list[int] = []

    def read(*arguments: Any) -> Any:
        claimed.append(Ticking.objects.exclude(owner="").count())
        return read_realtime_episode(*arguments)

    monkeypatch.setattr(owning, "read_realtime_episode", read)
    for _ in range(3):
        await made(lane, steps=500, tick_ms=50)
    owner = asyncio.create_task(ClockOwner(get_channel_layer()).run())
    async with asyncio.timeout(PATIENCE):
        while len(claimed) < 3:
            await asyncio.sleep(0.01)
    await ended(owner)
    assert claimed == [1, 2, 3]


async def test_an_episode_that_fails_each_time_is_ended_and_keeps_no_other_from_its_clock(
    lane: Lane, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken, other = await made(lane, steps=500, tick_ms=50), await made(lane, steps=500, tick_ms=50)
    errors = [StateError("it does not play the same again"), *(KeyError("a part") for _ in range(3))]
    tried: list[int] = []

    def read(one: Any, *arguments: Any) -> Any:
        tried.append(one.episode_id)
        if one.episode_id == broken.pk:
            Ticking.objects.filter(episode=broken).update(until=None)  # its claim is not renewed
            raise errors[tried.count(broken.pk) - 1]
        return read_realtime_episode(one, *arguments)

    monkeypatch.setattr(owning, "read_realtime_episode", read)
    clocks = ClockOwner(get_channel_layer())
    owner = asyncio.create_task(clocks.run())
    async with asyncio.timeout(PATIENCE):
        while not clocks.played or (await stored(broken)).status == "playing":
            await asyncio.sleep(0.01)
    await ended(owner)
    assert tried[:2] == [broken.pk, other.pk] and tried.count(broken.pk) == MOST_FAILURES
    assert is_ended_technically(end := await stored(broken)) and end.ended_because == UNPLAYABLE
    assert f"episode {broken.pk} cannot be continued: it does not play the same again" in caplog.text


async def test_the_clock_stops_while_storage_or_pages_are_unreachable(
    lane: Lane, owner: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owning, "HOLD_SECONDS", 0.05)
    episode = await made(lane, steps=500, tick_ms=10)
    page = await opened(episode)
    await page.receive_kind("tick")
    with monkeypatch.context() as nothing_stored:
        nothing_stored.setattr(owning, "store_tick_groups", _fails)
        last = await _last_step(page)
    page = await opened(episode)
    assert (await page.receive_kind("tick"))["step"] > last
    await page.close()
    assert await _holds(episode)


async def test_a_slow_database_keeps_no_tick_back(
    lane: Lane, owner: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until what was taken is too old, of course."""
    monkeypatch.setattr(owning, "HOLD_SECONDS", PATIENCE)
    begun, may = threading.Event(), threading.Event()

    def slow(*arguments: Any) -> Any:
        begun.set()
        assert may.wait(PATIENCE)
        return store_tick_groups(*arguments)

    episode = await made(lane, steps=500, tick_ms=10)
    page = await opened(episode)
    await page.receive_kind("tick")
    with monkeypatch.context() as slowly:
        slowly.setattr(owning, "store_tick_groups", slow)
        assert await asyncio.to_thread(begun.wait, PATIENCE)
        step = (await stored(episode)).step
        while (await page.receive_kind("tick"))["step"] < step + 10:
            pass
        assert (await stored(episode)).step == step
        may.set()
    await page.close()


async def _last_step(page: Page) -> int:
    """Of those that come before none comes for a while."""
    last = 0
    while True:
        try:
            last = json.loads(await page.socket.receive_from(timeout=1.0))["step"]
        except TimeoutError:
            return last


def _fails(*arguments: Any) -> None:
    raise OperationalError("database is locked")


async def test_unreachable_pages_miss_nothing(
    lane: Lane, owner: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    episode = await made(lane, steps=500, tick_ms=10)
    page = await opened(episode)
    await page.receive_kind("tick")
    layer, failed = get_channel_layer(), 0
    send = layer.group_send

    async def away(group: str, message: dict[str, Any]) -> None:
        nonlocal failed
        if message["type"] == "tick.shown" and failed < 3:
            failed += 1
            raise RedisAway
        await send(group, message)

    monkeypatch.setattr(layer, "group_send", away)
    steps = [(await page.receive_kind("tick"))["step"] for _ in range(5)]
    assert steps == list(range(steps[0], steps[0] + 5))
    assert failed == 3
    await page.close()


async def test_a_page_learns_that_staff_ended_the_episode(lane: Lane, owner: Any) -> None:
    episode = await made(lane, steps=2000, tick_ms=20)
    page = await opened(episode)
    await page.receive_kind("tick")
    await database_sync_to_async(end_episode)(episode_id=episode.pk, reason="a fire alarm")
    assert (await page.receive_kind("over"))["status"] == "aborted"
    await page.close()


@pytest.mark.parametrize("answers_first", [False, True])
async def test_a_decision_for_an_ended_episode_is_stored(
    lane: Lane, owner: Any, monkeypatch: pytest.MonkeyPatch, answers_first: bool
) -> None:
    """It was paid for, also where it is there just when nobody goes on."""
    asked: list[Future[Any]] = []
    call = Call("stand-in", Request(model="m", messages=(Message("user", "where to?"),)))
    answer = Agreed({1: ("east",)}, calls=(call,))

    def ask(deciding: Coroutine[Any, Any, Any]) -> Future[Any]:
        if asked:
            return start_in_loop(deciding)
        deciding.close()
        asked.append(Future())
        return asked[0]

    leave = realtime_agents.RealtimeAgents.leave

    def answered_first(*arguments: Any) -> None:
        asked[0].set_result(answer)
        leave(*arguments)

    def stored_dropped() -> list[tuple[str]]:
        return list(ModelCall.objects.values_list("decision__dropped"))

    monkeypatch.setattr(realtime_agents, "start_in_loop", ask)
    if answers_first:
        monkeypatch.setattr(realtime_agents.RealtimeAgents, "leave", answered_first)
    episode = await made(lane, "thinker", seats=2, steps=2000, tick_ms=20)
    page = await opened(episode)
    await page.receive_kind("tick")
    await database_sync_to_async(end_episode)(episode_id=episode.pk, reason="a fire alarm")
    await page.receive_kind("over")
    if not answers_first:
        await asyncio.to_thread(asked[0].set_result, answer)
    async with asyncio.timeout(PATIENCE):
        while not (found := await database_sync_to_async(stored_dropped)()):
            await asyncio.sleep(0.01)
    assert (len(asked), found) == (1, [("over",)])
    await page.close()


async def test_a_key_of_a_page_of_which_it_is_not_known_yet_that_it_plays_counts_once_it_is(
    lane: Lane, owner: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = asyncio.Event()

    async def plays(received: dict[str, Any]) -> bool:
        await known.wait()
        return True

    episode = await made(lane, seats=2, steps=2000, tick_ms=20, organisation=two_people())
    first = await opened(episode, query="?page=page-one&take=1")
    await first.receive_kind("tick")
    monkeypatch.setattr(page_messages, "_plays", plays)
    second = await opened(episode, query="?page=page-two&take=1")
    await second.receive_kind("whole")
    await second.key("west", number=2)
    await second.socket.send_json_to({"type": "say", "to": [1], "text": "I am back", "after": 0})
    await second.key("fly", number=3)
    for _ in range(3):
        assert (await second.receive_kind("tick"))["key"] != 2
    known.set()
    assert (await second.receive_kind("notice"))["code"] == "not_offered"
    assert "I am back" in (await second.receive_kind("talk"))["html"]
    while (await second.receive_kind("tick"))["key"] != 2:
        pass
    await first.close()
    await second.close()


async def test_a_player_who_leaves_is_replaced_and_the_other_continues(lane: Lane, owner: Any) -> None:
    episode = await made(lane, seats=2, steps=500, tick_ms=20, absence=AbsencePolicy(kind="walker"))
    pages = [await opened(episode, seat) for seat in (0, 1)]
    await pages[1].receive_kind("tick")
    assert await database_sync_to_async(leave_seat)(episode_id=episode.pk, seat=0)
    while (tick := await pages[1].receive_kind("tick", "whole")).get("changed", {}).get("at", [0])[0] < 2:
        pass
    assert await pages[0].closed() == NO_SEAT_CLOSE_CODE
    commands = Step.objects.filter(episode=episode, number__lte=tick["step"])
    by = await database_sync_to_async(lambda: {row.commands[0]["chosen_by"] for row in commands})()
    assert by <= {"clock", "walker"}
    await pages[1].close()


async def test_where_there_is_no_clock_there_is_no_such_page(lane: Lane) -> None:
    episode = await made(lane, tick_ms=0)
    page = await opened(episode)
    assert await page.closed() == NO_SEAT_CLOSE_CODE
