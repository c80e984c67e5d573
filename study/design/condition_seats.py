"""Find which players of a condition are people and which are agents, and check the condition's settings.

A seat is a numbered player position in a world (game). The module lists the seats of people, and each agent
(co-player) with its seats. It reports settings that cannot be played or that have no effect. It does not
import Django models.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from kitchen.contract.agent import Agent
from kitchen.contract.drawable_setting import REMARK_CAUTION
from kitchen.contract.organisation import Organisation
from kitchen.contract.probes import RatingSlider, read_probes
from kitchen.contract.star_targets import read_star_targets
from kitchen.contract.world import Json, World
from kitchen.contract.world_errors import SettingsError
from kitchen.play.episode.absent_players import AbsencePolicy
from kitchen.play.episode.create_episode import MindPlan, check_goal
from kitchen.registry.agent_registry import (
    can_play,
    get_agent,
    has_package,
    leader_refusal,
    make_agent,
    plays_in_real_time,
)
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
"""The co-player kind of a condition in which the participant plays alone."""


class PlayedCondition(Protocol):
    """The fields of a condition that determine who plays.

    `Condition` (a database row) and `ConditionPlan` have these fields.
    """

    world: str
    settings: Mapping[str, Json]
    coplayer: str
    coplayer_settings: Mapping[str, Json]
    teammates: int
    organisation: Mapping[str, Json]
    talk_language: str


def seats_of(played: PlayedCondition) -> int:
    """Return the number of seats in the world."""
    return played.teammates + (not is_apart(played.organisation))


def people_in(played: PlayedCondition) -> tuple[int, ...]:
    """Return the seat numbers of the people.

    A participant who commands the team without a seat in the world has the number after the last seat.
    """
    return (played.teammates,) if is_apart(played.organisation) else people_of(played.organisation)


def is_shared(played: PlayedCondition) -> bool:
    """Return whether several people play in one episode."""
    return len(people_in(played)) > 1


def people_together(conditions: Iterable[PlayedCondition]) -> int:
    """Return the largest number of people who play one of the conditions together. It is 1 without
    conditions."""
    return max((len(people_in(one)) for one in conditions), default=1)


def mind_plans(played: PlayedCondition, people: Collection[int] | None = None) -> list[MindPlan]:
    """Return a plan (kind of agent, seats, settings) for each co-player in an episode. The result is empty
    without a co-player. Raises SettingsError if the plans do not fit together.

    The condition's organisation (who commands whom) names the co-players. Without one, a single co-player
    commands all seats that people do not have.

    `people` are the seats of the people who came; None means everybody. Each missing person is replaced by a
    separate co-player. These come last, so that the others keep their numbers and random seeds.
    """
    planned = people_in(played)
    seats = [seat for seat in range(seats_of(played)) if seat not in planned]
    own = dict(played.coplayer_settings)
    missing = [seat for seat in planned if people is not None and seat not in people]
    if played.coplayer == NOBODY and missing:
        raise SettingsError("co-player: none is chosen for people who did not come")
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
    """Return the rules about who may command and write to whom in an episode, and in which language agents
    write. Return None if the condition defines no such rules.

    `people` has the same meaning as in `mind_plans`. Raises SettingsError if the rules are invalid.
    """
    made = team_organisation(played.organisation, mind_plans(played, people), seats_of(played))
    return replace(made, talk_language=played.talk_language) if made and not made.is_silent else made


def planned_absence(played: PlayedCondition) -> AbsencePolicy | None:
    """Return the absence policy: what happens to the seat of a person who leaves during an episode. Return
    None if only one person plays."""
    if not is_shared(played):
        return None
    team = team_of(played.organisation)
    if team.absent == END:
        return AbsencePolicy(team.absent_steps or None)
    return AbsencePolicy(team.absent_steps or None, played.coplayer, dict(played.coplayer_settings))


def stand_ins(played: PlayedCondition) -> list[MindPlan]:
    """Return one plan of an agent for each person's seat. The agent plays if the person does not come or
    leaves.

    The result is empty if only one person plays, or if the settings replace nobody.
    """
    if not is_shared(played):
        return []
    team, own = team_of(played.organisation), dict(played.coplayer_settings)
    if played.coplayer == NOBODY or REPLACE not in (team.unfilled, team.absent):
        return []
    return [MindPlan(played.coplayer, (seat,), own) for seat in people_in(played)]


def other_people_seats(played: PlayedCondition, mind: MindPlan) -> list[int]:
    """Return the seats of people, without the seats that the co-player `mind` plays in place of a missing
    person."""
    return [seat for seat in people_in(played) if seat not in mind.seats]


def all_minds(played: PlayedCondition) -> list[tuple[MindPlan, Agent]]:
    """Return (plan, agent) pairs for all agents that may play. The co-players come first, then the agents
    that may replace people who do not come or leave.

    Raises SettingsError or UnknownNameError if an agent cannot be made.
    """
    plans = [*mind_plans(played), *stand_ins(played)]
    return [(plan, make_agent(plan.kind, plan.settings)) for plan in plans]


def _agents(played: PlayedCondition) -> list[Agent]:
    """Return the agents of `all_minds`. Return an empty list if one of them cannot be made; `condition_check`
    reports that problem."""
    try:
        return [agent for _, agent in all_minds(played)]
    except (SettingsError, UnknownNameError):
        return []


def has_foresight(played: PlayedCondition) -> bool:
    """Return whether any co-player predicts what other players do next. Return False if an agent cannot be
    made."""
    return any(agent.foretells() for agent in _agents(played))


def condition_cautions(played: PlayedCondition) -> tuple[str, ...]:
    """Return whole sentences about problems that will keep the co-players from playing as configured.

    The result is empty if there are no such problems, or if the condition cannot be played at all.
    """
    agents = _agents(played)
    refusals = (f"{why}." for agent in agents if (why := agent.refusal()))
    cautions = (
        one
        for agent in agents
        for one in (*agent.cautions(), *agent.world_cautions(played.world, played.settings))
    )
    return tuple(dict.fromkeys([*cautions, *refusals]))


def missing_packages(played: PlayedCondition) -> tuple[str, ...]:
    """Return whole sentences about optional packages without which a co-player cannot play, and which are not
    installed here."""
    without = (agent for agent in _agents(played) if not has_package(type(agent)))
    return tuple(dict.fromkeys(one for agent in without for one in agent.cautions()))


def reads_sentences(played: PlayedCondition) -> bool:
    """Return whether members of the team may write to each other and a co-player reads it. Return False if an
    agent cannot be made."""
    planned = planned_organisation(played)
    return planned is not None and not planned.is_silent and any(one.reads_words for one in _agents(played))


def condition_remarks(played: PlayedCondition) -> tuple[str, ...]:
    """Return whole sentences about settings of the co-players that have no effect.

    The result is empty if there are no such settings, or if the condition cannot be played at all.
    """
    remarks = [remark for agent in _agents(played) for remark in agent.remarks()]
    try:
        return tuple(dict.fromkeys([*remarks, *_blind(played)]))
    except (SettingsError, UnknownNameError):
        return ()


def _blind(played: PlayedCondition) -> list[str]:
    if not is_apart(played.organisation):
        return []
    planned = planned_organisation(played)
    if planned is None or planned.seats_seen(people_in(played)[0]):
        return []
    return ["The participant leads, and knows about the world only what others write."]


def condition_refusal(played: PlayedCondition) -> str:
    """Return why new conditions cannot use these settings any more, as text. Return an empty string if new
    conditions can use them.

    An existing condition with such settings can still be played.
    """
    return next((why for agent in _agents(played) if (why := agent.refusal())), "")


def condition_check(
    *,
    world: str,
    settings: Mapping[str, Json],
    coplayer: str,
    coplayer_settings: Mapping[str, Json],
    teammates: int,
    organisation: Mapping[str, Json] | None = None,
    step_seconds: float | None = None,
    goal: Mapping[str, Json] | None = None,
    star_targets: Mapping[str, Json] | None = None,
    probes: Sequence[Json] = (),
    rating_slider: Mapping[str, Json] | None = None,
) -> None:
    """Raise SettingsError or UnknownNameError if the condition with these settings cannot be played. The
    message says why."""
    kind, apart = get_world(world), is_apart(organisation or {})
    seats = teammates + (not apart)
    if not kind.min_seats <= seats <= kind.max_seats:
        fitting = _fitting(kind, apart=apart)
        raise SettingsError(f"teammates: {teammates} do not fit: {world} {fitting} besides the participant")
    game = kind.create(seats=seats, settings=settings)
    check_clock(game)
    check_goal("goal", goal or {}, game)
    read_star_targets(star_targets or {}, game.figures)
    read_probes(probes, game.event_kinds)
    RatingSlider.read(rating_slider or {})
    if (coplayer == NOBODY) != (teammates == 0) and not (teammates and _all_people(organisation, teammates)):
        raise SettingsError(_co_player_missing(organisation, teammates))
    if coplayer != NOBODY:
        taken = _coplayer_seats(organisation, seats, apart=apart)
        _check_mind("co-player", coplayer, coplayer_settings, game, taken)
    if game.tick_ms and step_seconds is not None:
        raise SettingsError("step_seconds: the clock of the world takes the steps, so there is no step timer")
    if apart and step_seconds is None:
        raise SettingsError("step_seconds: a leader who controls no player needs a step timer")
    kind_of_team = team_of(organisation).kind if organisation else "central" if teammates else "solo"
    if why := organisation_refusal(world, kind_of_team):
        raise SettingsError(why)
    if organisation:
        _check_team(organisation, game, coplayer, coplayer_settings, teammates)


def _fitting(kind: type[World], *, apart: bool) -> str:
    """Return a text that says how many teammates the world allows. `apart` is True if the participant has no
    seat in the world, and only leads."""
    fewest, most = (seats - (not apart) for seats in (kind.min_seats, kind.max_seats))
    return f"needs exactly {most}" if fewest == most else f"takes {fewest} to {most}"


def teammates_needed(world: str, *, apart: bool) -> int | None:
    """Return the number of teammates if the world has a fixed number of seats, else None. `apart` is True
    if the participant has no seat in the world."""
    kind = get_world(world)
    return kind.min_seats - (not apart) if kind.min_seats == kind.max_seats else None


def _coplayer_seats(organisation: Mapping[str, Json] | None, seats: int, *, apart: bool) -> Collection[int]:
    """Return the seats that the condition's co-player may get. If several people play, people's seats are
    among them: the co-player can replace a missing person."""
    if apart:
        return range(seats)
    people = team_of(organisation).people if organisation else (0,)
    return range(seats) if len(people) > 1 else set(range(seats)) - set(people)


def _check_mind(
    key: str, kind: str, settings: Mapping[str, Json], game: World, seats: Collection[int]
) -> None:
    """Raise SettingsError if this agent cannot be made, or if it cannot play these seats of the world.
    `key` is the name of the setting in the error message."""
    if not can_play(get_agent(kind), game.kind):
        raise SettingsError(f"{key}: {kind} cannot play {game.kind}")
    if game.tick_ms and not plays_in_real_time(kind):
        raise SettingsError(f"{key}: {kind} does not keep up with a clock")
    if why := make_agent(kind, settings).unfit(game, seats):
        raise SettingsError(f"{key}: {kind} cannot play here: {why}")


def _co_player_missing(organisation: Mapping[str, Json] | None, teammates: int) -> str:
    """Return a message if the condition needs a co-player and has none, or has a co-player and needs none.
    If people have all seats, the message also says how to play without a co-player."""
    if organisation and teammates and len(team_of(organisation).people) == teammates + 1:
        return (
            "co-player: people have all seats, but a co-player is needed for people who do not come or are "
            f"gone. Choose one, or choose at “{UNFILLED_LABEL}”: “{UNFILLED[LEAVE]}”, and at "
            f"“{ABSENT_LABEL}”: “{ABSENT[END]}”"
        )
    return "teammates: choose a co-player and at least one teammate, or neither"


def _all_people(organisation: Mapping[str, Json] | None, teammates: int) -> bool:
    """Return True if the condition needs no co-player: people have all seats, and nobody replaces a missing
    person."""
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
        _check_mind("members", mind.kind, mind.settings, game, mind.seats)
        if not mind.seats and (why := leader_refusal(mind.kind, game.kind, seat="player")):
            raise SettingsError(f"members: {why}")
    made = team_organisation(organisation, minds, teammates + (not is_apart(organisation)))
    if game.tick_ms and made and made.clock_refusal:
        raise SettingsError(f"organisation: {made.clock_refusal}")


def drawing_warnings(world: str, settings: Mapping[str, Json]) -> Iterator[str]:
    """Yield whole sentences that warn about drawings in a world's settings, such as a level drawn in the
    editor.

    Yields nothing for an unknown world, for a drawing that is not in use, or for a drawing that cannot be
    played.
    """
    try:
        names = [*get_kit(world).canvases]
    except UnknownNameError:
        return
    for name in names:
        canvas = get_canvas(world, name)
        if canvas and settings.get(canvas.belongs[0]) == canvas.belongs[1]:
            told = canvas.remarks(settings.get(name, ""), settings)
            yield from (remark.words for remark in told if remark.kind == REMARK_CAUTION)
