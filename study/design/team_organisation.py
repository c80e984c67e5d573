"""Who plays in a condition and who may command or write to whom, as its settings say. Imports no models.

In a condition without such settings one agent commands all teammates, and nobody writes to anybody. A
condition with them has a `Team`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Strict, TypeAdapter

from kitchen.contract.data_files import DataSource, Record
from kitchen.contract.organisation import Member, Organisation, Pair, make_organisation
from kitchen.contract.world import Json, SettingsError
from kitchen.play.episode.absent_players import MAX_MISSED_STEPS
from kitchen.play.episode.create_episode import MindPlan, members_of_plans
from kitchen.words.translation import gettext_noop

SeatCount = Annotated[tuple[int, ...], Strict(False)]
REPLACE, LEAVE, END = "coplayer", "leave", "end"
"""What becomes of the places of people who do not come, or who are gone: a co-player of the condition's kind
plays there; or those who came leave the study, paid; or the episode ends."""
UNFILLED_LABEL, ABSENT_LABEL = (
    "When not all have come by then",
    "When somebody is gone, or leaves, while others play",
)
UNFILLED = {
    REPLACE: "A co-player, as chosen above, plays for each who is missing",
    LEAVE: "Those who came are thanked, given their code, and leave",
}
ABSENT = {
    REPLACE: "A co-player, as chosen above, takes their place",
    END: "The episode ends; the others go on with what comes next",
}
"""What researchers read of it: what is asked, and what can be chosen."""
SOONEST, LATEST = 5, 3600
"""Bounds of `lobby_seconds`."""
Pairs = Annotated[tuple[Annotated[Pair, Strict(False)], ...], Strict(False)]


class CoplayerPlan(Record):
    """A co-player of its own for some of the teammates."""

    seats: SeatCount
    coplayer: str
    settings: dict[str, Json] = {}


class Team(Record):
    """What a condition says of its organisation (`kitchen.contract.organisation`)."""

    kind: str = "central"
    settings: dict[str, Json] = {}
    members: Annotated[tuple[CoplayerPlan, ...], Strict(False)] = ()
    """Co-players beside the condition's own, which has all teammates that none of these has."""
    leads: int = 0
    """The seat of whom a tree or a chain begins with: 0 is the participant."""
    apart: bool = False
    """The participant has no seat of the world, and leads: all seats are the teammates'. They are the first
    member, with the number after the last seat."""
    commands: Pairs = ()
    writes: Pairs = ()
    people: SeatCount = (0,)
    """The seats of people; co-players have all others. Several people meet in a lobby first."""
    lobby_seconds: int = 300
    """For so long whoever came first waits for the others there."""
    unfilled: str = REPLACE
    """What then becomes of the places that are left: `coplayer` or `leave`."""
    absent_steps: int = 3
    """Turns missed in a row after which somebody is gone, where people have a clock; 0 for never."""
    absent: str = REPLACE
    """What becomes of the seat of who is gone, or leaves, while others play on: `coplayer` or `end`."""

    @property
    def is_shared(self) -> bool:
        """Several people play in one episode."""
        return len(self.people) > 1

    def check_people(self, seats: int) -> None:
        """SettingsError if people cannot sit there, or what is said of them cannot be."""
        if self.apart and self.people != (0,):
            raise SettingsError("people: where the participant only leads, nobody else is a person")
        if (
            not self.people
            or len(set(self.people)) != len(self.people)
            or not set(self.people) <= set(range(seats))
        ):
            raise SettingsError(
                f"people: {list(self.people)} are not different ones of the seats 0 to {seats - 1}"
            )
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


_TEAM = TypeAdapter(Team)
LEAD = gettext_noop("Lead")
"""How somebody without a seat is called."""


def is_apart(organisation: Mapping[str, Json]) -> bool:
    """Whether the participant of such a condition has no seat of the world."""
    return organisation.get("apart") is True


def team_of(organisation: Mapping[str, Json]) -> Team:
    """What a condition's field says; DataError, in words."""
    return DataSource("organisation").read(_TEAM, dict(organisation))


def people_of(organisation: Mapping[str, Json]) -> tuple[int, ...]:
    """The seats of people, by number: one, the first, where nothing is said of it."""
    return tuple(sorted(team_of(organisation).people)) if organisation else (0,)


def team_minds(
    organisation: Mapping[str, Json], coplayer: str, settings: Mapping[str, Json], seats: Sequence[int]
) -> list[MindPlan]:
    """The co-players of these seats: those of their own, and for the others the condition's, one for all of
    them together where it is `central`, else one for each. SettingsError where they do not fit."""
    team = team_of(organisation)
    named = [seat for each in team.members for seat in each.seats]
    if len(set(named)) != len(named) or not set(named) <= set(seats):
        raise SettingsError(f"members: seats {named} are not different ones of {list(seats)}")
    if any(not each.seats for each in team.members):
        raise SettingsError("members: a co-player of its own needs a seat")
    left = [seat for seat in seats if seat not in named]
    together = [tuple(left)] if team.kind == "central" and left else [(seat,) for seat in left]
    own = [MindPlan(each.coplayer, tuple(sorted(each.seats)), dict(each.settings)) for each in team.members]
    usual = [MindPlan(coplayer, each, dict(settings)) for each in together]
    return sorted([*own, *usual], key=lambda mind: mind.seats)


def team_organisation(
    organisation: Mapping[str, Json], minds: Sequence[MindPlan], seats: int
) -> Organisation | None:
    """What these co-players and the people in the other seats may do with one another; None where a condition
    says nothing of it. SettingsError, in words."""
    if not organisation:
        return None
    team = team_of(organisation)
    members = members_of_plans(minds, seats=seats)
    made = make_organisation(
        team.kind,
        _led(members, seats, team) if team.apart else _in_order(members, team.leads),
        seats=seats,
        settings=team.settings,
        commands=team.commands,
        writes=team.writes,
    )
    if team.apart and not made.commanded_by(seats):
        raise SettingsError(
            "apart: who leads without a place in the game has to be one who may command somebody"
        )
    return made


def _led(members: Sequence[Member], seats: int, team: Team) -> list[Member]:
    """The participant, who has no seat, and then the others."""
    if team.leads:
        raise SettingsError("leads: it is the participant who leads where they have no place in the game")
    if not members:
        raise SettingsError("apart: who leads needs a teammate")
    return [Member(seats, (), is_person=True, name=LEAD), *members]


def _in_order(members: Sequence[Member], leads: int) -> list[Member]:
    """The one in this seat first, the others by number."""
    if not any(leads in member.seats for member in members):
        raise SettingsError(f"leads: nobody has the seat {leads}")
    return sorted(members, key=lambda member: (leads not in member.seats, member.number))
