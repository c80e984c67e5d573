"""From a condition's settings to seats and minds: what a round's episode is made of. Imports no models."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from kitchen.contract.agent import Agent
from kitchen.contract.organisation import Organisation
from kitchen.contract.world import Json, SettingsError
from kitchen.play.absence import Absence
from kitchen.play.creating import MindPlan
from kitchen.registry.agents import get_agent, make_agent, plays
from kitchen.registry.names import UnknownNameError
from kitchen.registry.worlds import get_world
from study.design.team import END, REPLACE, people_of, team_minds, team_of, team_organisation

NOBODY = "none"
"""The kind of co-player of a condition in which the participant plays alone."""


class Played(Protocol):
    """A condition, as a row or as a plan: who plays in it."""

    coplayer: str
    coplayer_settings: Mapping[str, Json]
    teammates: int
    organisation: Mapping[str, Json]


def people_in(played: Played) -> tuple[int, ...]:
    """The seats of people, by number."""
    return people_of(played.organisation)


def is_shared(played: Played) -> bool:
    """Whether several people play in one episode."""
    return len(people_in(played)) > 1


def mind_plans(played: Played, people: Collection[int] | None = None) -> list[MindPlan]:
    """Who plays beside the people: one mind that commands all other seats, those that its organisation names,
    or nobody. Where not all came for whom there are seats, but only these `people`, each of the others' has a
    mind of its own. SettingsError where these do not fit."""
    planned = people_in(played)
    seats = [seat for seat in range(played.teammates + 1) if seat not in planned]
    own = dict(played.coplayer_settings)
    missing = [seat for seat in planned if people is not None and seat not in people]
    if played.coplayer == NOBODY and missing:
        raise SettingsError("co-player: there is none for who did not come")
    instead = [MindPlan(played.coplayer, (seat,), own) for seat in missing]
    if played.coplayer == NOBODY or not seats:
        return instead
    if not played.organisation:
        return [MindPlan(played.coplayer, tuple(seats), own)]
    usual = team_minds(played.organisation, played.coplayer, played.coplayer_settings, seats)
    return sorted([*usual, *instead], key=lambda mind: mind.seats)


def organisation_planned(played: Played, people: Collection[int] | None = None) -> Organisation | None:
    """What those who play may do with one another, `people` as in `mind_plans`; None where nothing is said of
    it. SettingsError."""
    minds = mind_plans(played, people)
    return team_organisation(played.organisation, minds, played.teammates + 1)


def absence_planned(played: Played) -> Absence | None:
    """What becomes of the seat of somebody who is gone; None where one person plays."""
    if not is_shared(played):
        return None
    team = team_of(played.organisation)
    if team.absent == END:
        return Absence(team.absent_steps or None)
    return Absence(team.absent_steps or None, played.coplayer, dict(played.coplayer_settings))


def minds_of(played: Played) -> list[tuple[MindPlan, Agent]]:
    """The minds beside the participant; none where they play alone. SettingsError or UnknownNameError for one
    that cannot be made."""
    return [(plan, make_agent(plan.kind, plan.settings)) for plan in mind_plans(played)]


def condition_cautions(played: Played) -> tuple[str, ...]:
    """What will keep the co-players from playing as they are set up, in whole sentences; nothing for those
    that cannot be played at all (`condition_check` says so)."""
    try:
        minds = minds_of(played)
    except (SettingsError, UnknownNameError):
        return ()
    return tuple(dict.fromkeys(caution for _, mind in minds for caution in mind.cautions()))


def condition_remarks(played: Played) -> tuple[str, ...]:
    """What of the co-players' settings comes to nothing, likewise."""
    try:
        minds = minds_of(played)
    except (SettingsError, UnknownNameError):
        return ()
    return tuple(dict.fromkeys(remark for _, mind in minds for remark in mind.remarks()))


def condition_refusal(played: Played) -> None:
    """SettingsError, in words, for settings that are not to be chosen any more; who has them plays by them.
    SettingsError or UnknownNameError for a co-player that cannot be made."""
    for _, mind in minds_of(played):
        if why := mind.refusal():
            raise SettingsError(why)


def condition_check(
    *,
    world: str,
    settings: Mapping[str, Json],
    coplayer: str,
    coplayer_settings: Mapping[str, Json],
    teammates: int,
    organisation: Mapping[str, Json] | None = None,
) -> None:
    """SettingsError or UnknownNameError, in words, if this condition cannot be played."""
    kind = get_world(world)
    if not kind.min_seats <= teammates + 1 <= kind.max_seats:
        fitting = f"{kind.min_seats - 1} to {kind.max_seats - 1}"
        raise SettingsError(
            f"teammates: {teammates} do not fit, {world} takes {fitting} beside the participant"
        )
    kind.create(seats=teammates + 1, settings=settings)
    if (coplayer == NOBODY) != (teammates == 0) and not (teammates and _all_people(organisation, teammates)):
        raise SettingsError("teammates: choose a co-player and at least one teammate, or neither")
    if coplayer != NOBODY:
        if not plays(get_agent(coplayer), world):
            raise SettingsError(f"co-player: {coplayer} cannot play {world}")
        make_agent(coplayer, coplayer_settings)
    if organisation:
        _check_team(organisation, world, coplayer, coplayer_settings, teammates)


def _all_people(organisation: Mapping[str, Json] | None, teammates: int) -> bool:
    """Whether no co-player is needed: people have all seats, and nobody stands in for who is gone."""
    if not organisation:
        return False
    team = team_of(organisation)
    return len(team.people) == teammates + 1 and REPLACE not in (team.unfilled, team.absent)


def _check_team(
    organisation: Mapping[str, Json],
    world: str,
    coplayer: str,
    coplayer_settings: Mapping[str, Json],
    teammates: int,
) -> None:
    team = team_of(organisation)
    team.check_people(teammates + 1)
    seats = [seat for seat in range(teammates + 1) if seat not in team.people]
    minds = team_minds(organisation, coplayer, coplayer_settings, seats)
    for mind in minds:
        if not plays(get_agent(mind.kind), world):
            raise SettingsError(f"members: {mind.kind} cannot play {world}")
        make_agent(mind.kind, mind.settings)
    team_organisation(organisation, minds, teammates + 1)
