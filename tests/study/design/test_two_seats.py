"""A world that is always played by two, and co-players that do not fit every set-up of it."""

from __future__ import annotations

from typing import Any

import pytest

from kitchen.contract.world_errors import SettingsError
from kitchen.registry.world_registry import WORLDS_VARIABLE, get_kit
from study.design.condition_seats import condition_check
from study.design.parts_other_than_rounds import practice_reaches
from tests.worlds.lane.kit import LINE
from tests.worlds.lane.page import LanePage

GRIDS = "overcooked"


def check(layout: str, coplayer: str, teammates: int = 1) -> None:
    condition_check(
        world=GRIDS,
        settings={"layout": layout},
        coplayer=coplayer,
        coplayer_settings={},
        teammates=teammates,
    )


def test_a_condition_is_played_by_two() -> None:
    check("cramped_room", "greedy")
    with pytest.raises(SettingsError, match="0 do not fit: overcooked needs exactly 1 besides"):
        check("cramped_room", "none", 0)


def test_a_co_player_that_does_not_fit_the_set_up_is_told_with_the_reason() -> None:
    check("counter_circuit_tomato", "grid_planner")
    with pytest.raises(SettingsError, match=r"co-player: greedy cannot play here: .* none is ordered"):
        check("counter_circuit_tomato", "greedy")


def test_who_follows_the_hints_ends_the_practice_that_the_world_brings() -> None:
    practice = get_kit(GRIDS).practice
    assert practice_reaches(GRIDS, practice.settings, practice.until)
    assert not practice_reaches(GRIDS, {**practice.settings, "ticks": 30}, practice.until)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"step_seconds": 5.0}, "the clock of the world takes the steps"),
        ({"world": "lane", "settings": {}, "coplayer": "slow"}, "slow does not keep up with a clock"),
        ({"organisation": {"kind": "pair", "settings": {"within": True}}}, "not in turns or one to one"),
    ],
)
def test_what_a_clock_leaves_no_time_for_is_told(
    more: dict[str, Any], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WORLDS_VARIABLE, LINE)
    clocked = {"layout": "cramped_room", "clock": "tick"}
    fits: dict[str, Any] = {
        "world": GRIDS,
        "settings": clocked,
        "coplayer": "greedy",
        "coplayer_settings": {},
    }
    condition_check(**fits, teammates=1)
    with pytest.raises(SettingsError, match=why):
        condition_check(**{**fits, **more}, teammates=1)


def test_a_condition_with_a_clock_is_refused_where_the_page_supports_turns_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(WORLDS_VARIABLE, LINE)
    monkeypatch.setattr(LanePage, "supports_clock", False)
    lane: dict[str, Any] = {"world": "lane", "coplayer": "walker", "coplayer_settings": {}, "teammates": 1}
    condition_check(**lane, settings={"tick_ms": 0})
    with pytest.raises(SettingsError, match="lane has a clock, but its page"):
        condition_check(**lane, settings={})
