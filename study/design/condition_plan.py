"""Turn a condition's settings into seats and agents: what an episode is made of, and what is wrong with it.
Imports no models.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Protocol

from kitchen.contract.agent import Agent
from kitchen.contract.drawable_setting import REMARK_CAUTION
from kitchen.contract.organisation import Organisation
from kitchen.contract.world import Json, SettingsError, World
from kitchen.play.episode.absent_players import AbsencePolicy
from kitchen.play.episode.create_episode import MindPlan
from kitchen.registry.agent_registry import can_play, get_agent, make_agent, plays_in_real_time
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_registry import check_clock, get_canvas, get_kit, get_world, organisation_refusal
from study.design.team_organisation import (
    ABSENT,
    ABSENT_LABEL,
    END,
    LEAVE,
    REPLACE,
    UNFILLED,
    UNFILLED_LABEL,
    is_apart,
    people_of,
    team_minds,
    team_of,
    team_organisation,
)

NOBODY = "none"
"""The kind of co-player of a condition in which the participant plays alone."""


class PlayedCondition(Protocol):
    """A condition, as a row or as a plan: who plays in it."""

    coplayer: str
    coplayer_settings: Mapping[str, Json]
    teammates: int
    organisation: Mapping[str, Json]


def seats_of(played: PlayedCondition) -> int:
    """How many seats of the world there are."""
    return played.teammates + (not is_apart(played.organisation))


def people_in(played: PlayedCondition) -> tuple[int, ...]:
    """The seats of people, by number; who leads without one is beyond the last of the world's."""
    return (played.teammates,) if is_apart(played.organisation) else people_of(played.organisation)


def is_shared(played: PlayedCondition) -> bool:
    """Whether several people play in one episode."""
    return len(people_in(played)) > 1


def mind_plans(played: PlayedCondition, people: Collection[int] | None = None) -> list[MindPlan]:
    """Who plays beside the people: one mind that commands all other seats, those that its organisation names,
    or nobody. Where not all came for whom there are seats, but only these `people`, each of the others' has a
    mind of its own, after the usual ones: those are numbered, and have their chance, as where all came.
    SettingsError where these do not fit."""
    planned = people_in(played)
    seats = [seat for seat in range(seats_of(played)) if seat not in planned]
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
    return [*usual, *instead]


def planned_organisation(
    played: PlayedCondition, people: Collection[int] | None = None
) -> Organisation | None:
    """What those who play may do with one another, `people` as in `mind_plans`; None where nothing is said of
    it. SettingsError."""
    return team_organisation(played.organisation, mind_plans(played, people), seats_of(played))


def planned_absence(played: PlayedCondition) -> AbsencePolicy | None:
    """What becomes of the seat of somebody who is gone; None where one person plays."""
    if not is_shared(played):
        return None
    team = team_of(played.organisation)
    if team.absent == END:
        return AbsencePolicy(team.absent_steps or None)
    return AbsencePolicy(team.absent_steps or None, played.coplayer, dict(played.coplayer_settings))


def stand_ins(played: PlayedCondition) -> list[MindPlan]:
    """Who plays instead of people who do not come, or are gone: one for the seat of each; none where nobody
    is replaced."""
    if not is_shared(played):
        return []
    team, own = team_of(played.organisation), dict(played.coplayer_settings)
    if played.coplayer == NOBODY or REPLACE not in (team.unfilled, team.absent):
        return []
    return [MindPlan(played.coplayer, (seat,), own) for seat in people_in(played)]


def other_people_seats(played: PlayedCondition, mind: MindPlan) -> list[int]:
    """The seats of people while this mind plays: all, but for those in which it stands in."""
    return [seat for seat in people_in(played) if seat not in mind.seats]


def all_minds(played: PlayedCondition) -> list[tuple[MindPlan, Agent]]:
    """The minds beside the people, none where they play alone; then those who may stand in for them.
    SettingsError or UnknownNameError for one that cannot be made."""
    plans = [*mind_plans(played), *stand_ins(played)]
    return [(plan, make_agent(plan.kind, plan.settings)) for plan in plans]


def has_foresight(played: PlayedCondition) -> bool:
    """Whether somebody beside the people says what others will do next; not where nobody can be made."""
    try:
        return any(mind.foretells() for _, mind in all_minds(played))
    except (SettingsError, UnknownNameError):
        return False


def condition_cautions(played: PlayedCondition) -> tuple[str, ...]:
    """What will keep the co-players from playing as they are set up, in whole sentences; nothing for those
    that cannot be played at all (`condition_check` says so)."""
    try:
        minds = all_minds(played)
    except (SettingsError, UnknownNameError):
        return ()
    refusals = (f"{why}." for _, mind in minds if (why := mind.refusal()))
    return tuple(dict.fromkeys([*(one for _, mind in minds for one in mind.cautions()), *refusals]))


def condition_remarks(played: PlayedCondition) -> tuple[str, ...]:
    """What of the co-players' settings comes to nothing, likewise."""
    try:
        remarks = [remark for _, mind in all_minds(played) for remark in mind.remarks()]
        return tuple(dict.fromkeys([*remarks, *_blind(played)]))
    except (SettingsError, UnknownNameError):
        return ()


def _blind(played: PlayedCondition) -> list[str]:
    if not is_apart(played.organisation):
        return []
    planned = planned_organisation(played)
    if planned is None or planned.seats_seen(people_in(played)[0]):
        return []
    return ["The participant leads and sees nothing of the world but what they are told."]


