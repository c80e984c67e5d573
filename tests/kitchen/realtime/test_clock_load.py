"""How many episodes a clock process can compute, when it hands some over, and how ticks are spread."""

from __future__ import annotations

from itertools import pairwise

import pytest

from kitchen.realtime.clock_load import (
    FIRST_EPISODES,
    FULL_SECONDS,
    LATE_SECONDS,
    MIN_EPISODES,
    ClockLoad,
    LoadMeter,
    choose_receiver,
    first_due,
    free_phase,
    handed_over,
)


def measured(episodes: int, *late: float, spent: float = 0.0) -> ClockLoad:
    meter = LoadMeter(now=5.0, spent=2.0)
    for one in late:
        meter.ticked(one)
    return meter.measure("me", "channel", episodes, now=6.0, spent=2.0 + spent)


def test_room_is_what_the_processor_time_of_an_episode_leaves() -> None:
    load = measured(30, *100 * [0.001], spent=0.3)
    assert (load.late, load.episodes, load.room) == (0.001, 30, 40)
    assert not load.is_late


def test_a_few_late_ticks_do_not_make_a_process_late_and_a_tenth_does() -> None:
    assert not measured(30, *95 * [0.0], *5 * [1.0]).is_late
    assert measured(30, *89 * [0.0], *11 * [2 * LATE_SECONDS]).is_late
    assert measured(30, *89 * [0.0], *11 * [2 * FULL_SECONDS], spent=0.1).room == 0


def test_a_process_without_episodes_has_room_for_some() -> None:
    assert measured(0).room == FIRST_EPISODES
    assert measured(1, *9 * [1.0]).room == FIRST_EPISODES - 1  # too few ticks to judge


def test_few_episodes_begin_however_late_the_machine_is() -> None:
    assert measured(1, *20 * [1.0], spent=0.9).room == MIN_EPISODES - 1


def test_what_was_late_before_does_not_count_again() -> None:
    meter = LoadMeter(now=5.0, spent=2.0)
    for _ in range(50):
        meter.ticked(1.0)
    assert meter.measure("me", "", 30, now=6.0, spent=2.3).is_late
    for _ in range(50):
        meter.ticked(0.0)
    assert meter.measure("me", "", 30, now=7.0, spent=2.6).late == 0


def load(late: float, episodes: int = 40, room: int = 10, owner: str = "other") -> ClockLoad:
    return ClockLoad(owner, "channel", late, episodes, room)


def test_a_late_process_chooses_the_least_late_of_those_that_have_room() -> None:
    own = load(0.1, owner="me")
    best = load(0.001, episodes=8)
    assert choose_receiver(own, [load(0.02), best, load(0.0, room=0)]) == best
    assert choose_receiver(own, [load(0.06), load(0.0, room=0)]) is None
    assert choose_receiver(load(0.9 * LATE_SECONDS), [best]) is None


@pytest.mark.parametrize(("theirs", "room", "number"), [(8, 20, 8), (40, 20, 1), (60, 20, 1), (0, 3, 3)])
def test_it_hands_over_a_quarter_of_the_difference(theirs: int, room: int, number: int) -> None:
    assert handed_over(load(0.1), load(0.0, theirs, room)) == number


def test_a_load_is_the_same_after_it_was_sent() -> None:
    assert ClockLoad.from_json(load(0.1).to_json()) == load(0.1)


def test_the_ticks_of_many_episodes_are_spread_over_the_interval() -> None:
    dues: list[float] = []
    for number in range(64):
        dues.append(first_due(100.0 + number / 9, 0.2, dues))
        assert 0 <= dues[-1] - (100.0 + number / 9) < 0.2
    phases = sorted(due % 0.2 for due in dues)
    gaps = [later - earlier for earlier, later in pairwise(phases)]
    assert max(gaps) < 1.01 * 2 * 0.2 / 64


def test_a_free_phase_is_between_those_taken() -> None:
    assert free_phase(0.2, []) == 0.0
    assert free_phase(0.2, [7.0]) == pytest.approx(0.1)
    assert free_phase(0.2, [7.0, 7.1]) % 0.1 == pytest.approx(0.05)
