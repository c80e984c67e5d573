"""What pages show after their clock process or the channel layer died: never changes of another picture."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest
from channels.db import database_sync_to_async
from channels.layers import get_channel_layer
from django.utils import timezone

from kitchen.infra import db_retry
from kitchen.play.episode.end_episode import end_episode
from kitchen.play.live import page_watchdog
from kitchen.play.models import Episode, Ticking
from kitchen.realtime import clock_owner as owning
from kitchen.realtime import tick_consumer, tick_messages
from kitchen.realtime.clock_handover import OwnedEpisode
from kitchen.realtime.clock_owner import ClockOwner
from kitchen.realtime.page_messages import PageMessages
from kitchen.realtime.tick_messages import SeenSteps, TickSource, layer_message
from tests.kitchen.layers import INTERRUPTED, InterruptedLayer
from tests.kitchen.realtime.conftest import Lane
from tests.kitchen.realtime.test_clock_owner import PATIENCE, Page, ended, made, opened

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.servers]


@pytest.fixture(autouse=True)
def layer(settings: Any, monkeypatch: pytest.MonkeyPatch) -> InterruptedLayer:
    """The layer of this test, and short waits. No tick is stored before a test allows it."""
    settings.CHANNEL_LAYERS = INTERRUPTED
    monkeypatch.setattr(page_watchdog, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(tick_consumer, "ASK_AGAIN_SECONDS", 0.05)
    monkeypatch.setattr(owning, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(owning, "STORE_SECONDS", PATIENCE)
    monkeypatch.setattr(owning, "HOLD_SECONDS", PATIENCE)
    monkeypatch.setattr(db_retry, "THREAD_RETRY_WAITS", ())
    found = get_channel_layer()
    assert isinstance(found, InterruptedLayer)
    return found


class Running:
    """A clock process, as far as these tests need one."""

    def __init__(self) -> None:
        self.owner = ClockOwner(get_channel_layer())
        self.task = asyncio.create_task(self.owner.run())

    async def kill(self) -> None:
        """End it as SIGKILL would: nothing more is stored or sent."""
        for played in self.owner.played.values():
            assert played.task
            played.task.cancel()
        self.owner._leave = self.owner._store_all = _nothing  # type: ignore[method-assign]
        await ended(self.task)
        await database_sync_to_async(Ticking.objects.update)(until=timezone.now())

    async def reach(self, episode: Episode, step: int) -> None:
        """Wait until it has computed this step."""
        async with asyncio.timeout(PATIENCE):
            while episode.pk not in self.owner.played or self._step(episode) < step:
                await asyncio.sleep(0.005)

    def _step(self, episode: Episode) -> int:
        return self.owner.played[episode.pk].game.episode.step


async def _nothing() -> None:
    pass


async def shown(page: Page, step: int) -> None:
    """Wait until the page shows this step."""
    while (await page.receive_kind("tick"))["step"] < step:
        pass


def lines(caplog: pytest.LogCaptureFixture, text: str) -> list[str]:
    return [one for one in caplog.messages if text in one]


async def logged(caplog: pytest.LogCaptureFixture, text: str) -> list[str]:
    """The lines of the log with this text, of which there is at least one in the end."""
    async with asyncio.timeout(PATIENCE):
        while not (found := lines(caplog, text)):
            await asyncio.sleep(0.01)
    return found


async def test_pages_whose_owner_and_broker_died_get_the_whole_picture_and_read_what_is_lost(
    lane: Lane, layer: InterruptedLayer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    episode = await made(lane, seats=2, steps=2000, tick_ms=40)
    first, pages = Running(), [await opened(episode, seat) for seat in (0, 1)]
    for page in pages:
        await shown(page, 5)
    await first.kill()
    members = layer.groups.pop(f"ticks.{episode.pk}")  # the broker forgets who listens
    newest = [await newest_step(page) for page in pages]
    second = Running()
    await second.reach(episode, max(newest))  # so its next step has the number that the pages expect
    layer.groups[f"ticks.{episode.pk}"] = members
    for page, last in zip(pages, newest, strict=True):
        whole = await page.receive_kind("tick", "whole")
        assert (whole["type"], whole["lost_steps"]) == ("whole", last)
        while (tick := await page.receive_kind("tick", "whole"))["type"] == "whole":  # it asked twice
            whole = tick
        assert tick["step"] == whole["step"] + 1
    found = await logged(caplog, "were shown and are lost")
    assert len(found) == 1 and found[0].startswith(f"episode {episode.pk}: steps 1 to ")
    for page in pages:
        await page.close()
    await second.kill()


async def newest_step(page: Page) -> int:
    """The last step that the page was shown, of those that were sent."""
    last = 5
    while not await page.socket.receive_nothing(0.05, 0.01):
        last = json.loads(await page.socket.receive_from())["step"]
    return last


async def test_a_page_whose_web_process_died_too_remembers_what_it_was_shown(
    lane: Lane, layer: InterruptedLayer, caplog: pytest.LogCaptureFixture
) -> None:
    episode = await made(lane, steps=2000, tick_ms=40)
    first, page = Running(), await opened(episode)
    whole = await page.receive_kind("whole")
    await shown(page, 5)
    await first.kill()
    layer.groups.clear()
    seen = ".".join(map(str, [*whole["source"], 5]))
    second, again = Running(), await opened(episode, query=f"?take=1&seen={seen}")
    while (told := await again.receive_kind("whole"))["source"] == whole["source"]:
        pass
    assert told["lost_steps"] == 5 - told["source"][2] == 5
    (found,) = await logged(caplog, "were shown and are lost")
    assert found.startswith(f"episode {episode.pk}: steps 1 to 5 ")
    assert found.endswith("(as a page remembers that came back)")
    for one in (page, again):
        await one.close()
    await second.kill()


@pytest.mark.parametrize("step", [tick_messages.MAX_REMEMBERED_LOSS_MS // 40 + 1, 0])
async def test_a_page_is_not_believed_that_more_was_lost_than_can_be(
    lane: Lane, caplog: pytest.LogCaptureFixture, step: int
) -> None:
    episode = await made(lane, steps=2000, tick_ms=40)
    running, page = Running(), await opened(episode, query=f"?take=1&seen=abc.1.0.{step}")
    assert (await page.receive_kind("whole"))["lost_steps"] == 0
    await shown(page, 2)
    assert lines(caplog, "are lost") == []
    await page.close()
    await running.kill()


async def test_a_false_report_of_a_page_does_not_silence_a_true_one(
    caplog: pytest.LogCaptureFixture,
) -> None:
    game: Any = SimpleNamespace(episode=SimpleNamespace(pk=1, step=0, score={}))
    played = OwnedEpisode(game, "abc", 1)
    report = {"type": "keys.lost", "source": ["abc", 1, 0]}
    for newest, remembered in ((40, True), (50, True), (9, False), (8, False), (50, True)):
        message = report | {"newest": newest, "remembered": remembered}
        await PageMessages(None).handle(played, message)
    first, second = lines(caplog, "were shown and are lost")
    assert "steps 1 to 40 " in first and first.endswith("(as a page remembers that came back)")
    assert "steps 1 to 9 " in second and second.endswith("did not store them")


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("0a1b.2.30.45", SeenSteps(TickSource("0a1b", 2, 30), 45)),
        ("0a1b.2.30.29", None),
        ("0a1b.2.30", None),
        ("x.2.30.45", None),
        ("0a1b.2.30.-1", None),
        ("0a1b.2.30.٤", None),
        ("0a1b.2.30." + "9" * 10, None),
        ("", None),
    ],
)
def test_what_a_page_was_shown_is_read_strictly(text: str, seen: SeenSteps | None) -> None:
    assert SeenSteps.read(text) == seen


async def test_what_was_stored_is_not_lost(
    lane: Lane, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(owning, "STORE_SECONDS", 0.01)
    episode = await made(lane, steps=2000, tick_ms=40)
    first, page = Running(), await opened(episode)
    await shown(page, 3)
    await ended(first.task)
    second = Running()
    whole = await page.receive_kind("whole")
    while whole["step"] == 0:  # of the first one
        whole = await page.receive_kind("whole")
    assert whole["lost_steps"] == 0
    await shown(page, whole["step"] + 2)
    assert lines(caplog, "are lost") == []
    await page.close()
    await second.kill()


@pytest.mark.parametrize("change", ["another owner", "back"])
async def test_a_tick_that_does_not_follow_makes_the_page_ask_for_the_whole(
    lane: Lane, layer: InterruptedLayer, change: str
) -> None:
    episode = await made(lane, steps=2000, tick_ms=40)
    running, page = Running(), await opened(episode)
    await shown(page, 4)
    source = running.owner.played[episode.pk].updates.source
    other = list(TickSource("another") if change == "another owner" else source)
    tick = layer_message("tick.shown", step=2, seats={"0": {}}, score={}, lost_ms=0, source=other)
    await layer.group_send(f"ticks.{episode.pk}", tick)
    assert (await page.receive_kind("whole"))["lost_steps"] == 0
    await page.close()
    await running.kill()


async def test_a_page_whose_question_was_lost_asks_again(
    lane: Lane, layer: InterruptedLayer, monkeypatch: pytest.MonkeyPatch
) -> None:
    episode = await made(lane, steps=2000, tick_ms=40)
    running, page = Running(), await opened(episode)
    await shown(page, 2)
    send, lost = layer.send, list[str]()

    async def once(channel: str, message: dict[str, Any]) -> None:
        if message["type"] != "tick.whole" or lost:
            await send(channel, message)
        else:
            lost.append(message["type"])

    monkeypatch.setattr(layer, "send", once)
    await page.socket.send_json_to({"type": "sync"})
    await page.receive_kind("whole")
    assert lost == ["tick.whole"]
    await page.close()
    await running.kill()


async def test_steps_that_were_shown_when_staff_ended_the_episode_are_logged_once(
    lane: Lane, caplog: pytest.LogCaptureFixture
) -> None:
    episode = await made(lane, steps=2000, tick_ms=40)
    running, page = Running(), await opened(episode)
    await shown(page, 3)
    await database_sync_to_async(end_episode)(episode_id=episode.pk, reason="a fire alarm")
    assert (await page.receive_kind("over"))["status"] == "aborted"
    found = await logged(caplog, "were shown and are not stored")
    assert len(found) == 1 and found[0].startswith(f"episode {episode.pk} was ended: steps 1 to ")
    await page.close()
    await running.kill()


async def test_a_page_that_opens_while_the_layer_is_away_reads_that_no_step_can_come(
    lane: Lane, layer: InterruptedLayer
) -> None:
    layer.away = True
    episode = await made(lane, steps=2000, tick_ms=40)
    page = await opened(episode)
    assert (await page.receive_kind("state"))["step"] == 0
    assert (await page.receive_kind("late"))["late"] is True
    await page.key("east")
    layer.away = False
    assert (await page.receive_kind("late"))["late"] is False
    running = Running()
    await shown(page, 2)
    await page.close()
    await running.kill()
