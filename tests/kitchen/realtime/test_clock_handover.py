"""Episodes move from one clock process to another while people play: no tick is lost or runs twice."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any

import pytest
from channels.db import database_sync_to_async
from channels.layers import get_channel_layer

from kitchen.infra import db_retry
from kitchen.play.models import Episode, Message, SeatCommand, Step
from kitchen.realtime import clock_handover as handing
from kitchen.realtime import clock_load
from kitchen.realtime import clock_owner as owning
from kitchen.realtime.clock_handover import Receiver
from kitchen.realtime.clock_load import ClockLoad
from kitchen.realtime.clock_owner import ClockOwner
from tests.kitchen.realtime.conftest import Lane, standing
from tests.kitchen.realtime.test_clock_owner import PATIENCE, Page, _holds, ended, made, opened, two_people
from tests.live.checking import wrong_commands, wrong_hashes

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.servers]


@pytest.fixture(autouse=True)
def quick(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A layer in memory, and short waits. Nothing is handed over by itself."""
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    for name in ("LOOK_SECONDS", "STORE_SECONDS"):
        monkeypatch.setattr(owning, name, 0.02)
    monkeypatch.setattr(owning, "BALANCE_SECONDS", 0.05)
    monkeypatch.setattr(handing, "GIVEN_SECONDS", 0.05)
    monkeypatch.setattr(clock_load, "LATE_SECONDS", PATIENCE)
    monkeypatch.setattr(clock_load, "FULL_SECONDS", PATIENCE)
    monkeypatch.setattr(db_retry, "THREAD_RETRY_WAITS", ())


class Clocks:
    """Two clock processes."""

    def __init__(self) -> None:
        self.owners = [ClockOwner(get_channel_layer()) for _ in range(2)]
        self.tasks = [asyncio.create_task(owner.run()) for owner in self.owners]

    def owner_of(self, episode: Episode) -> ClockOwner | None:
        return next((one for one in self.owners if episode.pk in one.played), None)

    async def move(self, episode: Episode) -> None:
        """Hand the episode from its process to the other one, and wait until that computes it."""
        async with asyncio.timeout(PATIENCE):
            while (owner := self.owner_of(episode)) is None:
                await asyncio.sleep(0.005)
            other = next(one for one in self.owners if one is not owner)
            while not other.handover.channel:
                await asyncio.sleep(0.005)
            await owner.handover.offer(episode.pk, Receiver(other.name, other.handover.channel))
            while self.owner_of(episode) is not other:
                await asyncio.sleep(0.005)

    async def end(self) -> None:
        for task in self.tasks:
            await ended(task)


