"""A page of a game in real time keeps what it was shown, and notices steps that were taken back."""

from __future__ import annotations

from typing import Any

from tests.live.game_witness import MOST_LOST_MS, TICK_MS, GameSeries, GameWitness, rounds


def whole(step: int, since: int, owner: str, lost: int = 0) -> dict[str, Any]:
    return {
        "type": "whole",
        "step": step,
        "observation": {"at": step, "old": 1},
        "score": {"points": 0, "steps": step},
        "source": [owner, 1, since],
        "lost_steps": lost,
        "key": 0,
    }


def tick(step: int) -> dict[str, Any]:
    return {
        "type": "tick",
        "step": step,
        "changed": {"at": step},
        "gone": ["old"],
        "score": {"steps": step},
        "key": 0,
    }


async def page_after(*messages: dict[str, Any]) -> GameWitness:
    page = GameWitness("http://localhost:1", "key", 0)
    for message in messages:
        page.showed(message)
    page.over = True
    return page


async def test_shown_pictures_are_kept_and_lost_ones_are_not() -> None:
    page = await page_after(whole(0, 0, "a"), tick(1), tick(2), tick(3), whole(1, 1, "b", 2), tick(2))
    assert page.shown["views"] == [
        (0, {"at": 0, "old": 1}, {"points": 0, "steps": 0}),
        (1, {"at": 1, "old": 1}, {"points": 0, "steps": 1}),
        (2, {"at": 2}, {"points": 0, "steps": 2}),
    ]
    assert page.losses == [(2, 2)] and page.faults == []
    assert page.address_query() == "?seen=b.1.1.2"


async def test_a_loss_that_is_not_told_or_too_long_is_a_fault() -> None:
    most = MOST_LOST_MS // TICK_MS
    ticks = [tick(step) for step in range(1, most + 2)]
    for last, told, faults in ((most, most, 0), (most, 0, 1), (most, most + 1, 1), (most + 1, most + 1, 1)):
        page = await page_after(whole(0, 0, "a"), *ticks[:last], whole(0, 0, "b", told))
        assert len(page.faults) == faults


async def test_a_game_that_has_not_ended_is_a_fault() -> None:
    series = GameSeries("http://localhost:1", [["key"]])
    page = await page_after(whole(0, 0, "a"), tick(1))
    page.over = False
    series.games.append(page)
    assert series.faults == ["a game in real time has not ended, after step 1"]
    assert series.told.startswith("1 games in real time: 2 steps were shown; 0 more were lost in 0 deaths")
    assert rounds(59) == 1 and rounds(61) == 2
