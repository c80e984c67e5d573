"""Let participants who play together wait for one another in a lobby, and form their groups.

A participant joins the oldest group that has room, or founds a new group. If the team pairs people by their
round trips, it is the nearest group (`pair_by_round_trip`). All members have the same remaining
conditions, language, and version of the design. They follow the founder's order of conditions. The first
member waits for a limited time (`Team.lobby_seconds`). After that, `Team.unfilled` decides: agents take the
empty places, or the waiting members leave and are paid.

Locks are taken in this order: the participant, the study (only to find a group), the group.
"""

# A *group* is formed at the first shared round. A participant joins the oldest group that has room and fits.
# Its members must have the same conditions left, the same language and the same design version. If there is
# none, the participant founds a group. Human participants, synthetic participants and staff form separate
# groups. All members follow the founder's order of conditions, and the sequence counts once for each member.
# A group that has begun to play takes no new member.
#
# A member is present as long as their page sends signals (`AWAY_SECONDS`). The first member waits for a
# limited time (`Team.lobby_seconds`), which does not run while a member still plays. When the time is over,
# or nobody else can come, `Team.unfilled` decides: agents take the empty seats, or the waiting members leave
# and are paid. A member who comes later plays with agents only, and meets the others in the next round.
#
# Locks are taken in one order: the participant, the study (only to find a group), the group. Leaving a study
# uses the same order. Rows of other participants change only while the group is locked.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from django.db import transaction
from django.db.models import F, Max, Q, Sum
from django.utils import timezone

from kitchen.play.models import Episode
from study.design.blueprint import solo_condition
from study.design.condition_seats import people_in
from study.design.models import Study
from study.design.page_and_item_order import LOBBY
from study.design.team_organisation import LEAVE, Team, team_of
from study.participants.end_and_erase_participation import participant_end
from study.participants.models import AWAY_SECONDS, Group, GroupMember, PageVisit, Participant, Round
from study.participants.next_page import CurrentPage, ParticipantProgress
from study.participants.participant_notifications import notify_staff
from study.participation.page_progress import lock_participant
from study.participation.pair_by_round_trip import OpenGroup, nearest_group
from study.participation.round_planning import create_shared_episode, must_wait, study_budget

MOVED = 1000
"""Offset for the positions of rounds while they are reordered, so that no two rounds share a position."""
TRIES = 3


@dataclass(frozen=True, slots=True)
class LobbyState:
    """The state of the lobby, as one waiting participant sees it."""

    present: int
    """Number of people who are present."""
    awaited: int
    """Number of people expected; in later rounds, the members of the group who still take part."""
    seconds_left: float
    """Seconds until the episode begins, or the wait ends, without the missing people."""
    leaves: bool
    """True if those who came leave when the time is over."""
    seconds_waited: float
    """Seconds since this participant came to the lobby."""
    plays: bool
    """True if a member of the group still plays. The time to wait begins after that."""


class _ChangedError(Exception):
    """A person who was about to play has just left or lost their place."""


def look_at_lobby(*, participant_id: int) -> LobbyState | None:
    """Record that the participant is in the lobby, and return the lobby's state.

    Return None if the lobby is no longer the participant's page, for example because this call started the
    episode. Raises Participant.DoesNotExist if the data were erased.
    """
    for _ in range(TRIES - 1):
        try:
            return _look(participant_id)
        except _ChangedError:
            continue
    return _look(participant_id)


@transaction.atomic
def _look(participant_id: int) -> LobbyState | None:
    person = lock_participant(participant_id)
    if ParticipantProgress(person).place.page != LOBBY:
        return None
    if person.study.budget_id is None:  # creating the budget locks the study
        person.study.budget = study_budget(person.study)
    member = _meet_nearest(person) or _membership(person)
    group, place, now = member.group, ParticipantProgress(person).place, timezone.now()
    _seen(member, person, place.position, now)
    return _Lobby(person, group, place, now).decide()


def _seen(member: GroupMember, person: Participant, position: int, now: datetime) -> None:
    if member.position != position or member.seen_at <= now - AWAY_SECONDS:
        member.position, member.came_at = position, now
    member.seen_at = person.active_at = now
    member.save(update_fields=["position", "came_at", "seen_at"])
    person.save(update_fields=["active_at"])


