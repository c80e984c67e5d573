"""Define who plays in a condition, and who may command or write to whom.

The class `Team` holds these settings of a condition. In a condition without them, one agent commands all
teammates, and no player can send messages. The module does not import Django models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Strict, TypeAdapter

from kitchen.contract.data_files import DataSource, Record
from kitchen.contract.organisation import (
    Member,
    Organisation,
    Pair,
    make_organisation,
)
from kitchen.contract.world import Json
from kitchen.contract.world_errors import SettingsError
from kitchen.play.episode.absent_players import MAX_MISSED_STEPS
from kitchen.play.episode.create_episode import MindPlan, members_of_plans
from kitchen.words.gettext_without_django import gettext_noop

SeatCount = Annotated[tuple[int, ...], Strict(False)]
REPLACE, LEAVE, END = "coplayer", "leave", "end"
"""Rules for the seats of people who do not come or leave.

REPLACE: a co-player of the condition's kind plays there. LEAVE: the people who came leave the study and are
paid. END: the episode ends.
"""
UNFILLED_LABEL, ABSENT_LABEL = (
    "If some people have not arrived by then",
    "If somebody is gone or leaves during play",
)
UNFILLED = {
    REPLACE: "The co-player chosen above plays for each missing person",
    LEAVE: "The people who came get their code and leave",
}
ABSENT = {
    REPLACE: "The co-player chosen above takes over",
    END: "The episode ends, and the others continue with the next page",
}
"""The form's labels and choices for researchers."""
SOONEST, LATEST = 5, 3600
"""The bounds of `lobby_seconds`."""
PAIRS_BY_TRIP_LABEL = "Pair people with similar round trips to the server"
Pairs = Annotated[tuple[Annotated[Pair, Strict(False)], ...], Strict(False)]


class CoplayerPlan(Record):
    """A co-player kind and its settings for some of the teammates' seats. Without seats it leads."""

    seats: SeatCount
    coplayer: str
    settings: dict[str, Json] = {}


class Team(Record):
    """The stored team settings of a condition: who plays, and who may command and write to whom (see
    `kitchen.contract.organisation`)."""

    kind: str = "central"
    settings: dict[str, Json] = {}
    members: Annotated[tuple[CoplayerPlan, ...], Strict(False)] = ()
    """Co-players for single seats. The condition's own co-player has all other teammates."""
    leads: int = 0
    """The seat of the member at the top of a tree or the start of a chain. Seat 0 is the participant."""
    apart: bool = False
    """True if the participant leads without a seat in the world. All seats are then the teammates'.

    The participant is the first member, and their number is the one after the last seat.
    """
    commands: Pairs = ()
    writes: Pairs = ()
    people: SeatCount = (0,)
    """The seats of people. Co-players have all others. Several people meet in a lobby first."""
    lobby_seconds: int = 300
    """Number of seconds that the first person waits in the lobby for the others."""
    pairs_by_trip: bool = False
    """True if people in the lobby play with those whose round trip to the server is nearest to theirs."""
    unfilled: str = REPLACE
    """The rule for seats that are then still free: `coplayer` or `leave`."""
    absent_steps: int = 3
    """Number of turns in a row that a person with a clock may miss before the rule `absent` applies. 0 means
    never."""
    absent: str = REPLACE
    """The rule for the seat of a person who has left while others play: `coplayer` or `end`."""

    @property
    def is_led_apart(self) -> bool:
        """Return whether a member without a seat leads: the participant or a co-player."""
        return self.apart or any(not each.seats for each in self.members)

    def check_leader(self) -> None:
        """Raise SettingsError if members without a seat cannot lead here."""
        apart = sum(not each.seats for each in self.members)
        if apart and self.kind not in LED_KINDS:
            raise SettingsError("members: a separate co-player needs a seat")
        if apart + self.apart > 1:
            raise SettingsError("members: only one member can lead without a player")
        if apart and self.leads:
            raise SettingsError("leads: a co-player that controls no player is the leader")

    @property
    def is_shared(self) -> bool:
        """Return whether several people play in one episode."""
        return len(self.people) > 1

    def check_people(self, seats: int) -> None:
        """Raise SettingsError if people cannot have these seats, or if settings about people are invalid."""
        if self.apart and self.people != (0,):
            raise SettingsError("people: if the participant controls no player, nobody else can be a person")
        if (
            not self.people
            or len(set(self.people)) != len(self.people)
            or not set(self.people) <= set(range(seats))
        ):
            raise SettingsError(f"people: {list(self.people)} are not different seats from 0 to {seats - 1}")
        if not SOONEST <= self.lobby_seconds <= LATEST:
            raise SettingsError(f"lobby_seconds: {self.lobby_seconds} is not between {SOONEST} and {LATEST}")
        if not 0 <= self.absent_steps <= MAX_MISSED_STEPS:
            raise SettingsError(f"absent_steps: {self.absent_steps} is not between 0 and {MAX_MISSED_STEPS}")
        for name, said, known in (
            ("unfilled", self.unfilled, (REPLACE, LEAVE)),
            ("absent", self.absent, (REPLACE, END)),
        ):
            if said not in known:
                raise SettingsError(f"{name}: {said} is not one of {', '.join(known)}")


