"""Those who are connected are asked to come again, all of them, some at a time."""

from __future__ import annotations

import asyncio

import pytest

from kitchen.infra import connection_drain
from kitchen.infra.connection_drain import ConnectionDrain


class Guest:
    """Counts how often it was asked; one that fails says so, one that is busy waits for its end."""

    def __init__(self, fails: bool = False, busy: bool = False) -> None:
        self.asked = 0
        self.fails = fails
        self.done, self.closed = asyncio.Event(), False
        if not busy:
            self.done.set()

    async def close_for_restart(self) -> None:
        self.asked += 1
        await self.done.wait()
        self.closed = not self.fails
        if self.fails:
            raise ConnectionError("gone")


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_drain, "DRAIN_PAUSE_SECONDS", 0)


async def test_everybody_is_asked_once_also_who_comes_meanwhile(caplog: pytest.LogCaptureFixture) -> None:
    house, late = ConnectionDrain(), Guest()
    guests = [Guest(fails=number == 3) for number in range(connection_drain.DRAIN_BATCH + 5)]
    for guest in guests:
        house.add(guest)
    emptying = asyncio.create_task(house.drain())
    await asyncio.sleep(0)
    house.add(late)
    await emptying
    assert house.draining
    assert [guest.asked for guest in [*guests, late]] == [1] * (len(guests) + 1)
    assert caplog.text.count("could not be asked") == 1


async def test_nobody_waits_for_one_who_is_busy() -> None:
    house, busy, late = (
        ConnectionDrain(),
        [Guest(busy=True) for _ in range(connection_drain.DRAIN_BATCH)],
        Guest(),
    )
    others = [Guest() for _ in range(connection_drain.DRAIN_BATCH)]
    for guest in [*busy, *others]:
        house.add(guest)
    async with asyncio.timeout(10):
        emptying = asyncio.create_task(house.drain())
        while not all(guest.closed for guest in others):
            await asyncio.sleep(0)
        house.add(late)  # when all but the busy have gone
        while not late.closed:
            await asyncio.sleep(0)
        assert not emptying.done()
        for guest in busy:
            guest.done.set()
        await emptying
    assert all(guest.closed for guest in busy)


async def test_whoever_is_still_busy_when_time_is_over_is_let_be() -> None:
    house, busy = ConnectionDrain(), Guest(busy=True)
    house.add(busy)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await house.drain()
    assert (busy.asked, busy.closed) == (1, False)


async def test_who_has_left_is_not_asked() -> None:
    house, guest = ConnectionDrain(), Guest()
    house.add(guest)
    house.remove(guest)
    await house.drain()
    assert guest.asked == 0
