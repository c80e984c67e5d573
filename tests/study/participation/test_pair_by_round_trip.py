"""Which open group of a lobby people join if they are paired by their round trips."""

from __future__ import annotations

import pytest

from study.participants.models import Group, GroupMember, Participant
from study.participation import group_lobby
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


def test_an_empty_group_is_taken_only_if_nobody_else_can_be_met() -> None:
    groups = [OpenGroup(2, [200], 200), OpenGroup(3, [], 0)]
    assert chosen(groups, 20, waited=200) == 2 and chosen(groups, 190) == 2
    assert chosen([OpenGroup(2, [200], 0), OpenGroup(3, [], 0)], 20) == 3


def far_apart(people: int) -> list[Participant]:
    """So many people of one study, each of whom waits in a group of their own."""
    study = make_shared_study(conditions=1, people=people, pairs_by_trip=True, lobby_seconds=100)
    persons = [come(study, f"p{number}") for number in range(people)]
    for number, person in enumerate(persons):
        Participant.objects.filter(pk=person.pk).update(round_trip_ms=20 + 200 * number)
        assert look(person)
    assert Group.objects.count() == people
    return persons


@pytest.mark.django_db
def test_three_people_who_are_far_apart_play_together_and_leave_no_empty_group() -> None:
    persons = far_apart(3)
    time_passes(51)
    assert look(persons[0]) and look(persons[1])
    assert look(persons[2]) is None
    assert len({episode_of(person) for person in persons}) == 1 and Group.objects.count() == 1


@pytest.mark.django_db
def test_nobody_leaves_a_group_that_somebody_joined_at_the_same_moment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, second = far_apart(2)
    time_passes(51)
    join = group_lobby._join

    def join_after_the_other(person: Participant, earlier: GroupMember | None = None) -> GroupMember:
        monkeypatch.setattr(group_lobby, "_join", join)
        assert look(first) is None
        return join(person, earlier)

    monkeypatch.setattr(group_lobby, "_join", join_after_the_other)
    assert look(second) is None
    assert episode_of(first) and episode_of(first) == episode_of(second)
    assert GroupMember.objects.filter(group__formed_at__isnull=False).count() == 2


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