LED_KINDS = ("chain", "custom", "graph", "tree")
"""Kinds of organisation in which a co-player without a seat can lead."""
_TEAM = TypeAdapter(Team)
LEAD = gettext_noop("Lead")
"""The name of a member without a seat."""


def is_apart(organisation: Mapping[str, Json]) -> bool:
    """Return whether the participant only leads and has no seat in the world. `organisation` has a
    condition's stored team settings."""
    return organisation.get("apart") is True


def team_of(organisation: Mapping[str, Json]) -> Team:
    """Return the team that a condition's organisation field describes. Raises DataError if the field is
    invalid."""
    return DataSource("organisation").read(_TEAM, dict(organisation))


def people_of(organisation: Mapping[str, Json]) -> tuple[int, ...]:
    """Return the seat numbers of people, ascending. Without team settings (`organisation` is empty), only
    seat 0 is a person's."""
    return tuple(sorted(team_of(organisation).people)) if organisation else (0,)


def team_minds(
    organisation: Mapping[str, Json], coplayer: str, settings: Mapping[str, Json], seats: Sequence[int]
) -> list[MindPlan]:
    """Return plans for the co-players in these seats, ordered by seat.

    Seats listed in `Team.members` get the co-player named there. The condition's `coplayer` plays the other
    seats. If the team's kind is `central`, one agent has all of them. Otherwise each seat has its own agent.

    Raises SettingsError if the members do not fit the seats.
    """
    team = team_of(organisation)
    named = [seat for each in team.members for seat in each.seats]
    if len(set(named)) != len(named) or not set(named) <= set(seats):
        raise SettingsError(f"members: seats {named} are not different seats of {list(seats)}")
    team.check_leader()
    left = [seat for seat in seats if seat not in named]
    together = [tuple(left)] if team.kind == "central" and left else [(seat,) for seat in left]
    own = [MindPlan(each.coplayer, tuple(sorted(each.seats)), dict(each.settings)) for each in team.members]
    usual = [MindPlan(coplayer, each, dict(settings)) for each in together]
    return sorted([*own, *usual], key=lambda mind: (not mind.seats, mind.seats))


def team_organisation(
    organisation: Mapping[str, Json], minds: Sequence[MindPlan], seats: int
) -> Organisation | None:
    """Return the rules about who may command and write to whom. Return None if the condition has none.
    `minds` are the co-players (agents); people have the other seats. Raises SettingsError if the rules are
    invalid."""
    if not organisation:
        return None
    team = team_of(organisation)
    members = members_of_plans(minds, seats=seats)
    made = make_organisation(
        team.kind,
        _led(members, seats, team) if team.is_led_apart else _in_order(members, team.leads),
        seats=seats,
        settings=team.settings,
        commands=team.commands,
        writes=team.writes,
    )
    if team.apart and not made.commanded_by(seats):
        raise SettingsError("apart: a leader who controls no player must be able to command somebody")
    return made


def _led(members: Sequence[Member], seats: int, team: Team) -> list[Member]:
    """Return the members of a team whose leader has no seat. The leader (the participant or a co-player)
    comes first."""
    if team.apart and team.leads:
        raise SettingsError("leads: if the participant controls no player, the participant is the leader")
    if not members:
        raise SettingsError("apart: a leader needs a teammate")
    return [Member(seats, (), is_person=team.apart, name=LEAD), *members]


def _in_order(members: Sequence[Member], leads: int) -> list[Member]:
    """Return the members with the one in seat `leads` first. The other members follow in the order of their
    numbers."""
    if not any(leads in member.seats for member in members):
        raise SettingsError(f"leads: nobody has the seat {leads}")
    return sorted(members, key=lambda member: (leads not in member.seats, member.number))