def condition_refusal(played: PlayedCondition) -> str:
    """Why these settings are not to be chosen any more, in words; empty if they are. Who has them plays by
    them. Empty, too, for a co-player that cannot be made (`condition_check` says so)."""
    try:
        return next((why for _, mind in all_minds(played) if (why := mind.refusal())), "")
    except (SettingsError, UnknownNameError):
        return ""


def condition_check(
    *,
    world: str,
    settings: Mapping[str, Json],
    coplayer: str,
    coplayer_settings: Mapping[str, Json],
    teammates: int,
    organisation: Mapping[str, Json] | None = None,
    step_seconds: float | None = None,
) -> None:
    """SettingsError or UnknownNameError, in words, if this condition cannot be played."""
    kind, apart = get_world(world), is_apart(organisation or {})
    seats = teammates + (not apart)
    if not kind.min_seats <= seats <= kind.max_seats:
        fitting = _fitting(kind, apart=apart)
        raise SettingsError(f"teammates: {teammates} do not fit, {world} {fitting} beside the participant")
    game = kind.create(seats=seats, settings=settings)
    check_clock(game)
    if (coplayer == NOBODY) != (teammates == 0) and not (teammates and _all_people(organisation, teammates)):
        raise SettingsError(_co_player_missing(organisation, teammates))
    if coplayer != NOBODY:
        _check_mind("co-player", coplayer, coplayer_settings, game)
    if game.tick_ms and step_seconds is not None:
        raise SettingsError("step_seconds: the clock of the world takes the steps, there is no step timer")
    if apart and step_seconds is None:
        raise SettingsError("step_seconds: who leads and does not act needs a step timer")
    kind_of_team = team_of(organisation).kind if organisation else "central" if teammates else "solo"
    if why := organisation_refusal(world, kind_of_team):
        raise SettingsError(why)
    if organisation:
        _check_team(organisation, game, coplayer, coplayer_settings, teammates)


def _fitting(kind: type[World], *, apart: bool) -> str:
    """How many teammates a world takes, in words."""
    fewest, most = (seats - (not apart) for seats in (kind.min_seats, kind.max_seats))
    return f"needs exactly {most}" if fewest == most else f"takes {fewest} to {most}"


def teammates_needed(world: str, *, apart: bool) -> int | None:
    """How many teammates there have to be, where a world is played by so many and no others; else None."""
    kind = get_world(world)
    return kind.min_seats - (not apart) if kind.min_seats == kind.max_seats else None


def _check_mind(key: str, kind: str, settings: Mapping[str, Json], game: World) -> None:
    """It can be made, and plays this world as that is set up."""
    if not can_play(get_agent(kind), game.kind):
        raise SettingsError(f"{key}: {kind} cannot play {game.kind}")
    if game.tick_ms and not plays_in_real_time(kind):
        raise SettingsError(f"{key}: {kind} does not keep up with a clock")
    if why := make_agent(kind, settings).unfit(game):
        raise SettingsError(f"{key}: {kind} cannot play here: {why}")


def _co_player_missing(organisation: Mapping[str, Json] | None, teammates: int) -> str:
    """Why a co-player is needed, or is one too many; and where people have all seats, how to do without."""
    if organisation and teammates and len(team_of(organisation).people) == teammates + 1:
        return (
            "co-player: people have all seats, but one is needed for who does not come, or is gone. Choose "
            f"one; or choose at “{UNFILLED_LABEL}”: “{UNFILLED[LEAVE]}”, and at “{ABSENT_LABEL}”: "
            f"“{ABSENT[END]}”"
        )
    return "teammates: choose a co-player and at least one teammate, or neither"


def _all_people(organisation: Mapping[str, Json] | None, teammates: int) -> bool:
    """Whether no co-player is needed: people have all seats, and nobody stands in for who is gone."""
    if not organisation:
        return False
    team = team_of(organisation)
    return len(team.people) == teammates + 1 and REPLACE not in (team.unfilled, team.absent)


def _check_team(
    organisation: Mapping[str, Json],
    game: World,
    coplayer: str,
    coplayer_settings: Mapping[str, Json],
    teammates: int,
) -> None:
    team = team_of(organisation)
    team.check_people(teammates + (not team.apart))
    seats = [seat for seat in range(teammates + 1) if team.apart or seat not in team.people]
    minds = team_minds(organisation, coplayer, coplayer_settings, seats[: teammates + (not team.apart)])
    for mind in minds:
        _check_mind("members", mind.kind, mind.settings, game)
    made = team_organisation(organisation, minds, teammates + (not is_apart(organisation)))
    if game.tick_ms and made and not made.is_silent:
        raise SettingsError("organisation: nobody can write to others while a clock takes the steps")


def drawing_warnings(world: str, settings: Mapping[str, Json]) -> Iterator[str]:
    """In whole sentences; nothing for what does not count, cannot be played, or has no world."""
    try:
        names = [*get_kit(world).canvases]
    except UnknownNameError:
        return
    for name in names:
        canvas = get_canvas(world, name)
        if canvas and settings.get(canvas.belongs[0]) == canvas.belongs[1]:
            told = canvas.told(settings.get(name, ""), settings)
            yield from (remark.words for remark in told if remark.kind == REMARK_CAUTION)
