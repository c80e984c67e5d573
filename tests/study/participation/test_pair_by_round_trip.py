"""Which open group of a lobby people join if they are paired by their round trips."""

from __future__ import annotations

import pytest

from study.participants.models import GroupMember, Participant
from study.participation.pair_by_round_trip import NEAR_MS, OpenGroup, nearest_group
from tests.study.factories import make_shared_study
from tests.study.participation.test_group_lobby import come, episode_of, look, time_passes


def chosen(groups: list[OpenGroup], trip: int | None, waited: float = 0) -> int | None:
    found = nearest_group(groups, trip, waited=waited, lobby_seconds=300)
    return found.number if found else None


def test_the_nearest_group_is_chosen_and_of_equal_ones_the_oldest() -> None:
    groups = [OpenGroup(1, [20], 10), OpenGroup(2, [70, 90], 5), OpenGroup(3, [80], 1)]
    assert chosen(groups, 75) == 2 and chosen(groups, 20) == 1
    assert chosen([], 20) is None


def test_people_who_are_far_apart_meet_only_after_half_of_the_longest_wait() -> None:
    group = OpenGroup(4, [20], 0)
    assert chosen([group], 20 + NEAR_MS) == 4 and chosen([group], 21 + NEAR_MS) is None
    assert chosen([group], 400, waited=150) == 4
    assert chosen([group._replace(waited=150)], 400) == 4


def test_a_time_that_was_not_measured_is_near_to_all() -> None:
    assert chosen([OpenGroup(1, [None], 0), OpenGroup(2, [300], 0)], None) == 1
    assert chosen([OpenGroup(1, [], 0)], 700) == 1


@pytest.mark.django_db
def test_in_the_lobby_near_people_play_together_and_far_ones_after_half_the_wait() -> None:
    study = make_shared_study(conditions=1, pairs_by_trip=True, lobby_seconds=100)
    near, far, nearer, farther = (come(study, name) for name in ("near", "far", "nearer", "farther"))
    trips = {near: 20, far: 200, nearer: 40, farther: 400}
    for person, trip in trips.items():
        Participant.objects.filter(pk=person.pk).update(round_trip_ms=trip)
    assert look(near) and look(far)
    assert GroupMember.objects.values("group").distinct().count() == 2
    look(nearer)
    assert episode_of(near) and episode_of(near) == episode_of(nearer) and not episode_of(far)
    assert look(farther) and look(far)
    time_passes(51)
    assert look(far) is None
    assert episode_of(far) and episode_of(far) == episode_of(farther)
