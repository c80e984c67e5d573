"""The lobby where participants who play together wait for each other, and how their groups form.

A *group* is formed at the first shared round. A participant joins the oldest group that has room and
whose members have the same conditions left, the same language and the same design version (people,
synthetic participants and staff apart), or founds one. All of a group have the order of its founder, and
the sequence is counted for each of them. So all of them play each condition at the same time, and orders
are balanced over groups. A group that has begun to play takes in nobody more.

A member is present as long as their page is heard of (`AWAY`). When the first member's time is over
(`Team.lobby_seconds`; it does not run while a member still plays), or nobody can come any more, the
condition decides (`Team.unfilled`): agents take the empty seats, or those who came leave, paid. A member
who comes later plays with agents alone, and meets the others in the next round.

Locks are taken in one order: oneself, the study (only to find a group), the group. Leaving does the
same. Rows of others are only changed while the group is locked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from django.db import transaction
from django.db.models import F, Max, Q, Sum
from django.utils import timezone

from kitchen.play.models import Episode
from study.design.blueprint import ConditionPlan, solo_condition
from study.design.condition_plan import people_in
from study.design.models import Study
from study.design.page_and_item_order import LOBBY
from study.design.team_organisation import LEAVE, Team, team_of
from study.participants.end_participation import participant_end
from study.participants.models import Group, GroupMember, PageVisit, Participant, Round
from study.participants.next_page import CurrentPage, ParticipantProgress
from study.participants.participant_events import notify_staff
from study.participation.page_progress import lock_participant
from study.participation.round_planning import create_shared_episode, study_budget

AWAY_SECONDS = timedelta(seconds=75)
"""Who was not heard of for so long is not in the lobby any more: a page in the background may be let to ask
only once a minute. Who closes theirs says so (`leave_lobby`)."""
MOVED = 1000
"""Rounds that are put in another order are here meanwhile: no two of somebody have one position."""
TRIES = 3


@dataclass(frozen=True, slots=True)
class LobbyState:
    """How it stands in the lobby of somebody who waits."""

    come: int
    """People who are there."""
    awaited: int
    """People for whom there are places; in later rounds, those of the group who still take part."""
    seconds_left: float
    """Until it begins, or ends, without those who are missing."""
    leaves: bool
    """Then those who came leave."""
    plays: bool
    """Somebody of the group still plays; the time runs after that."""


class _ChangedError(Exception):
    """Somebody who was to play has left, or has lost their place, at this moment."""


def look_at_lobby(*, participant_id: int) -> LobbyState | None:
    """Somebody is in their lobby and looks how it stands; None once another page is on, be it that the
    episode has opened with this look. Participant.DoesNotExist if the data were erased."""
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
    if person.study.budget_id is None:  # making it locks the study
        person.study.budget = study_budget(person.study)
    member = _membership(person)
    group, place, now = member.group, ParticipantProgress(person).place, timezone.now()
    _seen(member, person, place.position, now)
    return _Lobby(person, group, place, now).stands()


def _seen(member: GroupMember, person: Participant, position: int, now: datetime) -> None:
    if member.position != position or member.seen_at <= now - AWAY_SECONDS:
        member.position, member.came_at = position, now
    member.seen_at = person.active_at = now
    member.save(update_fields=["position", "came_at", "seen_at"])
    person.save(update_fields=["active_at"])


@transaction.atomic
def leave_lobby(*, participant_id: int, load: int) -> None:
    """Somebody has closed the lobby's page, as it was loaded for this time: they are not there until they are
    heard of again. Where it was loaded again since, they are."""
    person = lock_participant(participant_id)
    if load == lobby_loads(person):
        GroupMember.objects.filter(participant=person).update(seen_at=timezone.now() - AWAY_SECONDS)


def lobby_loads(person: Participant) -> int:
    """How often they have loaded the lobby's page."""
    pages = PageVisit.objects.filter(participant=person, page=LOBBY).order_by()
    return int(pages.aggregate(loads=Sum("loads"))["loads"] or 0)