@transaction.atomic
def leave_lobby(*, participant_id: int, load: int) -> bool:
    """Record that the participant closed the lobby's page. The participant is then absent until the page
    sends a signal again.

    `load` is the load count of the closed page. Return False, and change nothing, if the page was loaded
    again since.
    """
    person = lock_participant(participant_id)
    if load != lobby_loads(person):
        return False
    GroupMember.objects.filter(participant=person).update(seen_at=timezone.now() - AWAY_SECONDS)
    return True


def lobby_loads(person: Participant) -> int:
    """Return how often the participant loaded the lobby's page."""
    pages = PageVisit.objects.filter(participant=person, page=LOBBY).order_by()
    return int(pages.aggregate(loads=Sum("loads"))["loads"] or 0)


class _Lobby:
    """A locked group at one of its rounds, from the view of one member."""

    def __init__(self, person: Participant, group: Group, place: CurrentPage, now: datetime) -> None:
        assert place.round  # noqa: S101 - the flow leads here with a round only
        self.person, self.group, self.round, self.now = person, group, place.round, now
        plan = person.version.blueprint.condition(place.round.condition.key)
        self.plan = solo_condition(plan) if person.preview else plan
        self.team: Team = team_of(self.plan.organisation)
        self.seats = people_in(self.plan)
        self.members = list(group.members.select_related("participant"))
        self.present = [one for one in self.members if self._is_here(one)]
        self.me = next(one for one in self.members if one.participant_id == person.pk)

    def _is_here(self, one: GroupMember) -> bool:
        heard = one.seen_at > self.now - AWAY_SECONDS
        is_here = heard and one.position == self.round.position and self._takes_part(one)
        return is_here and self._has_seat(one)

    def _has_seat(self, one: GroupMember) -> bool:
        """Return True if this member of the group has a seat in the condition. Return False if the
        condition has fewer people than the group."""
        return one.place < len(self.seats)

    def _takes_part(self, one: GroupMember) -> bool:
        return one.participant.status == Participant.Status.ACTIVE

    @property
    def awaited(self) -> int:
        """Return how many people the group needs before the round begins."""
        if self.group.formed_at is None:
            return self.group.size
        return sum(self._takes_part(one) and self._has_seat(one) for one in self.members)

    @property
    def seconds_left(self) -> float:
        """Return how many seconds of waiting are left before the round begins without the missing people.
        Waiting starts when the first member present has come.

        The time does not run while a member of the group still plays another round.
        """
        since = max([min(one.came_at for one in self.present), *self._played_until])
        return (since + timedelta(seconds=self.team.lobby_seconds) - self.now).total_seconds()

    @cached_property
    def _played_until(self) -> list[datetime]:
        """Return when the active members of the group finished their earlier episodes; now for an episode
        that still runs. Episodes that a member gave up are left out. Return an empty list if the group has
        not formed yet."""
        if self.group.formed_at is None:
            return []
        members = [one.participant_id for one in self.members if self._takes_part(one)]
        rounds = Round.objects.filter(participant__in=members).exclude(episode=None).select_related("episode")
        played = [one.episode for one in rounds if one.episode and not one.is_given_up]
        now = Episode.Status.PLAYING
        ends = [self.now if episode.status == now else episode.ended_at for episode in played]
        return [end for end in ends if end]

    def decide(self) -> LobbyState | None:
        """Open the episode, end the participation, or keep waiting. Return the state of the lobby for
        waiting, and None otherwise. While the study's budget cannot pay for the episode, everybody waits."""
        alone = self._has_begun() or self.person.preview or not self._has_seat(self.me)
        if alone and not self._are_too_few(1):
            return None if self._opens([self.me]) else self._state()
        short = self.group.formed_at is not None and self._are_too_few(self.awaited)
        over = not alone and self.seconds_left <= 0
        if alone or short or (over and self._are_too_few(len(self.present))):
            participant_end(participant_id=self.person.pk, status=Participant.Status.UNMATCHED)
            return None
        ready = over or len(self.present) >= self.awaited
        return None if ready and self._opens(self.present) else self._state()

    def _opens(self, players: Sequence[GroupMember]) -> bool:
        """Create the episode for these players. Return False, without a change, if the study's budget cannot
        pay for it."""
        if must_wait(self.person, self.round, sorted(self._taken(players).values()), locks=True):
            return False
        self._open(players)
        return True

    def _taken(self, players: Sequence[GroupMember]) -> dict[int, int]:
        """Return the seat of each of these players, by participant id."""
        return {one.participant_id: self.seats[one.place if self._has_seat(one) else 0] for one in players}

    def _state(self) -> LobbyState:
        """Return the state of the lobby for somebody who waits."""
        leaves = self.team.unfilled == LEAVE
        plays = self.now in self._played_until
        waited = (self.now - self.me.came_at).total_seconds()
        return LobbyState(len(self.present), self.awaited, self.seconds_left, leaves, waited, plays)

    def _are_too_few(self, people: int) -> bool:
        """Return True if this number of people is too small to play, because no agent takes the empty seats.
        In a staff preview it never is: co-players take all other seats."""
        few = people < len(self.seats) and self.team.unfilled == LEAVE
        return few and not self.person.preview

    def _has_begun(self) -> bool:
        """Return True if the other members have already begun this round without this participant."""
        members = [one.participant_id for one in self.members]
        rounds = Round.objects.filter(participant__in=members, condition=self.round.condition_id)
        return rounds.exclude(episode=None).exists()

    def _open(self, players: Sequence[GroupMember]) -> None:
        """Create the episode for these players. If the group has not formed yet, its absent members leave
        the group."""
        if self.group.formed_at is None:
            self.group.formed_at = self.now
            self.group.save(update_fields=["formed_at"])
            self.group.members.exclude(pk__in=[one.pk for one in players]).delete()
        taken = self._taken(players)
        episode = create_shared_episode(self.group, self.person, self.plan, sorted(taken.values()))
        for participant_id, seat in taken.items():
            theirs = Round.objects.filter(participant=participant_id, condition=self.round.condition_id)
            if not theirs.filter(episode=None).update(episode=episode, seat=seat):
                raise _ChangedError
        waited = PageVisit.objects.filter(participant__in=taken, page=LOBBY, position=self.round.position)
        waited.filter(done_at=None).update(done_at=self.now)
        for one in players:
            notify_staff(one.participant)


