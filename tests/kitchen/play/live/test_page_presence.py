"""A page that waits for a person says so if that person's page is not connected."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.cache import cache
from redis.exceptions import RedisError

from kitchen.contract.organisation import Member, make_organisation
from kitchen.play.live import page_presence, page_watchdog
from kitchen.play.live.page_presence import AWAY_SECONDS, AbsentPeople
from kitchen.play.live.page_session import OpenPage, open_page
from kitchen.play.models import Episode
from tests.kitchen.factories import make_episode, submit

IN_MEMORY = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": __name__}}
AWAY = "(not connected)"


@pytest.fixture(autouse=True)
def shared_cache(settings: Any) -> None:
    settings.CACHES = IN_MEMORY
    cache.clear()


def test_a_person_is_away_after_some_seconds_without_a_record_and_back_at_once() -> None:
    now = [0.0]
    one, other = (AbsentPeople(lambda: now[0]) for _ in range(2))
    assert one.update([1], [2]) == set(), "it may only reconnect"
    now[0] = AWAY_SECONDS
    assert one.update([1], [2]) == {2}
    assert other.update([2], [1]) == set() and one.update([1], [2]) == set()
    cache.delete("connected.2")
    assert one.update([1], [2]) == set(), "counted anew"


def test_without_the_cache_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*_: Any) -> None:
        raise RedisError

    monkeypatch.setattr(page_presence, "cache", SimpleNamespace(set_many=unreachable))
    assert AbsentPeople().update([1], [2]) is None


def shared_episode(people: int = 2, **more: Any) -> Episode:
    members = [Member(seat, (seat,), is_person=True) for seat in range(people)]
    return make_episode(seats=people, organisation=make_organisation("pair", members, seats=people, **more))


def page_of(episode: Episode, seat: int) -> OpenPage:
    page, _ = open_page(episode.seats.get(number=seat).key, f"page-of-{seat}", newest=True, json=False)
    assert page
    return page


@pytest.mark.django_db
def test_the_line_of_the_phase_says_who_is_not_connected() -> None:
    episode = shared_episode(settings={"within": True})
    chef, assistant = (page_of(episode, seat) for seat in (0, 1))
    assert list(assistant.others.values()) == [0] and assistant.others.keys() == {chef.seat.pk}

    def shown() -> str:
        return "".join(assistant.look().texts)

    assert shown() == ""
    assistant.away = frozenset({0})
    assert f"{AWAY}</span> speaks first" in shown() and shown() == "", "told once"
    assistant.away = frozenset()
    assert "speaks first" in (back := shown()) and AWAY not in back
    chef.away = frozenset({1})
    text = "".join(chef.look().texts)
    assert "Your turn" in text and AWAY not in text.split("bar-sent")[0]


@pytest.mark.django_db
def test_somebody_who_has_chosen_reads_that_the_other_person_is_away() -> None:
    episode = make_episode(seats=2)
    page = page_of(episode, 0)
    assert submit(episode, 1, "noop").accepted
    page.look()
    page.away = frozenset({1})
    assert f'Waiting for <span class="waited">Robot 2 {AWAY}</span>' in "".join(page.look().texts)


class Watched:
    """A connection of a page that may wait for these seats."""

    subscribed = True
    is_answering = False

    def __init__(self, seat: int, others: Iterable[int]) -> None:
        self.page: Any = SimpleNamespace(
            seat=SimpleNamespace(pk=seat),
            name=f"page-{seat}",
            others={one: one + 100 for one in others},
            away=frozenset(),
            is_away=False,
            news_is_late=False,
            shows=lambda _: True,
        )
        self.looks = 0

    async def look(self) -> None:
        self.looks += 1

    async def subscribe(self) -> None:
        """It is subscribed."""

    async def close(self, code: int) -> None:
        """Nobody closes it."""


async def test_a_web_process_finds_who_is_away_and_updates_only_the_pages_concerned(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    monkeypatch.setattr(page_watchdog, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(page_presence, "AWAY_SECONDS", 0.0)
    monkeypatch.setattr(page_watchdog, "seat_states", lambda seats: {})
    monkeypatch.setattr(page_watchdog, "stranded_turns", lambda: ([], []))
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    watch, left, together, alone = page_watchdog.PageWatch(), Watched(1, [2]), Watched(3, [4]), Watched(5, [])
    other = Watched(4, [3])
    for one in (left, together, other, alone):
        watch.add(one, one.page)
    async with asyncio.timeout(5):
        while not left.looks:
            await asyncio.sleep(0.02)
        assert left.page.away == {102}
        watch.add(back := Watched(2, [1]), back.page)
        while left.looks < 2:
            await asyncio.sleep(0.02)
    assert left.page.away == frozenset() and not (together.looks or other.looks or alone.looks)
    assert cache.get("connected.5") is None, "nobody waits for somebody who plays alone"
    for one in (left, together, other, alone, back):
        watch.discard(one, one.page)