async def play(page: Page, till: int, start: int = 0) -> list[int]:
    """Press keys, and return the steps that the page was shown, up to this one. Pages that see another
    process get the whole state again."""
    steps, number = [start], 0
    while steps[-1] < till:
        message = await page.receive_kind("tick", "whole")
        if message["type"] == "whole":
            assert message["lost_steps"] == 0
        if message["step"] > steps[-1]:
            steps.append(message["step"])
            number += 1
            await page.key(("east", "west")[number // 4 % 2], down=number % 2 == 1, number=number)
        assert message["step"] >= steps[-1] - 1  # of the process before, and it comes late
    return steps


def faults(episodes: Collection[Episode]) -> list[str]:
    """What is wrong with the stored episodes: steps, hashes after a replay, commands."""
    found = []
    for one in Episode.objects.filter(pk__in=[each.pk for each in episodes]):
        rows = list(Step.objects.filter(episode=one).order_by("number"))
        if [row.number for row in rows] != list(range(1, one.step + 1)):
            found.append(f"{one.pk}: steps {[row.number for row in rows]} of {one.step}")
        found += [*wrong_hashes(one, rows), *wrong_commands(one, rows)]
        if not SeatCommand.objects.filter(episode=one, chosen_by="person").exists():
            found.append(f"{one.pk}: no key arrived")
    return found


async def test_episodes_that_move_under_load_lose_and_repeat_no_tick(lane: Lane) -> None:
    episodes = [await made(lane, "walker", seats=2, steps=66, tick_ms=30) for _ in range(2)]
    pages = [await opened(episode) for episode in episodes]
    clocks = Clocks()
    playing = [asyncio.create_task(play(page, 60)) for page in pages]
    moves = 0
    while not all(task.done() for task in playing):
        for episode, task in zip(episodes, playing, strict=True):
            if not task.done():
                await clocks.move(episode)
                moves += 1
        await asyncio.sleep(0.02)
    for task in playing:
        steps = await task
        assert steps == list(range(61))
    assert moves >= 4
    for page in pages:
        await page.receive_kind("over")
        await page.close()
    await clocks.end()
    assert await database_sync_to_async(faults)(episodes) == []
    assert all([await _holds(episode) for episode in episodes])


async def test_a_key_that_is_held_stays_down_when_the_episode_moves(lane: Lane) -> None:
    episode = await made(lane, steps=2000, tick_ms=30)
    page, clocks = await opened(episode), Clocks()
    await page.receive_kind("tick")
    await page.key("east", number=9)
    while (await page.receive_kind("tick"))["key"] != 9:
        pass
    await clocks.move(episode)
    whole = await page.receive_kind("whole")
    assert whole["key"] == 9
    while (await page.receive_kind("tick"))["step"] < whole["step"] + 4:
        pass
    await page.close()
    await clocks.end()

    def commands() -> list[list[str]]:
        rows = SeatCommand.objects.filter(episode=episode, seat=0, step__gt=whole["step"])
        return [row.command for row in rows.order_by("step")][:4]

    assert await database_sync_to_async(commands)() == 4 * [["east"]]


async def test_an_episode_whose_hand_over_is_not_heard_of_is_found_in_the_database(
    lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    episode = await made(lane, steps=2000, tick_ms=30)
    page, clocks = await opened(episode), Clocks()
    await page.receive_kind("tick")
    layer = get_channel_layer()
    send = layer.send

    async def deaf(channel: str, message: dict[str, Any]) -> None:
        if message["type"] != "clock.given":
            await send(channel, message)

    monkeypatch.setattr(layer, "send", deaf)
    await clocks.move(episode)
    assert (await page.receive_kind("whole"))["lost_steps"] == 0
    await page.receive_kind("tick")
    await page.close()
    await clocks.end()
    assert await _holds(episode)


async def test_a_late_process_hands_episodes_to_one_that_is_not(
    lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handing, "REST_SECONDS", 0.0)
    episodes = [await made(lane, steps=2000, tick_ms=50) for _ in range(4)]
    pages = [await opened(episode) for episode in episodes]
    first = ClockOwner(get_channel_layer())
    running = [asyncio.create_task(first.run())]
    async with asyncio.timeout(PATIENCE):
        while len(first.played) < 4:
            await asyncio.sleep(0.01)
    monkeypatch.setattr(
        first._meter,
        "measure",
        lambda owner, channel, episodes, *_: ClockLoad(owner, channel, 2 * PATIENCE, episodes, 0),
    )
    second = ClockOwner(get_channel_layer())
    running.append(asyncio.create_task(second.run()))
    async with asyncio.timeout(PATIENCE):
        while len(second.played) < 2:
            await asyncio.sleep(0.01)
    for page in pages:
        await page.close()
    for task in running:
        await ended(task)


async def test_new_episodes_wait_while_no_process_has_room(
    lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = asyncio.Event()
    loop = asyncio.get_running_loop()
    monkeypatch.setattr(owning, "report_full_clocks", lambda: loop.call_soon_threadsafe(full.set))
    first = await made(lane, steps=2000, tick_ms=50)
    owner = ClockOwner(get_channel_layer())
    running, page = asyncio.create_task(owner.run()), await opened(first)
    await page.receive_kind("tick")
    measure = owner._meter.measure

    def measured(*given: Any) -> ClockLoad:
        load = measure(*given)
        return ClockLoad(load.owner, load.channel, 0.0, load.episodes, 0 if first.pk in owner.played else 9)

    monkeypatch.setattr(owner._meter, "measure", measured)
    owner._room = 0
    second = await made(lane, steps=2000, tick_ms=50)
    await asyncio.wait_for(full.wait(), PATIENCE)
    waiting = await opened(second)
    await waiting.receive_kind("waits")
    assert second.pk not in owner.played
    await database_sync_to_async(Episode.objects.filter(pk=first.pk).update)(status="over")
    async with asyncio.timeout(PATIENCE):
        while second.pk not in owner.played:
            await asyncio.sleep(0.01)
    await waiting.receive_kind("tick")
    for one in (page, waiting):
        await one.close()
    await ended(running)


class Meanwhile:
    """A person who writes while a clock process keeps messages for later."""

    def __init__(self, page: Page, clocks: Clocks, *texts: str) -> None:
        self.page, self.clocks, self.texts = page, clocks, list(texts)
        self.loop = asyncio.get_running_loop()

    def _kept(self) -> list[Any]:
        played = [one for owner in self.clocks.owners for one in owner.played.values()]
        return [one.kept for one in played if one.kept is not None]

    async def _write(self) -> None:
        message = {"type": "say", "to": [1], "text": self.texts.pop(0), "after": 0}
        await self.page.socket.send_json_to(message)
        while not any(self._kept()):
            await asyncio.sleep(0.005)

    def write(self) -> None:
        """Write the next text, from another thread, and wait until it has come."""
        if self._kept():
            asyncio.run_coroutine_threadsafe(self._write(), self.loop).result(PATIENCE)


async def test_what_a_person_writes_while_an_episode_is_stored_and_read_again_arrives_once(
    lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    episode = await made(lane, seats=2, steps=2000, tick_ms=30, organisation=two_people())
    pages, clocks = [await opened(episode, seat) for seat in (0, 1)], Clocks()
    await pages[0].receive_kind("tick")
    meanwhile = Meanwhile(pages[0], clocks, "there", "here")
    store, read = owning.store_tick_groups, owning.read_realtime_episode  # type: ignore[attr-defined]

    def slow_store(owner: str, written: Any, receiver: str = "") -> Any:
        if receiver:
            meanwhile.write()
        return store(owner, written, receiver)

    def slow_read(*given: Any) -> Any:
        meanwhile.write()
        return read(*given)

    monkeypatch.setattr(owning, "store_tick_groups", slow_store)
    monkeypatch.setattr(owning, "read_realtime_episode", slow_read)
    await clocks.move(episode)
    owner = clocks.owner_of(episode)
    assert owner is not None
    assert "there" in (await pages[1].receive_kind("talk"))["html"]
    await owner._begin_anew(await database_sync_to_async(standing)(episode))  # a person was replaced
    assert "here" in (await pages[1].receive_kind("talk"))["html"]
    for page in pages:
        await page.close()
    await clocks.end()
    written = Message.objects.filter(episode=episode).order_by("number").values_list("text", flat=True)
    assert await database_sync_to_async(lambda: list(written))() == ["there", "here"]