def _membership(person: Participant) -> GroupMember:
    """Return the participant's membership in a group. If there is none, the participant joins a group or
    founds one. The group stays locked until the transaction ends."""
    member = GroupMember.objects.filter(participant=person).first()
    if member is None:
        return _join(person)
    list(Group.objects.select_for_update().filter(pk=member.group_id))
    member = GroupMember.objects.filter(participant=person).select_related("group").first()
    if member is None:  # the member was removed as absent; the study must not be locked after the group
        raise _ChangedError
    return member


def _meet_nearest(person: Participant) -> GroupMember | None:
    """If the participant waits alone because of their round trip, and may join another group by now, move
    them there. Return their membership, or None if nobody else waits.

    Call this before the group is locked, because it locks the study.
    """
    member = GroupMember.objects.filter(participant=person).first()
    if member is None or not _pairs_by_trip(person) or not _waits_alone(member):
        return None
    others = GroupMember.objects.exclude(pk=member.pk)
    elsewhere = others.filter(group__study=person.study_id, group__formed_at=None)
    return _join(person, member) if elsewhere.exists() else None


def _waits_alone(member: GroupMember) -> bool:
    """Return whether the member's group has not formed yet and has no other member."""
    group = Group.objects.filter(pk=member.group_id, formed_at=None)
    return group.exists() and not member.group.members.exclude(pk=member.pk).exists()


def _team_ahead(person: Participant) -> Team:
    """Return the team settings of the next round that the participant plays."""
    ahead = next(one for one in ParticipantProgress(person).rounds if one.answered_at is None)
    return team_of(person.version.blueprint.condition(ahead.condition.key).organisation)