class _Lobby:
    """A group, held, at one of its rounds, as one of it sees it."""

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
        """Not where a condition has fewer people than the one in which they met."""
        return one.place < len(self.seats)

    def _takes_part(self, one: GroupMember) -> bool:
        return one.participant.status == Participant.Status.ACTIVE

    @property
    def awaited(self) -> int:
        """How many there are to be."""
        if self.group.formed_at is None:
            return self.group.size
        return sum(self._takes_part(one) and self._has_seat(one) for one in self.members)

    @property
    def seconds_left(self) -> float:
        """Of the time of whoever came first, which runs once nobody of the group plays another round."""
        since = max([min(one.came_at for one in self.present), *self._played_until])
        return (since + timedelta(seconds=self.team.lobby_seconds) - self.now).total_seconds()

    @cached_property
    def _played_until(self) -> list[datetime]:
        """When those of a formed group who still take part had played what they were not replaced in; now
        where they play."""
        if self.group.formed_at is None:
            return []
        members = [one.participant_id for one in self.members if self._takes_part(one)]
        rounds = Round.objects.filter(participant__in=members).exclude(episode=None).select_related("episode")
        played = [one.episode for one in rounds if one.episode and not one.is_given_up]
        now = Episode.Status.PLAYING
        ends = [self.now if episode.status == now else episode.ended_at for episode in played]
        return [end for end in ends if end]

    def stands(self) -> LobbyState | None:
        """What comes of it now: the episode, the end, or waiting."""
        alone = self._has_begun() or self._waits_for_nobody or not self._has_seat(self.me)
        if alone and not self._may_not_be_few(1):
            self._open([self.me])
            return None
        short = self.group.formed_at is not None and self._may_not_be_few(self.awaited)
        over = not alone and self.seconds_left <= 0
        if alone or short or (over and self._may_not_be_few(len(self.present))):
            participant_end(participant_id=self.person.pk, status=Participant.Status.UNMATCHED)
            return None
        if over or len(self.present) >= self.awaited:
            self._open(self.present)
            return None
        leaves = self.team.unfilled == LEAVE
        plays = self.now in self._played_until
        return LobbyState(len(self.present), self.awaited, self.seconds_left, leaves, plays)

    def _may_not_be_few(self, people: int) -> bool:
        """So many are too few, and nobody plays in the others' place."""
        few = people < len(self.seats) and self.team.unfilled == LEAVE
        return few and not self._waits_for_nobody

    @property
    def _waits_for_nobody(self) -> bool:
        """Staff who try it out: co-players have the others' places."""
        return self.person.preview

    def _has_begun(self) -> bool:
        """The others began this round without them."""
        members = [one.participant_id for one in self.members]
        rounds = Round.objects.filter(participant__in=members, condition=self.round.condition_id)
        return rounds.exclude(episode=None).exists()

    def _seat(self, one: GroupMember) -> int:
        return self.seats[one.place if self._has_seat(one) else 0]

    def _open(self, players: Sequence[GroupMember]) -> None:
        """Their episode; who is not there is in no group that has yet to form."""
        if self.group.formed_at is None:
            self.group.formed_at = self.now
            self.group.save(update_fields=["formed_at"])
            self.group.members.exclude(pk__in=[one.pk for one in players]).delete()
        taken = {one.participant_id: self._seat(one) for one in players}
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
    """Of the group that this person is in, or joins, or founds; the group is held from here on."""
    member = GroupMember.objects.filter(participant=person).first()
    if member is None:
        return _join(person)
    list(Group.objects.select_for_update().filter(pk=member.group_id))
    member = GroupMember.objects.filter(participant=person).select_related("group").first()
    if member is None:  # they were taken for somebody who is gone; the study is not locked after the group
        raise _ChangedError
    return member


def _join(person: Participant) -> GroupMember:
    Study.objects.select_for_update().get(pk=person.study_id)  # one after another: nobody founds a second one
    left = [one for one in ParticipantProgress(person).rounds if one.answered_at is None]
    keys = [one.condition.key for one in left]
    size = len(people_in(_plan(person, keys[0])))
    for group in _with_room(person, size):
        unheard = Q(seen_at__lte=timezone.now() - AWAY_SECONDS)
        group.members.filter(unheard | ~Q(participant__status=Participant.Status.ACTIVE)).delete()
        used = set(group.members.values_list("place", flat=True))
        if set(group.order) == set(keys) and len(used) < size:
            _take_order(person, group, left)
            place = min(set(range(size)) - used)
            return GroupMember.objects.create(group=group, participant=person, place=place)
    return GroupMember.objects.create(group=_found(person, keys, size), participant=person, place=0)


def _with_room(person: Participant, size: int) -> Sequence[Group]:
    alike = {"study": person.study_id, "version": person.version_id, "language": person.language}
    kind = {"synthetic": person.synthetic, "preview": person.preview}
    groups = Group.objects.select_for_update().filter(**alike, **kind, size=size, formed_at=None)
    return list(groups.order_by("number"))


def _found(person: Participant, keys: Sequence[str], size: int) -> Group:
    last = Group.objects.filter(study=person.study_id).aggregate(last=Max("number"))["last"] or 0
    return Group.objects.create(
        study=person.study,
        version=person.version,
        number=last + 1,
        size=size,
        order=list(keys),
        sequence=person.sequence,
        synthetic=person.synthetic,
        preview=person.preview,
        language=person.language,
    )


def _take_order(person: Participant, group: Group, left: Sequence[Round]) -> None:
    """The rounds that are left come in the order of the group; its sequence is this person's, too."""
    first, rounds = left[0].position, {one.condition.key: one.pk for one in left}
    if list(rounds) == list(group.order):
        return
    Round.objects.filter(pk__in=rounds.values()).update(position=F("position") + MOVED)
    for number, key in enumerate(group.order):
        Round.objects.filter(pk=rounds[key]).update(position=first + number)
    person.sequence = group.sequence
    person.save(update_fields=["sequence"])


def _plan(person: Participant, key: str) -> ConditionPlan:
    return person.version.blueprint.condition(key)
