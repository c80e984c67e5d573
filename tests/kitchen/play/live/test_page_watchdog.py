"""Steps that no worker sees to are played by the fallbacks, once the co-players had their time."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.utils import timezone

from kitchen.contract.agent import Agent, Situation
from kitchen.contract.agent import Decision as MindDecision
from kitchen.play.episode.advance_episode import submit_commands
from kitchen.play.live import page_presence, page_watchdog
from kitchen.play.models import Decision, Episode, Step
from kitchen.play.turn.submitted_commands import SubmittedCommand
from kitchen.play.turn.turn_claims import claim_decision
from kitchen.registry import agent_registry
from tests.kitchen.factories import make_episode, mind

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.servers]


class Costly(Agent):
    """Must not be asked any more; its fallback may."""

    kind = "costly"

    async def decide(self, situation: Situation) -> MindDecision:
        raise AssertionError("nobody asks a mind after its time")

    def fall_back(self, situation: Situation, code: str) -> MindDecision:
        return MindDecision(dict.fromkeys(situation.seats, ("goto", "storage0")), memory=code)


class Page:
    """Somebody who looks at another seat."""

    page: Any = SimpleNamespace(
        seat=SimpleNamespace(pk=0, key="key"),
        name="name",
        shows=lambda _: True,
        others={},
        is_away=False,
        news_is_late=False,
    )
    subscribed = True
    is_answering = False

    async def look(self) -> None:
        """Nothing has changed there."""

    async def subscribe(self) -> None:
        """Not again."""

    async def close(self, code: int) -> None:
        """It is not closed."""


@pytest.fixture(autouse=True)
def nobody_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_watchdog, "GRACE_SECONDS", 0.0)
    monkeypatch.setitem(agent_registry.AGENTS, "costly", f"{__name__}:Costly")
    monkeypatch.setattr("kitchen.play.episode.advance_episode.ask_coplayers", lambda *turn: None)
    monkeypatch.setattr("kitchen.play.turn.page_broadcast.nudge_pages", lambda *told: None)


def waiting(seconds: float = 0.0, *, by: str = "person") -> Episode:
    """An episode whose person has just commanded, and whose co-player has so many seconds."""
    episode = make_episode(seats=2, minds=(mind("costly", 1),))
    given = SubmittedCommand(0, ("noop",), by, "" if by == "person" else by)
    assert submit_commands(episode_id=episode.pk, step=1, commands=[given]).accepted
    earlier = timezone.now() - timedelta(seconds=60)
    Episode.objects.filter(pk=episode.pk).update(turn_opened_at=earlier, decision_seconds=seconds)
    return episode


def see_to() -> None:
    """As a web process does."""
    page_watchdog.rescue_turns(*page_watchdog.stranded_turns())


def test_the_fallback_plays_when_the_time_is_over_and_nobody_was_asked() -> None:
    episode = waiting()
    see_to()
    entries = Step.objects.get(episode=episode, number=1).commands
    assert [entry["command"] for entry in entries] == [["noop"], ["goto", "storage0"]]
    decision = Decision.objects.get(mind__episode=episode)
    assert (decision.fallback, decision.memory) == ("timeout", "timeout")
    see_to()
    assert Step.objects.filter(episode=episode).count() == 1


def test_co_players_have_their_time_and_workers_a_moment_more(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting(30.0)
    assert page_watchdog.stranded_turns() == ([], [])
    episode = waiting()
    monkeypatch.setattr(page_watchdog, "GRACE_SECONDS", 5.0)
    assert page_watchdog.stranded_turns() == ([], [])
    monkeypatch.setattr(page_watchdog, "GRACE_SECONDS", 0.0)
    assert page_watchdog.stranded_turns() == ([(episode.pk, 1)], [])


def test_what_a_worker_is_deciding_is_left_to_it() -> None:
    episode = waiting()
    assert claim_decision(episode_id=episode.pk, step=1)
    assert page_watchdog.stranded_turns() == ([], [])
    page_watchdog.rescue_turns([(episode.pk, 1)], [])
    assert not Step.objects.exists()


def test_a_turn_that_nobody_closes_is_closed() -> None:
    episode = make_episode(step_seconds=5)
    Episode.objects.filter(pk=episode.pk).update(turn_closes_at=timezone.now() - timedelta(seconds=1))
    see_to()
    assert Step.objects.get(episode=episode).commands[0]["chosen_by"] == "timeout"


async def test_a_web_process_sees_to_it_as_long_as_somebody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_watchdog, "LOOK_SECONDS", 0.02)
    episode, page, shown = await database_sync_to_async(waiting)(), Page(), page_watchdog.PageWatch()
    shown.add(page, page.page)
    async with asyncio.timeout(5):
        while not await database_sync_to_async(Step.objects.filter(episode=episode).exists)():
            await asyncio.sleep(0.02)
    shown.discard(page, page.page)


@pytest.mark.parametrize("chosen_by", ["timeout", "outage"])
def test_a_command_that_was_given_for_a_person_counts_as_theirs(chosen_by: str) -> None:
    episode = waiting(by=chosen_by)
    see_to()
    assert Step.objects.filter(episode=episode).count() == 1


def test_an_episode_that_cannot_be_played_keeps_nobody_from_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    broken, episode = waiting(), waiting()
    Episode.objects.filter(pk=broken.pk).update(state={}, state_hash="broken")
    see_to()
    assert Step.objects.filter(episode=episode).count() == 1
    assert f"episode {broken.pk} cannot go on" in caplog.text


async def test_a_page_that_is_being_answered_holds_up_no_other_page(monkeypatch: pytest.MonkeyPatch) -> None:
    class Counted(Page):
        def __init__(self) -> None:
            news = {"shows": lambda _: False, "news_is_late": True, "others": {5: 1}, "away": frozenset()}
            self.page = SimpleNamespace(**{**vars(Page.page), **news})
            self.did: list[str] = []

        async def look(self) -> None:
            if self.is_answering:
                await asyncio.Event().wait()
            self.did.append("look")

        async def subscribe(self) -> None:
            await self.look()

    async def is_reachable() -> bool:
        return True

    monkeypatch.setattr(page_watchdog, "seat_states", lambda seats: {})
    monkeypatch.setattr(page_watchdog, "is_channel_layer_reachable", is_reachable)
    monkeypatch.setattr(page_presence.AbsentPeople, "update", lambda *told: {5})
    watch, busy, free = page_watchdog.PageWatch(), Counted(), Counted()
    pages: list[page_watchdog.WatchedPage] = [busy, free]
    watch._pages.update(pages)
    busy.is_answering, busy.subscribed = True, False
    async with asyncio.timeout(5):
        await watch._look(pages)
        await watch._show_missing(pages)
    assert (busy.did, free.did) == ([], ["look"] * 3)
    assert (busy.page.news_is_late, busy.page.away) == (True, frozenset()), "is shown by the next check"
    assert (free.page.news_is_late, free.page.away) == (False, {1})