def _pairs_by_trip(person: Participant) -> bool:
    return _team_ahead(person).pairs_by_trip and not person.preview


def _join(person: Participant, earlier: GroupMember | None = None) -> GroupMember:
    """Add the participant to an open group that has room for them. If there is none, create a new group.
    `earlier` is their membership in a group that has no other member. They keep it if they find no group, or
    if somebody has joined that group meanwhile."""
    Study.objects.select_for_update().get(pk=person.study_id)  # one at a time: nobody founds a second group
    if earlier:
        earlier = GroupMember.objects.filter(participant=person).first()
        if earlier and not _waits_alone(earlier):
            return _membership(person)
    left = [one for one in ParticipantProgress(person).rounds if one.answered_at is None]
    keys = [one.condition.key for one in left]
    size = len(people_in(person.version.blueprint.condition(keys[0])))
    alike = {name: getattr(person, name) for name in ("study", "version", "language", "synthetic", "preview")}
    groups = Group.objects.select_for_update().filter(**alike, size=size, formed_at=None).order_by("number")
    others = [group for group in groups if earlier is None or group.pk != earlier.group_id]
    open_groups = [group for group in others if _has_room(group, keys)]
    if earlier:  # an empty group is no better than their own
        open_groups = [group for group in open_groups if group.members.exists()]
    if group := _chosen_group(person, open_groups, earlier):
        _take_order(person, group, left)
        place = min(set(range(size)) - set(group.members.values_list("place", flat=True)))
        kept = {"position": earlier.position, "came_at": earlier.came_at} if earlier else {}
        GroupMember.objects.filter(participant=person).delete()
        if earlier:
            Group.objects.filter(pk=earlier.group_id).delete()
        return GroupMember.objects.create(group=group, participant=person, place=place, **kept)
    if earlier:
        return GroupMember.objects.select_related("group").get(pk=earlier.pk)
    last = Group.objects.filter(study=person.study_id).aggregate(last=Max("number"))["last"] or 0
    founded = Group.objects.create(**alike, number=last + 1, size=size, order=keys, sequence=person.sequence)
    return GroupMember.objects.create(group=founded, participant=person, place=0)


def _has_room(group: Group, keys: Sequence[str]) -> bool:
    """Remove the absent members of a locked group. Return whether somebody with these remaining conditions
    can then join it."""
    unheard = Q(seen_at__lte=timezone.now() - AWAY_SECONDS)
    group.members.filter(unheard | ~Q(participant__status=Participant.Status.ACTIVE)).delete()
    return set(group.order) == set(keys) and group.members.count() < group.size


def _chosen_group(person: Participant, groups: Sequence[Group], earlier: GroupMember | None) -> Group | None:
    """Return the oldest of these groups or, if the team pairs people by round trips, the nearest one that
    the participant may join now. None if there is none."""
    if not groups or not _pairs_by_trip(person):
        return next(iter(groups), None)
    by_number = {group.number: group for group in groups}
    found = nearest_group(
        [_as_open(group) for group in groups],
        person.round_trip_ms,
        waited=_seconds_waited(earlier) if earlier else 0.0,
        lobby_seconds=_team_ahead(person).lobby_seconds,
    )
    return by_number[found.number] if found else None


def _seconds_waited(member: GroupMember) -> float:
    return (timezone.now() - member.came_at).total_seconds()


def _as_open(group: Group) -> OpenGroup:
    members = list(group.members.select_related("participant"))
    trips = [one.participant.round_trip_ms for one in members]
    return OpenGroup(group.number, trips, max(map(_seconds_waited, members), default=0.0))


def _take_order(person: Participant, group: Group, left: Sequence[Round]) -> None:
    """Give the participant the group's order of conditions for the remaining rounds. The id of the group's
    sequence is stored with the participant."""
    first, rounds = left[0].position, {one.condition.key: one.pk for one in left}
    if list(rounds) == list(group.order):
        return
    Round.objects.filter(pk__in=rounds.values()).update(position=F("position") + MOVED)
    for number, key in enumerate(group.order):
        Round.objects.filter(pk=rounds[key]).update(position=first + number)
    person.sequence = group.sequence
    person.save(update_fields=["sequence"])
