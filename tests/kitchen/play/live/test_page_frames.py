"""Images of a world that draws itself, on the page of a turn-based episode and under a clock."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from kitchen.infra.process_pool import BusyError
from kitchen.play.live import page_frames
from kitchen.play.live.page_frames import PageFrames
from kitchen.realtime import clock_owner, frame_sender
from kitchen.realtime.clock_owner import ClockOwner
from kitchen.realtime.frame_sender import FrameSender
from kitchen.realtime.realtime_storage import ClockEpisode, new_owner_name
from kitchen.registry.world_registry import WORLDS_VARIABLE
from tests.worlds.relay import LINE


def drawn(kind: str, state: Any) -> Future[bytes]:
    future: Future[bytes] = Future()
    future.set_result(f"{kind} {state}".encode())
    return future


def page_of(world: str, step: int) -> Any:
    return SimpleNamespace(
        stamp=(step,),
        seat=SimpleNamespace(
            episode_id=1, acts=True, number=0, episode=SimpleNamespace(world=world, team=None)
        ),
    )


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    monkeypatch.setenv(WORLDS_VARIABLE, LINE)
    monkeypatch.setattr(page_frames, "submit_frame", drawn)
    return []


async def test_a_page_gets_one_image_of_each_step_and_the_newest_if_it_is_late(
    sent: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def send(message: bytes) -> None:
        sent.append(message)

    page, frames = page_of("relay", 1), PageFrames(send)
    monkeypatch.setattr(page_frames, "_present_state", lambda _: (page.stamp[0], "relay", page.stamp[0]))
    for step in (1, 1, 2, 7):
        page.stamp = (step,)
        frames.update(page)
    await asyncio.wait_for(frames._drawing, 5)  # type: ignore[arg-type]
    assert sent == [b"\0\0\0\x07relay 7"]
    frames.update(page)
    assert frames._drawing is not None and frames._drawing.done(), "it has this one"
    PageFrames(send).update(page_of("cuisine", 1))  # draws none, and asks nobody


async def test_a_frame_that_is_ahead_of_its_page_is_sent_once(
    sent: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def send(message: bytes) -> None:
        sent.append(message)
        if len(sent) > 3:  # the test fails, and does not hang
            frames.stop()

    page, frames = page_of("relay", 7), PageFrames(send)
    monkeypatch.setattr(page_frames, "_present_state", lambda _: (8, "relay", 8))
    frames.update(page)
    await asyncio.wait_for(frames._drawing, 5)  # type: ignore[arg-type]
    page.stamp = (8,)
    frames.update(page)
    await asyncio.wait_for(frames._drawing, 5)  # type: ignore[arg-type]
    assert sent == [b"\0\0\0\x08relay 8"]


async def test_a_clock_goes_on_while_an_image_is_drawn_and_no_image_stops_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    asked: list[Future[bytes]] = []

    def ask(kind: str, state: Any) -> Future[bytes]:
        if len(asked) == 2:
            raise BusyError("too many")
        asked.append(Future())
        return asked[-1]

    monkeypatch.setattr(frame_sender, "submit_frame", ask)
    told: list[dict[str, Any]] = []

    async def group_send(group: str, message: dict[str, Any]) -> None:
        told.append(message)

    world = SimpleNamespace(draws_frames=True, kind="relay", to_dict=dict)
    episode = SimpleNamespace(step=1, pk=4)
    game = SimpleNamespace(episode=episode, turn=SimpleNamespace(world=world, people={0}, leaders=()))
    played: Any = SimpleNamespace(game=game, drawing=None, frame=None)
    frames = FrameSender(SimpleNamespace(group_send=group_send))
    for episode.step in (1, 2, 3):  # the first image is not finished
        frames.draw(played)
        await asyncio.sleep(0)
    asked[0].set_result(b"one")
    while len(asked) < 2:
        await asyncio.sleep(0.001)
    asked[1].set_result(b"three")
    await played.drawing
    assert [(each["step"], each["file"]) for each in told] == [(1, b"one"), (3, b"three")]
    episode.step = 4
    frames.draw(played)
    await played.drawing
    assert "a frame could not be sent: too many" in caplog.text and played.frame["step"] == 3


async def test_a_clock_process_prepares_to_draw_the_games_of_another_one_that_can_fail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    warmed: list[str] = []
    soon = timezone.now() + timedelta(seconds=1)
    standing = [ClockEpisode(pk, new_owner_name(), soon, "", "relay") for pk in (1, 2)]
    monkeypatch.setattr(clock_owner, "clock_episodes", lambda: standing)
    monkeypatch.setattr(clock_owner, "LOOK_SECONDS", 0)
    monkeypatch.setattr(frame_sender, "warm_up", warmed.append)
    owner = ClockOwner(None)
    await owner._look()
    assert warmed == ["relay"] and not owner.played
