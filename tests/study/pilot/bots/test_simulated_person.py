"""Synthetic participants: who they are and what they answer."""

from __future__ import annotations

from statistics import fmean, pstdev

import pytest

from study.pilot.bots.simulated_person import WEIGHTS, Experience, Person, opinion

ALONE = Experience(teammates=0, success=0.3, output=0.2)
GOOD_TEAM = Experience(teammates=3, success=1.0, output=0.8, expected=0.8)
BAD_TEAM = Experience(teammates=2, success=0.3, output=0.2, expected=0.1)
CROWD = [Person(7, number) for number in range(1, 201)]


def mean_answer(item: str, experience: Experience) -> float:
    return fmean(person.answer(item, range(1, 6), experience, episode=1) for person in CROWD)


def test_the_same_seed_and_number_are_the_same_person() -> None:
    one, again = Person(3, 4), Person(3, 4)
    assert one.temper == again.temper
    for episode in range(1, 6):
        answers = [who.answer("trust", range(1, 8), GOOD_TEAM, episode=episode) for who in (one, again)]
        assert answers[0] == answers[1]


def test_another_seed_or_number_is_somebody_else() -> None:
    assert len({Person(seed, number).temper for seed in range(5) for number in range(20)}) == 100


def test_tempers_are_like_people() -> None:
    assert all(0 < person.temper.skill < 1 for person in CROWD)
    assert all(person.temper.pace > 0 for person in CROWD)
    assert 0.7 < fmean(person.temper.skill for person in CROWD) < 0.9
    assert pstdev(person.temper.leniency for person in CROWD) > 0.05


@pytest.mark.parametrize("points", [range(1, 3), range(1, 6), range(1, 12), [0, 10, 20]])
@pytest.mark.parametrize("item", [*sorted(WEIGHTS), "something_else"])
def test_answers_are_points_of_the_scale(item: str, points: list[int]) -> None:
    for experience in (Experience(), ALONE, GOOD_TEAM, BAD_TEAM):
        for person in CROWD[:40]:
            assert person.answer(item, points, experience, episode=2) in points


@pytest.mark.parametrize("item", sorted(WEIGHTS))
def test_a_good_team_is_rated_above_a_bad_one(item: str) -> None:
    assert mean_answer(item, GOOD_TEAM) > mean_answer(item, BAD_TEAM) + 0.3


@pytest.mark.parametrize("item", ["assisting", "trust", "predictability"])
def test_nobody_is_helped_by_teammates_that_are_not_there(item: str) -> None:
    assert mean_answer(item, ALONE) < 2


def test_an_item_that_is_not_known_is_answered_by_how_it_went() -> None:
    assert opinion("anything", GOOD_TEAM) > opinion("anything", ALONE)


def test_people_differ_in_what_they_answer() -> None:
    answers = {person.answer("enjoyment", range(1, 6), ALONE, episode=1) for person in CROWD}
    assert len(answers) >= 3
