"""Those who are connected are asked to come again, all of them, some at a time."""

from __future__ import annotations

import asyncio

import pytest

from kitchen.machine import draining
from kitchen.machine.draining import House


class Guest:
    """Counts how often it was asked; one that fails says so."""

    def __init__(self, fails: bool = False) -> None:
        self.asked = 0
        self.fails = fails

    async def make_way(self) -> None:
        self.asked += 1
        if self.fails:
            raise ConnectionError("gone")


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draining, "PAUSE", 0)


async def test_everybody_is_asked_once_also_who_comes_meanwhile(caplog: pytest.LogCaptureFixture) -> None:
    house, late = House(), Guest()
    guests = [Guest(fails=number == 3) for number in range(draining.AT_ONCE + 5)]
    for guest in guests:
        house.come(guest)
    emptying = asyncio.create_task(house.empty())
    await asyncio.sleep(0)
    house.come(late)
    await emptying
    assert house.draining
    assert [guest.asked for guest in [*guests, late]] == [1] * (len(guests) + 1)
    assert caplog.text.count("could not be asked") == 1


async def test_who_has_left_is_not_asked() -> None:
    house, guest = House(), Guest()
    house.come(guest)
    house.go(guest)
    await house.empty()
    assert guest.asked == 0
